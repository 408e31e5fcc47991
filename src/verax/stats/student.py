"""Student's t distribution: the factor of an interval and the p-value of a test."""

from __future__ import annotations

from scipy.special import stdtr, stdtrit

from verax.errors import VeraxError


def check_level(level: float) -> None:
    """Refuses what is no coverage of an interval."""
    if not 0 < level < 1:
        raise VeraxError(f"The level of an interval is {level}: give a number between 0 and 1, such as 0.95.")


def t_critical(level: float, df: float) -> float:
    """The t with P(-t < T < t) = level; the interval is mean ± t · standard error."""
    check_level(level)
    return float(stdtrit(df, (1 + level) / 2))


def two_sided_p(t: float, df: float) -> float:
    """P(|T| >= |t|) = 2 · P(T <= -|t|)."""
    return float(2 * stdtr(df, -abs(t)))
