"""Offsets planted for models of numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import verax
from verax import VeraxError
from verax.benchmarks.staining.stainable import PlantedComparison
from verax.data import Part
from verax.workflows.planted_numbers import offset_decides, planted_offsets


def rows_and_numbers(n=300):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde")).assign(
        kind=rng.choice(["x", "y", "z"], n)
    )
    return rows.drop(columns="kind"), rows.a * 2 + rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    rows, numbers = rows_and_numbers()
    return verax.as_model(
        DecisionTreeRegressor(min_samples_leaf=3, random_state=0).fit(rows, numbers), reference=rows
    )


def test_exact_values_find_a_planted_offset_and_random_scores_do_not(fitted):
    named = {"shap": verax.explainer("shap"), "random": verax.explainer("random")}
    found = planted_offsets(fitted, rows_and_numbers(), named, stains=2, inputs=5, seconds=60)
    assert np.mean(found.areas["shap"]) > 0.9 * found.ceiling
    assert np.mean(found.areas["random"]) < np.mean(found.areas["shap"])
    assert found.ceiling == pytest.approx(0.95)
    assert all(len(features) == 2 and features < set("abcde") for features in found.features)
    offset = 3 * rows_and_numbers()[1].std(ddof=0)
    assert float(found.stains[0].rpartition(": ")[2]) == pytest.approx(
        offset, rel=0.15
    )  # of the training rows


def test_an_offset_decides_where_it_falls_without_all_and_without_either(fitted):
    def part(*numbers):
        return Part(
            np.array([[number, 0.0, 0.0, 0.0, 0.0] for number in numbers]), np.zeros(len(numbers), dtype=int)
        )

    # The first input falls without all and without either, the second by too little, the third not without the last.
    model = verax.as_model(
        lambda rows: np.asarray(rows)[:, 0], schema=fitted.schema, reference=fitted.reference, output="number"
    )
    compared = PlantedComparison(np.arange(3), part(10, 4, 10), part(0, 0, 0), (part(5, 0, 5), part(2, 0, 9)))
    assert offset_decides(model, compared, 10.0).tolist() == [True, False, False]


def test_judge_plants_offsets_where_numbers_are_known(fitted):
    found = verax.judge(fitted, rows_and_numbers(), ["shap"], n=3, seconds=30, progress=False)
    assert found.planted is not None
    assert "standard deviations" in found.planted.sentences[0]


def test_a_regressor_of_texts_says_why_nothing_is_planted():
    texts = ["a good film", "a bad film", "fine", "dull and long"] * 5
    pipeline = make_pipeline(CountVectorizer(), Ridge()).fit(texts, np.arange(20.0))
    found = verax.judge(pipeline, (texts, np.arange(20.0)), ["greedy"], n=2, seconds=10, progress=False)
    assert found.planted is None
    assert any("takes rows of a table" in note for note in found.notes)


@pytest.mark.parametrize(
    ("numbers", "says"),
    [(["x"] * 300, "give numbers"), ([np.nan] * 300, "number of row 0"), ([1] * 300, "same number")],
)
def test_numbers_that_are_none_are_refused(fitted, numbers, says):
    with pytest.raises(VeraxError, match=says):
        planted_offsets(fitted, (rows_and_numbers()[0], numbers), {"shap": verax.explainer("shap")})
