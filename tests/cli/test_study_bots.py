"""``verax study bots``, with a server of its own and with somebody else's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest

from real_parts import LONG
from small_study import small_study
from store_tools import rows
from verax.studies.definition.study_files import save_study
from verax.studies.store import open_store
from verax.studies.store.tables import participants
from verax.web.app import make_app
from verax.web.serve import default_database
from web.serving import running


@pytest.fixture
def study(tmp_path):
    return save_study(small_study(target=5), tmp_path / "study")


@pytest.fixture
def store(study, tmp_path):
    with closing(open_store(study, default_database(tmp_path / "study"))) as opened:
        yield opened


def test_bots_go_through_a_study_that_is_served_for_them(verax, study, store, tmp_path):
    ended = verax(
        "study", "bots", str(tmp_path / "study"), "--n", "4", "--profile", "helped=3,leaver(after=0.5)=1"
    )
    assert (ended.status, ended.err) == (0, "")
    first, *lines = ended.out.splitlines()
    assert first.startswith("A small study: 4 bots in ")
    assert lines[:2] == ["complete       3", "left           1"]
    # Nine pages for those who finish; four for who leaves when six of eleven steps are done, two of them skipped.
    assert lines[2].startswith("pages          31 sent, 31 acknowledged as stored (")
    assert lines[3] == "profiles       3 helped, 1 leaver(after=0.5)"
    assert lines[4].startswith("Next: verax study analyze ")
    found = rows(store, participants.c.is_bot, participants.c.status)
    assert sorted(found) == [(True, "active"), *[(True, "complete")] * 3]


def test_bots_go_to_a_server_that_runs_already(verax, study, store, tmp_path):
    with running(make_app(store, study)) as url:
        ended = verax(
            "study", "bots", str(tmp_path / "study"), "--n", "2", "--url", url, "--json", "--concurrent", "2"
        )
    summary = json.loads(ended.out)
    assert (ended.status, summary["status"], summary["pages_acknowledged"]) == (0, {"complete": 2}, 18)


def test_a_server_with_another_database_does_not_take_the_pass(verax, study, store, tmp_path):
    other = f"sqlite:///{tmp_path / 'other.sqlite'}"
    with running(make_app(store, study)) as url:
        ended = verax("study", "bots", str(tmp_path / "study"), "--n", "1", "--url", url, "--database", other)
    assert ended.status == 1
    assert "1 failed: The server did not take the bots' pass; name the database" in ended.err
    assert rows(store, participants.c.id) == []


def test_all_profiles_are_listed(verax):
    ended = verax("study", "bots", "--list-profiles")
    assert ended.status == 0
    assert "helped(base=0.66, by=0.1, spread=1.0, control=0.0)" in ended.out
    assert all(
        name in ended.out for name in ("guesser", "label-follower", "double-clicker", "late", "careless")
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--profile", "gueser"], "There is no profile called 'gueser'; did you mean 'guesser'?"),
        (["--pace", "slow"], "pace must be 'simulated', 'human' or 'fast', not 'slow'."),
        (["--n", "0"], "n must be at least 1, not 0."),
        (["--url", "localhost"], "'localhost' is not the address of a study"),
    ],
)
def test_bad_input_is_a_sentence(verax, study, tmp_path, arguments, sentence):
    ended = verax("study", "bots", str(tmp_path / "study"), *arguments)
    assert ended.status == 2
    assert sentence in ended.err


def test_ctrl_c_lets_everybody_leave_and_ends_the_server(study, store, tmp_path):
    command = [sys.executable, "-m", "verax.cli.main", "study", "bots", str(tmp_path / "study")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [*command, "--n", "5", "--concurrent", "2", "--pace", "human"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as bots:
        until = time.monotonic() + LONG
        while rows(store, participants.c.status) != [("active",)] * 2:
            assert bots.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        bots.send_signal(signal.SIGINT)
        said, complained = bots.communicate(timeout=LONG)
    assert bots.returncode == 130
    assert complained == "Everybody leaves; press Ctrl-C again to end at once.\n"
    assert "left           2\n" in said
    assert "not-begun      3\n" in said


def test_language_models_take_part_by_name(verax, study, store, tmp_path, monkeypatch):
    tiny = pytest.importorskip("tiny_language")
    from completion_server import served

    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "study"
    refused = verax("study", "bots", str(folder), "--language-model", "gpt", "--n", "1")
    assert refused.status == 2
    assert "There is no language model 'gpt' that can take part" in refused.err
    with served(tiny.network(window=4096), tiny.tokenizer()) as (url, _):
        ended = verax(
            "study", "bots", str(folder), "--language-model", "openai:tiny", "--base-url", url, "--n", "1",
            "--reading", "300", "--pass-screening",
        )  # fmt: skip
    assert "complete       1" in ended.out
    assert "profiles       1 language model openai:tiny" in ended.out
    assert rows(store, participants.c.is_bot, participants.c.status) == [(True, "complete")]
    assert list((folder / "transcripts").glob("openai-tiny-1.jsonl"))
