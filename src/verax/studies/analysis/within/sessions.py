"""Sessions: how long they and answers took, Mann-Whitney's test of them, and whether people learn in the training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from verax.phrases import say as say_phrase
from verax.results.figures import Bars, Curve, Figure, Line, series
from verax.results.tables import (
    Source,
    Sources,
    Table,
    build_table,
    count,
    interval,
    number,
    p_value,
    share,
    text,
)
from verax.results.units import MINUTES, PERCENT, POINTS, SECONDS, Ends
from verax.stats.crossed.result import Crossed
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.means import mean_share
from verax.stats.ranks import RankTest, mann_whitney
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.within.conditions import as_met, compared_with
from verax.text import between, p_text

if TYPE_CHECKING:
    import pandas as pd


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")


@dataclass(frozen=True)
class ConditionTimes:
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
) -> list[ConditionTimes]:
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
            ConditionTimes(
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


def times_table(taken: Sequence[ConditionTimes], reference: str | None) -> Table:
    """Session time and time per answer."""
    known = [
        say("session-part", length=length_words(line.minutes), condition=line.condition)
        for line in taken
        if line.minutes is not None
    ]
    length: Sources[ConditionTimes] = (
        number("minutes", say_table("column-mean-session"), lambda line: line.minutes, MINUTES),
        interval("minutes_interval", say_table("column-interval"), lambda line: line.minutes_ends, MINUTES),
    )
    return _table(
        taken,
        reference,
        length,
        say("sessions-took", parts=known) if known else "",
        say_table("times-session"),
    )


def answer_times_table(taken: Sequence[ConditionTimes], reference: str | None) -> Table:
    """Time per answer only, where the conditions of a session are mixed."""
    known = [line for line in taken if line.median_seconds is not None]
    medians = [
        say(
            "session-part",
            length=say("length-seconds", length=f"{line.median_seconds:.1f}"),
            condition=line.condition,
        )
        for line in known
    ]
    unseen: Sources[ConditionTimes] = (
        Source("minutes", lambda line: line.minutes),
        Source("minutes_interval", lambda line: line.minutes_ends),
    )
    return _table(
        taken,
        reference,
        unseen,
        say("answers-took", parts=medians) if known else "",
        say_table("times-answer"),
    )


def _table(
    taken: Sequence[ConditionTimes],
    reference: str | None,
    length: Sources[ConditionTimes],
    sentence: str,
    note: str,
) -> Table:
    ratio: Sources[ConditionTimes] = (
        number("ratio", say_table("column-times-that-of", reference=str(reference)), lambda line: line.times),
        interval("ratio_interval", say_table("column-interval"), lambda line: line.times_ends),
        p_value("p", say_table("column-p-corrected"), lambda line: line.p),
    )
    sources: Sources[ConditionTimes] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        *length,
        number(
            "median_seconds", say_table("column-median-answer"), lambda line: line.median_seconds, SECONDS
        ),
        count("participants", say_table("column-participants"), lambda line: line.participants),
        *(ratio if reference is not None else [Source(source.key, source.value) for source in ratio]),
    )
    said = " ".join([sentence, *_differences(taken, reference)]) if sentence else say("no-times")
    return build_table("times", say_table("times"), taken, sources, said, [note])


def _differences(taken: Sequence[ConditionTimes], reference: str | None) -> list[str]:
    """What the ratios of times say; nothing if nothing was tested."""
    tests = [(line, line.p, line.times) for line in taken]
    clear = [
        (line, p, times) for line, p, times in tests if p is not None and times is not None and p <= ALPHA
    ]
    if not clear and any(p is not None for _, p, _ in tests):
        return [say("times-alike", reference=str(reference))]
    return [
        say(
            "times-differ",
            way="faster" if times < 1 else "slower",
            condition=line.condition,
            ratio=f"{times:.2f}",
            reference=str(reference),
            p=p_text(p),
        )
        for line, p, times in clear
    ]


def length_words(minutes: float) -> str:
    """A length of time: in minutes, or in seconds where it is below one."""
    if minutes >= 1:
        return say("length-minutes", length=f"{minutes:.1f}")
    return say("length-seconds", length=f"{60 * minutes:.{0 if minutes >= 1 / 6 else 1}f}")


def times_figure(taken: Sequence[ConditionTimes], task: str) -> Figure:
    """Mean session times as bars."""
    known = [line for line in taken if line.minutes is not None]
    bar = series(task, [line.minutes for line in known], [line.minutes_ends for line in known])
    return Figure(
        "times",
        say_table("figure-times"),
        Bars("minutes", tuple(line.condition for line in known), (bar,)),
        say_table("figure-times-says"),
    )


@dataclass(frozen=True)
class _RankTestRow:
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
        (say_table("like-the-model"), each, "score"),
        (say_table("like-the-true-label"), each, "truth"),
        (say_table("session-time"), session_minutes(pages), "minutes"),
    )
    tests = [
        (name, title, rank_test(sessions, value, name, reference, level))
        for name in names
        if name != reference
        for title, sessions, value in measures
    ]
    lines = [_RankTestRow(name, title, test) for name, title, test in tests if test is not None]
    if not lines:
        return None
    clear = [
        say("ranks-part", condition=line.condition, measure=line.measure)
        for line in lines
        if line.test.p <= ALPHA
    ]
    sources: Sources[_RankTestRow] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        text("measure", say_table("column-measure"), lambda line: line.measure),
        number("u", "U", lambda line: line.test.u),
        p_value("p", "p", lambda line: line.test.p),
        number("delta", say_table("column-cliffs-delta"), lambda line: line.test.cliffs_delta),
        interval(
            "delta_interval",
            say_table("column-interval"),
            lambda line: [line.test.delta_low, line.test.delta_high],
        ),
        text(
            "sessions",
            say_table("column-sessions"),
            lambda line: say_table("two-counts", first=line.test.n_first, second=line.test.n_second),
        ),
    )
    return build_table(
        "mann-whitney",
        say_table("mann-whitney", reference=reference),
        lines,
        sources,
        say("ranks-differ", reference=reference, parts=clear)
        if clear
        else say("ranks-alike", reference=reference),
        [
            say_table("mann-whitney-how"),
            say_table("mann-whitney-delta"),
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


# A curve has at most so many points: one item of one person is right or wrong, which shows nothing.
MOST_POINTS = 5


def training_answers(responses: pd.DataFrame, scored: str) -> pd.DataFrame:
    """Guesses of the training sessions with their order in the session, from 1; 1 where the model was guessed."""
    guesses = responses[
        (responses["phase_kind"] == "training")
        & (responses["question"] == scored)
        & responses["answer"].notna()
        & responses["prediction"].notna()
    ].sort_values(["participant", "phase", "step"], kind="stable")
    right = guesses["answer"].astype(str) == guesses["prediction"].astype("int64").astype(str)
    order = guesses.groupby(["participant", "phase"], sort=False).cumcount() + 1
    return guesses.assign(right=right.astype("float64"), order=order).reset_index(drop=True)


def blocks(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with their block of neighbouring items: ``block`` from 0, and its middle as ``place``."""
    longest = int(answers["order"].max())
    points = min(MOST_POINTS, longest)
    block = (answers["order"] - 1) * points // longest
    middles = answers.assign(block=block).groupby("block")["order"].agg(lambda o: (o.min() + o.max()) / 2)
    return answers.assign(block=block, place=block.map(middles))


