"""What primary analyses share, between people and within them: their lines, their figure, their lines in the courts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from verax.results.figures import Figure, Interval, Intervals
from verax.results.units import Unit
from verax.stats.thresholds import ALPHA
from verax.studies.results.summary import CourtLine, Primary, PrimaryEstimate

if TYPE_CHECKING:
    from verax.stats.crossed.result import Crossed
    from verax.studies.model.spec_tables import Condition


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
        Intervals(f"{measure} ({unit})", 0, rows, Unit(unit)),
        f"Points are estimates, lines 95% intervals; one that crosses 0 does not exclude that {nothing}.",
    )


def primary_figure(primary: Primary, nothing: str = "nothing differs") -> Figure:
    """The primary estimates with their intervals."""
    return estimates_figure(
        "primary", "What explanations add", primary.estimates, primary.measure, primary.unit, nothing
    )


def court_lines(
    primary: Primary, conditions: Sequence[Condition], measure: str = ""
) -> tuple[CourtLine, ...]:
    """One line per condition that shows something, for the joint report.

    Args:
        primary: the estimates.
        conditions: of the study.
        measure: what it is called there, where that is not what the primary analysis calls it.
    """
    by_name = {condition.name: condition for condition in conditions}
    return tuple(
        CourtLine(
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
