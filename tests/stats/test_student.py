"""The t distribution's factor and p-value equal tables and scipy.stats."""

from __future__ import annotations

import pytest
from scipy import stats

from verax.errors import VeraxError
from verax.stats.estimate import t_critical, two_sided_p


def test_factors_of_the_printed_table():
    # Student's table, two-sided: df 1, 4, 10, 99.
    assert t_critical(0.95, 1) == pytest.approx(12.706, abs=5e-4)
    assert t_critical(0.95, 4) == pytest.approx(2.776, abs=5e-4)
    assert t_critical(0.95, 10) == pytest.approx(2.228, abs=5e-4)
    assert t_critical(0.99, 10) == pytest.approx(3.169, abs=5e-4)
    assert t_critical(0.95, 1e6) == pytest.approx(1.960, abs=5e-4)


@pytest.mark.parametrize("df", [1, 2, 3.7, 19, 99, 5000])
def test_equal_to_scipy_stats_into_the_far_tail(df):
    for level in (0.5, 0.9, 0.95, 0.999):
        assert t_critical(level, df) == pytest.approx(stats.t.ppf((1 + level) / 2, df), rel=1e-9)
    for t in (0.0, 0.3, -2.0, 8.0, -30.0):
        assert two_sided_p(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9, abs=1e-300)


def test_p_at_the_factor_is_what_the_interval_leaves_out():
    for df in (1, 6, 40):
        assert two_sided_p(t_critical(0.9, df), df) == pytest.approx(0.1, rel=1e-9)
    assert two_sided_p(0.0, 3) == 1.0
    assert two_sided_p(float("inf"), 3) == 0.0


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5, float("nan")])
def test_a_level_outside_0_and_1_is_refused(level):
    with pytest.raises(VeraxError, match=r"between 0 and 1, such as 0\.95"):
        t_critical(level, 5)
