"""A whole staining run: its stages, its raw measurements as tables, what it cost and what is shown of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verax.benchmarks.contract import Found, Planned, Stage, Stages
from verax.benchmarks.staining.choosing import ChosenPlanting, check_fits
from verax.benchmarks.staining.estimates import Results, summarise, trial_results
from verax.benchmarks.staining.findings import StainSummary
from verax.benchmarks.staining.plan import Plan
from verax.benchmarks.staining.scores import BUDGETS
from verax.benchmarks.staining.stainable import make_stainable
from verax.codec import decode
from verax.errors import VeraxError
from verax.run import Outcome

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


def planned_run(plan: Plan) -> Planned[StainSummary]:
    """The run of a plan: how stains are planted is found out first where that is not told, then all trials."""

    def stages(_: Path) -> Stages[StainSummary]:
        chosen = plan
        if plan.choosing:
            searched = yield Stage(
                list(plan.choosing.values()), before="finding out by quick fits how stains are planted"
            )
            chosen = plan.planted(_chosen(plan, searched))
        outcomes = yield Stage(chosen.jobs, "trials")
        by_key = {outcome.key: outcome for outcome in outcomes}
        results = trial_results(chosen, by_key)
        return Found(
            summarise(chosen, by_key, results), measurements(results), timings(results), examples(results)
        )

    return Planned("stain", plan.spec, stages, plan.hashes, plan.code, plan.objects, plan.explainers)


def check_objects(plan: Plan, models: Mapping[str, str]) -> None:
    """Fits models that are objects once, so that one that cannot be fitted is refused before all else.

    Args:
        plan: what will be done.
        models: their references, by what the report calls them.
    """
    spec = plan.spec
    for source in plan.sources.values():
        data = make_stainable(source, spec.words, spec.min_share, spec.at_least)
        for label, reference in models.items():
            check_fits(data, spec.words, label, reference, spec.seed)


def _chosen(plan: Plan, done: Sequence[Outcome]) -> dict[str, ChosenPlanting]:
    """How stains are planted in each dataset; what cannot be is told at once."""
    chosen = {}
    for dataset, outcome in zip(plan.choosing, done, strict=True):
        if outcome.value is None:
            kind, _, sentence = (outcome.error or "").partition(": ")
            raise VeraxError(sentence if kind == VeraxError.__name__ else str(outcome.error))
        chosen[dataset] = decode(ChosenPlanting, outcome.value, outcome.name)
    return chosen
