"""What was planned: the names under ``[analysis]`` of the frozen spec that are names of analyses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from verax.studies.analysis.contract import Findings, Table

PRIMARY = "primary"
# A margin within which a difference does not matter: its text holds the number, "5 points".
EQUIVALENCE = "equivalence"


def margin_of(plan: Mapping[str, str]) -> float | None:
    """The margin of equivalence in points that a plan names, or None; the first number of its text."""
    found = re.search(r"\d+(?:\.\d+)?", plan.get(EQUIVALENCE, ""))
    return float(found.group()) if found and float(found.group()) > 0 else None


def with_plan(findings: Findings, plan: Mapping[str, str]) -> Findings:
    """The findings with what the plan names marked as planned; all else is exploratory."""
    keys = set(plan)
    if PRIMARY in plan and findings.primary is not None and not findings.primary.stands_in:
        keys |= {one.key for one in findings.primary.estimates}
    tables = tuple(_marked(table, keys) for table in findings.tables)
    if findings.primary is None:
        return replace(findings, tables=tables)
    estimates = tuple(replace(one, planned=one.key in keys) for one in findings.primary.estimates)
    return replace(findings, tables=tables, primary=replace(findings.primary, estimates=estimates))


def _marked(table: Table, keys: set[str]) -> Table:
    """The table and those of its rows that have a key, each planned or not; a table all of whose rows are, is."""
    rows = tuple(
        {**row, "planned": table.key in keys or row["key"] in keys} if "key" in row else row
        for row in table.rows
    )
    marks = [row["planned"] for row in rows if "key" in row]
    return replace(table, rows=rows, planned=table.key in keys or (bool(marks) and all(marks)))


def plan_problems(plan: Mapping[str, str], findings: Findings, keys: Iterable[str]) -> list[str]:
    """One sentence on the names of the plan that no analysis has, and one on a margin without a number.

    Args:
        plan: by name, in words.
        findings: what was analysed.
        keys: further names that are known.
    """
    estimates = () if findings.primary is None else findings.primary.estimates
    rows = [row["key"] for table in findings.tables for row in table.rows if "key" in row]
    tables = [table.key for table in findings.tables]
    known = {PRIMARY, EQUIVALENCE, *keys, *tables, *rows, *(one.key for one in estimates)}
    said = []
    unknown = [name for name in plan if name not in known]
    if unknown:
        said.append(
            f"The plan names {', '.join(repr(name) for name in unknown)}, which no analysis here is called; "
            f"the names are: {', '.join(sorted(known))}."
        )
    if EQUIVALENCE in plan and margin_of(plan) is None:
        said.append(
            f'The plan\'s {EQUIVALENCE!r} has no margin above 0 in it (such as "5 points"): '
            "equivalence was not tested."
        )
    return said
