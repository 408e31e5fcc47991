"""Code of one's own, named in a run or a study: edited, it is run again, and one line says why."""

from __future__ import annotations

import json
import logging
import re
import sys

import joblib
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import verax
from verax.cli.main import app

MINE = """
from dataclasses import dataclass
import numpy as np
import verax
from verax.data import split_words
from own_code_helpers import weight


@dataclass(frozen=True)
class Mine(verax.Explainer):
    def explain(self, model, inputs, targets=None):
        words = [split_words(text).distinct for text in inputs]
        return [verax.Attribution(found, np.array([weight(word) for word in found]), 1) for found in words]


class Raising:
    def explain(self, model, inputs, targets=None):
        raise KeyError("no such word")


class Short:
    def explain(self, model, inputs, targets=None):
        return Mine().explain(model, inputs, targets)[:-1]


def broken(dataset):
    raise RuntimeError("out of memory")
"""
HELPERS = "def weight(word):\n    return float(len(word))\n"
STUDY = """
title = "Reviews"
dataset = "made.csv"
protocol = { name = "forward", learning = 4, test = 8 }
participants = 2

[[conditions]]
name = "mine"
explainer = "own_code_mine:Mine"
"""
SMALL = {"stains": 1, "inputs": 3, "learnt": 0.0}


