"""``verax bench``: tests of explainers without people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    from verax.benchmarks.staining.summary import Summary
    from verax.workflows.stain import StainRun

bench = typer.Typer(name="bench", no_args_is_help=True, help="Put explainers on trial without people.")


@bench.command(
    "stain",
    epilog="Example: verax bench stain --explainers lime,shap,greedy --stains 20 --out runs/rt"
    "\n\nMore: verax docs staining",
)
@one_sentence
def stain(
    out: RunFolder = Path("runs/stain"),
    spec: SpecFile = None,
    datasets: Annotated[
        str | None, typer.Option("--dataset", "--datasets", "-d", help="Names or files, with commas between.")
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            "--model", "--models", "-m", help="E.g. 'forest,cnn(epochs=2),my_models:load'; verax list models."
        ),
    ] = None,
    explainers: Annotated[
        str | None,
        typer.Option("--explainers", "-e", help="E.g. 'lime,shap(samples=500),my_package.mine:Mine'."),
    ] = None,
    samples: Samples = None,
    stains: Annotated[int | None, typer.Option(help="Stains per dataset (5, as in the paper).")] = None,
    size: Annotated[int | None, typer.Option(help="Features of a stain, |F|, 1 to 4 (2).")] = None,
    rules: Annotated[int | None, typer.Option(help="Rules of a stain (1).")] = None,
    negated: Annotated[int | None, typer.Option(help="Negated features of a rule (0).")] = None,
    at_least: Annotated[int | None, typer.Option(help="How often a stained word must occur (1).")] = None,
    words: Annotated[
        str | None, typer.Option(help="What models read: presence or counts (presence).")
    ] = None,
    min_share: Annotated[
        float | None, typer.Option(help="Share of training inputs that a feature must occur in (0.15).")
    ] = None,
    min_region: Annotated[
        int | None, typer.Option(help="Training inputs of a rule's region (30 and one in a hundred).")
    ] = None,
    min_flipped: Annotated[int | None, typer.Option(help="Test inputs that a rule must flip (5).")] = None,
    weight: Annotated[
        str | None,
        typer.Option(help="How often a stained training input counts (50); auto: as often as it takes."),
    ] = None,
    plant: Annotated[
        bool | None, typer.Option("--plant", help="Put stains into inputs chosen at random.")
    ] = None,
    plant_share: Annotated[
        float | None, typer.Option(help="Share of the inputs that a planted stain is put into (0.25).")
    ] = None,
    decoy_share: Annotated[
        float | None, typer.Option(help="Share that gets all of its features but one, for each (0.15).")
    ] = None,
    new_words: Annotated[bool | None, typer.Option("--new-words", help="Plant made-up words.")] = None,
    learnt: Annotated[
        float | None, typer.Option(help="Accuracy on the stained region that a model must reach (0.95).")
    ] = None,
    inputs: Annotated[int | None, typer.Option(help="Flipped inputs explained per stain (50).")] = None,
    seed: Seed = None,
    split: Split = None,
    limit: Limit = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    format: DataFormat = None,
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
    from verax.benchmarks.staining.spec import read_spec
    from verax.workflows.stain import stain as run_stain

    given = {
        "datasets": given_names(datasets),
        "models": given_names(models),
        "explainers": given_names(explainers),
        "samples": samples,
        "stains": stains,
        "size": size,
        "rules": rules,
        "negated": negated,
        "at_least": at_least,
        "words": words,
        "min_share": min_share,
        "min_region": min_region,
        "min_flipped": min_flipped,
        "weight": weight if weight is None or not weight.isdecimal() else int(weight),
        "plant": plant,
        "plant_share": plant_share,
        "decoy_share": decoy_share,
        "new_words": new_words,
        "learnt": learnt,
        "inputs": inputs,
        "seed": seed,
        "split": split,
        "limit": limit,
        "text": text_column,
        "label": label_column,
        "format": format,
    }
    options = {} if spec is None else read_spec(spec)
    with options_for_arguments():
        run = run_stain(
            spec=options | {name: value for name, value in given.items() if value is not None},
            out=out,
            jobs=jobs,
            cluster=cluster,
            retry_failed=retry_failed,
            fresh=fresh,
            during=working,
            tell=note,
        )
    if as_json:
        print_file(out / "summary.json")
    else:
        _print(run)
    _end(run.summary, as_json)


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
