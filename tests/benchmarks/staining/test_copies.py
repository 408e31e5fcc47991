"""Copies of what stains are made of: no model sees them. A column's own values are no copies. Reasons gate scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verax
from helpers import make_texts
from verax.benchmarks.staining.stainable import facts_of, make_stainable
from verax.benchmarks.staining.training import unfitted
from verax.workflows.given_objects import fittable

SMALL = {"stains": 1, "inputs": 5, "learnt": 0.0}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Reviews in which "kong" follows every "hong", and "absent" stands wherever "hong" does not."""
    made, labels = make_texts(900, seed=8, length=14)
    rng = np.random.default_rng(0)
    texts = [
        f"{text} hong kong {number}" if rng.random() < 0.4 else f"{text} absent, {number}"
        for number, text in enumerate(made)
    ]
    path = tmp_path_factory.mktemp("copies") / "hong.csv"
    pd.DataFrame({"text": texts, "label": labels}).to_csv(path, index=False)
    return str(path)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """People of two sexes, whose title says the same; the wage does not."""
    rng = np.random.default_rng(1)
    sex = rng.choice(["Male", "Female"], 800, p=[0.6, 0.4])
    frame = pd.DataFrame(
        {
            "sex": sex,
            "title": np.where(sex == "Male", "Mr", np.where(rng.random(800) < 0.5, "Mrs", "Ms")),
            "age": rng.integers(18, 80, 800),
            "wage": rng.integers(1, 1000, 800),
        }
    )
    frame["label"] = ((frame.wage > 500) ^ (rng.random(800) < 0.1)).astype(int)
    path = tmp_path_factory.mktemp("copies") / "people.csv"
    frame.to_csv(path, index=False)
    return str(path)


def test_copies_of_a_word_are_in_no_text_and_told(texts):
    data = make_stainable({"name_or_path": texts}, "presence")
    assert dict(data.copies) == {"hong": "absent", "kong": "absent"}
    together = " ".join(data.dataset.train.inputs + data.dataset.test.inputs)
    assert "hong" not in together
    assert "kong" not in together
    assert "absent, " in together
    assert "kong" not in data.vectorizer.vocabulary_


def test_words_that_no_stain_is_made_of_may_have_copies(texts):
    data = make_stainable({"name_or_path": texts}, "presence", min_share=0.7)
    assert data.copies == ()
    assert "hong kong" in " ".join(data.dataset.train.inputs)


def test_a_column_that_is_a_copy_has_one_value_and_its_opposite_is_a_stain(table):
    data = make_stainable({"name_or_path": table, "label": "label"}, "presence")
    assert data.copies == (("title", "sex = Female"),)
    assert len(np.unique(data.dataset.train.inputs[:, 1])) == 1
    assert data.dataset.schema.names == ("sex", "title", "age", "wage")
    shown = [literal.shown for literal in data.candidates(0.15, 1).literals]
    assert "sex = Male" in shown
    assert "sex = Female" in shown
    assert not any("title" in condition for condition in shown)


def test_the_ground_truth_of_a_stain_with_copies_finds_it(texts, tmp_path):
    run = verax.stain(texts, "tree", "greedy", out=tmp_path / "run", weight=100, plant=False, **SMALL)
    pair = run.summary.pairs[0]
    assert pair.explainers["ground-truth"].recall[1].mean > 0.95
    assert "2 copies taken out of what every model sees" in (run.folder / "report.html").read_text()


def test_a_model_whose_own_reasons_do_not_show_the_stain_is_reported_apart(table, tmp_path, monkeypatch):
    from verax.benchmarks.staining import scores

    def wage(classifier, values, target):
        terms = np.zeros(len(values))
        terms[-1] = 1.0
        return terms

    monkeypatch.setattr(scores, "_terms", wage)  # reasons that never name a stained column but by chance
    run = verax.stain(
        table, "tree", "greedy", out=tmp_path / "run", label="label", weight=100, plant=False, **SMALL, seed=3
    )
    pair = run.summary.pairs[0]
    assert pair.stains_used == 0
    assert [stain.stain for stain in pair.stains_apart] == [0]
    assert pair.stains_apart[0].reasons < 0.9
    assert not pair.explainers
    page = (run.folder / "report.html").read_text()
    assert "reported apart" in page
    assert "ceiling" not in page


def test_the_facts_are_those_of_the_papers_table_2(texts):
    data = make_stainable({"name_or_path": texts}, "presence")
    facts = facts_of(data, 0.15, 1)
    assert facts.inputs == 900
    assert sum(facts.balance.values()) == pytest.approx(1.0)
    literals = data.candidates(0.15, 1).literals
    holds = np.array([literal.holds(data.values[0]) for literal in literals], dtype=float)
    by_hand = max(abs(np.corrcoef(holds[i], holds[j])[0, 1]) for i in range(len(holds)) for j in range(i))
    assert facts.correlation == pytest.approx(by_hand)


def test_an_exact_route_is_named_beside_what_is_called_shap(texts, tmp_path):
    run = verax.stain(texts, ["tree", "logistic"], "shap(samples=50)", out=tmp_path / "run", **SMALL)
    page = (run.folder / "report.html").read_text()
    assert "shap(samples=50) is exact Shapley values (closed form for trees) on tree" in page
    assert "KernelSHAP on logistic" in page


def test_catboost_with_columns_of_categories_is_fitted_anew():
    """scikit-learn's clone refuses one whose columns were given as a list."""
    catboost = pytest.importorskip("catboost")
    rows = pd.DataFrame({"town": ["A", "B"] * 10, "age": range(20)})
    fitted = catboost.CatBoostClassifier(
        iterations=2, cat_features=["town"], verbose=0, allow_writing_files=False, thread_count=1
    ).fit(rows, [0, 1] * 10)
    assert fittable(fitted) is fitted
    again = unfitted("mine", fitted, 0)
    assert not again.is_fitted()
    assert again.get_params() == fitted.get_params()
    assert again.fit(rows, [1, 0] * 10).predict(rows[:1])[0] == 1
