"""Logistic regression on one predictor: against statsmodels, by hand, what has no slope, and the laws."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.stats.logistic import Logistic, logistic, logistic_of_counts, normalised


def ratings(seed, n=200, slope=0.3):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 8, n).astype(float)
    return x, (rng.random(n) < 1 / (1 + np.exp(-(slope * (x - 3))))).astype(float)


def test_by_hand_two_values_are_two_shares():
    # 1 of 4 right at x = 0, 6 of 8 at x = 2: log-odds log(1/3) and log(3), slope log(9)/2 = log(3).
    # Var of the difference of log-odds: 1/1 + 1/3 + 1/6 + 1/2 = 2, so that of the slope is 2/4.
    found = logistic([0] * 4 + [2] * 8, [1, 0, 0, 0] + [1] * 6 + [0] * 2)
    assert found.intercept == pytest.approx(math.log(1 / 3))
    assert found.slope == pytest.approx(math.log(3))
    assert found.intercept_error == pytest.approx(math.sqrt(1 + 1 / 3))
    assert found.slope_error == pytest.approx(math.sqrt(0.5))
    assert found.low == pytest.approx(math.log(3) - 1.959964 * math.sqrt(0.5), abs=1e-6)
    assert found.probability(2) == pytest.approx(0.75)
    assert (found.n, found.dropped) == (12, 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("scale", "move"), [(1, 0), (1e-3, 5), (1e4, -3e6)])
def test_equal_to_statsmodels(seed, scale, move):
    api = pytest.importorskip("statsmodels.api")
    x, right = ratings(seed)
    found = logistic(x * scale + move, right, level=0.9)
    expected = api.Logit(right, api.add_constant(x)).fit(disp=0, tol=1e-13)
    assert found.slope * scale == pytest.approx(expected.params[1], abs=1e-8)
    assert found.slope_error * scale == pytest.approx(expected.bse[1], abs=1e-8)
    assert found.p == pytest.approx(expected.pvalues[1], rel=1e-6)
    interval = expected.conf_int(0.1)[1]
    assert (found.low * scale, found.high * scale) == pytest.approx(tuple(interval), abs=1e-7)
    for place in (2, 4.5):
        assert found.probability(place * scale + move) == pytest.approx(
            expected.predict([1, place])[0], abs=1e-8
        )
    if (scale, move) == (1, 0):
        assert found.intercept == pytest.approx(expected.params[0], abs=1e-8)
        assert found.intercept_error == pytest.approx(expected.bse[0], abs=1e-8)


@pytest.mark.parametrize(
    ("x", "right"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1]),
        ([1, 2, 3, 4], [1, 1, 0, 0]),
        ([1, 2, 2, 3], [0, 0, 1, 1]),
        ([1, 2, 3], [1, 1, 1]),
        ([5, 5, 5, 5], [0, 1, 0, 1]),
        ([float("nan"), 2], [1, float("nan")]),
    ],
    ids=["above", "below", "touching", "all right", "one x", "nothing known"],
)
def test_where_there_is_no_slope_nothing_is_claimed(x, right):
    found = logistic(x, right)
    assert (found.slope, found.low, found.high, found.p, found.intercept) == (None,) * 5
    assert found.probability(3) is None


def test_missing_values_are_dropped_and_counted():
    x, right = ratings(1)
    some = logistic(np.append(x, [np.nan, 3]), [*right, 1, None])
    whole = logistic(x, right)
    assert (some.n, some.dropped) == (200, 2)
    assert some.slope == whole.slope


def test_thousands_at_once_equal_one_by_one():
    rng = np.random.default_rng(0)
    values = np.array([1.0, 2, 3, 4, 5, 6, 7])
    n = rng.integers(0, 9, (300, 7))
    s = rng.binomial(n, 0.3 + 0.05 * values)
    n[0], s[0] = 4, 4  # all right: no slope
    together = logistic_of_counts(values, n, s)
    for row in range(0, 300, 29):
        x = np.repeat(values, n[row])
        right = np.concatenate([[1] * b + [0] * (a - b) for a, b in zip(n[row], s[row], strict=True)])
        alone = logistic(x, right)
        if alone.slope is None:
            assert np.isnan(together[row]).all()
        else:
            assert together[row] == pytest.approx([alone.intercept, alone.slope], abs=1e-8)
    assert np.isnan(together[0]).all()


@pytest.mark.parametrize(
    ("values", "n", "s"),
    [
        ([1, 2, 20], [1, 5, 50], [1, 1, 1]),
        ([0, 2, 5, 100], [5, 5, 50, 500], [0, 5, 2, 1]),
        ([0, 5, 20, 100], [2, 1, 5, 500], [1, 1, 1, 500]),
    ],
)
def test_full_steps_that_run_to_infinity_are_mended(values, n, s):
    """Plain Newton diverges on these, although the maximum exists: there both sums of residuals are 0."""
    ((intercept, slope),) = logistic_of_counts(values, [n], [s])
    residual = np.array(s) - np.array(n) / (1 + np.exp(-(intercept + slope * np.array(values))))
    assert residual.sum() == pytest.approx(0, abs=1e-7)
    assert (residual * values).sum() == pytest.approx(0, abs=1e-5)


def test_normalised_inside_each_group():
    found = normalised([1, 2, 3, 10, 30, 5, None, 4], ["a", "a", "a", "b", "b", "c", "b", "a"])
    a = np.array([1, 2, 3, 4])
    assert found[[0, 1, 2, 7]] == pytest.approx((a - 2.5) / a.std(ddof=1))
    assert found[[3, 4]] == pytest.approx([-math.sqrt(0.5), math.sqrt(0.5)])
    assert np.isnan(found[[5, 6]]).all()


def test_equal_ratings_cannot_be_normalised_whatever_rounding_says():
    assert np.isnan(normalised([0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2], [1, 1, 1])).all()


def test_json():
    found = logistic(*ratings(2))
    assert Logistic(**json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: logistic([1, 2], [0, 2]), r"right, entry 2 of 2 is 2 \(1 such in all\)"),
        (lambda: logistic([1, 2], [0]), r"differ in length \(x 2, right 1\)"),
        (lambda: logistic([1, math.inf], [0, 1]), "entry 2 of 2 is infinite"),
        (lambda: logistic(["a", "b"], [0, 1]), "Column x holds something that is not a number"),
        (lambda: logistic([], []), "no answers"),
        (lambda: logistic([1, 2], [0, 1], level=95), "between 0 and 1"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=4, max_size=40))
def test_right_and_wrong_swapped_flips_the_slope_and_so_does_a_mirrored_x(pairs):
    x, right = np.array(pairs, dtype=float).T
    found, swapped, mirrored = logistic(x, right), logistic(x, 1 - right), logistic(-x, right)
    if found.slope is None:
        assert swapped.slope is None
        assert mirrored.slope is None
    else:
        assert swapped.slope == pytest.approx(-found.slope, abs=1e-6)
        assert mirrored.slope == pytest.approx(-found.slope, abs=1e-6)
        assert mirrored.intercept == pytest.approx(found.intercept, abs=1e-6)
        # At the maximum the residuals sum to 0, alone and weighted by x.
        residual = right - 1 / (1 + np.exp(-(found.intercept + found.slope * x)))
        assert residual.sum() == pytest.approx(0, abs=1e-6)
        assert residual @ x == pytest.approx(0, abs=1e-6)
