"""``verax bench rationale``: explainers before models that provably ignore some words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    DataFormat,
    Fresh,
    Jobs,
    LabelColumn,
    Limit,
    RetryFailed,
    RunFolder,
    Samples,
    Seed,
    SpecFile,
    Split,
    SummaryJson,
    TextColumn,
    Verbose,
    given_names,
    options_for_arguments,
)

if TYPE_CHECKING:
    from verax.workflows.rationale import RationaleRun


@one_sentence
def rationale(
    out: RunFolder = Path("runs/rationale"),
    spec: SpecFile = None,
    datasets: Annotated[
        str | None,
        typer.Option("--dataset", "--datasets", "-d", help="Texts: names or files, with commas between."),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            "--model",
            "--models",
            "-m",
            help="'rationale' trains targets; or folders of saved rationale models.",
        ),
    ] = None,
    explainers: Annotated[
        str | None,
        typer.Option(
            "--explainers", "-e", help="E.g. 'lime,shap(samples=500),lime-package,my_package.mine:Mine'."
        ),
    ] = None,
    samples: Samples = None,
    targets: Annotated[
        int | None, typer.Option(help="Models trained for each dataset and difficulty (3).")
    ] = None,
    difficulty: Annotated[
        str | None, typer.Option(help="Of targets: 'easy', 'hard', or both with a comma between (easy,hard).")
    ] = None,
    share: Annotated[float | None, typer.Option(help="Share of words that targets shall select.")] = None,
    max_words: Annotated[int | None, typer.Option(help="Texts are cut to so many words (200).")] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs of the targets' training.")] = None,
    tau: Annotated[
        float | None, typer.Option(help="What a clearly relevant word moves the output by (0.1).")
    ] = None,
    subsets: Annotated[
        int | None, typer.Option(help="Random deletions tried before an input is called strict (20).")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="Rank words by 'absolute' scores (default) or 'signed' ones.")
    ] = None,
    inputs: Annotated[int | None, typer.Option(help="Inputs explained per target (200).")] = None,
    seed: Seed = None,
    split: Split = None,
    limit: Limit = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    format: DataFormat = None,
    ratings: Annotated[
        bool, typer.Option(help="Labels are ratings between 0 and 1 (format lei-beer).")
    ] = False,
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
    from verax.benchmarks.spec_files import spec_options
    from verax.report.common.failures import failed_jobs
    from verax.report.rationale.rationale_terminal import failed_explainers
    from verax.workflows.rationale import rationale as run_rationale

    given = {
        "datasets": given_names(datasets),
        "models": given_names(models),
        "explainers": given_names(explainers),
        "samples": samples,
        "targets": targets,
        "difficulty": given_names(difficulty),
        "share": share,
        "max_words": max_words,
        "epochs": epochs,
        "tau": tau,
        "subsets": subsets,
        "order": order,
        "inputs": inputs,
        "seed": seed,
        "split": split,
        "limit": limit,
        "text": text_column,
        "label": label_column,
        "format": format,
        "ratings": ratings or None,
    }
    options = {} if spec is None else spec_options(spec, "rationale")
    with options_for_arguments():
        run = run_rationale(
            spec=options | {name: value for name, value in given.items() if value is not None},
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
