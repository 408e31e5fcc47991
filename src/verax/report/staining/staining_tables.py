"""The tables of a staining report as rows of words, ready to be set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verax.report.staining.answers import methods, versus
from verax.report.staining.figures import FLOOR
from verax.text import NOTHING, duration, estimate, interval, p_text, points

Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Compared:
    """One difference in one cell of the table.

    Attributes:
        points: the difference in percentage points with its sign.
        interval: its ends in brackets.
        p: corrected.
        ahead: the winner, if the difference survives correction.
        stains: how many were compared, if not all that were scored.
    """

    points: str
    interval: str = ""
    p: str = ""
    ahead: str = ""
    stains: str = ""


def took_table(cells: Sequence[Cell], stains: int) -> list[dict[str, str]]:
    """Per model the accuracies of the stained model and its twin, and how many stains took."""
    rows = []
    for cell in cells:
        took, twin = cell["took"], cell["took"].get("twin", {})
        rows.append(
            {
                "model": cell["model"],
                "learnt": f"{cell['stains_used']} of {stains}",
                "stained_region": estimate(took.get("stained_region")),
                "original_region": estimate(took.get("original_region")),
                "twin_region": estimate(twin.get("original_region")),
                "outside": estimate(took.get("outside")),
                "twin_outside": estimate(twin.get("outside")),
            }
        )
    return rows


def recall_table(cells: Sequence[Cell], names: Mapping[str, str], wanted: int) -> dict[str, Any]:
    """Per model and explainer the recall at a few budgets, the area, and the mean reciprocal rank."""
    budgets = sorted({1, wanted, 5, 10})
    groups = []
    for cell in cells:
        rows = []
        for label, shown in names.items():
            scored = cell["explainers"].get(label)
            if scored:
                numbers = [estimate(scored["recall"][budget - 1]) for budget in budgets]
                numbers += [estimate(scored["auc"]), estimate(scored["mrr"])]
                rows.append((shown, f"{scored['stains']}", numbers))
        groups.append((cell["model"], rows))
    return {"budgets": budgets, "groups": groups}


def difference_table(cells: Sequence[Cell], names: Mapping[str, str], measure: str) -> dict[str, Any]:
    """Pairs of explainers down, models across; the pairs with random come last."""
    scored = {label for cell in cells for label in methods(cell)}
    ordered = [label for label in names if label in scored]
    pairs = [(one, other) for place, one in enumerate(ordered) for other in ordered[place + 1 :]]
    if any(FLOOR in cell["explainers"] for cell in cells):
        pairs += [(one, FLOOR) for one in ordered]
    rows = [
        ((names[one], names[other]), [compared(cell, one, other, names, measure) for cell in cells])
        for one, other in pairs
    ]
    return {"models": [cell["model"] for cell in cells], "rows": rows}


def compared(cell: Cell, one: str, other: str, names: Mapping[str, str], measure: str) -> Compared:
    """One pair in one cell; the winner is named only if the difference survives correction."""
    found = versus(cell, one, other, measure)
    if found is None or found["mean"] is None:
        return Compared(NOTHING)
    winner = {"first": names[one], "second": names[other]}.get(found["verdict"], "")
    most = max(cell["explainers"][label]["stains"] for label in (one, other))
    stains = "" if found["n"] == most else f"{found['n']} of {most} stains"
    ends = interval(found["low"], found["high"])
    return Compared(points(found["mean"]), ends, p_text(found["p_holm"]), winner, stains)


def cost_table(
    dataset: str, models: Sequence[str], timings: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> dict[str, Any]:
    """Explainers down, models across: seconds and rows per explanation; the time to fit a model at the end."""
    found = {(one["model"], one["explainer"]): one for one in timings if one["dataset"] == dataset}
    used = [label for label in names if any((model, label) in found for model in models)]
    rows = [(names[label], [_cost(found.get((model, label))) for model in models]) for label in used]
    fits = {
        one["model"]: duration(one["fit_seconds"])
        for one in timings
        if one["dataset"] == dataset and one.get("fit_seconds") is not None
    }
    return {
        "models": list(models),
        "rows": rows,
        "fits": [fits.get(model, NOTHING) for model in models] if fits else [],
    }


def _cost(timing: Mapping[str, Any] | None) -> tuple[str, str]:
    return (NOTHING, "") if timing is None else (duration(timing["seconds"]), f"{timing['rows']:,.0f} rows")
