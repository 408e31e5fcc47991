"""A whole comparison of measures: jobs, estimates, and the files of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from verax.benchmarks.contract import Failure
from verax.benchmarks.measures.findings import MeasuresFindings, findings
from verax.benchmarks.measures.jobs import Cell, CellResult, Plan
from verax.codec import decode
from verax.errors import VeraxError
from verax.run import Progress, Store, execute, write_json
from verax.run.jobs import Job
from verax.run.manifest import Manifest, finish_manifest, start_manifest

if TYPE_CHECKING:
    import pandas as pd


C_co = TypeVar("C_co", bound="PlannedCell", covariant=True)
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class ComparisonRun:
    """What a run found: what its folder holds, and what a report needs."""

    findings: MeasuresFindings
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
        plan: from :func:`verax.benchmarks.measures.jobs.plan_measures`.
        folder: where the run lives; a run of another spec there is refused.
        explainers: labels of the real ones.
        workers: processes on this machine.
        cluster: a Dask scheduler's address instead.
        progress: told of each finished job.
        retry_failed: do jobs again that failed.
        fresh: do all jobs again.
    """
    spec = {"benchmark": "measures", **plan.spec.model_dump(), "methods": list(explainers)}
    done, failures, manifest = executed(
        plan, spec, plan.spec.seed, folder, CellResult, workers=workers, cluster=cluster, progress=progress,
        retry_failed=retry_failed, fresh=fresh,
    )  # fmt: skip
    found = replace(
        findings(done, failures, plan.spec.measures, explainers, plan.spec.models),
        hashes=dict(plan.hashes),
        spec=plan.spec.model_dump(),
    )
    run = ComparisonRun(found, measurements(done), manifest)
    write_json(folder / "summary.json", found.to_dict())
    run.results.to_parquet(folder / "results.parquet", index=False)
    return run


class PlannedCell(Protocol):
    """A cell with its job."""

    @property
    def job(self) -> Job:
        """What is to be done."""


class Planned(Protocol[C_co]):
    """What is read here of a plan."""

    @property
    def cells(self) -> tuple[C_co, ...]:
        """In order."""

    @property
    def hashes(self) -> Mapping[str, str]:
        """Of the datasets."""

    @property
    def objects(self) -> Mapping[str, object]:
        """What the jobs refer to."""

    @property
    def code(self) -> Mapping[str, str]:
        """Hashes of code of somebody's own."""


def executed(
    plan: Planned[C_co],
    spec: Mapping[str, object],
    seed: int,
    folder: Path,
    kind: type[R],
    *,
    workers: int,
    cluster: str | None,
    progress: Progress | None,
    retry_failed: bool,
    fresh: bool,
) -> tuple[list[tuple[C_co, R]], list[Failure], Manifest]:
    """Does a plan's jobs; the cells with their results, what failed, and the manifest."""
    start_manifest(folder, dict(spec), plan.hashes, seed, plan.code)
    outcomes = execute(
        [cell.job for cell in plan.cells], Store(folder), workers=workers, cluster=cluster, progress=progress,
        retry_failed=retry_failed, fresh=fresh, objects=plan.objects,
    )  # fmt: skip
    manifest = finish_manifest(folder)
    by_key = {outcome.key: outcome for outcome in outcomes}
    done = [
        (cell, decode(kind, outcome.value, outcome.name))
        for cell in plan.cells
        if (outcome := by_key[cell.job.key]).value is not None
    ]
    failures = [Failure(outcome.name, outcome.error or "") for outcome in outcomes if outcome.failed]
    if not done:
        raise VeraxError(
            (failures[0].error if failures else "Nothing was done.").removeprefix("VeraxError: ")
        )
    return done, failures, manifest


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
