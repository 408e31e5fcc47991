"""Figures of accuracy before and after explanations and of ratings, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verax.stats.crossed.between import changes
from verax.stats.hase2020 import Changes
from verax.studies.analysis.between.effects import Effects, points, share_interval
from verax.studies.analysis.between.pairs import as_responses, complete_pairs
from verax.studies.analysis.contract import Figure, Primary

if TYPE_CHECKING:
    import pandas as pd


def primary_figure(primary: Primary) -> Figure:
    """The primary estimates with their intervals."""
    rows = [
        {
            "label": one.condition,
            "estimate": one.estimate,
            "low": one.low,
            "high": one.high,
            "group": "primary",
        }
        for one in primary.estimates
    ]
    return Figure(
        key="primary",
        title="What explanations add",
        kind="intervals",
        data={"x_label": f"{primary.measure} ({primary.unit})", "reference": 0, "rows": rows},
        sentence="Points are estimates, lines 95% intervals; one that crosses 0 does not exclude that nothing changed.",
    )


def change_figure(found: Effects, published: Changes | None) -> Figure:
    """Change by condition: the crossed estimator, and the published procedure beside it."""
    rows = [
        {
            "label": name,
            "estimate": points(one.estimate),
            "low": points(one.low),
            "high": points(one.high),
            "group": "crossed",
        }
        for name, one in found.changes.items()
    ]
    for line in published.methods if published is not None else ():
        rows.append(
            {
                "label": str(line.method),
                "estimate": points(line.change.estimate),
                "low": points(line.change.low),
                "high": points(line.change.high),
                "group": "hase2020, a reproduction",
            }
        )
    return Figure(
        key="change",
        title="Change of accuracy by condition",
        kind="intervals",
        data={"x_label": "Change from Pre to Post (points)", "reference": 0, "rows": rows},
        sentence="Change includes practice: compare with the condition that shows no explanation, if there is one.",
    )


def accuracy_figure(pairs: pd.DataFrame, found: Effects) -> Figure:
    """Accuracy before and after, by condition, with intervals."""
    both = complete_pairs(pairs)
    bars = []
    for label, phase in (("before explanations", "pre"), ("after", "post")):
        rows = as_responses(both, only=phase)
        by_name = dict(zip(rows.methods, changes(rows, found.items), strict=True))
        ordered = [by_name[name] for name in found.changes]
        ends = [share_interval(one.low, one.high) for one in ordered]
        bars.append(
            {
                "label": label,
                "values": [points(one.estimate) for one in ordered],
                "low": [None if end is None else end[0] for end in ends],
                "high": [None if end is None else end[1] for end in ends],
            }
        )
    return Figure(
        key="accuracy",
        title="Accuracy before and after",
        kind="bars",
        data={"y_label": "right predictions of the model (%)", "groups": list(found.changes), "bars": bars},
        sentence="Lines are 95% intervals of each bar alone; whether a change is clear is in the table of Change.",
    )


def ratings_figure(rated: pd.DataFrame, order: tuple[str, ...], scale: int) -> Figure:
    """How often each rating was given, by condition."""
    levels = list(range(1, scale + 1))
    rows = []
    for name in order:
        own = rated.loc[rated["condition"] == name, "rating"]
        if len(own):
            rows.append({"label": name, "shares": [float((own == level).mean()) for level in levels]})
    return Figure(
        key="ratings",
        title="Ratings by condition",
        kind="distribution",
        data={"x_label": "rating", "levels": [str(level) for level in levels], "rows": rows},
        sentence="Share of ratings at each point of the scale.",
    )
