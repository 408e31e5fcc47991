"""A whole comparison of measures: jobs, estimates, and the files of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.failure import Failure
from verax.benchmarks.measures.findings import Findings, findings
from verax.benchmarks.measures.jobs import Cell, CellResult, Plan
from verax.codec import decode
from verax.errors import VeraxError
from verax.run import Progress, Store, execute, write_json
from verax.run.manifest import Manifest, finish_manifest, start_manifest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ComparisonRun:
    """What a run found: what its folder holds, and what a report needs."""

    findings: Findings
    results: pd.DataFrame
    manifest: Manifest


def run_measures(
    plan: Plan,
    folder: Path,
    explainers: Sequence[str],
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
) -> ComparisonRun:
    """Does what is planned and not yet done, and writes everything but the report into the folder.

    Args:
        plan: from :func:`verax.benchmarks.measures.jobs.make_plan`.
        folder: where the run lives; a run of another spec there is refused.
        explainers: labels of the real ones.
        workers: processes on this machine.
        cluster: a Dask scheduler's address instead.
        progress: told of each finished job.
        retry_failed: do jobs again that failed.
        fresh: do all jobs again.
    """
    spec = {"benchmark": "measures", **plan.spec.model_dump(), "methods": list(explainers)}
    start_manifest(folder, spec, plan.hashes, plan.spec.seed, plan.code)
    jobs = [cell.job for cell in plan.cells]
    outcomes = execute(
        jobs, Store(folder), workers=workers, cluster=cluster, progress=progress,
        retry_failed=retry_failed, fresh=fresh, objects=plan.objects,
    )  # fmt: skip
    manifest = finish_manifest(folder)
    by_key = {outcome.key: outcome for outcome in outcomes}
    done = [
        (cell, decode(CellResult, outcome.value, outcome.name))
        for cell in plan.cells
        if (outcome := by_key[cell.job.key]).value is not None
    ]
    failures = [Failure(outcome.name, outcome.error or "") for outcome in outcomes if outcome.failed]
    if not done:
        raise VeraxError(
            (failures[0].error if failures else "Nothing was done.").removeprefix("VeraxError: ")
        )
    found = replace(
        findings(done, failures, plan.spec.measures, explainers, plan.spec.models),
        hashes=dict(plan.hashes),
        spec=plan.spec.model_dump(),
    )
    run = ComparisonRun(found, measurements(done), manifest)
    write_json(folder / "summary.json", found.to_dict())
    run.results.to_parquet(folder / "results.parquet", index=False)
    return run


def measurements(done: Sequence[tuple[Cell, CellResult]]) -> pd.DataFrame:
    """One row per explanation and measure: its value, and how true the explanation is."""
    import pandas as pd

    rows = [
        (cell.dataset, cell.stain, cell.reason, cell.model, name, scored.measure, scored.absent, place, value,
         result.truth[name][place])
        for cell, result in done
        for scored in result.scored
        for name, values in scored.values.items()
        for place, value in enumerate(values)
    ]  # fmt: skip
    columns = (
        "dataset", "stain", "reason", "model", "explainer", "measure", "absent", "input", "value", "truth",
    )  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns))
