"""A mean with its interval, where each unit (a stain, a participant) gives one value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from verax.errors import VeraxError
from verax.stats.checks import finite_vector
from verax.stats.record import Record
from verax.stats.student import check_level, t_critical


@dataclass(frozen=True)
class Estimate(Record):
    """A mean over units with its interval.

    Attributes:
        mean: Mean over units.
        low: Lower end of the interval; None where values show no spread: one unit, or all alike.
        high: Upper end of the interval; None likewise.
        n: Number of units.
        spread: Standard deviation over units (divisor n - 1); None with one unit.
        level: Share of repeated experiments whose interval holds the true mean.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    spread: float | None
    level: float = 0.95


def mean_interval(values: ArrayLike, level: float = 0.95) -> Estimate:
    """The mean over units with Student's t interval: mean ± t(n - 1) · spread / sqrt(n).

    Several measurements of one unit are averaged first: fifty inputs of one stain are one value. Taken as fifty, their
    95% interval would hold the true mean in only about half of all experiments.

    The interval is exact for normal values and is not cut at the ends of a scale. Simulated with 5, 20 and 100 stains
    of 50 inputs that score 0 or 1, a 95% interval holds the true mean in 94, 95 and 95% of experiments when stains
    spread around the middle of the scale (Beta(3, 3)), in 91, 94 and 95% when they lean to one end (Beta(4, 1), mean
    0.8), and in 86, 92 and 94% when most are at that end (Beta(6, 0.6), mean 0.91): use 20 stains or more there.

    Args:
        values: One number per unit. Where all are equal there is no interval: one without width would claim too much.
        level: Coverage wanted.
    """
    vector = finite_vector(values)
    n = len(vector)
    if n == 0:
        raise VeraxError("There is no value to average: give at least one unit.")
    factor = t_critical(level, max(n - 1, 1))
    if n == 1:
        return Estimate(float(vector[0]), None, None, 1, None, level)
    # Exactly rounded sums: the same numbers in any order give the same bytes, and equal numbers exactly their value.
    mean = float(vector[0]) if (vector == vector[0]).all() else math.fsum(vector) / n
    spread = math.sqrt(math.fsum((vector - mean) ** 2) / (n - 1))
    if spread == 0:
        return Estimate(mean, None, None, n, spread, level)
    margin = factor * spread / math.sqrt(n)
    return Estimate(mean, mean - margin, mean + margin, n, spread, level)


def binomial_share(values: ArrayLike, level: float = 0.95) -> Estimate:
    """The share of units of which something is true, with Wilson's interval.

    Unlike Student's t it stays between 0 and 1, and of none in n units it does not say that there are none anywhere:
    its upper end is then about 3.8 / (n + 3.8).

    Args:
        values: 0 or 1 (or False and True) per unit.
        level: Coverage wanted.
    """
    vector = finite_vector(values)
    n = len(vector)
    if n == 0:
        raise VeraxError("There is no value to average: give at least one unit.")
    if not np.isin(vector, (0.0, 1.0)).all():
        raise VeraxError("A share is of units of which something is true or not: give 0 or 1 for each.")
    check_level(level)
    share = float(vector.sum()) / n
    z = float(ndtri(0.5 + level / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    margin = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    spread = math.sqrt(share * (1 - share) * n / (n - 1)) if n > 1 else None
    # At the ends the margin reaches to the share itself, but for rounding.
    low = 0.0 if share == 0 else middle - margin
    high = 1.0 if share == 1 else middle + margin
    return Estimate(share, low, high, n, spread, level)


def share_difference(first: Estimate, second: Estimate) -> Estimate:
    """How much larger the first of two shares is, with Newcombe's (1998) interval, method 10, from two Wilson ones.

    Args:
        first: A share with Wilson's interval, as `binomial_share` gives it, of units of its own.
        second: The same of other units.
    """
    if None in (first.low, first.high, second.low, second.high):
        raise VeraxError("A difference of shares needs the interval of each: take them from binomial_share.")
    low_1, high_1, low_2, high_2 = (
        float(end or 0.0) for end in (first.low, first.high, second.low, second.high)
    )
    difference = first.mean - second.mean
    return Estimate(
        mean=difference,
        low=difference - math.hypot(first.mean - low_1, high_2 - second.mean),
        high=difference + math.hypot(high_1 - first.mean, second.mean - low_2),
        n=first.n + second.n,
        spread=None,
        level=first.level,
    )
