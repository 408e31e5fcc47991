"""A whole verification: targets, explanations, estimates, and the files of its folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.failure import Failure
from verax.benchmarks.rationale.plan import TRAINED, Piece, Plan, pieces
from verax.benchmarks.rationale.results import ShownInput, Timing, examples, measurements, timings
from verax.benchmarks.rationale.summarise import summarise, tried_targets
from verax.benchmarks.rationale.summary import Summary
from verax.benchmarks.rationale.target import (
    TargetResult,
    Training,
    kept_in,
    reference_of,
    target_model,
    weights_of,
)
from verax.benchmarks.rationale.texts import load_texts
from verax.codec import decode
from verax.errors import VeraxError
from verax.run import Outcome, Progress, Store, execute, write_json
from verax.run.jobs import Job
from verax.run.manifest import Manifest, finish_manifest, note_results, start_manifest

if TYPE_CHECKING:
    import pandas as pd

# What is told of each finished job, given what the jobs are.
ProgressOf = Callable[[str], Progress]


@dataclass(frozen=True, eq=False)
class VerificationRun:
    """What a run found: what its folder holds, and what a report needs."""

    summary: Summary
    measurements: pd.DataFrame
    timings: list[Timing]
    examples: list[ShownInput]
    manifest: Manifest


def run_rationale(
    plan: Plan,
    folder: Path,
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: ProgressOf | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
) -> VerificationRun:
    """Does what is planned and not yet done, and writes everything but the report into the folder.

    Targets are trained on this machine, since another would train other weights from the same seed; explanations are
    made wherever there is room.

    Args:
        plan: from :func:`verax.benchmarks.rationale.plan.make_plan`.
        folder: where the run lives; a run of another spec there is refused.
        workers: processes on this machine.
        cluster: a Dask scheduler's address, whose workers then explain.
        progress: makes what is told of each finished job.
        retry_failed: do jobs again that failed.
        fresh: do all jobs again.
    """
    spec = {"benchmark": "rationale", **plan.spec.model_dump(), "methods": list(plan.explainers)}
    start_manifest(folder, spec, plan.hashes, plan.spec.seed, plan.code())
    store = Store(folder)

    def done(
        jobs: Sequence[Job], what: str, cluster: str | None, objects: Mapping[str, object]
    ) -> list[Outcome]:
        return execute(
            jobs,
            store,
            workers=workers,
            cluster=cluster,
            progress=progress(what) if progress else None,
            retry_failed=retry_failed,
            fresh=fresh,
            objects=objects,
        )

    trained = done([target.job for target in plan.targets], "targets", None, plan.objects)
    results = {
        outcome.key: decode(TargetResult, outcome.value, outcome.name)
        for outcome in trained
        if outcome.value is not None
    }
    if not results:
        raise VeraxError((trained[0].error or "").removeprefix("VeraxError: "))
    given = pieces(plan, results)
    waiting = [each for each in given if fresh or _is_missing(store, each.job, retry_failed)]
    models = _models(plan, results, waiting)
    explained = done([each.job for each in given], "explanations", cluster, {**plan.objects, **models})
    _keep_targets(plan, results, folder)
    manifest = finish_manifest(folder)
    failures = [
        Failure(outcome.name, outcome.error or "") for outcome in (*trained, *explained) if outcome.failed
    ]
    tried = tried_targets(plan, results, given, {outcome.key: outcome for outcome in explained})
    run = VerificationRun(
        summary=summarise(plan, tried, failures),
        measurements=measurements(plan, tried),
        timings=timings(tried),
        examples=examples(plan, tried),
        manifest=manifest,
    )
    write_json(folder / "summary.json", run.summary.to_dict())
    write_json(folder / "timings.json", [asdict(timing) for timing in run.timings])
    run.measurements.to_parquet(folder / "results.parquet", index=False)
    note_results(folder, ("summary.json", "timings.json", "results.parquet"))
    return run


def _is_missing(store: Store, job: Job, retry_failed: bool) -> bool:
    outcome = store.get(job.key)
    return outcome is None or (retry_failed and outcome.failed)


def _models(plan: Plan, results: Mapping[str, TargetResult], waiting: Sequence[Piece]) -> dict[str, object]:
    """The target models that are still to be explained, by their references."""
    models: dict[str, object] = {}
    for target in dict.fromkeys(each.target for each in waiting):
        arguments = target.job.arguments
        data = load_texts(plan.sources[target.dataset], plan.spec.max_words)
        model = target_model(arguments["model"], data, Training.of(arguments))
        result = results[target.job.key]
        if weights_of(model) != result.weights:
            raise VeraxError(
                f"The target {target.label!r} is not the model that this run began with (trained on another machine, "
                "or changed since); start a new run."
            )
        models[reference_of(result)] = model
    return models


def _keep_targets(plan: Plan, results: Mapping[str, TargetResult], folder: Path) -> None:
    """Copies of the trained models, so that the run's folder has all that it is about."""
    for target in plan.targets:
        arguments = target.job.arguments
        if arguments["model"] != TRAINED or target.job.key not in results:
            continue
        data = load_texts(plan.sources[target.dataset], plan.spec.max_words)
        kept = kept_in(data, Training.of(arguments))
        name = f"{Path(target.dataset).name}-{target.label}".replace(", ", "-").replace(" ", "-")
        copied = folder / "targets" / name
        if kept.is_dir() and not copied.exists():
            # Under another name until it is whole: a process killed meanwhile leaves nothing that looks like a target.
            unfinished = folder / "targets" / f".{name}.unfinished"
            shutil.copytree(kept, unfinished, dirs_exist_ok=True)
            unfinished.rename(copied)
