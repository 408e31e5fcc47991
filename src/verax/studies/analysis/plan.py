"""What was planned: the names under ``[analysis]`` of the frozen spec, and margins of equivalence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.tables import Sources, Table, Value, build_table, interval, number, p_value, text
from verax.results.units import POINTS, SCORE, Unit
from verax.stats.tests.differences import Equivalence, equivalence
from verax.studies.analysis.primary import FindingsCollector
from verax.studies.definition.spec_tables import Equivalence as EquivalenceMargin
from verax.studies.protocol.contract import Findings

if TYPE_CHECKING:
    from verax.stats.crossed.result import Crossed


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
Plan = Mapping[str, str | EquivalenceMargin]

PRIMARY = "primary"
# A margin within which a difference does not matter.
EQUIVALENCE = "equivalence"


def margin_of(plan: Plan, unit: Unit) -> float | None:
    """The margin of equivalence that a plan names, or None.

    Raises:
        VeraxError: it cannot be one of differences in this unit.
    """
    given = plan.get(EQUIVALENCE)
    margin = _read(given) if isinstance(given, str) else None if given is None else given.margin
    if isinstance(given, EquivalenceMargin) and given.unit != unit:
        raise VeraxError(
            f"The plan's margin of equivalence is in {given.unit}, but differences here are in {unit}: equivalence was "
            f'not tested; write unit = "{unit}" and the margin in it.'
        )
    if margin is not None and margin >= 1 and unit == SCORE:
        raise VeraxError(
            f"The plan's margin of equivalence is {margin:g}, but scores go from -1 to 1: equivalence was not tested; "
            "a margin here is a difference of mean scores, such as 0.1."
        )
    return margin


def _read(text: str) -> float | None:
    """The margin in the text of an old plan: its only number, or the only one before "points"; None if unclear."""
    for pattern in (r"(\d+(?:\.\d+)?)", r"(\d+(?:\.\d+)?)\s*(?:percentage )?points?\b"):
        numbers = re.findall(pattern, text)
        if len(numbers) == 1 and float(numbers[0]) > 0:
            return float(numbers[0])
    return None


def with_plan(findings: Findings, plan: Plan) -> Findings:
    """The findings with what the plan names marked as planned; all else is exploratory."""
    keys = set(plan)
    if PRIMARY in plan and findings.primary is not None and not findings.primary.stands_in:
        keys |= {line.key for line in findings.primary.estimates}
    tables = tuple(_marked(table, keys) for table in findings.tables)
    if findings.primary is None:
        return replace(findings, tables=tables)
    estimates = tuple(replace(line, planned=line.key in keys) for line in findings.primary.estimates)
    return replace(findings, tables=tables, primary=replace(findings.primary, estimates=estimates))


def _marked(table: Table, keys: set[str]) -> Table:
    """The table and those of its rows that have a key, each planned or not; a table all of whose rows are, is."""
    rows = tuple(
        {**row, "planned": table.key in keys or row["key"] in keys} if "key" in row else row
        for row in table.rows
    )
    marks = [row["planned"] for row in rows if "key" in row]
    return replace(table, rows=rows, planned=table.key in keys or (bool(marks) and all(marks)))


def plan_problems(plan: Plan, findings: Findings, keys: Iterable[str]) -> list[str]:
    """One sentence on the names of the plan that no analysis has, and one on a margin that is not a number with a unit.

    Args:
        plan: by name, in words.
        findings: what was analysed.
        keys: further names that are known.
    """
    estimates = () if findings.primary is None else findings.primary.estimates
    rows = [str(row["key"]) for table in findings.tables for row in table.rows if "key" in row]
    tables = [table.key for table in findings.tables]
    known = {PRIMARY, EQUIVALENCE, *keys, *tables, *rows, *(line.key for line in estimates)}
    said = []
    unknown = [name for name in plan if name not in known]
    if unknown:
        said.append(say("plan-unknown", names=list(map(repr, unknown)), known=", ".join(sorted(known))))
    given = plan.get(EQUIVALENCE)
    if isinstance(given, str):
        said.append(_about_text(given, POINTS if findings.primary is None else findings.primary.unit))
    return said


def _about_text(given: str, unit: Unit) -> str:
    """How a margin in words was taken, and how it is written so that nothing has to be taken from words."""
    margin = _read(given)
    example = f'equivalence = {{ margin = {5 if margin is None else margin:g}, unit = "{unit}" }}'
    return say(
        "plan-margin",
        margin="none" if margin is None else f"{margin:g}",
        name=repr(EQUIVALENCE),
        example=example,
    )


@dataclass(frozen=True)
class _EquivalenceRow:
    """A condition and its test; None where there is too little for one."""

    condition: str
    tested: Equivalence | None


def planned_equivalence(
    gathered: FindingsCollector,
    plan: Plan,
    claims: Mapping[str, Crossed],
    unit: Unit,
    against: str,
    *,
    title: str = "",
    heading: str = "",
) -> None:
    """Adds the table if the plan names a margin and there is something to test; a margin that fits not is a problem."""
    try:
        margin = margin_of(plan, unit)
    except VeraxError as error:
        gathered.problems.append(str(error))
        return
    if margin is not None and claims:
        gathered.tables.append(
            equivalence_table(
                claims,
                margin,
                unit,
                against,
                title=title or say_table("equivalence"),
                heading=heading or say_table("column-estimate"),
            )
        )


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
    lines = [_EquivalenceRow(name, _tested(claim, margin, unit)) for name, claim in claims.items()]
    inside = [line.condition for line in lines if line.tested is not None and line.tested.equivalent]
    size = f"{margin:g}{unit.noun}"
    sources: Sources[_EquivalenceRow] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        number("estimate", heading, _if_tested(lambda tested: tested.estimate), unit),
        interval(
            "interval",
            say_table("column-interval-90"),
            _if_tested(lambda tested: (tested.low, tested.high)),
            unit,
        ),
        p_value("p", "p", _if_tested(lambda tested: tested.p)),
        text("equivalent", say_table("column-equivalent"), lambda line: _verdict(line.tested)),
    )
    return build_table(
        "equivalence",
        say_table("equivalence-within", title=title, size=size),
        lines,
        sources,
        say("equivalent", against=against, size=size, names=inside)
        if inside
        else say("not-equivalent", against=against, size=size),
        [say_table("equivalence-how")],
    )


def _tested(claim: Crossed, margin: float, unit: Unit) -> Equivalence | None:
    estimate, se = unit.of(claim.estimate), unit.of(claim.se)
    if estimate is None or se is None or claim.df is None or not claim.enough:
        return None
    return equivalence(estimate, se, claim.df, margin)


def _if_tested(value: Callable[[Equivalence], Value]) -> Callable[[_EquivalenceRow], Value]:
    return lambda line: None if line.tested is None else value(line.tested)


def _verdict(tested: Equivalence | None) -> str:
    if tested is None:
        return say_table("not-tested")
    return "yes" if tested.equivalent else say_table("not-shown")
