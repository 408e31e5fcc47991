"""A run's raw measurements as tables: one row per explanation, and what explaining cost."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.benchmarks.staining.plan import Plan
from verax.benchmarks.staining.scores import BUDGETS
from verax.benchmarks.staining.summary import Outcomes

if TYPE_CHECKING:
    import pandas as pd


def measurements(plan: Plan, outcomes: Outcomes) -> pd.DataFrame:
    """One row per (dataset, model, stain, explainer, input); the schema is in docs/staining.md."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for trial in plan.trials:
        value = outcomes[trial.job.key].value
        if value is None:
            continue
        for label, scored in value["explainers"].items():
            if "error" in scored:
                continue
            for place, number in enumerate(value["inputs"]):
                recall = scored["recall"][place]
                rows.append(
                    {
                        "dataset": trial.dataset,
                        "model": trial.model,
                        "stain": trial.stain,
                        "stain_rule": value["stain"]["shown"],
                        "explainer": label,
                        "input": number,
                        "features": scored["features"][place],
                        **{f"recall_{b}": recall[b - 1] for b in BUDGETS},
                        "auc": float(np.mean(recall)),
                        "mrr": scored["mrr"][place],
                        "rows": scored["rows"][place],
                        "seconds": scored["seconds"],
                    }
                )
    return pd.DataFrame(rows)


def timings(plan: Plan, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Seconds and rows per explanation, and seconds of fitting, as medians over stains."""
    seconds: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    rows: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    fits: dict[tuple[str, str], list[float]] = defaultdict(list)
    for trial in plan.trials:
        value = outcomes[trial.job.key].value
        if value is None:
            continue
        fits[trial.dataset, trial.model].append(value["fit_seconds"])
        for label, scored in value["explainers"].items():
            if "error" not in scored:
                seconds[trial.dataset, trial.model, label].append(scored["seconds"])
                rows[trial.dataset, trial.model, label].append(float(np.mean(scored["rows"])))
    return [
        {
            "dataset": dataset,
            "model": model,
            "explainer": label,
            "seconds": float(np.median(found)),
            "rows": float(np.mean(rows[dataset, model, label])),
            "fit_seconds": float(np.median(fits[dataset, model])),
        }
        for (dataset, model, label), found in seconds.items()
    ]


def examples(plan: Plan, outcomes: Outcomes) -> list[dict[str, Any]]:
    """The explanations that trials kept for a reader to look at."""
    found: list[dict[str, Any]] = []
    for trial in plan.trials:
        value = outcomes[trial.job.key].value
        if value is None:
            continue
        wanted = value.get("wanted", [])
        for label, scored in value["explainers"].items():
            found.extend(
                {
                    "dataset": trial.dataset,
                    "model": trial.model,
                    "stain": trial.stain,
                    "shown": value["stain"]["shown"],
                    "wanted": wanted,
                    "explainer": label,
                    "explanation": explanation,
                }
                for explanation in scored.get("examples", [])[:1]
            )
    return found