def training_curve(answers: pd.DataFrame, names: Sequence[str], level: float) -> Figure:
    """Accuracy over the training, one line per condition, with intervals over participants."""
    cut = blocks(answers)
    by_name = {name: cut[cut["condition"] == name] for name in names}
    return Figure(
        "training",
        say_table("training"),
        Curve(
            say_table("figure-training-x"),
            say_table("figure-training-y"),
            tuple(_line(name, own, level) for name, own in by_name.items() if len(own)),
        ),
        say_table("figure-training-says"),
    )


def _line(name: str, answers: pd.DataFrame, level: float) -> Line:
    each = answers.groupby(["place", "participant"], sort=True)["right"].mean()
    points = {
        float(place): mean_share(values.to_numpy(), level=level)
        for place, values in each.groupby(level="place", sort=True)
    }
    return Line(
        name,
        tuple(points),
        tuple(PERCENT.of(share.mean) for share in points.values()),
        tuple(None if share.low is None else PERCENT.of(share.low) for share in points.values()),
        tuple(None if share.high is None else PERCENT.of(share.high) for share in points.values()),
    )


@dataclass(frozen=True)
class _Gain:
    """Accuracy in the first and the second half of training, and what participants gained."""

    condition: str
    first: float
    second: float
    gained: Estimate

    @property
    def ends(self) -> Ends:
        return POINTS.interval(self.gained.low, self.gained.high)


def training_table(answers: pd.DataFrame, names: Sequence[str], level: float) -> Table:
    """Accuracy in the first and the second half of training, and how much each participant gained."""
    half = (answers["order"].max() + 1) / 2
    gains = []
    for name in names:
        own = answers[answers["condition"] == name]
        early, late = (
            own[part].groupby("participant")["right"].mean()
            for part in (own["order"] < half, own["order"] > half)
        )
        gained = (late - early).dropna()
        if len(gained):
            first, second = float(early[gained.index].mean()), float(late[gained.index].mean())
            gains.append(_Gain(name, first, second, mean_interval(gained.to_numpy(), level)))
    sources: Sources[_Gain] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        share("first", say_table("column-first-half"), lambda line: line.first),
        share("second", say_table("column-second-half"), lambda line: line.second),
        number("gained", say_table("column-gained"), lambda line: POINTS.of(line.gained.mean), POINTS),
        interval("interval", say_table("column-interval"), lambda line: line.ends, POINTS),
        count("participants", say_table("column-participants"), lambda line: line.gained.n),
    )
    return build_table(
        "training",
        say_table("training"),
        gains,
        sources,
        _sentence(gains),
        [say_table("training-how")],
    )


def _sentence(gains: Sequence[_Gain]) -> str:
    if not gains:
        return say_table("training-none")
    parts = [
        say_table(
            "training-part",
            condition=line.condition,
            size=POINTS.said(100 * line.gained.mean),
            interval="none" if line.ends is None else between(*line.ends),
        )
        for line in gains
    ]
    return say_table("training-says", parts=parts)
