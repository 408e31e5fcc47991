"""Whether conditions within people are shown to differ too little to matter, where the plan names a margin."""

from __future__ import annotations

from typing import Any

from verax.stats.crossed.result import Crossed
from verax.stats.tests.equivalence import equivalence
from verax.studies.analysis.contract import Column, Table
from verax.studies.analysis.within.conditions import Scale
from verax.text import listed


def within_equivalence(found: dict[str, Crossed], reference: str, margin: float, scale: Scale) -> Table:
    """Two one-sided tests of the differences from a reference against the plan's margin, which is on the scale."""
    rows: list[dict[str, Any]] = []
    inside: list[str] = []
    for name, one in found.items():
        if one.estimate is None or one.se is None or one.df is None or not one.enough:
            rows.append(
                {"condition": name, "estimate": None, "interval": None, "p": None, "equivalent": "not tested"}
            )
            continue
        tested = equivalence(scale.factor * one.estimate, scale.factor * one.se, one.df, margin)
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
    size = f"{margin:g}{scale.noun}"
    sentence = (
        f"The difference from {reference} is shown to be smaller than {size} for {listed(inside)}."
        if inside
        else f"No condition is shown to differ from {reference} by less than {size}."
    )
    return Table(
        key="equivalence",
        title=f"Equivalence with {reference} within {size}",
        columns=(
            Column("condition", "Condition", "text"),
            Column("estimate", f"Difference from {reference}", "number", scale.unit),
            Column("interval", "90% interval", "interval", scale.unit),
            Column("p", "p", "p"),
            Column("equivalent", "Equivalent", "text"),
        ),
        rows=tuple(rows),
        sentence=sentence,
        notes=("Two one-sided tests at 5% each, not corrected for several conditions.",),
    )
