"""Differences between methods: tested on the same units, and what a result without an effect can say."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.estimate import ROUNDING, check_level, check_table, effect, t_critical
from verax.stats.means import Sharing, sharing, spread_of_mean
from verax.stats.tests.multiplicity import Claim, holm, westfall_young
from verax.stats.thresholds import ALPHA, FEWEST_FLIPPED, FEWEST_UNITS


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

    JSON: ClassVar = (..., "equivalent")

    @property
    def equivalent(self) -> bool:
        """Whether the interval lies inside the margin; False is no evidence of a difference."""
        return self.p <= self.alpha


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


Unit = TypeVar("Unit", bound=Hashable)


@dataclass(frozen=True)
class Difference(Record):
    """How much higher the first method is than the second, on the units that both have.

    Attributes:
        first: Name of the method whose values are counted positively.
        second: Name of the method whose values are subtracted.
        mean: Mean of first - second; None where no unit has both.
        low: Lower end of Student's interval, for this pair alone (not corrected); None with less than five units, or
            where the differences do not vary.
        high: Upper end of that interval.
        n: Units that both have.
        unpaired: Units that only one of them has, left out here.
        p: Two-sided: the paired t test of `paired_differences`, or the flipped signs of `joint_differences`; None
            where there are too few units.
        p_holm: The same, corrected for all tests of the family: by Holm, or by the maximum over flipped signs; None
            where p is None.
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

    JSON: ClassVar = (..., "verdict")

    @property
    def verdict(self) -> Literal["first", "second", "none"]:
        """Which is higher after correction; "none" is too little evidence (or no test), not equality."""
        if self.mean is None or self.p_holm is None or self.p_holm > 1 - self.level:
            return "none"
        return "first" if self.mean > 0 else "second"


def paired_differences(
    values: Mapping[str, Mapping[Unit, float]],
    family: Sequence[tuple[str, str]] | None = None,
    level: float = 0.95,
) -> list[Difference]:
    """Compares pairs of methods by the paired t test, t = mean / sqrt(variance of the mean), Holm over all pairs.

    With less than five common units there is the mean and no test. Where the differences do not vary, t does not exist;
    p is then that of flipped signs: 2 of all 2^n signs of n equal differences are as extreme.

    Args:
        values: Per method one value per unit; higher is better.
        family: The pairs to compare and to correct together; None is all pairs, in the order of the names.
        level: Coverage of each interval; a verdict needs a corrected p of at most 1 - level.
    """
    check_table(values)
    check_level(level)  # said even where no pair has an interval
    pairs = list(combinations(values, 2)) if family is None else _checked_family(family, values)
    differences = [_difference(pair, _compared(pair, values), level) for pair in pairs]
    corrected = holm([difference.p for difference in differences])
    return [
        difference if difference.p is None else replace(difference, p_holm=float(p_holm))
        for difference, p_holm in zip(differences, corrected, strict=True)
    ]


def joint_differences(
    tables: Sequence[Mapping[str, Mapping[Unit, float]]],
    parts: Mapping[Unit, Collection[Hashable]],
    level: float = 0.95,
    seed: int = 0,
) -> list[list[Difference]]:
    """Compares all pairs of methods in several tables (models, measures) over the same units, as one family.

    Units that share no part are tested by flipped signs, all tables together. Where units share parts, p is that of
    Student's t with the variance and the degrees of freedom of `verax.stats.means`. A claim is corrected for all
    pairs of all tables, see `verax.stats.tests.multiplicity`. Below six units, or six parts, there are values only.

    Args:
        tables: Each per method one value per unit; higher is better.
        parts: What each unit consists of (the words of a stain).
        level: Coverage of each interval; a verdict needs a corrected p of at most 1 - level.
        seed: Of the draws, where there are more signs than can be enumerated.
    """
    check_level(level)
    found: list[Difference] = []
    family: dict[int, Claim] = {}
    for values in tables:
        check_table(values)
        for pair in combinations(values, 2):
            compared = _compared(pair, values)
            shared = sharing([parts[unit] for unit in compared.units])
            difference = _difference(pair, compared, level, shared)
            if min(len(compared.units), len(shared.keys)) >= FEWEST_FLIPPED:
                family[len(found)] = _claim(compared, shared, difference)
            found.append(replace(difference, p=None))
    for place, test in zip(family, westfall_young(list(family.values()), seed), strict=True):
        found[place] = replace(found[place], p=test.p, p_holm=test.p_family)
    remaining = iter(found)
    return [[next(remaining) for _ in combinations(values, 2)] for values in tables]


def _claim(compared: _Compared[Unit], shared: Sharing, difference: Difference) -> Claim:
    """What a family is told of one pair."""
    if shared.apart:
        return Claim(dict(zip(compared.units, compared.deltas.tolist(), strict=True)))
    contributions = shared.centred[0] @ compared.deltas
    # Without a variance (all units are made of the same parts) nothing can be shown.
    p = 1.0 if difference.p is None else difference.p
    return Claim(dict(zip(shared.keys, contributions.tolist(), strict=True)), p)


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


@dataclass(frozen=True)
class _Compared(Generic[Unit]):
    """What both methods of a pair were measured on, and how much higher the first is there."""

    units: list[Unit]
    deltas: NDArray[np.float64]
    unpaired: int


def _compared(pair: tuple[str, str], values: Mapping[str, Mapping[Unit, float]]) -> _Compared[Unit]:
    first, second = values[pair[0]], values[pair[1]]
    common = [unit for unit in first if unit in second]
    deltas = _deltas(
        np.array([first[u] for u in common], float), np.array([second[u] for u in common], float)
    )
    return _Compared(common, deltas, len(first) + len(second) - 2 * len(common))


def _difference(
    pair: tuple[str, str], compared: _Compared[Unit], level: float, shared: Sharing | None = None
) -> Difference:
    """One pair, not yet corrected."""
    deltas, n = compared.deltas, len(compared.units)
    mean = math.fsum(deltas) / n if n else None
    spread = spread_of_mean(deltas, shared)
    tested = n >= FEWEST_UNITS
    found = effect(
        "", mean, math.sqrt(spread.variance) if tested and spread.variance else None, spread.df, level
    )
    equal = tested and spread.variance == 0
    return Difference(
        *pair,
        mean=mean,
        low=found.low,
        high=found.high,
        n=n,
        unpaired=compared.unpaired,
        p=found.p if not equal else 2.0 ** (1 - (n if shared is None else len(shared.keys))) if mean else 1.0,
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
