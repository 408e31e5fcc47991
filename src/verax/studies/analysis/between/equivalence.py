"""Whether conditions are shown to differ too little to matter, where the plan names a margin."""

from __future__ import annotations

from typing import Any

from verax.stats.tests.equivalence import equivalence
from verax.studies.analysis.between.effects import Effects
from verax.studies.analysis.contract import Column, Table
from verax.text import listed


def equivalence_table(found: Effects, margin: float) -> Table:
    """Two one-sided tests of the primary estimates against the plan's margin.

    Args:
        found: the primary analysis.
        margin: in points, fixed before the data.
    """
    rows: list[dict[str, Any]] = []
    inside: list[str] = []
    for name, one in found.primary.items():
        if one.estimate is None or one.se is None or one.df is None or not one.enough:
            rows.append(
                {"condition": name, "estimate": None, "interval": None, "p": None, "equivalent": "not tested"}
            )
            continue
        tested = equivalence(100 * one.estimate, 100 * one.se, one.df, margin)
        if tested.equivalent:
            inside.append(name)
        rows.append(
            {
                "condition": name,
                "estimate": tested.estimate,
                "interval": [tested.low, tested.high],
                "p": tested.p,
                "equivalent": "yes" if tested.equivalent else "not shown",
            }
        )
    against = f" from {found.control}" if found.control is not None else " between the rounds"
    sentence = (
        f"The difference{against} is shown to be smaller than {margin:g} points for {listed(inside)}."
        if inside
        else f"No condition is shown to differ{against} by less than {margin:g} points."
    )
    return Table(
        key="equivalence",
        title=f"Equivalence within {margin:g} points",
        columns=(
            Column("condition", "Condition", "text"),
            Column("estimate", "Estimate", "number", "points"),
            Column("interval", "90% interval", "interval", "points"),
            Column("p", "p", "p"),
            Column("equivalent", "Equivalent", "text"),
        ),
        rows=tuple(rows),
        sentence=sentence,
        notes=("Two one-sided tests at 5% each, not corrected for several conditions.",),
    )
