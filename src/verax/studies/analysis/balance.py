"""The balance that was reached: people per row of the design against its target, answers per item and condition."""

from __future__ import annotations

from dataclasses import dataclass

from verax.results.tables import Sources, build_table, count, text
from verax.stats.crossed.sizes import FILL
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocol.findings import Analysed
from verax.studies.results.participation import Balance, ItemAnswers
from verax.text import counted

# Rows that differ by so many times (and two people) are called unequal.
UNEQUAL = 1.5


@dataclass(frozen=True)
class _Reached:
    """How many people of a row of the design are analysed."""

    row: int
    shows: str
    target: int
    analysed: int


def balance(data: Analysed) -> Balance:
    """Analysed people by row of the design, and scored answers per item and condition."""
    rows = data.participants["design_row"]
    reached = [
        _Reached(row.number, row.cells.in_words(), row.target, int((rows == row.number).sum()))
        for row in data.study.rows
    ]
    answers = _answers(data)
    sources: Sources[_Reached] = (
        count("row", "Row", lambda row: row.row),
        text("shows", "Shows", lambda row: row.shows),
        count("target", "Wanted", lambda row: row.target),
        count("analysed", "Analysed", lambda row: row.analysed),
    )
    sentence = _sentence(reached, [own for own in answers if own.items])
    table = build_table("balance", "Participants analysed, by row of the design", reached, sources, sentence)
    return Balance(**vars(table), answers=answers)


def is_within(data: Analysed) -> bool:
    """Whether everybody meets every condition."""
    planning = make_protocol(data.study.spec.protocol).planning(data.study.spec)
    return planning is not None and planning.compared == "within"


def balance_problems(data: Analysed) -> list[str]:
    """Within people: that rows of the design are filled unequally, so that conditions are not met in equal places."""
    if not is_within(data) or len(data.study.rows) < 2:
        return []
    rows = data.participants["design_row"]
    counts = [int((rows == row.number).sum()) for row in data.study.rows]
    fewest, most = min(counts), max(counts)
    if most < 1 or most - fewest < 2 or most < UNEQUAL * fewest:
        return []
    empty = counts.count(0)
    how = (
        f"{empty} of {len(counts)} rows of the design have nobody"
        if empty
        else f"rows of the design have from {fewest} to {most} people"
    )
    return [
        f"The design is filled unequally: {how}. Where two conditions are then not met equally early and late, "
        f"practice or tiredness can pass for an effect, and nothing is claimed of them. {FILL}"
    ]


def _answers(data: Analysed) -> tuple[ItemAnswers, ...]:
    """By condition: how many scored answers each item got, the fewest and the most."""
    scored = data.responses[(data.responses["phase_kind"] == "test") & data.responses["score"].notna()]
    by_condition = {
        condition.name: scored[scored["condition"] == condition.name].groupby("item").size()
        for condition in data.conditions
    }
    return tuple(
        ItemAnswers(
            name,
            items=len(counts),
            answers=int(counts.sum()),
            fewest_per_item=int(counts.min()) if len(counts) else 0,
            most_per_item=int(counts.max()) if len(counts) else 0,
        )
        for name, counts in by_condition.items()
    )


def _sentence(rows: list[_Reached], answers: list[ItemAnswers]) -> str:
    short = [row for row in rows if row.analysed < row.target]
    missing = sum(row.target - row.analysed for row in short)
    reached = (
        "Every row of the design has as many participants as wanted."
        if not short
        else f"{counted(missing, 'participant')} fewer than wanted, in {len(short)} of {counted(len(rows), 'row')}."
    )
    if not answers:
        return reached
    fewest, most = min(own.fewest_per_item for own in answers), max(own.most_per_item for own in answers)
    spread = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{reached} Each item has {spread} scored answers in each condition where it was shown."
