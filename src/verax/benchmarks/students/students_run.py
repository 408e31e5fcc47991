"""A whole run with students: jobs, estimates, and the files of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.measures.measures_run import executed
from verax.benchmarks.students.findings import Findings, findings
from verax.benchmarks.students.jobs import Cell, ClassResult, Plan
from verax.run import Progress, write_json
from verax.run.manifest import Manifest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TaughtRun:
    """What a run found: what its folder holds, and what a report needs."""

    findings: Findings
    results: pd.DataFrame
    manifest: Manifest


def run_students(
    plan: Plan,
    folder: Path,
    explainers: Sequence[str],
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
) -> TaughtRun:
    """Does what is planned and not yet done, and writes everything but the report; see `run_measures`."""
    spec = {"benchmark": "students", **plan.spec.model_dump(), "methods": list(explainers)}
    done, failures, manifest = executed(
        plan, spec, plan.spec.seed, folder, ClassResult, workers=workers, cluster=cluster, progress=progress,
        retry_failed=retry_failed, fresh=fresh,
    )  # fmt: skip
    asked = plan.spec
    found = replace(
        findings(done, failures, explainers, asked.models, asked.students, asked.sizes),
        hashes=dict(plan.hashes),
        spec=asked.model_dump(),
    )
    run = TaughtRun(found, accuracies(done), manifest)
    write_json(folder / "summary.json", found.to_dict())
    run.results.to_parquet(folder / "results.parquet", index=False)
    return run


def accuracies(done: Sequence[tuple[Cell, ClassResult]]) -> pd.DataFrame:
    """One row per stain, model, student, size, test and method: the accuracy, mean over draws."""
    import pandas as pd

    rows = [
        (cell.dataset, cell.stain, cell.reason, cell.model, one.student, one.size, one.test, method, accuracy)
        for cell, result in done
        for one in result.lessons
        for method, accuracy in one.accuracy.items()
    ]
    columns = ("dataset", "stain", "reason", "model", "student", "size", "test", "method", "accuracy")
    return pd.DataFrame(rows, columns=list(columns))
