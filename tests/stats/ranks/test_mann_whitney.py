"""Mann-Whitney: against scipy, enumeration and R; effect sizes by hand; coverage of intervals; the laws."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verax.errors import VeraxError
from verax.stats.ranks import (
    EXACT_PAIRS,
    RankTest,
    mann_whitney,
    rank_sum_counts,
    superiority_interval,
)

samples = st.lists(st.integers(0, 5), min_size=1, max_size=5)


def plain_u(first, second):
    return sum((x > y) + (x == y) / 2 for x in first for y in second)


def enumerated_p(first, second):
    """Twice the smaller tail of U over all ways to choose the first sample."""
    values = [*first, *second]
    found, whole, low, high = plain_u(first, second), 0, 0, 0
    for chosen in combinations(range(len(values)), len(first)):
        ours = [values[place] for place in chosen]
        u = plain_u(ours, [value for place, value in enumerate(values) if place not in chosen])
        whole, low, high = whole + 1, low + (u <= found), high + (u >= found)
    return min(1, 2 * min(low, high) / whole)


def test_by_hand():
    # 3 > 1, 2; 5 > 1, 2, 4: U = 5 of 6 pairs. Ten choices of two among five: U = 6 once, 5 once, so p = 2 · 2/10.
    found = mann_whitney([3, 5], [1, 2, 4])
    assert (found.u, found.exact, found.n_first, found.n_second) == (5, True, 2, 3)
    assert found.p == pytest.approx(0.4)
    assert found.superiority == pytest.approx(5 / 6)
    assert found.cliffs_delta == pytest.approx(4 / 6)


@settings(max_examples=60, deadline=None)
@given(samples, samples)
def test_exact_p_with_ties_is_the_enumerated_one(first, second):
    found = mann_whitney(first, second)
    assert found.u == plain_u(first, second)
    assert found.exact
    assert found.p == pytest.approx(enumerated_p(first, second), rel=1e-12)


@pytest.mark.parametrize(("m", "n"), [(3, 4), (8, 8), (1, 12), (30, 20), (50, 50)])
def test_equal_to_scipys_exact_test(m, n):
    rng = np.random.default_rng(m)
    first, second = rng.normal(size=m), rng.normal(0.6, 1, n)
    expected = stats.mannwhitneyu(first, second, method="exact")
    found = mann_whitney(first, second)
    assert (found.u, found.exact) == (expected.statistic, True)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("decimals", [0, 9])
def test_equal_to_scipys_approximation_where_large(decimals):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=70).round(decimals), rng.normal(0.4, 1, 60).round(decimals)
    assert len(first) * len(second) > EXACT_PAIRS
    found = mann_whitney(first, second)
    assert not found.exact
    assert found.p == pytest.approx(stats.mannwhitneyu(first, second, method="asymptotic").pvalue, rel=1e-9)
    assert mann_whitney([1.0] * 60, [1.0] * 60).p == 1.0


def test_equal_to_r():
    """R's exact test (wilcox.test); made by r/make_fixtures.py."""
    fixture = json.loads((Path(__file__).parents[1] / "r" / "rank_tests.json").read_text())
    for case in fixture["tests"]:
        found = mann_whitney(case["first"], case["second"])
        assert found.u == case["u"]
        assert found.p == pytest.approx(case["p"], rel=1e-9)


def test_counts_of_rank_sums_are_all_choices():
    counts = rank_sum_counts(np.array([1, 2.5, 2.5, 4, 5]), 2)
    sums = [2 * a + 2 * b for a, b in combinations([1, 2.5, 2.5, 4, 5], 2)]
    assert {place: count for place, count in enumerate(counts) if count} == {
        total: sums.count(total) for total in set(sums)
    }


def test_superiority_interval_solves_its_equation_and_stays_on_the_scale():
    m, n, z = 7, 11, 1.959963985
    for found in (0.1, 0.5, 0.83):
        for end in superiority_interval(found, m, n):
            spread = 1 + ((m + n) / 2 - 1) * ((1 - end) / (2 - end) + end / (1 + end))
            assert abs(found - end) == pytest.approx(
                z * math.sqrt(end * (1 - end) * spread / (m * n)), abs=1e-8
            )
    low, high = superiority_interval(0.0, 5, 5)
    assert low == 0
    assert 0.2 < high < 0.5
    assert superiority_interval(1.0, 5, 5) == pytest.approx((1 - high, 1), abs=1e-9)
    assert superiority_interval(0.7, 1, 1)[0] > 0


@pytest.mark.parametrize(("m", "n"), [(8, 8), (5, 20), (30, 30)])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_superiority_is_covered_in_95_percent(m, n, shift):
    rng = np.random.default_rng([m, n])
    truth = stats.norm.cdf(shift / math.sqrt(2))
    experiments, held = 1000, 0
    for _ in range(experiments):
        first, second = rng.normal(shift, 1, m), rng.normal(size=n)
        u = (first[:, None] > second).sum() / (m * n)
        low, high = superiority_interval(u, m, n)
        held += low <= truth <= high
    assert 0.93 < held / experiments < 0.985


@settings(max_examples=60, deadline=None)
@given(samples, samples, st.integers(-3, 3))
def test_the_other_order_mirrors_everything_and_a_shift_of_both_changes_nothing(first, second, move):
    forth, back = mann_whitney(first, second), mann_whitney(second, first)
    assert back.p == pytest.approx(forth.p)
    assert back.superiority == pytest.approx(1 - forth.superiority)
    assert back.cliffs_delta == pytest.approx(-forth.cliffs_delta)
    assert (back.superiority_low, back.superiority_high) == pytest.approx(
        (1 - forth.superiority_high, 1 - forth.superiority_low), abs=1e-9
    )
    moved = mann_whitney([x + move for x in first], [y + move for y in second])
    assert (moved.u, moved.p) == pytest.approx((forth.u, forth.p))


def test_json():
    found = mann_whitney([1, 2, 3], [4, 5, 6])
    assert RankTest(**json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mann_whitney([], [1]), "first sample is empty"),
        (lambda: mann_whitney([1], []), "second sample is empty"),
        (lambda: mann_whitney([1, math.nan], [1]), "Value 2 of 2 is nan"),
        (lambda: mann_whitney([1], [2], level=1), "between 0 and 1"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()
