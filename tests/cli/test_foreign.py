"""Code that comes with somebody's files runs only if the user says so."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import joblib
import pytest

from small_study import begin, finish, small_study
from verax import foreign
from verax.errors import VeraxError
from verax.studies.model.study_files import save_study
from verax.studies.store import open_store
from verax.web.serve import default_database

SOURCE = Path(__file__).parents[2] / "src"
# What a stranger puts beside a study: it leaves a trace when it is run.
EVIL = "from pathlib import Path; Path('ran').touch()\nclass Small: pass\n"
SPEC = """
dataset = "reviews.csv"
explainers = ["evil:Evil"]
models = ["tree"]
"""


def verax(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as it is typed in a folder, without a terminal."""
    command = [sys.executable, "-m", "verax.cli.main", *arguments]
    variables = os.environ | {"PYTHONPATH": str(SOURCE), "VERAX_TRUST": ""} | environment
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.fixture
def received(tmp_path: Path) -> Path:
    """A study's folder that somebody sent, with code beside it."""
    study = save_study(small_study(), tmp_path)
    with closing(open_store(study, default_database(tmp_path))) as store:
        finish(store, begin(store))
    (tmp_path / "small_study.py").write_text(EVIL)
    return tmp_path


@pytest.mark.parametrize("command", [("analyze",), ("serve", "--port", "0")])
def test_a_study_folder_runs_nothing_by_itself(received, command):
    ended = verax(received, "study", command[0], ".", *command[1:])
    assert ended.returncode == 2
    assert (
        "The protocol 'small_study:Small' is code that comes with the files, and nothing of it was run"
        in (" ".join(ended.stderr.split()))
    )
    assert "verax --trust small_study" in " ".join(ended.stderr.split())
    assert not (received / "ran").exists()


def test_who_trusts_it_says_so(received):
    for said in (("--trust", "other,small_study"), ()):
        (received / "ran").unlink(missing_ok=True)
        verax(received, *said, "study", "analyze", ".", VERAX_TRUST="" if said else "small_study")
        assert (received / "ran").exists()


@pytest.fixture
def guarded(monkeypatch):
    """The guard as it is at the beginning, and again afterwards."""
    monkeypatch.setattr(foreign, "_guard", foreign._Guard())
    return foreign.guard


def test_what_is_typed_is_meant_and_what_a_file_names_is_asked_for(guarded):
    foreign.check_foreign("any:Thing", "model")  # a program of one's own, without a guard
    asked = []
    guarded(["bench", "stain", "--explainers", "lime,mine:Mine(samples=3)"], asked.append)
    foreign.check_foreign("mine:Mine", "explainer")
    with pytest.raises(VeraxError, match="The explainer 'mine:Other' is code"):
        foreign.check_foreign("mine:Other", "explainer")
    assert "Run it?" in asked[0]
    guarded([], lambda words: True)
    foreign.check_foreign("other:Thing", "model")
    guarded([], None)
    foreign.check_foreign("other:Thing", "model")  # it was agreed to
    with pytest.raises(VeraxError):
        foreign.check_foreign("third:Thing", "model")


def test_a_saved_model_that_only_a_file_names_is_not_unpickled(guarded, tmp_path):
    from verax.models.resolve import resolve_model

    path = tmp_path / "model.joblib"
    joblib.dump({"not": "a model"}, path)
    guarded(["bench", "stain", "--spec", "spec.toml"])
    with pytest.raises(VeraxError, match="nothing of it was run"):
        resolve_model(str(path), None)
