"""Measures and students with known reasons from end to end: what is asked in, a run's folder with its report out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from verax.benchmarks.measures.findings import MeasuresFindings
from verax.benchmarks.measures.jobs import plan_measures
from verax.benchmarks.measures.run import ComparisonRun, run_measures
from verax.benchmarks.measures.spec import MeasuresOptions, MeasuresSpec
from verax.benchmarks.spec_files import BenchmarkSpec, spec_options
from verax.benchmarks.staining.jobs import Method
from verax.benchmarks.staining.plan import Objects
from verax.benchmarks.students.findings import StudentsFindings, TaughtRun, run_students
from verax.benchmarks.students.jobs import plan_students
from verax.benchmarks.students.spec import StudentsOptions, StudentsSpec
from verax.installed import require
from verax.notebook import paragraph_html
from verax.options import RunSpec, checked_spec, split_options, takes_options
from verax.phrases import say
from verax.run.identity import at_hand
from verax.run.progress import During, quietly, terminal_progress
from verax.workflows.given_objects import Gathered, Given, Refitting, gather

if TYPE_CHECKING:
    from typing import Unpack

    import pandas as pd


S = TypeVar("S", bound=BenchmarkSpec)
Plan = TypeVar("Plan")
Done = TypeVar("Done")

MEASURES_OUT = Path("runs/measures")


@dataclass(frozen=True, eq=False, repr=False)
class MeasuresRun:
    """A finished comparison of measures.

    Attributes:
        folder: where it lies.
        run: all that it found.
    """

    folder: Path
    run: ComparisonRun

    @property
    def findings(self) -> MeasuresFindings:
        """Estimates, verdicts and sentences; its ``to_dict()`` is what stands in summary.json."""
        return self.run.findings

    @property
    def results(self) -> pd.DataFrame:
        """One row per explanation and measure, as in results.parquet; docs/measures.md says what the columns mean."""
        return self.run.results

    def report(self) -> Path:
        """Writes report.html into the run's folder; where the page is."""
        from verax.reporting.findings_page import write_page
        from verax.reporting.measures_and_students import measures_page

        return write_page(self.folder, measures_page(self.findings, self.run.manifest))

    def __repr__(self) -> str:
        return f"MeasuresRun({str(self.folder)!r}, {len(self.findings.measures)} measures)"

    def _repr_html_(self) -> str:
        return paragraph_html(
            *self.findings.sentences, say("common", "report-is", path=str(self.folder / "report.html"))
        )


@takes_options(MeasuresSpec, RunSpec)
def bench_measures(
    dataset: Given | None = None,
    models: Given | None = None,
    explainers: Given | None = None,
    *,
    refit: Refitting | None = None,
    spec: str | Path | MeasuresSpec | Mapping[str, object] | None = None,
    out: str | Path = MEASURES_OUT,
    during: During = quietly,
    **options: Unpack[MeasuresOptions],
) -> MeasuresRun:
    """Compares automatic measures of explanations with the truth, on models whose reasons are known.

    A run that was stopped goes on where it stopped when it is asked for again with the same folder; a finished one
    computes nothing.

    Args:
        dataset: a name, a file, a `verax.Dataset`, a DataFrame (with the options ``text`` and ``label``) or (inputs,
            labels); or several.
        models: names, or scikit-learn classifiers and pipelines, which are fitted anew with planted reasons; or
            functions from a dataset to a fitted model.
        explainers: names, with parameters in parentheses (``"shap(samples=500)"``), or objects with a method
            ``explain(model, inputs, targets)``; explanations of known quality always take part.
        refit: how models that are objects are fitted anew, see `verax.stain`.
        spec: a TOML file, its text, or its content as a dict; what is given here besides wins.
        out: the run's folder.
        during: told what is being done while it is done.
        options: those of a spec, and how the run is done; docs/measures.md has all of them.
    """
    how, own = split_options(RunSpec, options)
    asked = (spec_options(spec, "measures") if spec is not None else {}) | own
    gathered = gather(asked, dataset, models, explainers, refit)
    checked = checked_spec(MeasuresSpec, asked)
    folder = Path(out)
    run = MeasuresRun(folder, _done(checked, gathered, plan_measures, run_measures, folder, how, during))
    with during("writing the report"):
        run.report()
    return run


