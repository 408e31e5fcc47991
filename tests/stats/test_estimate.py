"""A mean's interval: by hand, against scipy, its laws, and what it refuses."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from verax.errors import VeraxError
from verax.stats import Estimate, binomial_share, mean_interval

# Sixty-fourths: sums, shifts and doublings of them are exact, so that a law is not confused with rounding.
sixty_fourths = st.integers(-6400, 6400).map(lambda whole: whole / 64)
units = st.lists(sixty_fourths, min_size=2, max_size=40).filter(lambda values: len(set(values)) > 1)


def test_by_hand():
    # 0, 2, 4, 4, 5: mean 3, squared deviations 9 + 1 + 1 + 1 + 4 = 16, spread sqrt(16/4) = 2,
    # standard error 2/sqrt(5) = 0.894427, t(4) = 2.776445, margin 2.483328.
    estimate = mean_interval([0, 2, 4, 4, 5])
    assert estimate.mean == 3.0
    assert estimate.spread == 2.0
    assert estimate.low == pytest.approx(3 - 2.483328, abs=1e-6)
    assert estimate.high == pytest.approx(3 + 2.483328, abs=1e-6)
    assert (estimate.n, estimate.level) == (5, 0.95)


@pytest.mark.parametrize("n", [2, 3, 5, 20, 100, 1000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_equal_to_scipy(n, level):
    values = np.random.default_rng(n).beta(2, 0.7, n)
    estimate = mean_interval(values, level)
    low, high = stats.t.interval(level, n - 1, loc=values.mean(), scale=stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx((low, high), rel=1e-11)
    assert estimate.spread == pytest.approx(values.std(ddof=1), rel=1e-12)


def test_one_unit_has_a_mean_and_no_interval():
    assert mean_interval([0.25]) == Estimate(mean=0.25, low=None, high=None, n=1, spread=None)


@pytest.mark.parametrize("n", [2, 3, 7, 49])
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -7.7])
def test_equal_values_have_no_interval_since_one_without_width_would_claim_too_much(value, n):
    estimate = mean_interval([value] * n)
    assert estimate == Estimate(mean=value, low=None, high=None, n=n, spread=0.0)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None])
def test_what_is_not_a_finite_number_is_refused_with_its_place(bad):
    with pytest.raises(VeraxError, match=r"Value 3 of 4 is (nan|inf) \(1 such in all\)"):
        mean_interval([0.1, 0.2, bad, 0.3])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "no value to average"),
        ([[0.1, 0.2]], "2 dimensions"),
        (0.5, "0 dimensions"),
        (["high", "low"], "not all numbers"),
        ([[0.1], [0.2, 0.3]], "not all numbers"),
    ],
)
def test_other_bad_input_gets_a_sentence(values, sentence):
    with pytest.raises(VeraxError, match=sentence):
        mean_interval(values)


@pytest.mark.parametrize("values", [[0.5], [0.5, 0.7]])
def test_a_wrong_level_is_refused_for_any_number_of_units(values):
    with pytest.raises(VeraxError, match="between 0 and 1"):
        mean_interval(values, level=95)


def test_json_has_null_where_there_is_no_interval():
    assert json.loads(json.dumps(mean_interval([0.25]).to_dict())) == {
        "mean": 0.25,
        "low": None,
        "high": None,
        "n": 1,
        "spread": None,
        "level": 0.95,
    }
    estimate = mean_interval(np.array([0.1, 0.4], dtype=np.float32))
    assert Estimate(**json.loads(json.dumps(estimate.to_dict()))) == estimate


@settings(max_examples=50)
@given(units, sixty_fourths)
def test_a_shift_moves_mean_and_interval_and_leaves_the_spread(values, shift):
    before, after = mean_interval(values), mean_interval([value + shift for value in values])
    assert after.mean == pytest.approx(before.mean + shift, abs=1e-9)
    assert after.low == pytest.approx(before.low + shift, abs=1e-9)
    assert after.high == pytest.approx(before.high + shift, abs=1e-9)
    assert after.spread == pytest.approx(before.spread, abs=1e-9)


@settings(max_examples=50)
@given(units, st.integers(-320, 320).map(lambda whole: whole / 64))
def test_a_scale_multiplies_everything_and_a_negative_one_swaps_the_ends(values, scale):
    assume(scale)
    before, after = mean_interval(values), mean_interval([value * scale for value in values])
    ends = sorted([before.low * scale, before.high * scale])
    assert after.mean == pytest.approx(before.mean * scale, abs=1e-9)
    assert [after.low, after.high] == pytest.approx(ends, abs=1e-9)
    assert after.spread == pytest.approx(before.spread * abs(scale), abs=1e-9)


@settings(max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_units_changes_no_bit(values, shuffler: random.Random):
    shuffled = values.copy()
    shuffler.shuffle(shuffled)
    assert mean_interval(shuffled) == mean_interval(values)


@settings(max_examples=50)
@given(units)
def test_twice_the_confidence_is_wider_and_always_around_the_mean(values):
    narrow, wide = mean_interval(values, 0.5), mean_interval(values, 0.99)
    assert wide.low <= narrow.low <= narrow.mean <= narrow.high <= wide.high
    assert narrow.low < narrow.high
    assert math.isclose(wide.high - wide.mean, wide.mean - wide.low, abs_tol=1e-9)


def test_wilsons_interval_is_scipys():
    for hits, n in ((0, 10), (3, 10), (10, 10), (1, 200), (120, 200)):
        mine = binomial_share([1] * hits + [0] * (n - hits))
        known = binomtest(hits, n).proportion_ci(method="wilson")
        assert (mine.mean, mine.low, mine.high) == pytest.approx((hits / n, known.low, known.high))
    with pytest.raises(VeraxError, match="give 0 or 1 for each"):
        binomial_share([0.5])
