"""A whole staining run: jobs, estimates, and the files of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verax.benchmarks.staining import results
from verax.benchmarks.staining.plan import Plan
from verax.benchmarks.staining.summary import summarise
from verax.run import Outcome, Progress, Store, execute, write_json
from verax.run.manifest import finish_manifest, start_manifest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class StainingRun:
    """What a run found: what its folder holds, and what a report needs."""

    summary: dict[str, Any]
    measurements: pd.DataFrame
    timings: list[dict[str, Any]]
    examples: list[dict[str, Any]]
    manifest: dict[str, Any]


def run_staining(
    plan: Plan,
    folder: Path,
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
) -> StainingRun:
    """Does what is planned and not yet done, and writes everything but the report into the folder.

    Args:
        plan: from :func:`verax.benchmarks.staining.plan.make_plan`.
        folder: where the run lives; a run of another spec there is refused.
        workers: processes on this machine.
        cluster: a Dask scheduler's address instead.
        progress: told of each finished job.
        retry_failed: do jobs again that failed.
    """
    spec = {"benchmark": "stain", **plan.spec.model_dump(), "methods": list(plan.explainers)}
    start_manifest(folder, spec, plan.hashes, plan.spec.seed)
    outcomes = execute(
        plan.jobs,
        Store(folder),
        workers=workers,
        cluster=cluster,
        progress=progress,
        retry_failed=retry_failed,
        objects=plan.objects,
    )
    manifest = finish_manifest(folder)
    return _write(plan, folder, outcomes, manifest)


def _write(plan: Plan, folder: Path, outcomes: Sequence[Outcome], manifest: dict[str, Any]) -> StainingRun:
    by_key = {outcome.key: outcome for outcome in outcomes}
    run = StainingRun(
        summary=summarise(plan, by_key),
        measurements=results.measurements(plan, by_key),
        timings=results.timings(plan, by_key),
        examples=results.examples(plan, by_key),
        manifest=manifest,
    )
    write_json(folder / "summary.json", run.summary)
    write_json(folder / "timings.json", run.timings)
    run.measurements.to_parquet(folder / "results.parquet", index=False)
    return run
