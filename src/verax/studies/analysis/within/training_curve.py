"""Whether people learn the model in the training sessions: accuracy by the order of the items, over participants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.figures import Curve, Figure, Line
from verax.results.tables import Sources, Table, build_table, count, interval, number, share, text
from verax.results.units import PERCENT, POINTS, Ends
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.shares import mean_share
from verax.text import between, listed

if TYPE_CHECKING:
    import pandas as pd

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
        "Accuracy during training",
        Curve(
            "item of the training session",
            "answers like the model's (%)",
            tuple(_line(name, own, level) for name, own in by_name.items() if len(own)),
        ),
        "Each point is the mean over participants of a few neighbouring items, with a 95% interval over participants.",
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
        text("condition", "Condition", lambda line: line.condition),
        share("first", "First half", lambda line: line.first),
        share("second", "Second half", lambda line: line.second),
        number("gained", "Gained", lambda line: POINTS.of(line.gained.mean), POINTS),
        interval("interval", "95% interval", lambda line: line.ends, POINTS),
        count("participants", "Participants", lambda line: line.gained.n),
    )
    return build_table(
        "training",
        "Accuracy during training",
        gains,
        sources,
        _sentence(gains),
        [
            "Guesses before the model's answer is shown. Intervals are over participants, each with a t distribution; "
            "items are shuffled for everybody, so that early and late items do not differ on average."
        ],
    )


def _sentence(gains: Sequence[_Gain]) -> str:
    if not gains:
        return "No participant has answers in both halves of a training session."
    parts = [
        f"{line.condition} {POINTS.said(100 * line.gained.mean)}"
        + ("" if line.ends is None else f" ({between(*line.ends)})")
        for line in gains
    ]
    return f"From the first to the second half of training people changed by: {listed(parts)}."
