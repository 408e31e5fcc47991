"""Models that give several labels at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import verax
from verax import VeraxError

NAMES = ["tall", "heavy"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    return rows, np.column_stack([rows.a > 0, rows.b + rows.c > 0]).astype(int)


@pytest.mark.parametrize(
    "estimator",
    [
        MultiOutputClassifier(LogisticRegression()),
        OneVsRestClassifier(LogisticRegression()),
        make_pipeline(StandardScaler(), MultiOutputClassifier(RandomForestClassifier(5, random_state=0))),
        ClassifierChain(LogisticRegression()),
        RandomForestClassifier(5, random_state=0),
        MLPClassifier((4,), max_iter=50, tol=10.0, n_iter_no_change=2, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_one_label_is_what_the_model_says_of_it(people, estimator):
    rows, labels = people
    fitted = estimator.fit(rows, labels)
    said = fitted.predict_proba(rows[:10])
    expected = said[1][:, 1] if isinstance(said, list) else said[:, 1]
    model = verax.as_model(fitted, class_names=NAMES, label="heavy", reference=rows)
    assert model.class_names == ("not heavy", "heavy")
    assert np.allclose(model.predict_proba(rows[:10])[:, 1], expected, rtol=0, atol=1e-15)
    (found,) = verax.explainer("greedy").explain(model, rows[:1])
    assert found.features == tuple("abcd")


def test_labels_of_texts_are_explained_on_the_fast_path():
    texts = ["good long film", "bad long film", "good short film", "bad short film"] * 3
    labels = np.array([["good" in text, "long" in text] for text in texts], dtype=int)
    fitted = make_pipeline(CountVectorizer(), MultiOutputClassifier(LogisticRegression())).fit(texts, labels)
    model = verax.as_model(fitted, label=1)
    (found,) = verax.explainer("shap").explain(model, texts[:1], ["1"])
    assert found.top(1)[0][0] == "long"
    assert found.details["path"] != "strings"


def test_a_table_over_labels_has_a_verdict_for_each(people):
    rows, labels = people
    fitted = MultiOutputClassifier(LogisticRegression()).fit(rows, labels)
    data = rows[:4], pd.DataFrame(labels[:4], columns=NAMES)
    found = verax.judge_labels(
        fitted, data, ["greedy", "random"], reference=rows, plant=False, seconds=None, progress=False
    )
    assert list(found.judgements) == NAMES
    alone = verax.judge(
        verax.as_model(fitted, class_names=NAMES, label="heavy", reference=rows),
        (rows[:4], labels[:4, 1]),
        ["greedy", "random"],
        plant=False,
        seconds=None,
        progress=False,
    )
    assert found["heavy"].trials[0].reached == alone.trials[0].reached
    assert [row["label"] for row in found.table().rows] == NAMES
    assert set(found.to_frame()["label"]) == set(NAMES)
    assert "tall" in str(found)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda one, rows: verax.as_model(one, reference=rows), "gives 2 labels at once"),
        (lambda one, rows: verax.as_model(one, reference=rows, label="old"), "no label 'old'"),
        (lambda one, rows: verax.judge_labels(one, (rows, np.zeros(3))), "give a column of 0 and 1"),
    ],
)
def test_a_label_that_is_not_named_is_asked_for(people, ask, says):
    rows, labels = people
    fitted = MultiOutputClassifier(LogisticRegression()).fit(rows, labels)
    with pytest.raises(VeraxError, match=says):
        ask(fitted, rows)


def test_a_model_of_one_class_has_no_labels(people):
    rows, labels = people
    fitted = LogisticRegression().fit(rows, labels[:, 0])
    with pytest.raises(VeraxError, match="leave it out"):
        verax.as_model(fitted, reference=rows, label="tall")
    with pytest.raises(VeraxError, match=r"use verax\.judge"):
        verax.judge_labels(fitted, rows)
