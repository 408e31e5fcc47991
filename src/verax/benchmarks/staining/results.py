"""A run's raw measurements as tables: one row per explanation, what explaining cost, and examples to look at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verax.benchmarks.staining.scores import BUDGETS
from verax.benchmarks.staining.summarise import Results

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Timing:
    """Seconds and rows per explanation, and seconds of fitting, as medians over stains."""

    dataset: str
    model: str
    explainer: str
    seconds: float
    rows: float
    fit_seconds: float


@dataclass(frozen=True)
class KeptExample:
    """An explanation that a trial kept for a reader to look at.

    Attributes:
        dataset, model, stain: of the trial.
        shown: the stain in words.
        wanted: the features to be found.
        explainer: its label.
        explanation: as its ``to_dict`` gives it.
    """

    dataset: str
    model: str
    stain: int
    shown: str
    wanted: tuple[str, ...]
    explainer: str
    explanation: dict[str, object]


def measurements(results: Results) -> pd.DataFrame:
    """One row per (dataset, model, stain, explainer, input); the schema is in docs/staining.md."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "dataset": trial.dataset,
                "model": trial.model,
                "stain": trial.stain,
                "stain_rule": result.stain.shown,
                "explainer": label,
                "input": number,
                "features": scores.features[place],
                **{f"recall_{b}": scores.recall[place][b - 1] for b in BUDGETS},
                "auc": float(np.mean(scores.recall[place])),
                "mrr": scores.mrr[place],
                "rows": scores.rows[place],
                "seconds": scores.seconds,
            }
            for trial, result in results
            if result is not None
            for label, scores in result.scored().items()
            for place, number in enumerate(result.inputs)
        ]
    )


def timings(results: Results) -> list[Timing]:
    """What explaining and fitting cost, per dataset, model and explainer."""
    seconds: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    rows: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    fits: dict[tuple[str, str], list[float]] = defaultdict(list)
    for trial, result in results:
        if result is None:
            continue
        fits[trial.dataset, trial.model].append(result.fit_seconds)
        for label, scores in result.scored().items():
            seconds[trial.dataset, trial.model, label].append(scores.seconds)
            rows[trial.dataset, trial.model, label].append(float(np.mean(scores.rows)))
    return [
        Timing(
            *place,
            seconds=float(np.median(times)),
            rows=float(np.mean(rows[place])),
            fit_seconds=float(np.median(fits[place[:2]])),
        )
        for place, times in seconds.items()
    ]


def examples(results: Results) -> list[KeptExample]:
    """The explanations that trials kept for a reader to look at."""
    return [
        KeptExample(
            trial.dataset,
            trial.model,
            trial.stain,
            result.stain.shown,
            tuple(result.wanted),
            label,
            explanation,
        )
        for trial, result in results
        if result is not None
        for label, scores in result.scored().items()
        for explanation in scores.examples[:1]
    ]
