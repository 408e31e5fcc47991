"""Code that comes with somebody's files runs only if the user says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import joblib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_study import begin, finish, small_study
from verax import foreign
from verax.errors import VeraxError
from verax.names import split_outside
from verax.studies.definition.study_files import save_study
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


def test_what_is_typed_is_meant_and_what_a_file_names_is_asked_for():
    foreign.check_foreign("any:Thing", "model")  # a program of one's own, without a guard
    asked = []
    foreign.guard(asked.append)
    foreign.typed("explainers", "lime,mine:Mine(samples=3)")
    foreign.check_foreign("mine:Mine", "explainer")
    with pytest.raises(VeraxError, match="The explainer 'mine:Other' is code"):
        foreign.check_foreign("mine:Other", "explainer")
    assert "Run it?" in asked[0]
    foreign.guard(lambda words: True)
    foreign.check_foreign("other:Thing", "model")
    foreign.guard(None)
    foreign.check_foreign("other:Thing", "model")  # it was agreed to
    with pytest.raises(VeraxError):
        foreign.check_foreign("third:Thing", "model")


def test_a_saved_model_that_only_a_file_names_is_not_unpickled(tmp_path):
    from verax.models.resolve import resolve_model

    path = tmp_path / "model.joblib"
    joblib.dump({"not": "a model"}, path)
    foreign.guard()
    with pytest.raises(VeraxError, match="nothing of it was run"):
        resolve_model(str(path), None)


class _Trace:
    """Leaves a trace when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("ran"),)


@pytest.mark.parametrize("spec", ["m.pkl.toml", "x-m.pkl.toml"])
def test_a_spec_whose_path_looks_like_a_saved_model_does_not_make_it_trusted(tmp_path, spec):
    joblib.dump(_Trace(), tmp_path / "m.pkl")
    (tmp_path / "reviews.csv").write_text("text,label\n" + "good film,1\nbad film,0\n" * 50)
    named = 'explainers = ["lime"]\nmodels = ["m.pkl"]\n'
    (tmp_path / spec).write_text(named)
    ended = verax(tmp_path, "bench", "stain", "--spec", spec, "--dataset", "reviews.csv", "--out", "run")
    assert ended.returncode == 2
    assert not (tmp_path / "ran").exists()


def test_the_url_of_a_database_does_not_let_a_protocol_in(received):
    about = json.loads((received / "study.json").read_text())
    about["spec"]["protocol"]["name"] = "sqlite:/"
    (received / "study.json").write_text(json.dumps(about))
    (received / "sqlite.py").write_text(EVIL)
    url = f"sqlite:///{received / 'answers.sqlite'}"
    verax(received, "study", "analyze", ".", "--database", url)
    foreign.guard()
    foreign.typed("database", url)
    with pytest.raises(VeraxError, match="nothing of it was run"):
        foreign.check_foreign("sqlite:/", "protocol")
    assert not (received / "ran").exists()


@pytest.mark.parametrize(
    "typed", [("judge", "model.pkl", "x.csv"), ("explain", "--model=./model.pkl"), ("explain", "-mmodel.pkl")]
)
def test_a_saved_model_that_is_typed_is_loaded_however_it_is_written(tmp_path, typed):
    joblib.dump(_Trace(), tmp_path / "model.pkl")
    (tmp_path / "x.csv").write_text("text,label\n" + "good film,1\nbad film,0\n" * 50)
    more = () if typed[0] == "judge" else ("--dataset", "x.csv")
    verax(tmp_path, *typed, *more)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "typed",
    [
        ("bench", "measures", "--measures", "deletion,small_study:Small"),
        ("bench", "stain", "--explainers", "small_study:Small"),
        ("bench", "stain", "--models", "small_study:Small"),
    ],
)
def test_code_that_is_typed_runs(tmp_path, typed):
    (tmp_path / "small_study.py").write_text(EVIL)
    ended = verax(tmp_path, *typed, "--dataset", "rotten-tomatoes", "--stains", "1", "--inputs", "2")
    assert (tmp_path / "ran").exists(), ended.stderr


letters = st.text(st.sampled_from("ab:./,()= '\"-"), max_size=12)


@given(
    parameter=st.sampled_from([*foreign.CODE, "spec", "out", "database", "text"]), value=letters, name=letters
)
@settings(max_examples=600, deadline=None)
def test_only_what_was_typed_as_a_name_of_that_sort_is_let_through(parameter, value, name):
    """Whatever is typed: code is let through only if it is, whole, one of the names typed for that sort of thing."""
    foreign._guard = foreign._Guard()
    foreign.guard()
    foreign.typed(parameter, value)
    for noun in sorted({*foreign.CODE.values()}):
        passed = _passes(name, noun)
        whole = [part.strip() for part in split_outside(value)] if parameter.endswith("s") else [value]
        names = {*whole, *(part.split("(")[0].strip() for part in whole)}
        assert not passed or (foreign.CODE.get(parameter) == noun and name in names)
    same_file = Path(name).resolve() in {Path(one).resolve() for one in ([value, *split_outside(value)])}
    in_front = {Path(part.split("(")[0].strip()).resolve() for part in [value, *split_outside(value)]}
    if _passes(name, foreign.SAVED_MODEL):
        assert foreign.CODE.get(parameter) == "model"
        assert same_file or Path(name).resolve() in in_front
    foreign._guard = foreign._Guard()


@given(trusted=letters, name=letters)
@settings(max_examples=300, deadline=None)
def test_trust_in_a_module_is_no_trust_in_a_file_or_in_another_module(trusted, name):
    foreign._guard = foreign._Guard()
    foreign.guard()
    foreign.trust([trusted])
    assert _passes(name, "protocol") == (trusted in (name, name.partition(":")[0]))
    assert _passes(name, foreign.SAVED_MODEL) == (Path(trusted).resolve() == Path(name).resolve())
    foreign._guard = foreign._Guard()


def _passes(name: str, noun: str) -> bool:
    try:
        foreign.check_foreign(name, noun)
    except VeraxError:
        return False
    return True
