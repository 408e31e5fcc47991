"""How sure people are and how often they are then right; and how scores are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import condition_differences, condition_means
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.contract import Column, Figure, Table
from verax.studies.analysis.within.conditions import as_met
from verax.text import between, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

SURE, UNSURE, UNDECIDED = "sure", "not sure", "cannot say"
LEVELS = {1.0: SURE, 0.5: UNSURE, 0.0: UNDECIDED}
ALL = "all conditions"


def with_confidence(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with ``confidence`` (how sure) and ``right`` (1 or 0; missing for those who cannot say)."""
    right = (answers["score"] > 0).astype("float64").where(answers["score"] != 0)
    return answers.assign(confidence=answers["score"].abs().map(LEVELS), right=right)


def confidence_table(answers: pd.DataFrame, names: Sequence[str], level: float) -> Table:
    """The share of right answers by confidence, over all conditions and under each."""
    judged = with_confidence(answers)
    rows: list[dict[str, Any]] = []
    for name in [ALL, *names] if len(names) > 1 else list(names):
        part = judged if name == ALL else judged[judged["condition"] == name]
        rows += _rows(part, name, level)
    difference = _difference(judged, level)
    return Table(
        key="confidence",
        title="How often people are right when they are sure, and when they are not",
        columns=(
            Column("condition", "Condition", "text"),
            Column("confidence", "Confidence", "text"),
            Column("answers", "Answers", "count"),
            Column("share", "Of the condition's answers", "percent"),
            Column("right", "Right", "number", "%"),
            Column("interval", "95% interval", "interval", "%"),
        ),
        rows=tuple(rows),
        sentence=_sentence(rows, difference),
        notes=(
            "Intervals take participants and items as samples. Who cannot say is neither right nor wrong.",
        ),
    )


def _rows(part: pd.DataFrame, name: str, level: float) -> list[dict[str, Any]]:
    decided = part[part["right"].notna()]
    found: dict[str, Crossed] = {}
    if len(decided):
        by_level = decided.assign(condition=decided["confidence"])
        found = {one.name: one for one in condition_means(as_met(by_level, "right"), level)}
    rows = []
    for confidence in LEVELS.values():
        own = int((part["confidence"] == confidence).sum())
        one = found.get(confidence)
        if not own:
            continue
        known = one is not None and one.low is not None and one.high is not None
        rows.append(
            {
                "condition": name,
                "confidence": confidence,
                "answers": own,
                "share": own / len(part),
                "right": None if one is None or one.estimate is None else 100 * one.estimate,
                "interval": [100 * max(one.low or 0.0, 0.0), 100 * min(one.high or 0.0, 1.0)]
                if one is not None and known
                else None,
            }
        )
    return rows


def _difference(judged: pd.DataFrame, level: float) -> Crossed | None:
    """How much more often the same people are right when they are sure; None where one level is not used."""
    decided = judged[judged["right"].notna()]
    if set(decided["confidence"]) != {SURE, UNSURE}:
        return None
    return condition_differences(
        as_met(decided.assign(condition=decided["confidence"]), "right"), [(SURE, UNSURE)], level
    )[0]


def _sentence(rows: Sequence[dict[str, Any]], difference: Crossed | None) -> str:
    first = {row["confidence"]: row for row in rows if row["condition"] == rows[0]["condition"]}
    parts = [
        f"{first[name]['right']:.0f}% right when {name}"
        for name in (SURE, UNSURE)
        if name in first and first[name]["right"] is not None
    ]
    if not parts:
        return "Nobody decided for an answer: how confidence relates to being right cannot be told."
    said = f"People were {' and '.join(parts)}."
    if difference is None or difference.estimate is None:
        return said
    points = f"{signed(100 * difference.estimate)} points within people"
    if difference.p is None or difference.low is None or difference.high is None or not difference.enough:
        return f"{said} The difference is {points}; there is too little data for a claim."
    ends = between(100 * difference.low, 100 * difference.high)
    verdict = (
        "confidence tells something"
        if difference.p <= ALPHA and difference.estimate > 0
        else "sure answers were worse"
        if difference.p <= ALPHA
        else "this does not show that confidence tells anything"
    )
    return f"{said} The difference is {points} ({ends}; {p_text(difference.p)}): {verdict}."


def calibration_figure(table: Table) -> Figure:
    """The share of right answers by confidence."""
    rows = [
        {
            "label": f"{row['condition']}, {row['confidence']}",
            "estimate": row["right"],
            "low": None if row["interval"] is None else row["interval"][0],
            "high": None if row["interval"] is None else row["interval"][1],
            "group": row["confidence"],
        }
        for row in table.rows
        if row["right"] is not None
    ]
    return Figure(
        key="confidence",
        title=table.title,
        kind="intervals",
        data={"x_label": "right answers (%)", "reference": 50, "rows": rows},
        sentence="Confidence is worth something where sure answers are right more often than unsure ones.",
    )


def distribution_figure(answers: pd.DataFrame, names: Sequence[str]) -> Figure:
    """How scores are distributed under each condition (the paper's Figure 3)."""
    undecided = bool((answers["score"] == 0).any())
    levels = [-1.0, -0.5, *([0.0] if undecided else []), 0.5, 1.0]
    rows = []
    for name in names:
        own = answers.loc[answers["condition"] == name, "score"]
        rows.append({"label": name, "shares": [float((own == level).mean()) for level in levels]})
    return Figure(
        key="scores-distribution",
        title="How the scores are distributed",
        kind="distribution",
        data={"x_label": "score", "levels": levels, "rows": rows},
        sentence="From -1, sure and wrong, to 1, sure and right.",
    )
