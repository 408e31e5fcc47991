"""Absent columns that take the values of similar training rows."""

from __future__ import annotations

import numpy as np
import pytest

import verax
from verax import VeraxError
from verax.perturb import Masks, path_for

ROWS = np.array([[float(number), float(number), float(number % 2)] for number in range(100)])


def first_column(rows):
    high = np.asarray(rows)[:, 0] / 100
    return np.column_stack([1 - high, high])


@pytest.fixture(scope="module")
def model():
    return verax.as_model(first_column, reference=ROWS, resampling="conditional")


def test_an_absent_column_takes_the_mean_over_the_nearest_rows(model):
    path = path_for(model)
    present = np.array([[True, True, True], [False, True, False], [True, False, False]])
    (answer,) = path.evaluate(path.prepare(ROWS[50:51]), [Masks.from_rows(present)])
    nearest = sorted(range(100), key=lambda row: (abs(row - 50), row))[:20]
    assert answer.probabilities[:, 1] == pytest.approx([0.5, np.mean(nearest) / 100, 0.5])


def test_a_copy_of_a_column_gets_credit_only_where_rows_stay_likely(model):
    marginal = verax.as_model(first_column, reference=ROWS)
    (likely,) = verax.explainer("shap").explain(model, ROWS[90:91], [1])
    (random,) = verax.explainer("shap").explain(marginal, ROWS[90:91], [1])
    assert random.scores[1] == pytest.approx(0.0)
    assert likely.scores[1] > 0.1
    assert likely.details["path"] == "table, conditional"


def test_its_consequence_is_said(model):
    found = verax.judge(model, ROWS[:3], ["greedy"], seconds=None, progress=False)
    assert any("most like the input" in note for note in found.notes)


def test_texts_and_unknown_ways_are_refused():
    with pytest.raises(VeraxError, match="reads texts"):
        verax.as_model(lambda texts: np.full((len(texts), 2), 0.5), resampling="conditional")
    with pytest.raises(VeraxError, match="'marginal' or 'conditional'"):
        verax.as_model(first_column, reference=ROWS, resampling="causal")
