"""Means of units that share parts, and means of shares with intervals that never leave the scale.

Means over units that share parts: stains that share words are not independent, and the word is what is drawn.

Let x_k = mean + sum of the effects of unit k's parts + what is its own. A sum over units is split among the parts, as
the effects that explain the values best if parts carry four fifths of the variance (`Sharing.split`): with X the
membership of units in parts, each row of length 1, r = 0.8, S = r XX' + (1 - r) I, and E the rows of X as equal shares,

    split = (r diag(X'1) X' + (1 - r) E') S^-1,

so that the contributions of the parts, split x, add up to the sum of x. Parts that no other unit has are one part, so
that units which share nothing contribute their own values. Contributions of different parts are taken as independent,
which gives

    variance of the mean = f · sum of (split (x - mean))² / K²,

with the smallest f for which this is not too small in expectation, whether parts carry all of the variance or nothing.
Its degrees of freedom are Satterthwaite's for this sum if parts carry everything, and at most the number of parts less
one. Where nothing is shared that is s² / K on K - 1 degrees of freedom.

How often intervals hold the truth and tests err: perf/calibration_staining.py.

Means of shares with intervals that never leave the scale: Korn and Graubard's, and Gaffke's.

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
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.estimate import Estimate, check_level, finite_vector, t_critical
from verax.stats.thresholds import FEWEST_UNITS

# The part of the variance that parts are taken to carry where a sum is split among them. Below, too much of a part's
# effect is given to the other parts of its units; above, units' own noise is blown up where few units are made of many
# parts. The factors keep the variance large enough in either case.
CARRIED = 0.8
# A variance below this part of what it should be is rounding.
NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Sharing:
    """Which parts units have in common.

    Attributes:
        member: (units, keys): membership, each row of length 1; parts that one unit alone has are one column.
        keys: the part that each column stands for; of parts that one unit alone has, the first.
        parts: how many distinct parts there are.
    """

    member: FloatArray
    keys: tuple[Hashable, ...]
    parts: int

    @property
    def most(self) -> float:
        """How many times the usual variance of a mean it is, if parts make all of the difference between units."""
        return float((self.member.sum(axis=0) ** 2).sum() / len(self.member)) if len(self.member) else 1.0

    @property
    def apart(self) -> bool:
        """Whether no two units have a part in common."""
        return len(self.keys) == len(self.member) == np.count_nonzero(self.member)

    @cached_property
    def split(self) -> FloatArray:
        """(keys, units): what each part contributes to the sum of the values, as the module says."""
        member = self.member
        equal = (member > 0) / np.maximum((member > 0).sum(axis=1, keepdims=True), 1)
        spread = CARRIED * member @ member.T + (1 - CARRIED) * np.eye(len(member))
        shares = CARRIED * member.sum(axis=0)[:, None] * member.T + (1 - CARRIED) * equal.T
        return np.asarray(np.linalg.solve(spread, shares.T).T, dtype=np.float64)

    def factor(self, split: FloatArray) -> float:
        """What the sum of squared contributions must be multiplied with, to be no less than the variance of the sum."""
        by_parts = float(((split @ self.member) ** 2).sum())
        by_units = float((split**2).sum())
        whole = float((self.member.sum(axis=0) ** 2).sum())
        return max(whole / by_parts, len(self.member) / by_units) if by_parts > NOTHING * whole else math.inf

    @cached_property
    def centred(self) -> tuple[FloatArray, float, float]:
        """For values less their mean: the split, its factor, and Satterthwaite's degrees of freedom, capped."""
        split = self.split - self.split.mean(axis=1, keepdims=True)
        by_parts = split @ self.member
        form = by_parts @ by_parts.T
        squared = float((form**2).sum())
        df = float(np.trace(form)) ** 2 / squared if squared > 0 else 1.0
        return split, self.factor(split), max(min(df, len(self.keys) - 1), 1.0)


def sharing(parts: Sequence[Collection[Hashable]]) -> Sharing:
    """Finds what units have in common.

    Args:
        parts: of each unit: the words of a stain.
    """
    return _sharing(tuple(tuple(sorted(set(own), key=repr)) for own in parts))


@lru_cache(maxsize=256)
def _sharing(parts: tuple[tuple[Hashable, ...], ...]) -> Sharing:
    """The same, kept: all measures of all explainers rest on the same few sets of stains."""
    units_of: dict[Hashable, list[int]] = {}
    for unit, own in enumerate(parts):
        for part in own:
            units_of.setdefault(part, []).append(unit)
    columns: dict[Hashable, FloatArray] = {}
    for unit, own in enumerate(parts):
        alone = [part for part in own if len(units_of[part]) == 1]
        # A unit without any part shares nothing: it stands for itself.
        key = alone[0] if alone else ("unit", unit)
        for part in own if own else (key,):
            column = columns.setdefault(key if part in alone or not own else part, np.zeros(len(parts)))
            column[unit] += 1 / max(len(own), 1)
    member = np.sqrt(np.array(list(columns.values())).T) if columns else np.zeros((len(parts), 0))
    return Sharing(member, tuple(columns), len(units_of))


@dataclass(frozen=True)
class Spread:
    """How much a mean over units would vary.

    Attributes:
        variance: of the mean; None where it cannot be told: one unit, or all units made of the same parts.
        df: its degrees of freedom.
        design_effect: the variance over that of units which share nothing.
    """

    variance: float | None
    df: float
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
    if shared is None or shared.apart:
        return Spread(usual, units - 1)
    split, factor, df = shared.centred
    if not math.isfinite(factor):
        return Spread(None, df)
    if usual == 0.0:
        return Spread(0.0, df)
    variance = factor * float(((split @ (values - math.fsum(values) / units)) ** 2).sum()) / units**2
    return Spread(variance, df, variance / usual)


def variance_of(values: FloatArray) -> float:
    """The variance (divisor n - 1) by exactly rounded sums: the same numbers in any order give the same bytes."""
    mean = math.fsum(values) / len(values)
    return math.fsum((values - mean) ** 2) / (len(values) - 1)


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
    varies = bool(np.ptp(values) > 1e-9 * most)  # not by rounding alone
    effect = found.design_effect if varies or shared is None else shared.most
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
