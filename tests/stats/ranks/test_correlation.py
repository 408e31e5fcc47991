"""Rank correlation over few methods: against scipy, by enumeration, and by simulated comparisons."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verax.errors import VeraxError
from verax.stats.rank_correlations import kendall_rows, rank_correlation, spearman_rows

SCORES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=12)


@settings(max_examples=60, deadline=None)
@given(SCORES)
def test_rho_and_tau_are_scipys_ties_included(pairs):
    first, second = np.array(pairs, dtype=float).T
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert np.isnan(spearman_rows(first[None], second[None])[0])
        assert np.isnan(kendall_rows(first[None], second[None])[0])
        return
    assert spearman_rows(first[None], second[None])[0] == pytest.approx(stats.spearmanr(first, second)[0])
    assert kendall_rows(first[None], second[None])[0] == pytest.approx(stats.kendalltau(first, second)[0])


def test_p_counts_all_arrangements():
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 3.0, 5.0, 4.0]
    found = rank_correlation(first, second, draws=100)
    # By hand: d = 1, 1, 0, 1, 1, so rho = 1 - 6 * 4 / 120 = 0.8; 8 of 10 pairs agree, so tau = 0.6.
    assert found.spearman == pytest.approx(0.8)
    assert found.kendall == pytest.approx(0.6)
    far = sum(abs(stats.spearmanr(first, order)[0]) >= 0.8 - 1e-9 for order in permutations(second))
    assert found.p_spearman == pytest.approx(far / 120)
    assert found.p_kendall == pytest.approx(stats.kendalltau(first, second, method="exact")[1])
    assert (found.exact, found.arrangements) == (True, 120)


def test_tied_scores_are_arranged_too():
    first, second = [1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0]
    far = [stats.spearmanr(first, order)[0] for order in permutations(second)]
    observed = stats.spearmanr(first, second)[0]
    expected = np.mean([abs(rho) >= observed - 1e-9 for rho in far])
    assert rank_correlation(first, second, draws=100).p_spearman == pytest.approx(expected)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_the_smallest_p_is_that_of_the_same_order(n):
    found = rank_correlation(range(n), range(n), draws=100)
    assert found.p_spearman == found.p_kendall == found.smallest_p == 2 / factorial(n)


def test_four_methods_cannot_reach_significance():
    assert rank_correlation(range(4), range(4), draws=100).smallest_p > 0.05
    assert rank_correlation(range(5), range(5), draws=100).smallest_p < 0.05


def test_more_than_nine_methods_are_arranged_by_chance_and_nearly_as_scipy_does():
    rng = np.random.default_rng(3)
    first = rng.normal(size=14)
    second = first + rng.normal(size=14)
    found = rank_correlation(first, second, draws=100)
    assert not found.exact
    assert found.arrangements == 100_000
    assert found.p_kendall == pytest.approx(stats.kendalltau(first, second, method="exact")[1], abs=0.002)


def test_the_same_seed_gives_the_same_interval_and_another_another():
    first, second, error = [1.0, 2.0, 4.0, 3.0, 5.0], [1.0, 3.0, 2.0, 5.0, 4.0], [0.5] * 5
    one = rank_correlation(first, second, error, error, seed=1)
    assert one == rank_correlation(first, second, error, error, seed=1)
    assert -1 <= one.spearman_low <= one.spearman <= one.spearman_high <= 1


def test_errors_widen_the_interval():
    first = list(range(12))
    second = [5, 2, 0, 7, 1, 9, 4, 3, 11, 6, 10, 8]
    sure = rank_correlation(first, second)
    unsure = rank_correlation(first, second, [3.0] * 12, [3.0] * 12)
    assert unsure.spearman == sure.spearman
    assert unsure.spearman_high - unsure.spearman_low > 1.1 * (sure.spearman_high - sure.spearman_low)


@pytest.mark.parametrize("truth", [0.0, 0.8])
def test_the_interval_holds_the_true_correlation_of_scores_that_are_known_with_error(truth):
    """In nine of ten comparisons or more, where an interval from the estimates alone would often miss it."""
    rng = np.random.default_rng(5)
    pearson, error, held, missed = 2 * np.sin(np.pi * truth / 6), 0.6, 0, 0
    for _ in range(60):
        first = rng.normal(size=16)
        second = pearson * first + np.sqrt(1 - pearson**2) * rng.normal(size=16)
        noisy = [scores + error * rng.normal(size=16) for scores in (first, second)]
        for errors in (np.full(16, error), np.zeros(16)):
            found = rank_correlation(*noisy, errors, errors, draws=400)
            inside = found.spearman_low <= truth <= found.spearman_high
            held += inside and errors[0] > 0
            missed += not inside and errors[0] == 0
    assert held >= 0.9 * 60
    assert missed > 10 or truth == 0


def test_an_end_of_the_interval_is_the_true_correlation_that_shows_so_much_in_a_fortieth():
    """Seven methods in the same order: by another simulation, with other numbers, 2.5% show that at the lower end."""
    found = rank_correlation(range(7), range(7), draws=20_000)
    pearson = 2 * np.sin(np.pi * found.spearman_low / 6)
    rng = np.random.default_rng(99)
    covariance = [[1, pearson], [pearson, 1]]
    drawn = rng.multivariate_normal([0, 0], covariance, size=(100_000, 7)).argsort(axis=1).argsort(axis=1)
    same = (drawn[:, :, 0] == drawn[:, :, 1]).all(axis=1).mean()
    assert same == pytest.approx(0.025, abs=0.003)
    assert found.spearman_high == 1


@pytest.mark.parametrize("n", [5, 6, 7])
def test_the_interval_excludes_0_where_the_exact_test_rejects_and_only_there(n):
    rng = np.random.default_rng(n)
    for _ in range(12):
        found = rank_correlation(range(n), rng.permutation(n))
        excluded = found.spearman_low > 0 or found.spearman_high < 0
        # Where p lies within the simulation's error of .05 either may be.
        assert excluded == (found.p_spearman <= 0.05) or abs(found.p_spearman - 0.05) < 0.006


def test_four_methods_in_the_same_order_have_no_interval():
    found = rank_correlation(range(4), range(4))
    assert (found.spearman, found.spearman_low, found.kendall_high) == (1, None, None)


def test_a_score_that_is_the_same_for_all_has_no_correlation():
    found = rank_correlation([1, 1, 1], [1, 2, 3])
    assert (found.spearman, found.kendall, found.p_spearman, found.spearman_low) == (None,) * 4
    assert found.to_dict()["n"] == 3


@pytest.mark.parametrize(
    ("first", "second", "error", "says"),
    [
        ([1, 2], [1, 2], None, "at least 3 methods"),
        ([1, 2, 3], [1, 2], None, "3 first and 2 second"),
        ([1, 2, 3], [1, 2, 3], [1, 1], "2 standard errors for 3 scores"),
        ([1, 2, 3], [1, 2, 3], [1, -1, 1], "1 below 0"),
        ([1, 2, float("nan")], [1, 2, 3], None, "Value 3 of 3 is nan"),
    ],
)
def test_wrong_input_is_a_sentence(first, second, error, says):
    with pytest.raises(VeraxError, match=says):
        rank_correlation(first, second, error)
