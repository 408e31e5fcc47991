"""Intervals of mean shares: against statsmodels' exact binomial one, inside the scale, and with width at its ends."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from verax.errors import VeraxError
from verax.stats import any_share, mean_share, sharing
from verax.stats.means import share_ends, share_interval


@pytest.mark.parametrize(("hits", "of"), [(0, 20), (3, 20), (19, 20), (20, 20), (57, 190)])
def test_many_degrees_of_freedom_give_the_exact_binomial_interval(hits, of):
    assert share_ends(hits / of, of, 1e9) == pytest.approx(
        proportion_confint(hits, of, method="beta"), abs=1e-6
    )


def test_the_formula_written_out():
    values = np.array([0.9, 0.8, 1.0, 0.95, 0.7, 0.85])
    mean = values.mean()
    phi = (5 * values.var(ddof=1) / (mean * (1 - mean)) + 0.4) / 7
    n = 6 / phi * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 5)) ** 2
    low, high = (
        stats.beta.ppf(0.025, mean * n, n - mean * n + 1),
        stats.beta.ppf(0.975, mean * n + 1, n - mean * n),
    )
    found = mean_share(values)
    assert (found.mean, found.low, found.high, found.n) == pytest.approx((mean, low, high, 6))
    assert found.spread == pytest.approx(values.std(ddof=1))
    # Where half is the most that is possible, it is the same interval of twice the shares.
    half = mean_share(values / 2, most=0.5)
    assert (half.mean, half.low, half.high) == pytest.approx((mean / 2, low / 2, high / 2))


@given(st.lists(st.floats(0, 1), min_size=5, max_size=30), st.sampled_from([0.5, 0.9, 0.99]))
def test_the_interval_holds_the_mean_and_stays_on_the_scale(values, level):
    found = mean_share(values, level=level)
    assert 0 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= 1
    assert found.low < found.high


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_units_that_all_score_alike_at_an_end_have_an_interval_of_some_width(value):
    found = mean_share([value] * 8)
    assert found.high - found.low > 0.01
    assert value in (found.low, found.high)
    words = sharing(list(combinations("abcdefghi", 2)))
    few, many = mean_share([value] * 36, words), mean_share([value] * 36)
    assert few.high - few.low > 2 * (many.high - many.low)


def test_units_that_differ_by_rounding_alone_have_an_interval_too():
    # Six times 0.95, summed and divided by six, is not 0.95: that is no spread.
    found = mean_share(
        [0.95] * 6, sharing([("a", "b"), ("a", "c"), ("d", "e"), ("f", "g"), ("h", "i"), ("k", "l")]), 0.95
    )
    assert found.high == 0.95
    assert found.low < 0.94


def test_below_five_units_there_is_the_mean_only():
    assert (mean_share([0.5, 0.7, 0.9, 1.0]).low, mean_share([0.5]).spread) == (None, None)
    assert mean_share([0.5, 0.7, 0.9, 1.0, 1.0]).low is not None
    assert mean_share([0.5, 0.7, 0.9, 1.0, 1.0], sharing(["ab"] * 5)).low is None


def test_an_interval_from_a_standard_error():
    low, high = share_interval(0.8, 0.04, 30)
    assert 0.6 < low < 0.8 < high < 0.9
    assert (low, high) == pytest.approx(share_ends(0.8, 100, 30))
    assert share_interval(1.0, 0.04, 30) is None
    assert share_interval(0.5, 0.0, 30) is None


@pytest.mark.parametrize(("values", "most"), [([0.5, 1.1], 1.0), ([-0.1, 0.5], 1.0), ([0.6], 0.5)])
def test_what_is_no_share_gets_a_sentence(values, most):
    with pytest.raises(VeraxError, match="shares lie between 0 and"):
        mean_share(values, most=most)


@pytest.mark.parametrize("hits", [0, 3, 8])
def test_the_interval_without_a_distribution_is_clopper_and_pearsons_of_zeros_and_ones(hits):
    found = any_share([1.0] * hits + [0.0] * (8 - hits))
    exact = stats.binomtest(hits, 8).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-5)


def test_the_interval_without_a_distribution_is_a_quantile_under_random_weights():
    values = np.array([0.0, 0.01, 0.02, 0.0, 0.3])
    weights = np.random.default_rng(1).dirichlet(np.ones(6), 400_000)
    found = any_share(values)
    assert found.high == pytest.approx(np.quantile(weights @ np.append(values, 1.0), 0.975), abs=0.002)
    assert found.low == pytest.approx(np.quantile(weights @ np.append(values, 0.0), 0.025), abs=0.0005)
    assert (any_share(values[:4]).low, any_share(values[:4]).high) == (None, None)


@pytest.mark.parametrize("values", [[], [0.5, 1.2], [-0.1, 0.5]])
def test_values_that_are_no_shares_are_a_sentence_there_too(values):
    with pytest.raises(VeraxError, match=r"no value|shares lie between 0 and 1"):
        any_share(values)
