"""What analyses share: claims as lines of tables, what is found on the way, the primary analysis' figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.figures import Figure, Interval, Intervals
from verax.results.tables import Table
from verax.results.units import PERCENT, Ends, Unit
from verax.stats.means import share_interval
from verax.stats.thresholds import ALPHA
from verax.studies.protocol.contract import LINKED, Analysed, Findings, known_inside
from verax.studies.results.study_summary import MethodLine, Primary, PrimaryEstimate, Sensitivity

if TYPE_CHECKING:
    from verax.stats.crossed.result import Crossed
    from verax.studies.definition.spec_tables import Condition

say = partial(say_phrase, "analysis")


@dataclass(frozen=True)
class NamedClaim:
    """A condition, or a comparison of two, and what is claimed of it.

    Attributes:
        name: what readers see.
        claim: the estimate with its tests.
        key: what a plan may call it; None if nothing.
    """

    name: str
    claim: Crossed
    key: str | None = None


def named(claims: Mapping[str, Crossed]) -> list[NamedClaim]:
    """Claims by name as lines."""
    return [NamedClaim(name, claim) for name, claim in claims.items()]


def share_ends(claim: Crossed | None) -> Ends:
    """The interval of an estimated share in per cent, by Korn and Graubard, so that it never leaves 0 to 100."""
    if claim is None or claim.estimate is None or claim.se is None or claim.df is None:
        return None
    ends = share_interval(claim.estimate, claim.se, claim.df, claim.level)
    return None if ends is None else PERCENT.interval(*ends)


def warnings_of(claims: Mapping[str, Crossed]) -> list[str]:
    """What the estimator says beside its claims, once each, with whose it is."""
    said: dict[str, list[str]] = {}
    for name, claim in claims.items():
        for warning in claim.warnings:
            said.setdefault(warning, []).append(name)
    return [
        warning if len(names) == len(claims) else say("warning-of", names=names, warning=warning)
        for warning, names in said.items()
    ]


def untested(claims: Mapping[str, Crossed], otherwise: str) -> str:
    """The sentence, with the lines that allow no claim taken out of it: that nothing was shown would be no news."""
    names = [name for name, claim in claims.items() if not claim.enough]
    if not names:
        return otherwise
    if len(names) == len(claims):
        return say("nothing-claimed")
    return say("nothing-claimed-of", said=otherwise, names=names)


T = TypeVar("T")


@dataclass
class FindingsCollector:
    """Tables, figures and estimators so far, and what could not be estimated."""

    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    estimators: dict[str, object] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def tried(self, what: str, make: Callable[[], T]) -> T | None:
        """What is made, or None and the reason among the problems."""
        try:
            return make()
        except VeraxError as error:
            self.problems.append(say("cannot-be-estimated", what=what, why=str(error)))
            return None

    def add(self, what: str, make: Callable[[], Table | None]) -> Table | None:
        """Adds a table if it can be made."""
        table = self.tried(what, make)
        if table is not None:
            self.tables.append(table)
        return table

    def findings(
        self, primary: Primary | None, methods: tuple[MethodLine, ...], sensitivity: Sensitivity | None
    ) -> Findings:
        """All of it, beside the primary analysis."""
        return Findings(
            primary=primary,
            methods=methods,
            tables=tuple(self.tables),
            figures=tuple(self.figures),
            estimators=self.estimators,
            sensitivity=sensitivity,
            problems=tuple(self.problems),
        )


def linked_note(studies: Sequence[Analysed]) -> str:
    """How many people took part in several of the studies, as far as they are linked; what becomes of them.

    The parts of a user test are the same people's without anybody's consent to be linked, and are told apart from that.
    """
    hashes = {data.study.hash for data in studies}
    parts = (say("both-parts"),) if len(hashes) < len(studies) else ()
    if len(hashes) == 1:
        return " ".join(parts)
    taken: dict[str, set[str]] = defaultdict(set)
    for number, data in enumerate(studies):
        for name in data.person(number).values():
            if name.startswith(LINKED) and not name.startswith(f"{LINKED}{known_inside(data.study.hash)}"):
                taken[name].add(data.study.hash)
    linked = (
        say("linked", linked=len(taken), twice=sum(len(each) > 1 for each in taken.values()))
        if taken
        else say("nobody-linked")
    )
    return " ".join((*parts, linked))


def estimate_of(condition: str, key: str, claim: Crossed, unit: Unit) -> PrimaryEstimate:
    """A line of the primary analysis from what the crossed estimator claims."""
    return PrimaryEstimate(
        condition=condition,
        key=key,
        estimate=unit.of(claim.estimate),
        low=unit.of(claim.low),
        high=unit.of(claim.high),
        p=claim.p,
        p_adjusted=claim.p_family,
        low_adjusted=unit.of(claim.low_family),
        high_adjusted=unit.of(claim.high_family),
        adjustment=claim.correction,
        detectable=unit.of(claim.detectable),
        participants=claim.n_participants,
        items=claim.n_items,
        conclusive=claim.enough,
        notes=claim.warnings,
        uneven=claim.uneven,
    )


def is_clear(line: PrimaryEstimate) -> bool:
    """Whether the test, corrected for all conditions, finds an effect."""
    return line.conclusive and line.p_adjusted is not None and line.p_adjusted <= ALPHA


def sorted_out(estimates: Iterable[PrimaryEstimate]) -> tuple[list[PrimaryEstimate], ...]:
    """Lines by what may be said of them: clear, not clear, too little data for a claim, and without an interval."""
    lines = list(estimates)
    with_interval = [line for line in lines if line.low is not None]
    return (
        [line for line in lines if is_clear(line)],
        [line for line in with_interval if line.conclusive and not is_clear(line)],
        [line for line in with_interval if not line.conclusive],
        [line for line in lines if line.low is None],
    )


def estimates_figure(
    key: str, title: str, estimates: Iterable[PrimaryEstimate], measure: str, unit: str, nothing: str
) -> Figure:
    """Estimates with their intervals around 0.

    Args:
        key: of the figure.
        title: of the figure.
        estimates: its rows.
        measure: what is measured.
        unit: of the numbers, or words in its place.
        nothing: what an interval that crosses 0 does not exclude: "nothing differs".
    """
    rows = tuple(
        Interval(line.condition, line.estimate, line.low, line.high, "primary") for line in estimates
    )
    return Figure(
        key,
        title,
        Intervals(f"{measure} ({unit})", 0, rows),
        say("interval-caption", nothing=nothing),
    )


def primary_figure(primary: Primary, nothing: str = "nothing differs") -> Figure:
    """The primary estimates with their intervals."""
    return estimates_figure(
        "primary", say("what-explanations-add"), primary.estimates, primary.measure, primary.unit, nothing
    )


def method_lines(
    primary: Primary, conditions: Sequence[Condition], measure: str = ""
) -> tuple[MethodLine, ...]:
    """One line per condition that shows something, for the joint report.

    Args:
        primary: the estimates.
        conditions: of the study.
        measure: what it is called there, where that is not what the primary analysis calls it.
    """
    by_name = {condition.name: condition for condition in conditions}
    return tuple(
        MethodLine(
            explainer="random" if shown.kind == "control" else shown.explainer,
            condition=line.condition,
            measure=measure or primary.measure,
            unit=primary.unit,
            estimate=line.estimate,
            low=line.low,
            high=line.high,
            participants=line.participants,
            items=line.items,
        )
        for line in primary.estimates
        for shown in [by_name[line.condition]]
        if shown.kind != "none"
    )
