"""Rows that a model of tables cannot read are refused in a sentence that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import verax
from verax.errors import VeraxError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 9, 80),
        "town": pd.Categorical(RNG.choice(["A", "B"], 80)),
        "pay": RNG.normal(size=80),
    }
)
TREES = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5)
MODEL = verax.as_model(TREES.fit(FRAME, FRAME["age"] > 40), reference=FRAME)


def explain(rows):
    return verax.explainer("shap").explain(MODEL, rows)[0]


def test_another_order_of_columns_is_the_same_table():
    assert np.array_equal(explain(FRAME[["pay", "town", "age"]][:1]).scores, explain(FRAME[:1]).scores)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (FRAME[["age", "town"]][:1], "no column 'pay'"),
        (FRAME[:1].assign(town="Z"), "unseen category 'Z' in column 'town'; use one of: A, B"),
        (FRAME[:1].assign(pay=np.inf), "infinite value in column 'pay'; replace it"),
        (FRAME[:1].assign(pay=np.nan), "missing value in column 'pay', where none was seen before"),
        (FRAME[:1].assign(age="old"), "'old' in the numeric column 'age'; give a number"),
        (np.zeros((1, 5)), "the table has 3 columns"),
    ],
)
def test_what_cannot_be_read_is_said(rows, said):
    with pytest.raises(VeraxError, match=said):
        explain(rows)
