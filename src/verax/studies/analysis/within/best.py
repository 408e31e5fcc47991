"""Which conditions may be the best: comparisons with the best that hold although the best is picked from the data.

The published tables mark what does "not differ from the best" by a test of each method against the one that came out
best, without correction. Here a condition is ruled out as the best if some other is shown to be higher: of its tests
against the k - 1 others (within people, items crossed, two-sided) the smallest p of those that came out higher, times
k - 1, is at most 5%. The truly best condition is then ruled out in at most 5% of studies, whichever it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verax.results.tables import (
    Sources,
    Table,
    build_table,
    interval,
    number,
    p_value,
    text,
    yes_or_no,
)
from verax.results.units import SCORE
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import MOST_LEAD, Met, difference_claims, lead, person_differences
from verax.stats.effect import effect
from verax.stats.student import two_sided_p
from verax.stats.thresholds import FEWEST_ITEMS, FEWEST_PEOPLE
from verax.text import listed


@dataclass(frozen=True)
class BesideBest:
    """How one condition stands to the best.

    Attributes:
        name: the condition.
        estimate: its mean minus that of the condition that came out best, within people; 0 for that one.
        low, high: the interval of that difference alone; it ignores that the best was picked.
        p: two-sided test of that difference alone, as published.
        p_best: of "this condition is the best", corrected; None where nothing could be tested.
        may_be_best: whether it is not ruled out.
        differs_as_published: whether ``p`` is at most 5%.
    """

    name: str
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    p_best: float | None
    may_be_best: bool
    differs_as_published: bool


def beside_best(rows: Met, names: Sequence[str], means: Sequence[float], level: float) -> list[BesideBest]:
    """Where each condition stands.

    Args:
        rows: the answers.
        names: the conditions, all with answers.
        means: their mean scores, which say which one came out best.
        level: coverage, and 1 less the share of false exclusions.
    """
    best = names[int(np.argmax(means))]
    pairs = {(name, other): _pair(rows, name, other) for name in names for other in names if name != other}
    places = []
    for name in names:
        against = [pairs[name, other] for other in names if other != name]
        tested = [pair for pair in against if pair.enough]
        # A pair speaks against the condition only where the other one came out higher.
        smallest = min((pair.p if pair.estimate < 0 else 1.0 for pair in tested), default=None)
        p_best = None if smallest is None else min(1.0, (len(names) - 1) * smallest)
        may_be_best = p_best is None or p_best > 1 - level
        if name == best:
            places.append(BesideBest(name, 0.0, None, None, None, p_best, may_be_best, False))
            continue
        alone = effect(name, *pairs[name, best].numbers, level)
        differs = alone.p is not None and alone.p <= 1 - level
        places.append(
            BesideBest(name, alone.estimate, alone.low, alone.high, alone.p, p_best, may_be_best, differs)
        )
    return places


@dataclass(frozen=True)
class _Pair:
    """The difference of two conditions, not a number where there is none."""

    estimate: float
    se: float
    df: float
    people: int
    items: int
    uneven: bool

    @property
    def numbers(self) -> tuple[float, float, float]:
        return self.estimate, self.se, self.df

    @property
    def enough(self) -> bool:
        return (
            self.people >= FEWEST_PEOPLE
            and self.items >= FEWEST_ITEMS
            and math.isfinite(self.estimate / self.se)
            and not self.uneven
        )

    @property
    def p(self) -> float:
        return two_sided_p(self.estimate / self.se, self.df)


def _pair(rows: Met, first: str, second: str) -> _Pair:
    places = rows.conditions.index(first), rows.conditions.index(second)
    claim = difference_claims(rows, *places)
    there = ~np.isnan(person_differences(rows, *places)[0])
    used = np.isin(rows.condition, places) & ~np.isnan(rows.value[0]) & there[:, None]
    items = int(used.any(axis=0).sum())
    uneven = not rows.adjusted and lead(rows, *places) * math.sqrt(there.sum()) > MOST_LEAD
    numbers = float(claim.estimate[0]), float(claim.se[0]), float(claim.df[0])
    return _Pair(*numbers, int(there.sum()), items, uneven)


@dataclass(frozen=True)
class _Line:
    """A condition, its mean, and how far it is from the best."""

    name: str
    mean: float | None
    place: BesideBest


def best_table(places: dict[str, BesideBest], means: dict[str, Crossed], names: Sequence[str]) -> Table:
    """Each condition against the one that came out best, as published and corrected."""
    best = max(names, key=lambda name: means[name].estimate or 0.0)
    lines = [_Line(name, means[name].estimate, place) for name, place in places.items()]
    sources: Sources[_Line] = (
        text("condition", "Condition", lambda line: line.name),
        number("mean", "Mean score", lambda line: line.mean, SCORE),
        number("difference", f"Difference from {best}", lambda line: line.place.estimate, SCORE),
        interval(
            "interval", "95% interval", lambda line: SCORE.interval(line.place.low, line.place.high), SCORE
        ),
        p_value("p", "p, alone", lambda line: line.place.p),
        text(
            "published",
            "Differs, as published",
            lambda line: None if line.name == best else yes_or_no(line.place.differs_as_published),
        ),
        p_value("p_best", "p against being the best", lambda line: line.place.p_best),
        text("may_be_best", "May be best", lambda line: yes_or_no(line.place.may_be_best)),
    )
    return build_table(
        "best",
        "Which conditions do not differ from the best",
        lines,
        sources,
        _sentence(lines, best),
        [
            f"The difference, its interval and its p are within people and take {best} as if it had been chosen before "
            "the study, as the published tables do. The last two columns do not: for each condition, the "
            "smallest p against a condition that came out higher is multiplied by the number of all others."
        ],
    )


def _sentence(lines: Sequence[_Line], best: str) -> str:
    left = [line.name for line in lines if line.place.may_be_best]
    same = [line.name for line in lines if line.name != best and not line.place.differs_as_published]
    alike = len({line.mean for line in lines}) == 1
    said = "All mean scores are the same. " if alike else f"{best} has the highest mean score. "
    said += (
        "No condition can be ruled out as the best."
        if len(left) == len(lines)
        else f"Not ruled out as the best: {listed(left)}."
        if left
        else "Every condition is shown to be lower than some other one, which chance alone must have done."
    )
    if same and not alike:
        said += f" By the published rule (each against {best} alone) {listed(same)} would not differ from it."
    return said
