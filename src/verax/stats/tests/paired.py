"""Differences between methods that were measured on the same units, with tests corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from verax.errors import VeraxError
from verax.stats.checks import ROUNDING, check_table
from verax.stats.effect import effect
from verax.stats.record import Record
from verax.stats.sharing import sharing, spread_of_mean
from verax.stats.student import check_level
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import FEWEST_UNITS

Unit = TypeVar("Unit", bound=Hashable)


@dataclass(frozen=True)
class Difference(Record):
    """How much higher the first method is than the second, on the units that both have.

    Attributes:
        first: Name of the method whose values are counted positively.
        second: Name of the method whose values are subtracted.
        mean: Mean of first - second; None where no unit has both.
        low: Lower end of the interval, for this pair alone (not corrected); None with less than five units, or where
            the differences do not vary.
        high: Upper end of that interval.
        n: Units that both have.
        unpaired: Units that only one of them has, left out here.
        p: Two-sided paired t test; None where there is no interval.
        p_holm: The same, corrected for all tests of the family; None where p is None.
        wins: Units on which first is higher.
        losses: Units on which second is higher.
        ties: Units on which they are equal, up to rounding.
        level: Coverage of the interval; the verdict allows false claims in 1 - level of all families.
        parts: Distinct parts (words) of those units, where units may share some; None where that was not asked.
    """

    first: str
    second: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    unpaired: int
    p: float | None
    p_holm: float | None
    wins: int
    losses: int
    ties: int
    level: float = 0.95
    parts: int | None = None

    @property
    def verdict(self) -> Literal["first", "second", "none"]:
        """Which is higher after Holm's correction; "none" is too little evidence (or no test), not equality."""
        if self.mean is None or self.p_holm is None or self.p_holm > 1 - self.level:
            return "none"
        return "first" if self.mean > 0 else "second"

    def json_names(self) -> list[str]:
        """What `verax.codec` writes: the fields and the verdict."""
        return [*(attribute.name for attribute in fields(self)), "verdict"]

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON, with the verdict."""
        return {**super().to_dict(), "verdict": self.verdict}


def paired_differences(
    values: Mapping[str, Mapping[Unit, float]],
    family: Sequence[tuple[str, str]] | None = None,
    level: float = 0.95,
    parts: Mapping[Unit, Collection[Hashable]] | None = None,
) -> list[Difference]:
    """Compares pairs of methods by the paired t test, t = mean / sqrt(variance of the mean), Holm over all pairs.

    With less than five common units, or where the differences do not vary, there is the mean and no test: two equal
    differences would have a p of 0 and prove nothing. Units that share parts are not independent: the variance is
    then that of `verax.stats.sharing`.

    Args:
        values: Per method one value per unit; higher is better.
        family: The pairs to compare and to correct together; None is all pairs, in the order of the names.
        level: Coverage of each interval; a verdict needs a corrected p of at most 1 - level.
        parts: What each unit consists of (the words of a stain), where units may have some in common.
    """
    check_table(values)
    check_level(level)  # said even where no pair has an interval
    pairs = list(combinations(values, 2)) if family is None else _checked_family(family, values)
    differences = [_difference(pair, values[pair[0]], values[pair[1]], level, parts) for pair in pairs]
    corrected = holm([difference.p for difference in differences])
    return [
        difference if difference.p is None else replace(difference, p_holm=float(p_holm))
        for difference, p_holm in zip(differences, corrected, strict=True)
    ]


def _checked_family(family: Sequence[tuple[str, str]], values: Mapping[str, object]) -> list[tuple[str, str]]:
    """The pairs, refused where a name is unknown or a pair would be counted twice."""
    seen: set[frozenset[str]] = set()
    for first, second in family:
        for name in (first, second):
            if name not in values:
                raise VeraxError(
                    f"The pair ({first}, {second}) names {name!r}: it must be one of {', '.join(values)}."
                )
        if first == second or frozenset((first, second)) in seen:
            raise VeraxError(
                f"The pair ({first}, {second}) is compared with itself or named twice: name it once."
            )
        seen.add(frozenset((first, second)))
    return list(family)


def _difference(
    pair: tuple[str, str],
    first: Mapping[Unit, float],
    second: Mapping[Unit, float],
    level: float,
    parts: Mapping[Unit, Collection[Hashable]] | None,
) -> Difference:
    """One pair, not yet corrected."""
    common = [unit for unit in first if unit in second]
    deltas = _deltas(
        np.array([first[u] for u in common], float), np.array([second[u] for u in common], float)
    )
    mean = math.fsum(deltas) / len(common) if common else None
    shared = None if parts is None else sharing([parts[unit] for unit in common])
    spread = spread_of_mean(deltas, shared)
    tested = len(common) >= FEWEST_UNITS
    found = effect(
        "", mean, math.sqrt(spread.variance) if tested and spread.variance else None, spread.df, level
    )
    return Difference(
        *pair,
        mean=mean,
        low=found.low,
        high=found.high,
        n=len(common),
        unpaired=len(first) + len(second) - 2 * len(common),
        p=found.p,
        p_holm=None,
        wins=int((deltas > 0).sum()),
        losses=int((deltas < 0).sum()),
        ties=int((deltas == 0).sum()),
        level=level,
        parts=None if shared is None else shared.parts,
    )


def _deltas(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """First minus second, without what is only rounding: otherwise 1e-17 would win, and a test would believe it."""
    deltas = first - second
    if len(deltas) == 0:
        return deltas
    rounding = ROUNDING * max(np.abs(first).max(), np.abs(second).max())
    deltas[np.abs(deltas) <= rounding] = 0.0
    if np.ptp(deltas) <= rounding:
        deltas[:] = math.fsum(deltas) / len(deltas)
    return deltas
