"""A finished run of any benchmark; and one that comes as a package from outside, from end to end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from verax.benchmarks.contract import (
    Benchmark,
    BenchmarkSummary,
    Execution,
    Found,
    Planned,
    Summary,
    benchmark_named,
    plan_outside,
    run_planned,
)
from verax.benchmarks.planning import Method, Objects, model_code, own_code
from verax.benchmarks.spec_files import BenchmarkSpec, spec_options
from verax.data import load_dataset
from verax.errors import VeraxError
from verax.installed import require
from verax.notebook import paragraph_html
from verax.options import RunSpec, checked_spec, split_options
from verax.phrases import say
from verax.results.findings import Finding, to_frame
from verax.run.identity import at_hand, code_behind
from verax.run.manifest import Manifest
from verax.run.progress import During, quietly, terminal_progress
from verax.workflows.given_objects import Gathered, parse_explainers

if TYPE_CHECKING:
    import pandas as pd

# Benchmarks of Verax's own, which take objects too, with the functions that take their options by name.
OWN = {"stain": "stain", "rationale": "rationale", "measures": "bench_measures", "students": "bench_students"}
R = TypeVar("R", bound=Summary)
S = TypeVar("S", bound=BenchmarkSpec)


@dataclass(frozen=True, eq=False, repr=False)
class BenchmarkRun(Generic[R]):
    """A finished run of a benchmark.

    Attributes:
        folder: where it lies.
        found: all that it found.
        manifest: what was asked, with what, on which machine and when.
    """

    folder: Path
    found: Found[R]
    manifest: Manifest

    @property
    def summary(self) -> R:
        """The estimates and their intervals; its ``to_dict()`` is what stands in summary.json."""
        return self.found.summary

    @property
    def results(self) -> pd.DataFrame:
        """One row per measurement, as in results.parquet; the benchmark's page in the docs says what columns mean."""
        if self.found.results is None:
            raise VeraxError(
                "This benchmark keeps no table of measurements; its findings are in .findings and .to_frame()."
            )
        return self.found.results

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each method, as rows: overall, and with single models and datasets."""
        return self.summary.findings

    def to_frame(self) -> pd.DataFrame:
        """The findings as a DataFrame."""
        return to_frame(self.findings)

    def report(self) -> Path:
        """Writes report.html and its figures into the run's folder; where the page is."""
        from verax.reporting.run_page import write_run

        write_run(self.folder, self.found, self.manifest)
        return self.folder / "report.html"

    def __repr__(self) -> str:
        rows = len(self.findings) if self.found.results is None else len(self.found.results)
        what = "findings" if self.found.results is None else "measurements"
        return f"BenchmarkRun({str(self.folder)!r}, {rows:,} {what})"

    def _repr_html_(self) -> str:
        from verax.reporting.run_page import in_notebook, view_of

        said = say("common", "report-is", path=str(self.folder / "report.html"))
        return in_notebook(view_of(self.summary).brief(self.summary)) + paragraph_html(said)


def run_own(
    spec: S,
    gathered: Gathered,
    plan: Callable[[S, list[Method], Objects], Planned[R]],
    out: str | Path,
    how: RunSpec,
    during: During,
) -> BenchmarkRun[R]:
    """A benchmark of Verax's own, from its checked spec to its report.

    Args:
        spec: what is asked.
        gathered: what was given as objects.
        plan: makes the plan of the spec, the explainers and the objects.
        out: the run's folder.
        how: the jobs are done.
        during: told what is being done while it is done.
    """
    require("A benchmark", "matplotlib", "pyarrow", extra="bench")
    with at_hand(gathered.things):
        with during(f"loading {', '.join(spec.datasets)}"):
            methods = gathered.methods(spec) if spec.explainers else []
            planned = plan(spec, methods, gathered.objects)
        return run_to_report(planned, out, how, during)


def run_to_report(planned: Planned[R], out: str | Path, how: RunSpec, during: During) -> BenchmarkRun[R]:
    """Does what is planned and writes its report."""
    execution = Execution(how.jobs, how.cluster, terminal_progress, how.retry_failed, how.fresh, during)
    found, manifest = run_planned(planned, Path(out), execution)
    run = BenchmarkRun(Path(out), found, manifest)
    with during("writing the report"):
        run.report()
    return run


def bench(
    name: str,
    *,
    spec: str | Path | BaseModel | Mapping[str, object] | None = None,
    out: str | Path | None = None,
    during: During = quietly,
    **options: object,
) -> BenchmarkRun[BenchmarkSummary]:
    """Runs a benchmark that an installed package brings.

    A run that was stopped goes on where it stopped when it is asked for again with the same folder; a finished one
    computes nothing.

    Args:
        name: of its entry point in the group "verax.benchmarks", or ``package.module:Class``.
        spec: a TOML file, its text, or its content as a dict; what is given here besides wins.
        out: the run's folder; runs/NAME by default.
        during: told what is being done while it is done.
        options: those of the benchmark's spec, and jobs, cluster, retry_failed and fresh; ``verax bench NAME --help``
            has all of them.
    """
    require("A benchmark", "matplotlib", extra="bench")
    if name in OWN:
        raise VeraxError(f"{name!r} is a benchmark of Verax's own; call verax.{OWN[name]}(...).")
    benchmark = benchmark_named(name)
    how, own = split_options(RunSpec, options)
    asked = (spec_options(spec, name) if spec is not None else {}) | own
    checked = checked_spec(benchmark.spec, asked)
    folder = Path(out) if out is not None else Path("runs") / name.rpartition(":")[2]
    with during("loading what is tested"):
        hashes = _hashes(checked)
        code = _code(name, benchmark, checked)
    return run_to_report(plan_outside(name, benchmark, checked, hashes, code), folder, how, during)


def _hashes(spec: BaseModel) -> dict[str, str]:
    """Of the datasets that a spec names; what is wrong with them is told before anything is done."""
    if not isinstance(spec, BenchmarkSpec):
        return {}
    return {name: load_dataset(**spec.source(name)).hash for name in spec.datasets}  # type: ignore[arg-type]


def _code(name: str, benchmark: Benchmark[BaseModel], spec: BaseModel) -> dict[str, str]:
    """Hashes of code and files of somebody's own: of the benchmark, its explainers and its models."""
    code = code_behind({name: type(benchmark).__module__})
    if not isinstance(spec, BenchmarkSpec):
        return code
    named = parse_explainers(",".join(spec.explainers), spec.samples, spec.seed) if spec.explainers else []
    code |= own_code([(one.name, one.registered, one.parameters) for one in named])
    for model in spec.models:
        code |= model_code(model)
    return code
