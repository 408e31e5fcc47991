"""Means of shares with intervals that never leave the scale: Korn and Graubard's, and Gaffke's.

`mean_share` is Korn and Graubard's (1998) interval with a shrunk dispersion.

A mean m of shares over K units counts as m · n successes of n, with the n whose binomial variance is that of the mean:
n = (K / phi) · (z / t)², phi = s² / (m (1 - m)), z and t the quantiles of the normal and of Student's distribution.
Clopper and Pearson's exact interval follows. Near the ends of the scale s² is often far too small, by chance; so phi is
drawn towards 0.2 as if two more units had shown that: phi = ((K - 1) · s² / (m (1 - m)) + 2 · 0.2) / (K + 1). The
interval has width where all units score the same.

`any_share` supposes nothing about how units spread: a single unit may be far from all others, as a trained model may be
on which an explainer fails. It is wide with few units, and has to be: five units that all score 0 leave open that half
of all others score 1.

How often they hold the truth, beside t intervals, which leave the scale, is in docs/results/calibration.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.checks import finite_vector
from verax.stats.estimate import Estimate
from verax.stats.sharing import Sharing, spread_of_mean, variance_of
from verax.stats.student import check_level, t_critical
from verax.stats.thresholds import FEWEST_UNITS

# The dispersion that units are thought to have before they are seen, and how many units that thought is worth.
EXPECTED, WORTH = 0.2, 2
# Where the integral of `any_share` is summed up, as logarithms.
_STEP = 0.05
_NODES = np.arange(-15.0, 40.0, _STEP)


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
    return share_around(mean, vector, shared, most, level)


def share_around(
    mean: float, values: FloatArray, shared: Sharing | None = None, most: float = 1.0, level: float = 0.95
) -> Estimate:
    """A mean of shares with its interval from one value per unit, whose mean it is; below five units the mean only.

    Args:
        mean: from 0 to ``most``.
        values: one per unit. Where units weigh differently in the mean, these are what they add to it, times their
            number, and may leave the scale.
        shared: what units have in common (stains share words); None if nothing.
        most: the largest share that is possible.
        level: coverage wanted.
    """
    units = len(values)
    spread = math.sqrt(variance_of(values)) if units > 1 else None
    found = spread_of_mean(values, shared)
    if units < FEWEST_UNITS or found.variance is None:
        return Estimate(mean, None, None, units, spread, level)
    share = min(max(mean / most, 0.0), 1.0)
    room = share * (1 - share)
    seen = (units - 1) * variance_of(values / most) / room if room > 0 else 0.0
    dispersion = (seen + WORTH * EXPECTED) / (units - 1 + WORTH)
    # Where all score alike, nothing shows that common parts matter less than they could.
    effect = found.design_effect if found.variance > 0 or shared is None else shared.most
    low, high = share_ends(share, units / (dispersion * effect), found.df, level)
    return Estimate(mean, most * low, most * high, units, spread, level)


def any_share(values: ArrayLike, level: float = 0.95) -> Estimate:
    """The mean of one share per unit with Gaffke's (2005) interval; below five units the mean only.

    The upper end is a quantile of the weighted mean of the values and of 1, with weights drawn uniformly from all that
    sum to 1; the lower end likewise with 0. Where units score 0 or 1 it is Clopper and Pearson's interval. That it
    holds the mean of any distribution between 0 and 1 is proven for some and a conjecture for the rest, which
    simulations bear out.

    Args:
        values: one share per unit, from 0 to 1.
        level: coverage wanted.
    """
    vector = finite_vector(values)
    units = len(vector)
    check_level(level)
    if units == 0:
        raise VeraxError("There is no value to average: give at least one unit.")
    if vector.min() < 0 or vector.max() > 1:
        raise VeraxError(
            f"The values go from {vector.min():g} to {vector.max():g}: shares lie between 0 and 1."
        )
    mean = math.fsum(vector) / units
    spread = math.sqrt(variance_of(vector)) if units > 1 else None
    if units < FEWEST_UNITS:
        return Estimate(mean, None, None, units, spread, level)
    tail = (1 - level) / 2
    high, low = _most(vector, 1 - tail), 1 - _most(1 - vector, 1 - tail)
    return Estimate(mean, min(max(low, 0.0), mean), max(min(high, 1.0), mean), units, spread, level)


def _most(values: FloatArray, quantile: float) -> float:
    """The quantile of the mean of the values and 1 under random weights.

    Such weights are exponential numbers over their sum, so that the mean is at most t where the sum of number times
    (value - t) is at most 0; how likely that is follows from the sum's characteristic function (Imhof 1961).
    """
    sides = np.append(values, 1.0)

    def below(t: float) -> float:
        reach = np.exp(_NODES)[:, None] * (sides - t)
        waves = np.sin(np.arctan(reach).sum(axis=1)) * np.exp(-0.5 * np.log1p(reach**2).sum(axis=1))
        return 0.5 - float(waves.sum()) * _STEP / math.pi

    if values.min() == 1:
        return 1.0
    return float(brentq(lambda t: below(t) - quantile, values.min(), 1.0, xtol=1e-9))


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
