"""``verax bench``: tests of explainers without people, ours and those that other packages bring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.main

from verax.benchmarks.contract import benchmark_named, benchmarks
from verax.benchmarks.measures.spec import MeasuresSpec
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.spec_files import spec_options
from verax.benchmarks.staining.spec import StainSpec, read_spec
from verax.benchmarks.students.spec import StudentsSpec
from verax.cli.console import (
    end_if_failed,
    note,
    one_sentence,
    output,
    print_file,
    say,
    show_reasons,
    working,
)
from verax.cli.options import (
    Cluster,
    Fresh,
    Jobs,
    RetryFailed,
    RunFolder,
    SpecFile,
    SummaryJson,
    Verbose,
    as_options,
    options_for_arguments,
    with_spec_options,
)
from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.benchmarks.staining.findings import StainSummary
    from verax.workflows.rationale import RationaleRun
    from verax.workflows.stain import StainRun


@one_sentence
@with_spec_options(RationaleSpec)
def rationale(
    *,
    out: RunFolder = Path("runs/rationale"),
    spec: SpecFile = None,
    given: dict[str, object],
    jobs: Jobs = 1,
    cluster: Cluster = None,
    retry_failed: RetryFailed = False,
    fresh: Fresh = False,
    as_json: SummaryJson = False,
    verbose: Verbose = False,
) -> None:
    """See which explainers rank words that provably do nothing (Camburu et al. 2020).

    Targets select words of a text and predict from these alone. An explainer errs where it ranks a word that is not
    selected above one without which the prediction moves.
    """
    show_reasons(verbose)
    from verax.reporting.page import failed_jobs
    from verax.reporting.rationale.page import failed_explainers
    from verax.workflows.rationale import rationale as run_rationale

    options = {} if spec is None else spec_options(spec, "rationale")
    with options_for_arguments():
        run = run_rationale(
            spec=options | given,
            out=out,
            jobs=jobs,
            cluster=cluster,
            retry_failed=retry_failed,
            fresh=fresh,
            during=working,
        )
    if as_json:
        print_file(out / "summary.json")
    else:
        _print_rationale(run)
    end_if_failed([*failed_jobs(run.summary.failures, "job"), *failed_explainers(run.summary)])


def _print_rationale(run: RationaleRun) -> None:
    from verax.reporting.rationale.page import terminal_summary

    output().print(terminal_summary(run.summary))
    say(
        f"The run is in {run.folder}: report.html, summary.json, results.parquet, targets/.",
        f"Next: open {run.folder / 'report.html'} in a browser.",
    )


@one_sentence
@with_spec_options(MeasuresSpec)
def measures(
    *,
    out: RunFolder = Path("runs/measures"),
    spec: SpecFile = None,
    given: dict[str, object],
    jobs: Jobs = 1,
    cluster: Cluster = None,
    retry_failed: RetryFailed = False,
    fresh: Fresh = False,
    as_json: SummaryJson = False,
    verbose: Verbose = False,
) -> None:
    """See which automatic measures of explanations agree with reasons that are known.

    Reasons are planted in models. A measure is compared with the truth on explanations of known quality: does it order
    them as they are true, and does it prefer the truer of two?
    """
    show_reasons(verbose)
    from verax.reporting.findings_page import terminal_page
    from verax.reporting.measures_and_students import measures_page
    from verax.reporting.page import failed_jobs
    from verax.workflows.measures import bench_measures

    options = {} if spec is None else spec_options(spec, "measures")
    with options_for_arguments():
        run = bench_measures(
            spec=options | given,
            out=out,
            jobs=jobs,
            cluster=cluster,
            retry_failed=retry_failed,
            fresh=fresh,
            during=working,
        )
    if as_json:
        print_file(out / "summary.json")
    else:
        output().print(terminal_page(measures_page(run.findings, run.run.manifest)))
        say(
            f"The run is in {run.folder}: report.html, summary.json, results.parquet.",
            f"Next: open {run.folder / 'report.html'} in a browser.",
        )
    end_if_failed(failed_jobs(run.findings.failures, "job"))


@one_sentence
@with_spec_options(StudentsSpec)
def students(
    *,
    out: RunFolder = Path("runs/students"),
    spec: SpecFile = None,
    given: dict[str, object],
    jobs: Jobs = 1,
    cluster: Cluster = None,
    retry_failed: RetryFailed = False,
    fresh: Fresh = False,
    as_json: SummaryJson = False,
    verbose: Verbose = False,
) -> None:
    """See which explanations help a learner predict the model, on new inputs and on changed ones.

    Students learn from a few examples what a model says, with explanations of them and without. Reasons are planted and
    the names of classes hidden, so that nothing can be known beforehand.
    """
    show_reasons(verbose)
    from verax.reporting.findings_page import terminal_page
    from verax.reporting.measures_and_students import students_page
    from verax.reporting.page import failed_jobs
    from verax.workflows.measures import bench_students

    options = {} if spec is None else spec_options(spec, "students")
    with options_for_arguments():
        run = bench_students(
            spec=options | given,
            out=out,
            jobs=jobs,
            cluster=cluster,
            retry_failed=retry_failed,
            fresh=fresh,
            during=working,
        )
    if as_json:
        print_file(out / "summary.json")
    else:
        output().print(terminal_page(students_page(run.findings, run.run.manifest), most=2))
        say(
            f"The run is in {run.folder}: report.html, summary.json, results.parquet.",
            f"Next: open {run.folder / 'report.html'} in a browser.",
        )
    end_if_failed(failed_jobs(run.findings.failures, "job"))


bench = typer.Typer(name="bench")


@bench.command(
    "stain",
    epilog="Example: verax bench stain --explainers lime,shap,greedy --stains 20 --out runs/rt"
    "\n\nMore: verax docs staining",
)
@one_sentence
@with_spec_options(StainSpec)
def stain(
    *,
    out: RunFolder = Path("runs/stain"),
    spec: SpecFile = None,
    given: dict[str, object],
    jobs: Jobs = 1,
    cluster: Cluster = None,
    retry_failed: RetryFailed = False,
    fresh: Fresh = False,
    as_json: SummaryJson = False,
    verbose: Verbose = False,
) -> None:
    """Plant a known flaw in models and see which explainers show it (data staining).

    Every stain makes models err in a known way: inputs with certain words get one label. An explainer is scored by how
    many of these words are among its top b, on inputs whose label was flipped.
    """
    show_reasons(verbose)
    from verax.workflows.stain import stain as run_stain

    options = {} if spec is None else read_spec(spec)
    with options_for_arguments():
        run = run_stain(
            spec=options | given,
            out=out,
            jobs=jobs,
            cluster=cluster,
            retry_failed=retry_failed,
            fresh=fresh,
            during=working,
            tell=lambda sentence: note(as_options(sentence)),
        )
    if as_json:
        print_file(out / "summary.json")
    else:
        _print_stain(run)
    _end(run.summary, as_json)


bench.command(
    "rationale",
    epilog="Example: verax bench rationale --explainers lime,shap,greedy --inputs 200 --out runs/rationale"
    "\n\nMore: verax docs rationale",
)(rationale)

bench.command(
    "measures",
    epilog="Example: verax bench measures --stains 20 --models logistic,tree,forest --out runs/measures"
    "\n\nMore: verax docs measures",
)(measures)

bench.command(
    "students",
    epilog="Example: verax bench students --explainers lime,shap --stains 20 --out runs/students"
    "\n\nMore: verax docs students",
)(students)


def _print_stain(run: StainRun) -> None:
    from verax.reporting.staining.tables import terminal_summary

    output().print(terminal_summary(run.summary))
    say(
        f"The run is in {run.folder}: report.html, summary.json, results.parquet.",
        f"Next: open {run.folder / 'report.html'} in a browser.",
    )


def _end(summary: StainSummary, as_json: bool) -> None:
    from verax.reporting.page import failed_jobs
    from verax.reporting.staining.tables import failed_explainers

    trials, explainers = failed_jobs(summary.failures, "trial"), failed_explainers(summary)
    if as_json:
        end_if_failed(trials + explainers)
    else:
        end_if_failed(trials, told=explainers)


def outside_names() -> list[str]:
    """The benchmarks of installed packages."""
    return benchmarks.names()


def outside_command(name: str) -> Any:
    """The command of a benchmark; of one that cannot be had, a command that says why."""
    app = typer.Typer(add_completion=False)
    try:
        kind = type(benchmark_named(name))
        about = (kind.__doc__ or "").strip() or kind.title
        command = _command(name)
    except Exception as error:  # code of others: it must not take the other commands with it
        about, command = f"Cannot be loaded: {error}", _broken(name, error)
    app.command(name, help=about)(one_sentence(command))
    return typer.main.get_command(app)


def _command(name: str) -> Callable[..., None]:
    @with_spec_options(benchmark_named(name).spec)
    def run(
        *,
        out: RunFolder = Path("runs") / name,
        spec: SpecFile = None,
        given: dict[str, object],
        jobs: Jobs = 1,
        cluster: Cluster = None,
        retry_failed: RetryFailed = False,
        fresh: Fresh = False,
        as_json: SummaryJson = False,
        verbose: Verbose = False,
    ) -> None:
        show_reasons(verbose)
        from verax.reporting.page import failed_jobs
        from verax.results.tables import verdict_lines
        from verax.workflows.bench import bench

        options = {} if spec is None else spec_options(spec, name)
        with options_for_arguments():
            done = bench(
                name,
                spec=options | given,
                out=out,
                jobs=jobs,
                cluster=cluster,
                retry_failed=retry_failed,
                fresh=fresh,
                during=working,
            )
        if as_json:
            print_file(out / "summary.json")
        else:
            for line in verdict_lines(done.summary.verdict):
                output().print(line, markup=False, highlight=False)
            say(
                f"The run is in {done.folder}: report.html, summary.json, findings.csv.",
                f"Next: open {done.folder / 'report.html'} in a browser.",
            )
        end_if_failed(failed_jobs(done.summary.failures, "job"))

    return run


def _broken(name: str, error: Exception) -> Callable[[], None]:
    def run() -> None:
        said = str(error) if isinstance(error, VeraxError) else f"{type(error).__name__}: {error}"
        raise VeraxError(
            f"The benchmark {name!r} cannot be loaded: {said.rstrip('.')}; mend or remove its package."
        )

    return run
