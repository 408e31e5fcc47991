"""Dunnett's and the largest-t corrections: printed tables, scipy, each other, laws, and the error they promise."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from verax.errors import VeraxError
from verax.stats.tests.families import dunnett, many_to_one_critical, many_to_one_p, max_t, max_t_of_draws


@pytest.mark.parametrize(
    ("df", "others", "printed"),
    [(5, 2, 3.03), (10, 4, 2.89), (20, 4, 2.65), (20, 9, 2.95), (60, 2, 2.27), (math.inf, 4, 2.44)],
)
def test_two_sided_five_percent_points_of_dunnetts_table(df, others, printed):
    equal = np.full(others, np.sqrt(0.5))
    assert many_to_one_critical(0.95, equal, df) == pytest.approx(printed, abs=0.006)


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_scipy_with_unequal_groups(seed):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(shift, 1, n) for shift, n in ((0, 9), (0.8, 5), (1.2, 12), (0.1, 7))]
    df = sum(map(len, groups)) - 4
    pooled = sum((len(g) - 1) * g.var(ddof=1) for g in groups) / df
    found = dunnett([g.mean() for g in groups], [pooled / len(g) for g in groups], df)
    expected = stats.dunnett(*groups[1:], control=groups[0], rng=np.random.default_rng(0))
    assert found.p == pytest.approx(expected.pvalue, abs=2e-4)
    interval = expected.confidence_interval(0.95)
    assert found.low == pytest.approx(interval.low, abs=5e-3)
    assert found.high == pytest.approx(interval.high, abs=5e-3)


def test_the_control_may_stand_anywhere():
    means, variances = [0.3, 0.1, 0.5], [0.01, 0.02, 0.03]
    first, last = dunnett(means, variances, 12, control=1), dunnett([0.1, 0.3, 0.5], [0.02, 0.01, 0.03], 12)
    assert first == last
    assert first.estimates == pytest.approx((0.2, 0.4))


def test_one_comparison_is_the_t_test():
    found = dunnett([0.0, 1.0], [0.2, 0.3], 6.5)
    t = 1 / np.sqrt(0.5)
    assert found.p[0] == pytest.approx(2 * stats.t.sf(t, 6.5), abs=1e-9)
    assert found.critical == pytest.approx(stats.t.ppf(0.975, 6.5), abs=1e-9)


@pytest.mark.parametrize("df", [1, 4.3, 50, math.inf])
def test_between_one_test_and_bonferroni(df):
    loadings = np.array([0.3, 0.7, 0.9])
    for t in (0.5, 2.0, 4.0):
        alone = 2 * stats.t.sf(t, df)
        assert alone < many_to_one_p(t, loadings, df) < min(1, 3 * alone)
    assert many_to_one_p(many_to_one_critical(0.9, loadings, df), loadings, df) == pytest.approx(
        0.1, abs=1e-8
    )


def test_max_t_of_dunnetts_correlations_is_dunnetts():
    means, variances, df = np.array([0.1, 0.9, 0.5, 0.2]), np.array([0.05, 0.06, 0.04, 0.1]), 9
    expected = dunnett(means, variances, df)
    covariance = np.diag(variances[1:]) + variances[0]
    found = max_t(means[1:] - means[0], covariance, df)
    assert found.p == pytest.approx(expected.p, abs=2e-3)
    assert found.critical == pytest.approx(expected.critical, abs=0.01)


def test_max_t_of_independent_normal_estimates_is_sidaks():
    found = max_t([1.0, 2.0, -2.5], np.eye(3), math.inf)
    alone = 2 * stats.norm.sf([1.0, 2.0, 2.5])
    assert found.p == pytest.approx(1 - (1 - alone) ** 3, abs=1e-3)
    perfectly = max_t([1.0, 2.0], np.ones((2, 2)), math.inf)
    assert perfectly.p == pytest.approx(2 * stats.norm.sf([1.0, 2.0]), abs=1e-3)
    assert max_t([1.0, 2.0], np.eye(2), 5) == max_t([1.0, 2.0], np.eye(2), 5)


def test_draws_by_hand():
    # Observed 3, 2, 1. Largest of all in each draw: 4, 1, 2.5, 0; of the last two: 1, 1, 2.5, 0; of the last: 1, 0, 1,
    # 0. At least as large are 1, 1 and 2 of them.
    draws = [[-4, 1, 1], [0, -1, 0], [1, 2.5, 1], [0, 0, 0]]
    assert max_t_of_draws([3, -2, 1], draws) == pytest.approx([2 / 5, 2 / 5, 3 / 5])
    # Later p-values are never smaller: the second alone would be 1/5.
    assert max_t_of_draws([3, 2.9, 1], draws) == pytest.approx([2 / 5, 2 / 5, 3 / 5])


def test_draws_correct_five_equal_tests_to_five_percent():
    rng = np.random.default_rng(0)
    claims, studies, draws = 0, 400, 199
    root = np.linalg.cholesky(0.5 * np.eye(5) + 0.5)
    for _ in range(studies):
        t = rng.standard_normal((draws + 1, 5)) @ root.T
        claims += (max_t_of_draws(t[0], t[1:]) <= 0.05).any()
    assert claims / studies == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / studies))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: dunnett([1.0], [1.0], 5), "1 estimates and 1 variances"),
        (lambda: dunnett([1.0, 2.0], [1.0], 5), "2 estimates and 1 variances"),
        (lambda: dunnett([1.0, 2.0], [1.0, 0.0], 5), "variance is 0"),
        (lambda: max_t([1.0], np.eye(2), 5), r"shape \(2, 2\) for 1 estimates"),
        (lambda: max_t_of_draws([1.0], [[1.0, 2.0]]), r"shape \(1, 2\) for 1 statistics"),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()


def test_json():
    assert len(json.loads(json.dumps(dunnett([0.0, 1.0, 2.0], [1.0] * 3, 5).to_dict()))["p"]) == 2