@pytest.fixture
def folder(tmp_path, frame, monkeypatch):
    frame[["text", "label"]].to_csv(tmp_path / "made.csv", index=False)
    (tmp_path / "own_code_mine.py").write_text(MINE)
    (tmp_path / "own_code_helpers.py").write_text(HELPERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    forget()


def forget():
    for name in ("own_code_mine", "own_code_helpers"):
        sys.modules.pop(name, None)


def edit(folder):
    """As a user does between two commands."""
    (folder / "own_code_helpers.py").write_text(HELPERS.replace("len(word)", "-word.count('e')"))
    forget()


def scores(run):
    return run.results[run.results.explainer == "own_code_mine:Mine"]["auc"].tolist()


def finished(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("jobs/*/*.json")}


def test_an_edited_explainer_is_put_on_trial_again(folder, caplog):
    ask = {"dataset": "made.csv", "models": "tree", "explainers": "own_code_mine:Mine", "out": "run", **SMALL}
    with caplog.at_level(logging.WARNING, "verax"):
        first = verax.stain(**ask)
        before = finished(folder)
        assert scores(verax.stain(**ask)) == scores(first)
        assert finished(folder) == before
        assert "changed" not in caplog.text
        edit(folder)
        assert scores(verax.stain(**ask)) != scores(first)
    assert "own_code_mine:Mine changed since the run in run began" in caplog.text
    assert len(finished(folder)) == len(before) + 1  # the unstained twin was not trained again


def test_fresh_does_everything_again(folder):
    ask = {"dataset": "made.csv", "models": "tree", "explainers": "greedy", "out": "run", **SMALL}
    verax.stain(**ask)
    before = finished(folder)
    verax.stain(**ask, fresh=True)
    after = finished(folder)
    assert after.keys() == before.keys()
    assert all(after[name] > before[name] for name in before)


def test_a_study_with_an_edited_explainer_is_built_again(folder, caplog):
    first = verax.build_study(STUDY, out="study")
    assert not verax.build_study(STUDY, out="study").is_new
    edit(folder)
    with caplog.at_level(logging.WARNING, "verax"):
        second = verax.build_study(STUDY, out="study")
    assert second.is_new
    assert second.study.hash != first.study.hash
    assert "own_code_mine:Mine changed since the study in study was built" in caplog.text


def test_a_study_of_our_own_names_keeps_its_files(folder):
    verax.build_study(STUDY.replace("own_code_mine:Mine", "greedy"), out="study")
    assert "code" not in json.loads((folder / "study" / "study.json").read_text())


def status(command):
    with pytest.raises(SystemExit) as end:
        app(command.split())
    return end.value.code


def test_a_model_that_raises_is_a_reason_a_trial_and_a_status(folder, capsys):
    ask = "bench stain -d made.csv -m own_code_mine:broken -e greedy --stains 2 --inputs 3 --out run"
    assert status(ask) == 2  # planted stains need a fit before anything else
    refused = " ".join(capsys.readouterr().err.split())
    assert "own_code_mine:broken cannot be fitted: " in refused
    assert "name a function from a dataset to a fitted model (--model package.module:function)" in refused
    ended = status(f"{ask} --no-plant")
    shown = capsys.readouterr()
    assert ended == 3
    assert "no stain was learnt" not in shown.out
    # In a narrow terminal the cell has two lines.
    assert re.search(r"every trial(?: failed| .*\n\s+failed)", shown.out)
    assert "made.csv, stain 0, own_code_mine:broken" in shown.err
    assert "raised RuntimeError (out of memory)" in shown.err


def test_explainers_that_raise_or_return_too_few_are_named(folder, capsys):
    ended = status(
        "bench stain -d made.csv -m tree -e own_code_mine:Raising,own_code_mine:Short,greedy "
        "--stains 1 --inputs 3 --learnt 0 --out run --json"
    )
    shown = capsys.readouterr()
    assert ended == 3
    assert "The explainer 'own_code_mine:Raising' raised KeyError ('no such word') on 3 inputs" in shown.err
    assert "The explainer 'own_code_mine:Short' returned 2 explanations for 3 inputs" in shown.err
    assert "greedy" in json.loads(shown.out)["cells"][0]["explainers"]


def test_what_an_own_explainer_asked_is_in_the_results(folder):
    (folder / "own_code_helpers.py").write_text(
        "import verax\n\n\nclass Asking:\n    def explain(self, model, inputs, targets=None):\n"
        "        return [verax.Attribution(e.features, e.scores, e.target) for e in "
        "verax.explainer('greedy').explain(model, inputs, targets)]\n\n\ndef weight(word):\n    return 1.0\n"
    )
    run = verax.stain("made.csv", "tree", "greedy,own_code_helpers:Asking", out="run", **SMALL)
    rows = run.results.groupby("explainer")["rows"].sum()
    assert rows["own_code_helpers:Asking"] == rows["greedy"] > 0


def test_a_model_in_a_file_is_fitted_anew_and_its_content_counts(folder, frame):
    def save(alpha):
        model = make_pipeline(CountVectorizer(binary=True), BernoulliNB(alpha=alpha))
        joblib.dump(model.fit(frame["text"], frame["label"]), folder / "bayes.joblib")

    save(1.0)
    ask = {"dataset": "made.csv", "models": "bayes.joblib", "explainers": "greedy", "out": "run", **SMALL}
    first = verax.stain(**ask)
    assert not first.summary.failures
    assert first.summary.pairs[0].accuracies is not None
    before = len(finished(folder))
    save(50.0)
    verax.stain(**ask)
    assert len(finished(folder)) == 2 * before


def test_what_a_model_in_a_file_raises_is_told_without_the_data_that_it_was_given(folder, frame, capsys):
    """As scikit-learn does, which quotes all of it."""
    columns = make_column_transformer((OneHotEncoder(), [0]), remainder="drop")
    model = make_pipeline(columns, BernoulliNB()).fit(frame[["text"]], frame["label"])
    joblib.dump(model, folder / "columns.joblib")
    assert status("bench stain -d made.csv -m columns.joblib -e greedy --stains 1 --inputs 3 --out run") == 2
    shown = capsys.readouterr().err
    assert "Fitting the Pipeline in 'columns.joblib' anew raised ValueError" in shown
    assert max(map(len, shown.splitlines())) < 700


def test_a_pipeline_of_texts_beside_columns_is_not_stained_and_says_why(folder, frame, capsys):
    columns = make_column_transformer((CountVectorizer(), "text"), remainder="passthrough")
    rows = frame[["text"]].assign(age=range(len(frame)))
    joblib.dump(make_pipeline(columns, BernoulliNB()).fit(rows, frame["label"]), folder / "mixed.joblib")
    assert status("bench stain -d made.csv -m mixed.joblib -e greedy --stains 1 --inputs 3 --out run") == 2
    assert "'mixed.joblib' reads the texts of 'text', and the data are no records" in " ".join(
        capsys.readouterr().err.split()
    )
