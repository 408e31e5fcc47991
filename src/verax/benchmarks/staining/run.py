"""A whole staining run: jobs, estimates, raw measurements as tables, and the files of its folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verax.benchmarks.staining.choosing import ChosenPlanting, check_fits
from verax.benchmarks.staining.estimates import Results, summarise, trial_results
from verax.benchmarks.staining.findings import StainSummary
from verax.benchmarks.staining.plan import Plan
from verax.benchmarks.staining.scores import BUDGETS
from verax.benchmarks.staining.stainable import make_stainable
from verax.codec import decode, encode
from verax.errors import VeraxError
from verax.run import Outcome, Progress, Store, execute, write_json
from verax.run.manifest import Manifest, check_manifest, finish_manifest, note_results, start_manifest
from verax.run.progress import During, quietly

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


@dataclass(frozen=True, eq=False)
class StainingRun:
    """What a run found: what its folder holds, and what a report needs."""

    summary: StainSummary
    measurements: pd.DataFrame
    timings: list[Timing]
    examples: list[KeptExample]
    manifest: Manifest


def run_staining(
    plan: Plan,
    folder: Path,
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
    during: During = quietly,
) -> StainingRun:
    """Does what is planned and not yet done, and writes everything but the report into the folder.

    Args:
        plan: from :func:`verax.benchmarks.staining.plan.make_plan`.
        folder: where the run lives; a run of another spec there is refused.
        workers: processes on this machine.
        cluster: a Dask scheduler's address instead.
        progress: told of each finished job.
        retry_failed: do jobs again that failed.
        fresh: do all jobs again.
        during: told what is being done while it is done, besides the trials.
    """
    spec = {"benchmark": "stain", **plan.spec.model_dump(), "methods": list(plan.explainers)}
    if plan.choosing:
        # What is refused here leaves no run behind that the next one, with another model, would not be.
        check_manifest(folder, spec, plan.hashes, plan.spec.seed)
        with during("finding out by quick fits how stains are planted"):
            plan = plan.planted(_chosen(plan, Store(folder), fresh))
    start_manifest(folder, spec, plan.hashes, plan.spec.seed, plan.code)
    outcomes = execute(
        plan.jobs,
        Store(folder),
        workers=workers,
        cluster=cluster,
        progress=progress,
        retry_failed=retry_failed,
        fresh=fresh,
        objects=plan.objects,
    )
    manifest = finish_manifest(folder)
    return _write(plan, folder, outcomes, manifest)


def check_models(plan: Plan, models: Mapping[str, str]) -> None:
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


def _chosen(plan: Plan, store: Store, fresh: bool) -> dict[str, ChosenPlanting]:
    """How stains are planted in each dataset; what cannot be is told at once."""
    done = execute(list(plan.choosing.values()), store, retry_failed=True, fresh=fresh, objects=plan.objects)
    chosen = {}
    for dataset, outcome in zip(plan.choosing, done, strict=True):
        if outcome.value is None:
            kind, _, sentence = (outcome.error or "").partition(": ")
            raise VeraxError(sentence if kind == VeraxError.__name__ else str(outcome.error))
        chosen[dataset] = decode(ChosenPlanting, outcome.value, outcome.name)
    return chosen


def _write(plan: Plan, folder: Path, outcomes: Sequence[Outcome], manifest: Manifest) -> StainingRun:
    by_key = {outcome.key: outcome for outcome in outcomes}
    results = trial_results(plan, by_key)
    run = StainingRun(
        summary=summarise(plan, by_key, results),
        measurements=measurements(results),
        timings=timings(results),
        examples=examples(results),
        manifest=manifest,
    )
    write_json(folder / "summary.json", run.summary.to_dict())
    write_json(folder / "timings.json", encode(run.timings))
    run.measurements.to_parquet(folder / "results.parquet", index=False)
    note_results(folder, ("summary.json", "timings.json", "results.parquet"))
    return run
