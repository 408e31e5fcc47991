"""Measures and students with known reasons from end to end: what is asked in, a run's folder with its report out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.contract import Planned
from verax.benchmarks.measures import findings as measures_run
from verax.benchmarks.measures.findings import MeasuresSummary
from verax.benchmarks.measures.jobs import plan_measures
from verax.benchmarks.measures.spec import MeasuresOptions, MeasuresSpec
from verax.benchmarks.planning import Method, Objects
from verax.benchmarks.spec_files import spec_options
from verax.benchmarks.students import findings as students_run
from verax.benchmarks.students.findings import StudentsSummary
from verax.benchmarks.students.jobs import plan_students
from verax.benchmarks.students.spec import StudentsOptions, StudentsSpec
from verax.options import RunSpec, checked_spec, split_options, takes_options
from verax.run.progress import During, quietly
from verax.workflows.bench import BenchmarkRun, run_own
from verax.workflows.given_objects import Given, Refitting, gather

if TYPE_CHECKING:
    from typing import Unpack

MEASURES_OUT, STUDENTS_OUT = Path("runs/measures"), Path("runs/students")
MeasuresRun = BenchmarkRun[MeasuresSummary]
StudentsRun = BenchmarkRun[StudentsSummary]


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
    return run_own(checked, gathered, _measures, out, how, during)


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
    return run_own(checked, gathered, _students, out, how, during)


def _measures(spec: MeasuresSpec, methods: list[Method], objects: Objects) -> Planned[MeasuresSummary]:
    return measures_run.planned_run(plan_measures(spec, methods, objects))


def _students(spec: StudentsSpec, methods: list[Method], objects: Objects) -> Planned[StudentsSummary]:
    return students_run.planned_run(plan_students(spec, methods, objects))
