"""Mann-Whitney's test of sessions, as Gonzalez and Sogaard (2020) published it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verax.stats.ranks.mann_whitney import mann_whitney
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.contract import Column, Table
from verax.studies.analysis.within.session_times import session_minutes
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd


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
    minutes = session_minutes(pages)
    each = answers.groupby(["participant", "condition"], sort=True)[["score", "truth"]].mean().reset_index()
    measures = (
        ("like the model", each, "score"),
        ("like the true label", each, "truth"),
        ("session time", minutes, "minutes"),
    )
    rows: list[dict[str, Any]] = []
    for name in (name for name in names if name != reference):
        for title, table, value in measures:
            first, second = (
                table.loc[table["condition"] == one, value].to_numpy() for one in (name, reference)
            )
            if not len(first) or not len(second):
                continue
            test = mann_whitney(first, second, level)
            rows.append(
                {
                    "condition": name,
                    "measure": title,
                    "u": test.u,
                    "p": test.p,
                    "delta": test.cliffs_delta,
                    "delta_interval": [test.delta_low, test.delta_high],
                    "sessions": f"{test.n_first} and {test.n_second}",
                }
            )
    if not rows:
        return None
    small = [row for row in rows if row["p"] <= ALPHA]
    parts = listed([f"{row['condition']} ({row['measure']})" for row in small])
    return Table(
        key="mann-whitney",
        title=f"Mann-Whitney's test against {reference}, as published",
        columns=(
            Column("condition", "Condition", "text"),
            Column("measure", "Measure", "text"),
            Column("u", "U", "number"),
            Column("p", "p", "p"),
            Column("delta", "Cliff's delta", "number"),
            Column("delta_interval", "95% interval", "interval"),
            Column("sessions", "Sessions", "text"),
        ),
        rows=tuple(rows),
        sentence=f"By the published test sessions differ from {reference} for {parts}."
        if small
        else f"By the published test no session value differs from {reference}.",
        notes=(
            "A reproduction of the paper's test. Its unit here is a participant's test session. It takes the sessions "
            "of one participant under two conditions as those of two people, and the items as the only ones of "
            "interest; p-values are not corrected. The contrasts above do none of this.",
            "Cliff's delta: share of pairs of sessions in which the condition is higher, minus share in which it is "
            "lower.",
        ),
    )
