"""The stored result of comparisons with known reasons: which measures it names for which sort of model."""

import json
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.benchmarks.measures.findings import VERDICTS
from verax.benchmarks.measures.spec import MEASURES
from verax.benchmarks.named_features import ENOUGH, NEEDED
from verax.explain.checks import additive_text_model
from verax.measures.evidence import Evidence, evidence_for, sort_of, stored_evidence
from verax.stats.tests.permutation import sign_flip
from verax.workflows import measure_explainers
from verax.workflows.measure_explainers import ASKED, _lead_p, measures_for

PERF = Path(__file__).parents[2] / "perf"
TEXTS, LABELS = ["good film", "bad film", "good plot", "bad plot"] * 3, [1, 0, 1, 0] * 3


def fitted(classifier):
    return verax.as_model(make_pipeline(CountVectorizer(), classifier).fit(TEXTS, LABELS), reference=TEXTS)


def test_the_stored_result_is_whole():
    rows = stored_evidence()
    assert {row.measure for row in rows} == {verax.measure(name).label for name in MEASURES}
    assert {row.verdict for row in rows} <= set(VERDICTS)
    assert {row.model for row in rows if row.kind == "text"} >= {
        "all", "logistic", "tree", "forest", "xgboost", "mlp",
    }  # fmt: skip
    assert all(-1 <= row.tau <= 1 and row.stains >= 1 for row in rows)
    assert len({(row.kind, row.model, row.measure) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("classifier", "sort"),
    [
        (LogisticRegression(), "logistic"),
        (DecisionTreeClassifier(), "tree"),
        (RandomForestClassifier(5), "forest"),
        (CalibratedClassifierCV(DecisionTreeClassifier(), cv=2), "tree"),
    ],
)
def test_the_sort_of_a_model_is_that_of_its_estimator(classifier, sort):
    assert sort_of(fitted(classifier)) == sort


def test_boosted_trees_of_a_table_are_a_sort():
    rows = [[0.0, 1.0], [1.0, 0.0]] * 10
    model = verax.as_model(HistGradientBoostingClassifier().fit(rows, [0, 1] * 10))
    assert sort_of(model) == "xgboost"


@pytest.mark.parametrize(
    ("module", "inside", "model", "sort", "said"),
    [
        ("architectures", "CnnNetwork", "networks.TextNetwork", "cnn", "networks of word vectors"),
        ("architectures", "BilstmNetwork", "networks.TextNetwork", "cnn", "networks of word vectors"),
        ("rationale", "RationaleNetwork", "rationale.RationaleModel", "rationale", "rationale models"),
        ("transformer", "TransformerNetwork", "networks.TextNetwork", "all", "models of several sorts"),
    ],
)
def test_networks_of_texts_have_the_result_of_networks_like_them(module, inside, model, sort, said):
    neural = "verax.models.neural"
    network = getattr(import_module(f"{neural}.{module}"), inside)
    module, _, kind = model.partition(".")
    # Only what it is counts here; nothing is asked of it.
    made = getattr(import_module(f"{neural}.{module}"), kind)(object.__new__(network), None, ("no", "yes"))
    assert sort_of(made) == evidence_for(made, "sufficiency(k=3)").model == sort
    assert f"on {said} of texts" in measures_for(made)[1]


def test_a_function_is_of_no_known_sort_and_has_what_holds_for_all():
    model = additive_text_model()
    assert sort_of(model) == "all"
    assert evidence_for(model, "comprehensiveness(k=3)").model == "all"
    assert evidence_for(model, "no such measure") is None


def changed(monkeypatch, **verdicts):
    rows = {
        asked: Evidence("text", "tree", ASKED[asked], verdicts[name], 0.8, 0.7, 0.9, 12)
        for asked, name in ((NEEDED, "needed"), (ENOUGH, "enough"))
        if verdicts.get(name)
    }
    monkeypatch.setattr(
        measure_explainers,
        "evidence_for",
        lambda _, name: next((row for row in rows.values() if row.measure == name), None),
    )


@pytest.mark.parametrize(
    ("verdicts", "counted", "said"),
    [
        ({"needed": "believable", "enough": "believable"}, (NEEDED, ENOUGH), "either orders explanations"),
        ({"needed": "believable", "enough": "weak"}, (NEEDED,), "and not how far it rises with them alone"),
        ({"needed": "backwards", "enough": "believable"}, (ENOUGH,), "and not how far it falls without them"),
        ({"needed": "weak", "enough": "weak"}, (NEEDED, ENOUGH), "neither is shown"),
        ({}, (NEEDED, ENOUGH), "was not tried"),
    ],
)
def test_a_verdict_counts_what_is_shown_to_be_right_and_says_so(monkeypatch, verdicts, counted, said):
    changed(monkeypatch, **verdicts)
    model = fitted(DecisionTreeClassifier())
    found, sentence = measures_for(model)
    assert found == counted
    assert said in sentence
    judged = verax.judge(model, ["good film", "bad film and bad plot", "good old plot"], ["greedy", "random"])
    assert sentence in judged.verdict.rests_on
    (greedy, _) = judged.trials
    # What is shown as worth is the mean of what counts.
    means = {NEEDED: greedy.needed, ENOUGH: greedy.enough}
    if min(means.values()) >= 0 and len(counted) == 1:
        assert greedy.worth == pytest.approx(means[counted[0]])


def test_what_seeks_removal_is_ahead_only_if_its_features_do_more_alone_too():
    flip = sign_flip(np.full(10, 0.2))
    enough = {"greedy": np.full(10, 0.1), "lime": np.full(10, 0.3), "shap": np.zeros(10)}
    # Ahead by removal alone: no lead. Ahead in both: the larger p. Another explainer's lead is tested as it is.
    assert _lead_p(("greedy", "lime"), flip, enough, {"greedy"}, 0) == 1.0
    assert _lead_p(("greedy", "shap"), flip, enough, {"greedy"}, 0) == flip.p == 2 / 2**10
    assert _lead_p(("lime", "greedy"), flip, enough, {"greedy"}, 0) == flip.p
    some = enough | {"shap": np.array([0.0] * 7 + [0.2, 0.2, 0.3])}
    assert (
        _lead_p(("greedy", "shap"), flip, some, {"greedy"}, 0)
        == sign_flip(some["greedy"] - some["shap"]).p
        > flip.p
    )


@pytest.mark.parametrize(
    ("script", "name"), [("measures_results", "measures"), ("students_results", "students")]
)
def test_the_pages_and_the_evidence_are_what_their_scripts_write_from_the_stored_runs(
    script, name, monkeypatch
):
    monkeypatch.syspath_prepend(str(PERF))
    made = import_module(script)
    runs = import_module("measures_results").read_kept(made.DOCS / name)
    written = (made.DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert made.page(runs) == written
    prose = re.sub(r"<details.*?</details>", "", written, flags=re.DOTALL)
    assert len(prose.split()) < 1200
    if name == "measures":
        assert [Evidence(**row) for row in made.evidence(runs)] == list(stored_evidence())


@pytest.mark.parametrize(
    ("script", "name"), [("measures_results", "measures"), ("students_results", "students")]
)
def test_runs_that_are_given_take_the_place_of_all_that_were_kept(script, name, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(PERF))
    made = import_module(script)
    kept = import_module("measures_results").read_kept(made.DOCS / name)[0]
    shutil.copytree(made.DOCS / name, tmp_path / name)

    def keep(folder):
        rows = [list(row.values()) for row in kept.rows.values()]
        import_module("measures_results").write_kept(tmp_path / name, folder.name, kept.about, rows)

    for what, value in (("DOCS", tmp_path), ("EVIDENCE", tmp_path / "evidence.json"), ("keep", keep)):
        monkeypatch.setattr(made, what, value, raising=False)
    monkeypatch.setattr(sys, "argv", [script, "runs/new"])
    made.main()
    assert list(json.loads((tmp_path / name / "runs.json").read_text())) == ["new"]
    assert [path.name for path in (tmp_path / name).glob("*.csv")] == ["new.csv"]
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert f"]({name}/new.csv)" in page
    assert f"]({name}/texts.csv)" not in page
