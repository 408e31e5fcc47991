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

from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import Met, difference_claims, person_differences
from verax.stats.effect import effect
from verax.stats.student import two_sided_p
from verax.stats.thresholds import FEWEST_ITEMS, FEWEST_OWN
from verax.studies.analysis.contract import Column, Table
from verax.studies.analysis.within.conditions import SCORE
from verax.text import listed


@dataclass(frozen=True)
class Standing:
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


def standings(rows: Met, names: Sequence[str], means: Sequence[float], level: float) -> list[Standing]:
    """Where each condition stands.

    Args:
        rows: the answers.
        names: the conditions, all with answers.
        means: their mean scores, which say which one came out best.
        level: coverage, and 1 less the share of false exclusions.
    """
    best = names[int(np.argmax(means))]
    pairs = {(one, other): _pair(rows, one, other) for one in names for other in names if one != other}
    found = []
    for name in names:
        against = [pairs[name, other] for other in names if other != name]
        tested = [one for one in against if one.enough]
        # A pair speaks against the condition only where the other one came out higher.
        smallest = min((one.p if one.estimate < 0 else 1.0 for one in tested), default=None)
        p_best = None if smallest is None else min(1.0, (len(names) - 1) * smallest)
        may_be_best = p_best is None or p_best > 1 - level
        if name == best:
            found.append(Standing(name, 0.0, None, None, None, p_best, may_be_best, False))
            continue
        alone = effect(name, *pairs[name, best].numbers, level)
        differs = alone.p is not None and alone.p <= 1 - level
        found.append(
            Standing(name, alone.estimate, alone.low, alone.high, alone.p, p_best, may_be_best, differs)
        )
    return found


@dataclass(frozen=True)
class _Pair:
    """The difference of two conditions, not a number where there is none."""

    estimate: float
    se: float
    df: float
    people: int
    items: int

    @property
    def numbers(self) -> tuple[float, float, float]:
        return self.estimate, self.se, self.df

    @property
    def enough(self) -> bool:
        return (
            self.people >= FEWEST_OWN
            and self.items >= FEWEST_ITEMS
            and math.isfinite(self.estimate / self.se)
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
    return _Pair(float(claim.estimate[0]), float(claim.se[0]), float(claim.df[0]), int(there.sum()), items)


def best_table(found: dict[str, Standing], means: dict[str, Crossed], names: Sequence[str]) -> Table:
    """Each condition against the one that came out best, as published and corrected."""
    best = max(names, key=lambda name: means[name].estimate or 0.0)
    rows = tuple(
        {
            "condition": name,
            "mean": means[name].estimate,
            "difference": one.estimate,
            "interval": SCORE.interval(one.low, one.high),
            "p": one.p,
            "published": None if name == best else "yes" if one.differs_as_published else "no",
            "p_best": one.p_best,
            "may_be_best": "yes" if one.may_be_best else "no",
        }
        for name, one in found.items()
    )
    left = [name for name, one in found.items() if one.may_be_best]
    same = [name for name, one in found.items() if name != best and not one.differs_as_published]
    alike = len({row["mean"] for row in rows}) == 1
    said = "All mean scores are the same. " if alike else f"{best} has the highest mean score. "
    said += (
        "No condition can be ruled out as the best."
        if len(left) == len(rows)
        else f"Not ruled out as the best: {listed(left)}."
        if left
        else "Every condition is shown to be lower than some other one, which chance alone must have done."
    )
    if same and not alike:
        said += f" By the published rule (each against {best} alone) {listed(same)} would not differ from it."
    return Table(
        key="best",
        title="Which conditions do not differ from the best",
        columns=(
            Column("condition", "Condition", "text"),
            Column("mean", "Mean score", "number", SCORE.unit),
            Column("difference", f"Difference from {best}", "number", SCORE.unit),
            Column("interval", "95% interval", "interval", SCORE.unit),
            Column("p", "p, alone", "p"),
            Column("published", "Differs, as published", "text"),
            Column("p_best", "p against being the best", "p"),
            Column("may_be_best", "May be best", "text"),
        ),
        rows=rows,
        sentence=said,
        notes=(
            f"The difference, its interval and its p are within people and take {best} as if it had been chosen before "
            "the study, as the published tables do. The last two columns do not: for each condition, the "
            "smallest p against a condition that came out higher is multiplied by the number of all others.",
        ),
    )
