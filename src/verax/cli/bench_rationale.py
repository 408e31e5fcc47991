"""``verax bench rationale``: explainers before models that provably ignore some words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.spec_files import spec_options
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

if TYPE_CHECKING:
    from verax.workflows.rationale import RationaleRun


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
    from verax.report.common.failures import failed_jobs
    from verax.report.rationale.rationale_terminal import failed_explainers
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
        _print(run)
    end_if_failed([*failed_jobs(run.summary.failures, "job"), *failed_explainers(run.summary)])


def _print(run: RationaleRun) -> None:
    from verax.report.rationale.rationale_terminal import terminal_summary

    output().print(terminal_summary(run.summary))
    say(
        f"The run is in {run.folder}: report.html, summary.json, results.parquet, targets/.",
        f"Next: open {run.folder / 'report.html'} in a browser.",
    )
