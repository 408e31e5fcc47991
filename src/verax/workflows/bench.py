"""A benchmark that comes as a package from outside, from end to end: options in, a run's folder with its report out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from verax.benchmarks.contract import Benchmark, BenchmarkSummary, benchmark_named, run_benchmark
from verax.benchmarks.spec_files import BenchmarkSpec, spec_options
from verax.benchmarks.staining.plan import own_code
from verax.data import load_dataset
from verax.errors import VeraxError
from verax.installed import require
from verax.models.ready import models, parse_model
from verax.models.resolve import is_saved, model_files
from verax.notebook import paragraph_html
from verax.options import RunSpec, checked_spec, split_options
from verax.phrases import say
from verax.results.findings import Finding, to_frame
from verax.results.tables import verdict_html
from verax.run.identity import code_behind
from verax.run.jobs import named_files
from verax.run.manifest import Manifest
from verax.run.progress import During, quietly, terminal_progress
from verax.workflows.given_objects import parse_explainers

if TYPE_CHECKING:
    import pandas as pd

# Benchmarks of Verax's own, which take objects too and have functions of their own.
OWN = ("stain", "rationale")


@dataclass(frozen=True, eq=False, repr=False)
class BenchmarkRun:
    """A finished run of a benchmark from outside.

    Attributes:
        folder: where it lies.
        summary: all that it found; its ``to_dict()`` is what stands in summary.json.
        manifest: what was asked, with what, on which machine and when.
    """

    folder: Path
    summary: BenchmarkSummary
    manifest: Manifest

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each method, as rows."""
        return self.summary.findings

    def to_frame(self) -> pd.DataFrame:
        """The findings as a DataFrame."""
        return to_frame(self.findings)

    def report(self) -> Path:
        """Writes report.html, its figures and its tables into the run's folder; where the page is."""
        from verax.reporting.findings_page import write_benchmark_report

        write_benchmark_report(self.folder, self.summary, self.manifest)
        return self.folder / "report.html"

    def __repr__(self) -> str:
        return f"BenchmarkRun({str(self.folder)!r}, {len(self.findings):,} findings)"

    def _repr_html_(self) -> str:
        return verdict_html(self.summary.verdict) + paragraph_html(
            say("common", "report-is", path=str(self.folder / "report.html"))
        )


def bench(
    name: str,
    *,
    spec: str | Path | BaseModel | Mapping[str, object] | None = None,
    out: str | Path | None = None,
    during: During = quietly,
    **options: object,
) -> BenchmarkRun:
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
        raise VeraxError(f"{name!r} is a benchmark of Verax's own; call verax.{name}(...).")
    benchmark = benchmark_named(name)
    how, own = split_options(RunSpec, options)
    asked = (spec_options(spec, name) if spec is not None else {}) | own
    checked = checked_spec(benchmark.spec, asked)
    folder = Path(out) if out is not None else Path("runs") / name.rpartition(":")[2]
    with during("loading what is tested"):
        hashes = _hashes(checked)
        code = _code(name, benchmark, checked)
    summary, manifest = run_benchmark(
        name,
        benchmark,
        checked,
        folder,
        hashes=hashes,
        code=code,
        workers=how.jobs,
        cluster=how.cluster,
        progress=terminal_progress("jobs"),
        retry_failed=how.retry_failed,
        fresh=how.fresh,
    )
    run = BenchmarkRun(folder, summary, manifest)
    with during("writing the report"):
        run.report()
    return run


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
        code |= named_files(model_files(model))
        if not is_saved(model):
            code |= code_behind({model: models.module_of(parse_model(model).name)})
    return code
