"""Dunnett's distribution: printed tables, scipy, and its place between one test and Bonferroni."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from verax.stats.tests.multiplicity import many_to_one_critical, many_to_one_p


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
    control, *others = groups
    difference = np.array([group.mean() - control.mean() for group in others])
    se = np.sqrt([pooled / len(group) + pooled / len(control) for group in others])
    loadings = np.sqrt(pooled / len(control)) / se
    expected = stats.dunnett(*others, control=control, rng=np.random.default_rng(0))
    found = [many_to_one_p(t, loadings, df) for t in difference / se]
    assert found == pytest.approx(expected.pvalue, abs=2e-4)
    margin = many_to_one_critical(0.95, loadings, df) * se
    interval = expected.confidence_interval(0.95)
    assert difference - margin == pytest.approx(interval.low, abs=5e-3)
    assert difference + margin == pytest.approx(interval.high, abs=5e-3)


def test_one_comparison_is_the_t_test():
    t = 1 / np.sqrt(0.5)
    loading = np.array([np.sqrt(0.2 / 0.5)])
    assert many_to_one_p(t, loading, 6.5) == pytest.approx(2 * stats.t.sf(t, 6.5), abs=1e-9)
    assert many_to_one_critical(0.95, loading, 6.5) == pytest.approx(stats.t.ppf(0.975, 6.5), abs=1e-9)


@pytest.mark.parametrize("df", [1, 4.3, 50, math.inf])
def test_between_one_test_and_bonferroni(df):
    loadings = np.array([0.3, 0.7, 0.9])
    for t in (0.5, 2.0, 4.0):
        alone = 2 * stats.t.sf(t, df)
        assert alone < many_to_one_p(t, loadings, df) < min(1, 3 * alone)
    assert many_to_one_p(many_to_one_critical(0.9, loadings, df), loadings, df) == pytest.approx(
        0.1, abs=1e-8
    )
