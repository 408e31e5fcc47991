"""The balance that was reached: people per row of the design against its target, answers per item and condition."""

from __future__ import annotations

from typing import Any

from verax.studies.analysis.contract import Analysed, Column, Table
from verax.studies.design.rows import in_words
from verax.text import counted


def balance(data: Analysed) -> dict[str, Any]:
    """A table (as `Table.to_dict`) of analysed people by row of the design, and "answers" per item and condition."""
    people = data.participants
    rows = [
        {
            "row": row.number,
            "shows": in_words(row.cells),
            "target": row.target,
            "analysed": int((people["design_row"] == row.number).sum()),
        }
        for row in data.study.rows
    ]
    answers = _answers(data)
    table = Table(
        key="balance",
        title="Participants analysed, by row of the design",
        columns=(
            Column("row", "Row", "count"),
            Column("shows", "Shows", "text"),
            Column("target", "Wanted", "count"),
            Column("analysed", "Analysed", "count"),
        ),
        rows=tuple(rows),
        sentence=_sentence(rows, answers),
    )
    return {**table.to_dict(), "answers": answers}


def _answers(data: Analysed) -> list[dict[str, Any]]:
    """By condition: how many scored answers each item got, the fewest and the most."""
    scored = data.responses[(data.responses["phase_kind"] == "test") & data.responses["score"].notna()]
    found = []
    for one in data.conditions:
        counts = scored[scored["condition"] == one.name].groupby("item").size()
        found.append(
            {
                "condition": one.name,
                "items": len(counts),
                "answers": int(counts.sum()),
                "fewest_per_item": int(counts.min()) if len(counts) else 0,
                "most_per_item": int(counts.max()) if len(counts) else 0,
            }
        )
    return found


def _sentence(rows: list[dict[str, Any]], answers: list[dict[str, Any]]) -> str:
    short = [row for row in rows if row["analysed"] < row["target"]]
    missing = sum(row["target"] - row["analysed"] for row in short)
    reached = (
        "Every row of the design has as many participants as wanted."
        if not short
        else f"{counted(missing, 'participant')} fewer than wanted, in {len(short)} of {counted(len(rows), 'row')}."
    )
    there = [one for one in answers if one["items"]]
    if not there:
        return reached
    fewest, most = min(one["fewest_per_item"] for one in there), max(one["most_per_item"] for one in there)
    spread = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{reached} Each item has {spread} scored answers in each condition where it was shown."
