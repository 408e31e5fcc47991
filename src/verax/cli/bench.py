"""``verax bench``: tests of explainers without people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from verax.benchmarks.staining.spec import StainSpec, read_spec
from verax.cli.bench_measures import measures, students
from verax.cli.bench_rationale import rationale
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

if TYPE_CHECKING:
    from verax.benchmarks.staining.summary import Summary
    from verax.workflows.stain import StainRun

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
        _print(run)
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


def _print(run: StainRun) -> None:
    from verax.report.staining.staining_terminal import terminal_summary

    output().print(terminal_summary(run.summary))
    say(
        f"The run is in {run.folder}: report.html, summary.json, results.parquet.",
        f"Next: open {run.folder / 'report.html'} in a browser.",
    )


def _end(summary: Summary, as_json: bool) -> None:
    from verax.report.common.failures import failed_jobs
    from verax.report.staining.staining_terminal import failed_explainers

    trials, explainers = failed_jobs(summary.failures, "trial"), failed_explainers(summary)
    if as_json:
        end_if_failed(trials + explainers)
    else:
        end_if_failed(trials, told=explainers)
