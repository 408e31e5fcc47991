"""Mann-Whitney's test of sessions, as Gonzalez and Sogaard (2020) published it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.tables import Sources, Table, build_table, interval, number, p_value, text
from verax.stats.ranks.mann_whitney import RankTest, mann_whitney
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.within.session_times import session_minutes
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Line:
    condition: str
    measure: str
    test: RankTest


def rank_table(
    answers: pd.DataFrame, pages: pd.DataFrame, names: Sequence[str], reference: str, level: float
) -> Table | None:
    """Mann-Whitney's test as in the paper, with effect sizes: one value per participant and condition.

    Args:
        answers: of the test sessions.
        pages: the same with those that expired unanswered, which also took time.
        names: the conditions.
        reference: what the others are compared with.
        level: coverage of the intervals.
    """
    each = answers.groupby(["participant", "condition"], sort=True)[["score", "truth"]].mean().reset_index()
    measures = (
        ("like the model", each, "score"),
        ("like the true label", each, "truth"),
        ("session time", session_minutes(pages), "minutes"),
    )
    tests = [
        (name, title, rank_test(sessions, value, name, reference, level))
        for name in names
        if name != reference
        for title, sessions, value in measures
    ]
    lines = [_Line(name, title, test) for name, title, test in tests if test is not None]
    if not lines:
        return None
    clear = listed([f"{line.condition} ({line.measure})" for line in lines if line.test.p <= ALPHA])
    sources: Sources[_Line] = (
        text("condition", "Condition", lambda line: line.condition),
        text("measure", "Measure", lambda line: line.measure),
        number("u", "U", lambda line: line.test.u),
        p_value("p", "p", lambda line: line.test.p),
        number("delta", "Cliff's delta", lambda line: line.test.cliffs_delta),
        interval("delta_interval", "95% interval", lambda line: [line.test.delta_low, line.test.delta_high]),
        text("sessions", "Sessions", lambda line: f"{line.test.n_first} and {line.test.n_second}"),
    )
    return build_table(
        "mann-whitney",
        f"Mann-Whitney's test against {reference}, as published",
        lines,
        sources,
        f"By the published test sessions differ from {reference} for {clear}."
        if clear
        else f"By the published test no session value differs from {reference}.",
        [
            "A reproduction of the paper's test. Its unit here is a participant's test session. It takes the sessions "
            "of one participant under two conditions as those of two people, and the items as the only ones of "
            "interest; p-values are not corrected. The contrasts above do none of this.",
            "Cliff's delta: share of pairs of sessions in which the condition is higher, minus share in which it is "
            "lower.",
        ],
    )


def rank_test(
    sessions: pd.DataFrame, value: str, name: str, reference: str, level: float = 0.95
) -> RankTest | None:
    """A value of the sessions of one condition against those of the reference; None where one has no session."""
    first, second = (
        sessions.loc[sessions["condition"] == condition, value].to_numpy() for condition in (name, reference)
    )
    return mann_whitney(first, second, level) if len(first) and len(second) else None
