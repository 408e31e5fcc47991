"""How long sessions and answers took, by condition, and whether a condition makes people faster or slower."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verax.results.figures import Bars, Figure, series
from verax.results.tables import (
    Source,
    Sources,
    Table,
    build_table,
    count,
    interval,
    number,
    p_value,
    text,
)
from verax.results.units import MINUTES, SECONDS, Ends
from verax.stats.crossed.result import Crossed
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.within.conditions import as_met, compared_with
from verax.text import listed, p_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Took:
    """How long a condition took.

    Attributes:
        condition: which.
        session: minutes of the sessions over participants; None where there is no time.
        participants: with a session.
        median_seconds: of an answer.
        ratio: the logarithm of the time per answer over that of the reference.
    """

    condition: str
    session: Estimate | None
    participants: int
    median_seconds: float | None
    ratio: Crossed | None

    @property
    def minutes(self) -> float | None:
        """Mean length of a session."""
        return None if self.session is None else self.session.mean

    @property
    def minutes_ends(self) -> Ends:
        """Of its interval over participants."""
        return None if self.session is None else length_ends(self.session)

    @property
    def times(self) -> float | None:
        """How many times as long as with the reference."""
        return None if self.ratio is None or self.ratio.estimate is None else math.exp(self.ratio.estimate)

    @property
    def times_ends(self) -> Ends:
        """Of its interval."""
        if self.ratio is None or self.ratio.low is None or self.ratio.high is None:
            return None
        return math.exp(self.ratio.low), math.exp(self.ratio.high)

    @property
    def p(self) -> float | None:
        """That both take the same time, corrected; None where there is too little to tell."""
        return None if self.ratio is None or not self.ratio.enough else self.ratio.p_family


def session_minutes(answers: pd.DataFrame) -> pd.DataFrame:
    """Minutes of each participant's test session under each condition: the time of all its pages."""
    timed = answers[answers["seconds"].notna()]
    total = timed.groupby(["participant", "condition"], sort=True)["seconds"].sum()
    return (total / 60).rename("minutes").reset_index()


def length_ends(length: Estimate) -> Ends:
    """The interval of a length of time, which is not below 0."""
    return None if length.low is None or length.high is None else (max(length.low, 0.0), length.high)


def times_taken(
    answers: pd.DataFrame, names: Sequence[str], reference: str | None, level: float
) -> list[Took]:
    """Session time and time per answer, with the ratio to the reference.

    Times are skewed, so that conditions are compared by the ratio of geometric means, with participants and items
    crossed.
    """
    sessions = session_minutes(answers)
    timed = answers[answers["seconds"].astype("float64") > 0]
    ratios = _ratios(timed, names, reference, level)
    taken = []
    for name in names:
        minutes = sessions.loc[sessions["condition"] == name, "minutes"].to_numpy()
        seconds = timed.loc[timed["condition"] == name, "seconds"].to_numpy()
        taken.append(
            Took(
                name,
                mean_interval(minutes, level) if len(minutes) else None,
                len(minutes),
                float(np.median(seconds)) if len(seconds) else None,
                ratios.get(name),
            )
        )
    return taken


def _ratios(
    timed: pd.DataFrame, names: Sequence[str], reference: str | None, level: float
) -> dict[str, Crossed]:
    there = [name for name in names if (timed["condition"] == name).any()]
    if reference not in there:
        return {}
    logs = timed.assign(log_seconds=np.log(timed["seconds"].astype("float64")))
    return compared_with(as_met(logs, "log_seconds"), str(reference), there, level)


def times_table(taken: Sequence[Took], reference: str | None) -> Table:
    """Session time and time per answer."""
    known = [
        f"{length_words(line.minutes)} with {line.condition}" for line in taken if line.minutes is not None
    ]
    length: Sources[Took] = (
        number("minutes", "Mean session", lambda line: line.minutes, MINUTES),
        interval("minutes_interval", "95% interval", lambda line: line.minutes_ends, MINUTES),
    )
    return _table(
        taken,
        reference,
        length,
        f"A test session took {listed(known)} on average." if known else "",
        "A session is the sum of the times of its pages, each from its first display to its answer; intervals of "
        "sessions are over participants. Ratios are of geometric means, participants and items crossed, Holm.",
    )


def answer_times_table(taken: Sequence[Took], reference: str | None) -> Table:
    """Time per answer only, where the conditions of a session are mixed."""
    known = [line for line in taken if line.median_seconds is not None]
    medians = listed([f"{line.median_seconds:.1f} seconds with {line.condition}" for line in known])
    unseen: Sources[Took] = (
        Source("minutes", lambda line: line.minutes),
        Source("minutes_interval", lambda line: line.minutes_ends),
    )
    return _table(
        taken,
        reference,
        unseen,
        f"The median answer took {medians}." if known else "",
        "From the first display of a page to its answer. Ratios are of geometric means, participants and items "
        "crossed, Holm.",
    )


def _table(
    taken: Sequence[Took], reference: str | None, length: Sources[Took], sentence: str, note: str
) -> Table:
    ratio: Sources[Took] = (
        number("ratio", f"Time per answer, times that of {reference}", lambda line: line.times),
        interval("ratio_interval", "95% interval", lambda line: line.times_ends),
        p_value("p", "p, corrected", lambda line: line.p),
    )
    sources: Sources[Took] = (
        text("condition", "Condition", lambda line: line.condition),
        *length,
        number("median_seconds", "Median answer", lambda line: line.median_seconds, SECONDS),
        count("participants", "Participants", lambda line: line.participants),
        *(ratio if reference is not None else [Source(source.key, source.value) for source in ratio]),
    )
    said = f"{sentence}{_differences(taken, reference)}" if sentence else "There are no times."
    return build_table("times", "How long people took", taken, sources, said, [note])


def _differences(taken: Sequence[Took], reference: str | None) -> str:
    """What the ratios of times say, with a space before it; empty if nothing was tested."""
    tests = [(line, line.p, line.times) for line in taken]
    clear = [
        (line, p, times) for line, p, times in tests if p is not None and times is not None and p <= ALPHA
    ]
    if not clear and any(p is not None for _, p, _ in tests):
        return f" No clear difference in time per answer from {reference}."
    return "".join(
        f" Answers were {'faster' if times < 1 else 'slower'} with {line.condition}: {times:.2f} times "
        f"the time with {reference} ({p_text(p)})."
        for line, p, times in clear
    )


def length_words(minutes: float) -> str:
    """A length of time: in minutes, or in seconds where it is below one."""
    if minutes >= 1:
        return f"{minutes:.1f} minutes"
    return f"{60 * minutes:.{0 if minutes >= 1 / 6 else 1}f} seconds"


def times_figure(taken: Sequence[Took], task: str) -> Figure:
    """Mean session times as bars."""
    known = [line for line in taken if line.minutes is not None]
    bar = series(task, [line.minutes for line in known], [line.minutes_ends for line in known])
    return Figure(
        "times",
        "Length of the test sessions",
        Bars("minutes", tuple(line.condition for line in known), (bar,)),
        "Mean length of a test session by condition, with 95% intervals over participants.",
    )
