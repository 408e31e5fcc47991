"""Whether conditions are shown to differ too little to matter, where the plan names a margin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.results.tables import Sources, Table, Value, build_table, interval, number, p_value, text
from verax.results.units import Unit
from verax.stats.tests.equivalence import Equivalence, equivalence
from verax.studies.analysis.collector import Gathered
from verax.studies.analysis.plan import Plan, margin_of
from verax.text import listed

if TYPE_CHECKING:
    from verax.stats.crossed.result import Crossed


@dataclass(frozen=True)
class _Line:
    """A condition and its test; None where there is too little for one."""

    condition: str
    tested: Equivalence | None


def planned_equivalence(
    gathered: Gathered,
    plan: Plan,
    claims: Mapping[str, Crossed],
    unit: Unit,
    against: str,
    *,
    title: str = "Equivalence",
    heading: str = "Estimate",
) -> None:
    """Adds the table if the plan names a margin and there is something to test; a margin that fits not is a problem."""
    try:
        margin = margin_of(plan, unit)
    except VeraxError as error:
        gathered.problems.append(str(error))
        return
    if margin is not None and claims:
        gathered.tables.append(equivalence_table(claims, margin, unit, against, title=title, heading=heading))


def equivalence_table(
    claims: Mapping[str, Crossed],
    margin: float,
    unit: Unit,
    against: str,
    *,
    title: str,
    heading: str,
) -> Table:
    """Two one-sided tests of the primary estimates against the plan's margin.

    Args:
        claims: the primary analysis, by condition.
        margin: fixed before the data.
        unit: of the margin and of the table.
        against: what the difference is from: "from none".
        title: of the table, to which the margin is added.
        heading: of the estimates.
    """
    lines = [_Line(name, _tested(claim, margin, unit)) for name, claim in claims.items()]
    inside = [line.condition for line in lines if line.tested is not None and line.tested.equivalent]
    size = f"{margin:g}{unit.noun}"
    sources: Sources[_Line] = (
        text("condition", "Condition", lambda line: line.condition),
        number("estimate", heading, _if_tested(lambda tested: tested.estimate), unit),
        interval("interval", "90% interval", _if_tested(lambda tested: (tested.low, tested.high)), unit),
        p_value("p", "p", _if_tested(lambda tested: tested.p)),
        text("equivalent", "Equivalent", lambda line: _verdict(line.tested)),
    )
    return build_table(
        "equivalence",
        f"{title} within {size}",
        lines,
        sources,
        f"The difference {against} is shown to be smaller than {size} for {listed(inside)}."
        if inside
        else f"No condition is shown to differ {against} by less than {size}.",
        ["Two one-sided tests at 5% each, not corrected for several conditions."],
    )


def _tested(claim: Crossed, margin: float, unit: Unit) -> Equivalence | None:
    estimate, se = unit.of(claim.estimate), unit.of(claim.se)
    if estimate is None or se is None or claim.df is None or not claim.enough:
        return None
    return equivalence(estimate, se, claim.df, margin)


def _if_tested(value: Callable[[Equivalence], Value]) -> Callable[[_Line], Value]:
    return lambda line: None if line.tested is None else value(line.tested)


def _verdict(tested: Equivalence | None) -> str:
    if tested is None:
        return "not tested"
    return "yes" if tested.equivalent else "not shown"
