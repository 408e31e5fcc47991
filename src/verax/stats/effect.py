"""An estimate with its standard error and degrees of freedom: its interval and its test."""

from __future__ import annotations

import math
from dataclasses import dataclass

from verax.stats.record import Record
from verax.stats.student import t_critical, two_sided_p


@dataclass(frozen=True)
class Effect(Record):
    """What a model says about one quantity.

    Attributes:
        name: What is estimated.
        estimate: Its value; None where it cannot be estimated.
        se: Standard error; None where there is none.
        df: Degrees of freedom of Student's t; infinite is the normal distribution.
        low: Lower end of the interval.
        high: Upper end of the interval.
        p: Two-sided test that the quantity is 0.
        level: Coverage of the interval.
        warnings: What a reader must know about it, one sentence each.
    """

    name: str
    estimate: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    p: float | None
    level: float = 0.95
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; infinite degrees of freedom are null."""
        return {
            **super().to_dict(),
            "df": None if self.df == math.inf else self.df,
            "warnings": list(self.warnings),
        }


def effect(
    name: str,
    estimate: float | None,
    se: float | None,
    df: float | None,
    level: float = 0.95,
    warnings: tuple[str, ...] = (),
) -> Effect:
    """The t interval and test of an estimate; without a positive standard error there is neither."""
    if estimate is None or not math.isfinite(estimate):
        return Effect(name, None, None, None, None, None, None, level, warnings)
    if se is None or df is None or not (math.isfinite(se) and se > 0):
        return Effect(name, float(estimate), None, None, None, None, None, level, warnings)
    margin = t_critical(level, df) * se
    return Effect(
        name,
        float(estimate),
        float(se),
        float(df),
        float(estimate - margin),
        float(estimate + margin),
        two_sided_p(estimate / se, df),
        level,
        warnings,
    )
