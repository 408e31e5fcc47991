"""``verax bench measures`` and ``verax bench students``: measures and learners on models with known reasons."""

from __future__ import annotations

from pathlib import Path

from verax.benchmarks.measures.spec import MeasuresSpec
from verax.benchmarks.spec_files import spec_options
from verax.benchmarks.students.spec import StudentsSpec
from verax.cli.console import (
    end_if_failed,
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
    options_for_arguments,
    with_spec_options,
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
    from verax.report.common.failures import failed_jobs
    from verax.report.measures.findings_page import terminal_page
    from verax.report.measures.measures_tables import measures_page
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
    from verax.report.common.failures import failed_jobs
    from verax.report.measures.findings_page import terminal_page
    from verax.report.measures.students_tables import students_page
    from verax.workflows.students import bench_students

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
