"""Figures of accuracy before and after explanations and of ratings, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verax.results.figures import Bars, Distribution, Figure, Interval, Intervals, Shares, series
from verax.results.units import PERCENT, POINTS
from verax.stats.crossed.between import changes
from verax.stats.hase2020 import Changes
from verax.studies.analysis.between.effects import Effects
from verax.studies.analysis.between.pairs import as_responses, complete_pairs
from verax.studies.analysis.claims import share_ends

if TYPE_CHECKING:
    import pandas as pd


def change_figure(effects: Effects, published: Changes | None) -> Figure:
    """Change by condition: the crossed estimator, and the published procedure beside it."""
    groups = {"crossed": effects.changes.items()} | (
        {}
        if published is None
        else {"hase2020, a reproduction": [(str(line.method), line.change) for line in published.methods]}
    )
    rows = tuple(
        Interval(name, POINTS.of(change.estimate), POINTS.of(change.low), POINTS.of(change.high), group)
        for group, lines in groups.items()
        for name, change in lines
    )
    return Figure(
        "change",
        "Change of accuracy by condition",
        Intervals("Change from Pre to Post (points)", 0, rows, POINTS),
        "Change includes practice: compare with the condition that shows no explanation, if there is one.",
    )


def accuracy_figure(pairs: pd.DataFrame, effects: Effects) -> Figure:
    """Accuracy before and after, by condition, with intervals."""
    both = complete_pairs(pairs)
    bars = []
    for label, phase in (("before explanations", "pre"), ("after", "post")):
        rows = as_responses(both, only=phase)
        by_name = dict(zip(rows.methods, changes(rows, effects.items), strict=True))
        shares = [by_name[name] for name in effects.changes]
        ends = [share_ends(accuracy) for accuracy in shares]
        bars.append(series(label, [PERCENT.of(accuracy.estimate) for accuracy in shares], ends))
    return Figure(
        "accuracy",
        "Accuracy before and after",
        Bars("right predictions of the model (%)", tuple(effects.changes), tuple(bars)),
        "Lines are 95% intervals of each bar alone; whether a change is clear is in the table of Change.",
    )


def ratings_figure(rated: pd.DataFrame, order: tuple[str, ...], scale: int) -> Figure:
    """How often each rating was given, by condition."""
    levels = range(1, scale + 1)
    by_name = {name: rated.loc[rated["condition"] == name, "rating"] for name in order}
    rows = tuple(
        Shares(name, tuple(float((own == level).mean()) for level in levels))
        for name, own in by_name.items()
        if len(own)
    )
    return Figure(
        "ratings",
        "Ratings by condition",
        Distribution("rating", tuple(str(level) for level in levels), rows),
        "Share of ratings at each point of the scale.",
    )
