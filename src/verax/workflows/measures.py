"""Measures and students with known reasons from end to end: what is asked in, a run's folder with its report out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.measures.findings import MeasuresFindings
from verax.benchmarks.measures.jobs import plan_measures
from verax.benchmarks.measures.run import ComparisonRun, run_measures
from verax.benchmarks.measures.spec import MeasuresOptions, MeasuresSpec
from verax.benchmarks.spec_files import checked_spec, spec_options, takes_options
from verax.benchmarks.students.findings import StudentsFindings, TaughtRun, run_students
from verax.benchmarks.students.jobs import plan_students
from verax.benchmarks.students.spec import StudentsOptions, StudentsSpec
from verax.errors import VeraxError
from verax.installed import require
from verax.notebook import paragraph_html
from verax.phrases import say
from verax.run.identity import at_hand
from verax.run.progress import During, quietly, terminal_progress
from verax.workflows.given_objects import Gathered, Given, Refitting

if TYPE_CHECKING:
    from typing import Unpack

    import pandas as pd


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


@takes_options(MeasuresSpec)
def bench_measures(
    dataset: Given | None = None,
    models: Given | None = None,
    explainers: Given | None = None,
    *,
    refit: Refitting | None = None,
    spec: str | Path | MeasuresSpec | Mapping[str, object] | None = None,
    out: str | Path = MEASURES_OUT,
    jobs: int = 1,
    cluster: str | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
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
        jobs: processes on this machine.
        cluster: a Dask scheduler's address, whose workers then do the jobs.
        retry_failed: do again what failed.
        fresh: do everything again, whatever is stored.
        during: told what is being done while it is done.
        options: the other options of a spec; docs/measures.md has all of them, with defaults and ranges.
    """
    require("A benchmark", "pyarrow", extra="bench")
    asked = (spec_options(spec, "measures") if spec is not None else {}) | options
    gathered = Gathered()
    if dataset is not None:
        asked["datasets"] = gathered.add_datasets(dataset, asked)
    if models is not None:
        asked["models"] = gathered.add_models(models, refit)
    elif refit is not None:
        raise VeraxError("refit= says how a model is fitted anew, and there is none; give models=.")
    if explainers is not None:
        asked["explainers"] = gathered.add_explainers(explainers)
    checked = checked_spec(MeasuresSpec, asked)
    folder = Path(out)
    with at_hand(gathered.things):
        with during(f"loading {', '.join(checked.datasets)}"):
            methods = gathered.methods(checked) if checked.explainers else []
            plan = plan_measures(checked, methods, gathered.objects)
        done = run_measures(
            plan,
            folder,
            [label for label, _, _ in methods],
            workers=jobs,
            cluster=cluster,
            progress=terminal_progress("stains x models"),
            retry_failed=retry_failed,
            fresh=fresh,
        )
    run = MeasuresRun(folder, done)
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


@takes_options(StudentsSpec)
def bench_students(
    dataset: Given | None = None,
    models: Given | None = None,
    explainers: Given | None = None,
    *,
    refit: Refitting | None = None,
    spec: str | Path | StudentsSpec | Mapping[str, object] | None = None,
    out: str | Path = STUDENTS_OUT,
    jobs: int = 1,
    cluster: str | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
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
        jobs: processes on this machine.
        cluster: a Dask scheduler's address, whose workers then do the jobs.
        retry_failed: do again what failed.
        fresh: do everything again, whatever is stored.
        during: told what is being done while it is done.
        options: the other options of a spec; docs/students.md has all of them, with defaults and ranges.
    """
    require("A benchmark", "pyarrow", extra="bench")
    asked = (spec_options(spec, "students") if spec is not None else {}) | options
    gathered = Gathered()
    if dataset is not None:
        asked["datasets"] = gathered.add_datasets(dataset, asked)
    if models is not None:
        asked["models"] = gathered.add_models(models, refit)
    elif refit is not None:
        raise VeraxError("refit= says how a model is fitted anew, and there is none; give models=.")
    if explainers is not None:
        asked["explainers"] = gathered.add_explainers(explainers)
    checked = checked_spec(StudentsSpec, asked)
    folder = Path(out)
    with at_hand(gathered.things):
        with during(f"loading {', '.join(checked.datasets)}"):
            methods = gathered.methods(checked) if checked.explainers else []
            plan = plan_students(checked, methods, gathered.objects)
        done = run_students(
            plan,
            folder,
            [label for label, _, _ in methods],
            workers=jobs,
            cluster=cluster,
            progress=terminal_progress("stains x models"),
            retry_failed=retry_failed,
            fresh=fresh,
        )
    run = StudentsRun(folder, done)
    with during("writing the report"):
        run.report()
    return run
