"""Language models on the command line: what an endpoint would be asked, and asking it."""

import re

import pytest

from completion_server import served
from tiny_language import network, tokenizer

pytestmark = pytest.mark.usefixtures("folder")

ENDPOINT = ("explain", "--dataset", "reviews.csv", "--model", "openai:tiny", "--text", "good bad film")


def test_a_dry_run_prints_requests_and_tokens_and_sends_nothing(verax, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # where nobody answers
    ended = verax(*ENDPOINT, "-e", "greedy,lime(samples=8)", "--dry-run")
    assert ended.status == 0
    assert "greedy: 4 requests, about " in ended.out
    assert "lime(samples=8): " in ended.out
    assert "in money" not in ended.out
    assert "Nothing was sent. An endpoint that gives no log-probabilities is asked 10 times more" in ended.out
    priced = "openai:tiny(prompt_price=1e6,samples=5)"
    ended = verax(*ENDPOINT[:3], "--model", priced, *ENDPOINT[5:], "-e", "greedy", "--dry-run")
    (tokens,) = re.findall(r"about (\d+) tokens in prompts", ended.out)
    assert f"in answers, {int(tokens):.2g} in money" in ended.out
    assert "asked 5 times more" in ended.out


def test_a_dry_run_of_another_model_is_refused(verax):
    ended = verax("explain", "--dataset", "reviews.csv", "--model", "logistic", "--dry-run")
    assert ended.status == 2
    assert "--dry-run is for models behind an endpoint" in ended.err


def test_an_endpoint_without_an_address_is_a_sentence(verax, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    ended = verax(*ENDPOINT, "-e", "greedy")
    assert ended.status == 2
    assert "OPENAI_BASE_URL" in ended.err


def test_a_model_behind_an_endpoint_is_explained(verax, monkeypatch, tmp_path):
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    with served(network(), tokenizer()) as (url, faults):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        ended = verax(*ENDPOINT, "-e", "greedy", "--no-judge")
        assert ended.status == 0
        assert "text 0: The model says" in ended.out
        asked = len(faults.asked)
        verax(*ENDPOINT, "-e", "greedy", "--no-judge")
        assert len(faults.asked) == asked  # answered from disk


def test_limits_stand_behind_the_name_and_end_a_run_in_a_sentence(verax, monkeypatch, tmp_path):
    with served(network(), tokenizer()) as (url, faults):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        limited = "openai:tiny(max_requests=2,record=answers)"
        ended = verax(*ENDPOINT[:3], "--model", limited, *ENDPOINT[5:], "-e", "greedy", "--no-judge")
        assert ended.status == 2
        assert "limit of 2 requests; raise max_requests= to go on" in ended.err
        assert len(faults.asked) == 2
        counted = verax(*ENDPOINT[:3], "--model", limited, *ENDPOINT[5:], "-e", "greedy", "--dry-run")
        assert "2 answers are on disk already" in counted.out


def test_a_run_of_many_processes_has_limits_only_where_they_count_together(verax):
    ended = verax(
        "bench",
        "stain",
        "--dataset",
        "reviews.csv",
        "--models",
        "openai:tiny(max_requests=2)",
        "--plant",
        "--out",
        "run",
    )
    assert ended.status == 2
    assert "give answers a folder of their own, record=FOLDER" in ended.err
