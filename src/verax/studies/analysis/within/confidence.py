"""How sure people are and how often they are then right; and how scores are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.figures import Distribution, Figure, Interval, Intervals, Shares
from verax.results.tables import Sources, Table, build_table, count, interval, number, share, text
from verax.results.units import PERCENT, POINTS, Ends
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import condition_differences, condition_means
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.claims import share_ends
from verax.studies.analysis.within.conditions import all_and_each, as_met
from verax.text import between, p_text

if TYPE_CHECKING:
    import pandas as pd

SURE, UNSURE, UNDECIDED = "sure", "not sure", "cannot say"
LEVELS = {1.0: SURE, 0.5: UNSURE, 0.0: UNDECIDED}


@dataclass(frozen=True)
class Confident:
    """How often people were right at one level of confidence.

    Attributes:
        condition: where, or over all.
        confidence: how sure they were.
        answers: how many.
        share: of the condition's answers.
        right: per cent; None for those who cannot say.
        ends: of its interval.
    """

    condition: str
    confidence: str
    answers: int
    share: float
    right: float | None
    ends: Ends


def with_confidence(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with ``confidence`` (how sure) and ``right`` (1 or 0; missing for those who cannot say)."""
    right = (answers["score"] > 0).astype("float64").where(answers["score"] != 0)
    return answers.assign(confidence=answers["score"].abs().map(LEVELS), right=right)


def confidences(answers: pd.DataFrame, names: Sequence[str], level: float) -> list[Confident]:
    """The share of right answers by confidence, over all conditions and under each."""
    judged = with_confidence(answers)
    return [
        line
        for name, part in all_and_each(judged, names).items()
        for line in _by_confidence(part, name, level)
    ]


def _by_confidence(part: pd.DataFrame, name: str, level: float) -> list[Confident]:
    decided = part[part["right"].notna()]
    shares: dict[str, Crossed] = {}
    if len(decided):
        by_level = decided.assign(condition=decided["confidence"])
        shares = {right.name: right for right in condition_means(as_met(by_level, "right"), level)}
    lines = []
    for confidence in LEVELS.values():
        answers, right = int((part["confidence"] == confidence).sum()), shares.get(confidence)
        if answers:
            lines.append(
                Confident(
                    name,
                    confidence,
                    answers,
                    answers / len(part),
                    None if right is None else PERCENT.of(right.estimate),
                    share_ends(right),
                )
            )
    return lines


def confidence_table(lines: Sequence[Confident], answers: pd.DataFrame, level: float) -> Table:
    """The share of right answers by confidence."""
    sources: Sources[Confident] = (
        text("condition", "Condition", lambda line: line.condition),
        text("confidence", "Confidence", lambda line: line.confidence),
        count("answers", "Answers", lambda line: line.answers),
        share("share", "Of the condition's answers", lambda line: line.share),
        number("right", "Right", lambda line: line.right, PERCENT),
        interval("interval", "95% interval", lambda line: line.ends, PERCENT),
    )
    return build_table(
        "confidence",
        TITLE,
        lines,
        sources,
        _sentence(lines, _difference(with_confidence(answers), level)),
        ["Intervals take participants and items as samples. Who cannot say is neither right nor wrong."],
    )


TITLE = "How often people are right when they are sure, and when they are not"


def _difference(judged: pd.DataFrame, level: float) -> Crossed | None:
    """How much more often the same people are right when they are sure; None where one level is not used."""
    decided = judged[judged["right"].notna()]
    if set(decided["confidence"]) != {SURE, UNSURE}:
        return None
    return condition_differences(
        as_met(decided.assign(condition=decided["confidence"]), "right"), [(SURE, UNSURE)], level
    )[0]


def _sentence(lines: Sequence[Confident], difference: Crossed | None) -> str:
    first = {line.confidence: line.right for line in lines if line.condition == lines[0].condition}
    parts = [
        f"{first[name]:.0f}% right when {name}" for name in (SURE, UNSURE) if first.get(name) is not None
    ]
    if not parts:
        return "Nobody decided for an answer: how confidence relates to being right cannot be told."
    said = f"People were {' and '.join(parts)}."
    if difference is None or difference.estimate is None:
        return said
    points = f"{POINTS.said(100 * difference.estimate)} within people"
    ends = POINTS.interval(difference.low, difference.high)
    if difference.p is None or ends is None or not difference.enough:
        return f"{said} The difference is {points}; there is too little data for a claim."
    verdict = (
        "confidence tells something"
        if difference.p <= ALPHA and difference.estimate > 0
        else "sure answers were worse"
        if difference.p <= ALPHA
        else "this does not show that confidence tells anything"
    )
    return f"{said} The difference is {points} ({between(*ends)}; {p_text(difference.p)}): {verdict}."


def calibration_figure(lines: Sequence[Confident]) -> Figure:
    """The share of right answers by confidence."""
    rows = tuple(
        Interval(f"{line.condition}, {line.confidence}", line.right, low, high, line.confidence)
        for line in lines
        for low, high in [line.ends or (None, None)]
        if line.right is not None
    )
    return Figure(
        "confidence",
        TITLE,
        Intervals("right answers (%)", 50, rows, PERCENT),
        "Confidence is worth something where sure answers are right more often than unsure ones.",
    )


def distribution_figure(answers: pd.DataFrame, names: Sequence[str]) -> Figure:
    """How scores are distributed under each condition (the paper's Figure 3)."""
    undecided = bool((answers["score"] == 0).any())
    levels = (-1.0, -0.5, *((0.0,) if undecided else ()), 0.5, 1.0)
    by_name = {name: answers.loc[answers["condition"] == name, "score"] for name in names}
    rows = tuple(
        Shares(name, tuple(float((own == level).mean()) for level in levels)) for name, own in by_name.items()
    )
    return Figure(
        "scores-distribution",
        "How the scores are distributed",
        Distribution("score", levels, rows),
        "From -1, sure and wrong, to 1, sure and right.",
    )
