"""Means of shares with intervals that never leave the scale: Korn and Graubard (1998), with a shrunk dispersion.

A mean m of shares over K units counts as m · n successes of n, with the n whose binomial variance is that of the mean:
n = (K / phi) · (z / t)², phi = s² / (m (1 - m)), z and t the quantiles of the normal and of Student's distribution.
Clopper and Pearson's exact interval follows. Near the ends of the scale s² is often far too small, by chance; so phi is
drawn towards 0.2 as if two more units had shown that: phi = ((K - 1) · s² / (m (1 - m)) + 2 · 0.2) / (K + 1). The
interval has width where all units score the same.

How often it holds the truth, beside t intervals, which leave the scale, is in docs/results/calibration.md.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from verax.errors import VeraxError
from verax.stats.checks import finite_vector
from verax.stats.estimate import Estimate
from verax.stats.sharing import Sharing, spread_of_mean, variance_of
from verax.stats.student import t_critical
from verax.stats.thresholds import FEWEST_UNITS

# The dispersion that units are thought to have before they are seen, and how many units that thought is worth.
EXPECTED, WORTH = 0.2, 2


def mean_share(
    values: ArrayLike, shared: Sharing | None = None, most: float = 1.0, level: float = 0.95
) -> Estimate:
    """The mean of one share per unit, with an interval inside the scale; below five units the mean only.

    Args:
        values: one share per unit, from 0 to ``most``.
        shared: what units have in common (stains share words); None if nothing.
        most: the largest value that is possible: recall among one feature of two is at most 0.5.
        level: coverage wanted.
    """
    vector = finite_vector(values)
    units = len(vector)
    if units == 0:
        raise VeraxError("There is no value to average: give at least one unit.")
    rounding = 1e-9 * most
    if most <= 0 or vector.min() < -rounding or vector.max() > most + rounding:
        raise VeraxError(
            f"The values go from {vector.min():g} to {vector.max():g}: shares lie between 0 and {most:g}."
        )
    mean = float(vector[0]) if (vector == vector[0]).all() else math.fsum(vector) / units
    spread = math.sqrt(variance_of(vector)) if units > 1 else None
    found = spread_of_mean(vector, shared)
    if units < FEWEST_UNITS or found.variance is None:
        return Estimate(mean, None, None, units, spread, level)
    share = min(max(mean / most, 0.0), 1.0)
    room = share * (1 - share)
    seen = (units - 1) * variance_of(vector / most) / room if room > 0 else 0.0
    dispersion = (seen + WORTH * EXPECTED) / (units - 1 + WORTH)
    # Where all score alike, nothing shows that common parts matter less than they could.
    effect = found.design_effect if found.variance > 0 or shared is None else shared.most
    low, high = share_ends(share, units / (dispersion * effect), found.df, level)
    return Estimate(mean, most * low, most * high, units, spread, level)


def share_ends(share: float, size: float, df: float, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share that is worth ``size`` answers, widened for few degrees of freedom.

    Args:
        share: the estimate, from 0 to 1.
        size: the number of independent answers whose binomial variance it has: share (1 - share) / variance.
        df: degrees of freedom of that variance.
        level: coverage wanted.
    """
    answers = size * (float(ndtri((1 + level) / 2)) / t_critical(level, df)) ** 2
    hits, misses, tail = share * answers, (1 - share) * answers, (1 - level) / 2
    low = 0.0 if hits <= 0 else float(betaincinv(hits, misses + 1, tail))
    high = 1.0 if misses <= 0 else float(betaincinv(hits + 1, misses, 1 - tail))
    return min(low, share), max(high, share)


def share_interval(share: float, se: float, df: float, level: float = 0.95) -> tuple[float, float] | None:
    """The interval of an estimated share from its standard error; None at 0 and 1, where that tells nothing."""
    if not (0 < share < 1 and se > 0):
        return None
    return share_ends(share, share * (1 - share) / se**2, df, level)
