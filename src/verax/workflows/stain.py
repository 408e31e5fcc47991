"""Data staining from end to end: what is asked in, a run's folder with its report out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verax.benchmarks.staining.plan import make_plan
from verax.benchmarks.staining.spec import StainOptions, StainSpec, make_spec, read_spec
from verax.benchmarks.staining.staining_run import StainingRun, run_staining
from verax.run.progress import During, quietly, terminal_progress
from verax.workflows.explainer_names import parse_explainers

if TYPE_CHECKING:
    from typing import Unpack

    import pandas as pd

OUT = Path("runs/stain")


@dataclass(frozen=True, eq=False, repr=False)
class StainRun:
    """A finished staining run.

    Attributes:
        folder: where it lies.
        found: all that it found.
    """

    folder: Path
    found: StainingRun

    @property
    def summary(self) -> dict[str, Any]:
        """The estimates and their intervals, as in summary.json."""
        return self.found.summary

    @property
    def results(self) -> pd.DataFrame:
        """One row per explanation, as in results.parquet; docs/staining.md says what the columns mean."""
        return self.found.measurements

    def report(self) -> Path:
        """Writes report.html and its figures into the run's folder; where the page is."""
        from verax.report.staining.staining_page import write_staining_report

        found = self.found
        write_staining_report(
            self.folder, found.summary, found.measurements, found.examples, found.timings, found.manifest
        )
        return self.folder / "report.html"

    def __repr__(self) -> str:
        return f"StainRun({str(self.folder)!r}, {len(self.results):,} explanations)"


def stain(
    dataset: str | Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    explainers: Sequence[str] | None = None,
    *,
    spec: str | Path | StainSpec | dict[str, Any] | None = None,
    out: str | Path = OUT,
    jobs: int = 1,
    cluster: str | None = None,
    retry_failed: bool = False,
    during: During = quietly,
    **options: Unpack[StainOptions],
) -> StainRun:
    """Plants known flaws in models and sees which explainers show them.

    A run that was stopped goes on where it stopped when it is asked for again with the same folder; a finished one
    computes nothing.

    Args:
        dataset: a name or a file, or several.
        models: their names.
        explainers: their names, with parameters in parentheses: ``"shap(samples=500)"``.
        spec: a TOML file, its text, or its content as a dict; what is given here besides wins.
        out: the run's folder.
        jobs: processes on this machine.
        cluster: a Dask scheduler's address, whose workers then do the jobs.
        retry_failed: do trials again that failed.
        during: told what is being done while it is done.
        options: the other options of a spec, see `verax.benchmarks.staining.spec.StainSpec`.
    """
    asked = read_spec(spec) if spec is not None else {}
    asked |= options
    given = {
        "datasets": [dataset] if isinstance(dataset, str) else dataset,
        "models": models,
        "explainers": explainers,
    }
    asked |= {name: list(value) for name, value in given.items() if value is not None}
    checked = make_spec(asked)
    named = parse_explainers(",".join(checked.explainers), checked.samples, checked.seed)
    methods = [(one.name, one.registered, one.parameters) for one in named]
    folder = Path(out)
    with during(f"loading {', '.join(checked.datasets)}"):
        plan = make_plan(checked, methods)
    found = run_staining(
        plan,
        folder,
        workers=jobs,
        cluster=cluster,
        progress=terminal_progress("trials"),
        retry_failed=retry_failed,
    )
    run = StainRun(folder, found)
    with during("writing the report"):
        run.report()
    return run
