"""What was planned: the names under ``[analysis]`` of the frozen spec that are names of analyses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from verax.errors import VeraxError
from verax.results.tables import Table
from verax.results.units import POINTS, SCORE, Unit
from verax.studies.model.spec_tables import Equivalence
from verax.studies.protocol.findings import Findings

Plan = Mapping[str, str | Equivalence]

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
    if isinstance(given, Equivalence) and given.unit != unit:
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
        said.append(
            f"The plan names {', '.join(repr(name) for name in unknown)}, which no analysis here is called; "
            f"the names are: {', '.join(sorted(known))}."
        )
    given = plan.get(EQUIVALENCE)
    if isinstance(given, str):
        said.append(_about_text(given, POINTS if findings.primary is None else findings.primary.unit))
    return said


def _about_text(given: str, unit: Unit) -> str:
    """How a margin in words was taken, and how it is written so that nothing has to be taken from words."""
    margin = _read(given)
    example = f'equivalence = {{ margin = {5 if margin is None else margin:g}, unit = "{unit}" }}'
    if margin is None:
        return (
            f"The plan's {EQUIVALENCE!r} is a text with no margin above 0 in it, or with several numbers: equivalence "
            f"was not tested; write a number with its unit, such as {example}."
        )
    return (
        f"The plan's {EQUIVALENCE!r} is a text; {margin:g} was taken from it as the margin. Write a number with its "
        f"unit instead: {example}."
    )
