"""Means over units that share parts: stains that share words are not independent, and the word is what is drawn.

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
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from verax.arrays import FloatArray

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
