"""What a result without an effect can say: equivalence within a margin, and the effect it could have found."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtr, stdtrit

from verax.errors import VeraxError
from verax.stats.record import Record
from verax.stats.student import t_critical
from verax.stats.thresholds import ALPHA


@dataclass(frozen=True)
class Equivalence(Record):
    """Two one-sided tests that a quantity lies inside a margin.

    Attributes:
        estimate: The quantity.
        lower: Lower end of the margin.
        upper: Upper end of the margin.
        low: Lower end of the interval of coverage 1 - 2 alpha (90% for alpha 5%).
        high: Its upper end.
        p: The larger of the two one-sided p-values; small speaks for equivalence.
        alpha: Share of false claims of equivalence.
    """

    estimate: float
    lower: float
    upper: float
    low: float
    high: float
    p: float
    alpha: float

    @property
    def equivalent(self) -> bool:
        """Whether the interval lies inside the margin; False is no evidence of a difference."""
        return self.p <= self.alpha

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON, with the verdict."""
        return {**super().to_dict(), "equivalent": self.equivalent}


def equivalence(
    estimate: float, se: float, df: float, margin: float | tuple[float, float], alpha: float = ALPHA
) -> Equivalence:
    """Whether an estimate is shown to lie inside a margin: its 1 - 2 alpha interval is included (TOST).

    Args:
        estimate: The estimate.
        se: Its standard error.
        df: Its degrees of freedom; infinite is the normal distribution.
        margin: Half-width of the margin around 0, or its lower and upper end. It must be fixed before the data.
        alpha: Share of false claims allowed.
    """
    _check_se(se, df)
    lower, upper = margin if isinstance(margin, tuple) else (-margin, margin)
    if not lower < upper:
        raise VeraxError(
            f"The margin of equivalence is ({lower:g}, {upper:g}): its lower end must be the smaller."
        )
    if not 0 < alpha < 0.5:
        raise VeraxError(
            f"The share of false claims is {alpha}: give a number between 0 and 0.5, such as 0.05."
        )
    half = t_critical(1 - 2 * alpha, df) * se
    above_lower, below_upper = stdtr(df, -(estimate - lower) / se), stdtr(df, (estimate - upper) / se)
    p = float(max(above_lower, below_upper))
    return Equivalence(
        float(estimate), float(lower), float(upper), estimate - half, estimate + half, p, alpha
    )


def detectable(se: float, df: float, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest true effect that a test with this standard error finds with this power.

    (t((1 + level) / 2, df) + t(power, df)) · se: what "not significant" cannot exclude. It takes the standard error
    as known, so read it as a size ("about 15 points"), not as a limit.
    """
    _check_se(se, df)
    if not 0 < power < 1:
        raise VeraxError(f"The power is {power}: give a number between 0 and 1, such as 0.8.")
    return float((t_critical(level, df) + stdtrit(df, power)) * se)


def _check_se(se: float, df: float) -> None:
    """Refuses an estimate without uncertainty."""
    if not (math.isfinite(se) and se > 0 and df > 0):
        raise VeraxError(
            f"The standard error is {se} with {df} degrees of freedom: both must be above 0; "
            "where all participants score the same nothing can be said about uncertainty."
        )
