"""Whether people learn the model in the training sessions: accuracy by the order of the items, over participants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verax.stats.estimate import mean_interval
from verax.studies.analysis.contract import Column, Figure, Table
from verax.text import between, listed, signed

if TYPE_CHECKING:
    import pandas as pd

# A curve has at most so many points: one item of one person is right or wrong, which shows nothing.
MOST_POINTS = 5


def training_answers(responses: pd.DataFrame, scored: str) -> pd.DataFrame:
    """Guesses of the training sessions with their order in the session, from 1; 1 where the model was guessed."""
    found = responses[
        (responses["phase_kind"] == "training")
        & (responses["question"] == scored)
        & responses["answer"].notna()
        & responses["prediction"].notna()
    ].sort_values(["participant", "phase", "step"], kind="stable")
    right = found["answer"].astype(str) == found["prediction"].astype("int64").astype(str)
    order = found.groupby(["participant", "phase"], sort=False).cumcount() + 1
    return found.assign(right=right.astype("float64"), order=order).reset_index(drop=True)


def blocks(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with their block of neighbouring items: ``block`` from 0, and its middle as ``place``."""
    longest = int(answers["order"].max())
    points = min(MOST_POINTS, longest)
    block = (answers["order"] - 1) * points // longest
    middles = answers.assign(block=block).groupby("block")["order"].agg(lambda o: (o.min() + o.max()) / 2)
    return answers.assign(block=block, place=block.map(middles))


def training_curve(answers: pd.DataFrame, names: Sequence[str], level: float) -> Figure:
    """Accuracy over the training, one line per condition, with intervals over participants."""
    lines = []
    cut = blocks(answers)
    for name in names:
        own = cut[cut["condition"] == name]
        if not len(own):
            continue
        each = own.groupby(["place", "participant"], sort=True)["right"].mean()
        line: dict[str, Any] = {"label": name, "x": [], "y": [], "low": [], "high": []}
        for place, values in each.groupby(level="place", sort=True):
            found = mean_interval(values.to_numpy(), level)
            line["x"].append(float(place))
            line["y"].append(100 * found.mean)
            line["low"].append(None if found.low is None else 100 * max(found.low, 0.0))
            line["high"].append(None if found.high is None else 100 * min(found.high, 1.0))
        lines.append(line)
    return Figure(
        key="training",
        title="Accuracy during training",
        kind="curve",
        data={
            "x_label": "item of the training session",
            "y_label": "answers like the model's (%)",
            "lines": lines,
        },
        sentence="Each point is the mean over participants of a few neighbouring items, with a 95% interval over "
        "participants.",
    )


def training_table(answers: pd.DataFrame, names: Sequence[str], level: float) -> Table:
    """Accuracy in the first and the second half of training, and how much each participant gained."""
    half = (answers["order"].max() + 1) / 2
    rows = []
    for name in names:
        own = answers[answers["condition"] == name]
        early, late = (
            own[part].groupby("participant")["right"].mean()
            for part in (own["order"] < half, own["order"] > half)
        )
        gained = (late - early).dropna()
        if not len(gained):
            continue
        found = mean_interval(gained.to_numpy(), level)
        rows.append(
            {
                "condition": name,
                "first": float(early[gained.index].mean()),
                "second": float(late[gained.index].mean()),
                "gained": 100 * found.mean,
                "interval": None
                if found.low is None or found.high is None
                else [100 * found.low, 100 * found.high],
                "participants": found.n,
            }
        )
    return Table(
        key="training",
        title="Accuracy during training",
        columns=(
            Column("condition", "Condition", "text"),
            Column("first", "First half", "percent"),
            Column("second", "Second half", "percent"),
            Column("gained", "Gained", "number", "points"),
            Column("interval", "95% interval", "interval", "points"),
            Column("participants", "Participants", "count"),
        ),
        rows=tuple(rows),
        sentence=_sentence(rows),
        notes=(
            "Guesses before the model's answer is shown. Intervals are over participants, each with a t distribution; "
            "items are shuffled for everybody, so that early and late items do not differ on average.",
        ),
    )


def _sentence(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "No participant has answers in both halves of a training session."
    parts = []
    for row in rows:
        size = f"{row['condition']} {signed(row['gained'])} points"
        parts.append(size if row["interval"] is None else f"{size} ({between(*row['interval'])})")
    return f"From the first to the second half of training people changed by: {listed(parts)}."
