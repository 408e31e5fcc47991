"""Means over units that share parts: stains that share words are not independent.

With x_k the value of unit k and m_kl the number of parts that units k and l have in common, let

    E (x_k - x_l)² / 2 = s² - m_kl · c,

where s² is the variance of a value and c what one common part adds to the covariance of two. Pairs without a common
part give s² (the baseline), the others c, by least squares through that baseline, at least 0 and at most what makes
two equal units correlate by 1. The variance of the mean over K units is then

    V = s² / K + c · (sum over k ≠ l of m_kl) / K²,

and its degrees of freedom are those of the fewer of units and distinct parts, less one: 36 stains of nine words are
nine words. Where c is 0, or nothing is shared, V is the usual s² / K with the usual s².
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Sharing:
    """Which parts units have in common.

    Attributes:
        common: (units, units): number of common parts; the diagonal has the number of a unit's own.
        parts: how many distinct parts there are.
    """

    common: IntArray
    parts: int

    @property
    def most(self) -> float:
        """How many times the usual variance of a mean it is, if parts make all of the difference between units."""
        units = len(self.common)
        own = self.common.diagonal().mean() if units else 1.0
        return float(self.common.sum() / (units * own)) if units and own else 1.0


def sharing(parts: Sequence[Collection[Hashable]]) -> Sharing:
    """Counts what units have in common.

    Args:
        parts: of each unit: the words of a stain.
    """
    places: dict[Hashable, int] = {}
    for own in parts:
        for part in own:
            places.setdefault(part, len(places))
    member = np.zeros((len(parts), len(places)), dtype=np.int64)
    for row, own in enumerate(parts):
        member[row, [places[part] for part in own]] = 1
    return Sharing(member @ member.T, len(places))


@dataclass(frozen=True)
class Spread:
    """How much a mean over units would vary.

    Attributes:
        variance: of the mean; None where it cannot be told: one unit, or no two units without a common part.
        df: its degrees of freedom.
        design_effect: the variance over that of units which share nothing.
    """

    variance: float | None
    df: int
    design_effect: float = 1.0


def spread_of_mean(values: FloatArray, shared: Sharing | None = None) -> Spread:
    """The variance of the mean of units that may share parts.

    Args:
        values: one number per unit.
        shared: what they have in common; None if nothing.
    """
    units = len(values)
    if units < 2:
        return Spread(None, 0)
    usual = variance_of(values) / units
    if shared is None:
        return Spread(usual, units - 1)
    df = max(min(units, shared.parts) - 1, 1)
    first, second = np.triu_indices(units, 1)
    common = shared.common[first, second]
    if not common.any():
        return Spread(usual, df)
    if common.all():
        return Spread(None, df)
    halves = (values[first] - values[second]) ** 2 / 2
    alone = math.fsum(halves[common == 0]) / int((common == 0).sum())
    added = math.fsum((alone - halves) * common) / int((common**2).sum())
    most = alone / float(shared.common.diagonal().mean())
    added = min(max(added, 0.0), most)
    if added == 0.0 or usual == 0.0:
        return Spread(usual, df)
    variance = alone / units + added * 2 * float(common.sum()) / units**2
    return Spread(variance, df, variance / usual)


def variance_of(values: FloatArray) -> float:
    """The variance (divisor n - 1) by exactly rounded sums: the same numbers in any order give the same bytes."""
    mean = math.fsum(values) / len(values)
    return math.fsum((values - mean) ** 2) / (len(values) - 1)
