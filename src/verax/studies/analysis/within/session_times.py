"""How long sessions and answers took, by condition, and whether a condition makes people faster or slower."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.stats.crossed.result import Crossed
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.contract import Column, Figure, Table
from verax.studies.analysis.within.conditions import as_met, compared_with
from verax.text import listed, p_text

if TYPE_CHECKING:
    import pandas as pd


def session_minutes(answers: pd.DataFrame) -> pd.DataFrame:
    """Minutes of each participant's test session under each condition: the time of all its pages."""
    timed = answers[answers["seconds"].notna()]
    total = timed.groupby(["participant", "condition"], sort=True)["seconds"].sum()
    return (total / 60).rename("minutes").reset_index()


def times_table(answers: pd.DataFrame, names: Sequence[str], reference: str | None, level: float) -> Table:
    """Session time and time per item, with the ratio to the reference.

    Times are skewed, so that conditions are compared by the ratio of geometric means, with participants and items
    crossed.
    """
    sessions = session_minutes(answers)
    timed = answers[answers["seconds"].astype("float64") > 0]
    ratios = _ratios(timed, names, reference, level)
    rows = [_row(sessions, timed, name, ratios.get(name), level) for name in names]
    columns = [
        Column("condition", "Condition", "text"),
        Column("minutes", "Mean session", "number", "minutes"),
        Column("minutes_interval", "95% interval", "interval", "minutes"),
        Column("median_seconds", "Median answer", "number", "seconds"),
        Column("participants", "Participants", "count"),
    ]
    if reference is not None:
        columns += [
            Column("ratio", f"Time per answer, times that of {reference}", "number"),
            Column("ratio_interval", "95% interval", "interval"),
            Column("p", "p, corrected", "p"),
        ]
    return Table(
        key="times",
        title="How long people took",
        columns=tuple(columns),
        rows=tuple(rows),
        sentence=_sentence(rows, reference),
        notes=(
            "A session is the sum of the times of its pages, each from its first display to its answer; intervals of "
            "sessions are over participants. Ratios are of geometric means, participants and items crossed, Holm.",
        ),
    )


def answer_times_table(
    answers: pd.DataFrame, names: Sequence[str], reference: str | None, level: float
) -> Table:
    """Time per answer only, where the conditions of a session are mixed."""
    whole = times_table(answers, names, reference, level)
    rows = whole.rows
    clear = _differences(rows, reference)
    known = [row for row in rows if row["median_seconds"] is not None]
    medians = listed([f"{row['median_seconds']:.1f} seconds with {row['condition']}" for row in known])
    return replace(
        whole,
        columns=tuple(one for one in whole.columns if one.key not in ("minutes", "minutes_interval")),
        sentence=f"The median answer took {medians}.{clear}" if known else "There are no times.",
        notes=(
            "From the first display of a page to its answer. Ratios are of geometric means, participants and items "
            "crossed, Holm.",
        ),
    )


def length_words(minutes: float) -> str:
    """A length of time: in minutes, or in seconds where it is below one."""
    if minutes >= 1:
        return f"{minutes:.1f} minutes"
    return f"{60 * minutes:.{0 if minutes >= 1 / 6 else 1}f} seconds"


def times_figure(table: Table, task: str) -> Figure:
    """Mean session times as bars."""
    rows = [row for row in table.rows if row["minutes"] is not None]
    ends = [row["minutes_interval"] or [None, None] for row in rows]
    return Figure(
        key="times",
        title="Length of the test sessions",
        kind="bars",
        data={
            "y_label": "minutes",
            "groups": [row["condition"] for row in rows],
            "bars": [
                {
                    "label": task,
                    "values": [row["minutes"] for row in rows],
                    "low": [low for low, _ in ends],
                    "high": [high for _, high in ends],
                }
            ],
        },
        sentence="Mean length of a test session by condition, with 95% intervals over participants.",
    )


def _ratios(
    timed: pd.DataFrame, names: Sequence[str], reference: str | None, level: float
) -> dict[str, Crossed]:
    there = [name for name in names if (timed["condition"] == name).any()]
    if reference not in there:
        return {}
    logs = timed.assign(log_seconds=np.log(timed["seconds"].astype("float64")))
    return compared_with(as_met(logs, "log_seconds"), str(reference), there, level)


def _row(
    sessions: pd.DataFrame, timed: pd.DataFrame, name: str, ratio: Crossed | None, level: float
) -> dict[str, Any]:
    minutes = sessions.loc[sessions["condition"] == name, "minutes"].to_numpy()
    seconds = timed.loc[timed["condition"] == name, "seconds"].to_numpy()
    length: Estimate | None = mean_interval(minutes, level) if len(minutes) else None
    ends = None if ratio is None or ratio.low is None or ratio.high is None else [ratio.low, ratio.high]
    return {
        "condition": name,
        "minutes": None if length is None else length.mean,
        "minutes_interval": None
        if length is None or length.low is None or length.high is None
        else [max(length.low, 0.0), length.high],
        "median_seconds": float(np.median(seconds)) if len(seconds) else None,
        "participants": len(minutes),
        "ratio": None if ratio is None or ratio.estimate is None else math.exp(ratio.estimate),
        "ratio_interval": None if ends is None else [math.exp(end) for end in ends],
        "p": None if ratio is None or not ratio.enough else ratio.p_family,
    }


def _sentence(rows: Sequence[dict[str, Any]], reference: str | None) -> str:
    known = [row for row in rows if row["minutes"] is not None]
    if not known:
        return "There are no times."
    lengths = listed([f"{length_words(row['minutes'])} with {row['condition']}" for row in known])
    return f"A test session took {lengths} on average.{_differences(rows, reference)}"


def _differences(rows: Sequence[Mapping[str, Any]], reference: str | None) -> str:
    """What the ratios of times say, with a space before it; empty if nothing was tested."""
    tests = [row for row in rows if row["p"] is not None]
    clear = [row for row in tests if row["p"] <= ALPHA]
    if tests and not clear:
        return f" No clear difference in time per answer from {reference}."
    return "".join(
        f" Answers were {'faster' if row['ratio'] < 1 else 'slower'} with {row['condition']}: {row['ratio']:.2f} times "
        f"the time with {reference} ({p_text(row['p'])})."
        for row in clear
    )
