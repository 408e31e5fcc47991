"""An estimate with its uncertainty: checked values, Student's t, a mean with its interval, an effect with its test."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

from verax.codec import Record
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


Key = TypeVar("Key", bound=Hashable)

# Two values whose difference is less than this part of their size are equal: the same mean, summed in another order.
ROUNDING = 1e-13


def finite_vector(values: ArrayLike) -> NDArray[np.float64]:
    """The values as a flat array; refuses what is not a list of finite numbers."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise VeraxError("The values are not all numbers: give one number per unit.") from None
    if vector.ndim != 1:
        raise VeraxError(
            f"The values have {vector.ndim} dimensions: give a flat list with one number per unit."
        )
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad):
        raise VeraxError(
            f"Value {bad[0] + 1} of {len(vector)} is {vector[bad[0]]} ({len(bad)} such in all): "
            "give finite numbers only, and count what you leave out."
        )
    return vector


def check_table(table: Mapping[str, Mapping[Key, float]]) -> None:
    """Refuses a table (name, then unit or cell, then value) that holds anything but finite numbers."""
    for name, row in table.items():
        for key, value in row.items():
            if not _is_finite(value):
                raise VeraxError(
                    f"The value of {name!r} for {key!r} is {value!r}: give a finite number, or leave that entry out."
                )


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False


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