STUDENTS_OUT = Path("runs/students")


@dataclass(frozen=True, eq=False, repr=False)
class StudentsRun:
    """A finished run with students.

    Attributes:
        folder: where it lies.
        run: all that it found.
    """

    folder: Path
    run: TaughtRun

    @property
    def findings(self) -> StudentsFindings:
        """Estimates and sentences; its ``to_dict()`` is what stands in summary.json."""
        return self.run.findings

    @property
    def results(self) -> pd.DataFrame:
        """One row per student, size, test and method, as in results.parquet; see docs/students.md."""
        return self.run.results

    def report(self) -> Path:
        """Writes report.html into the run's folder; where the page is."""
        from verax.reporting.findings_page import write_page
        from verax.reporting.measures_and_students import students_page

        return write_page(self.folder, students_page(self.findings, self.run.manifest))

    def __repr__(self) -> str:
        return f"StudentsRun({str(self.folder)!r}, {len(self.findings.methods)} methods)"

    def _repr_html_(self) -> str:
        return paragraph_html(
            *self.findings.sentences, say("common", "report-is", path=str(self.folder / "report.html"))
        )


@takes_options(StudentsSpec, RunSpec)
def bench_students(
    dataset: Given | None = None,
    models: Given | None = None,
    explainers: Given | None = None,
    *,
    refit: Refitting | None = None,
    spec: str | Path | StudentsSpec | Mapping[str, object] | None = None,
    out: str | Path = STUDENTS_OUT,
    during: During = quietly,
    **options: Unpack[StudentsOptions],
) -> StudentsRun:
    """Lets students learn to predict models, with explanations and without, and tells what they gain.

    A run that was stopped goes on where it stopped when it is asked for again with the same folder; a finished one
    computes nothing.

    Args:
        dataset: a name, a file, a `verax.Dataset`, a DataFrame (with the options ``text`` and ``label``) or (inputs,
            labels); or several.
        models: names, or scikit-learn classifiers and pipelines, which are fitted anew with planted reasons; or
            functions from a dataset to a fitted model.
        explainers: names, with parameters in parentheses (``"shap(samples=500)"``), or objects with a method
            ``explain(model, inputs, targets)``; the planted reasons, shuffled and random ones always take part.
        refit: how models that are objects are fitted anew, see `verax.stain`.
        spec: a TOML file, its text, or its content as a dict; what is given here besides wins.
        out: the run's folder.
        during: told what is being done while it is done.
        options: those of a spec, and how the run is done; docs/students.md has all of them.
    """
    how, own = split_options(RunSpec, options)
    asked = (spec_options(spec, "students") if spec is not None else {}) | own
    gathered = gather(asked, dataset, models, explainers, refit)
    checked = checked_spec(StudentsSpec, asked)
    folder = Path(out)
    run = StudentsRun(folder, _done(checked, gathered, plan_students, run_students, folder, how, during))
    with during("writing the report"):
        run.report()
    return run


def _done(
    spec: S,
    gathered: Gathered,
    plan: Callable[[S, list[Method], Objects], Plan],
    run: Callable[..., Done],
    folder: Path,
    how: RunSpec,
    during: During,
) -> Done:
    """Plans what is asked and does it."""
    require("A benchmark", "pyarrow", extra="bench")
    with at_hand(gathered.things):
        with during(f"loading {', '.join(spec.datasets)}"):
            methods = gathered.methods(spec) if spec.explainers else []
            planned = plan(spec, methods, gathered.objects)
        return run(
            planned,
            folder,
            [label for label, _, _ in methods],
            workers=how.jobs,
            cluster=how.cluster,
            progress=terminal_progress("stains x models"),
            retry_failed=how.retry_failed,
            fresh=how.fresh,
        )
