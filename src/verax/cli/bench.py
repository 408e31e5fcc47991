"""``verax bench``: tests of explainers without people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verax.cli.console import messages, one_sentence, output, show_reasons, working

if TYPE_CHECKING:
    from verax.benchmarks.staining.staining_run import StainingRun

bench = typer.Typer(
    name="bench", no_args_is_help=True, help="Put explainers on trial without people: data staining."
)


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


@bench.command(
    "stain", epilog="Example: verax bench stain --explainers lime,shap,greedy --stains 20 --out runs/rt"
)
@one_sentence
def stain(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The run's folder; a stopped run goes on there.")
    ] = Path("runs/stain"),
    spec: Annotated[
        Path | None, typer.Option(help="A TOML file with these options; the command line wins.")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option("--dataset", "--datasets", "-d", help="Names or files, with commas between.")
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            "--model", "--models", "-m", help="Names or package.module:function, with commas between."
        ),
    ] = None,
    explainers: Annotated[
        str | None,
        typer.Option("--explainers", "-e", help="E.g. 'lime,shap(samples=500),my_package.mine:Mine'."),
    ] = None,
    samples: Annotated[int | None, typer.Option(help="Budget of explainers that sample (1000).")] = None,
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
    min_region: Annotated[int | None, typer.Option(help="Training inputs of a rule's region (30).")] = None,
    min_flipped: Annotated[int | None, typer.Option(help="Test inputs that a rule must flip (5).")] = None,
    weight: Annotated[int | None, typer.Option(help="How often a stained training input counts.")] = None,
    learnt: Annotated[
        float | None, typer.Option(help="Accuracy on the stained region that a model must reach (0.95).")
    ] = None,
    inputs: Annotated[int | None, typer.Option(help="Flipped inputs explained per stain (50).")] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything (0).")] = None,
    split: Annotated[str | None, typer.Option(help="Train/validation/test, e.g. 80/10/10.")] = None,
    limit: Annotated[int | None, typer.Option(help="Use at most so many inputs of each dataset.")] = None,
    text_column: Annotated[str | None, typer.Option(help="A file's column of texts.")] = None,
    label_column: Annotated[str | None, typer.Option(help="A file's column of labels.")] = None,
    format: Annotated[str | None, typer.Option(help="A published format (verax list formats).")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes on this machine.")] = 1,
    cluster: Annotated[
        str | None, typer.Option(help="A Dask scheduler's address, e.g. tcp://host:8786.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option(help="Do trials again that failed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print summary.json, and nothing else.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say which way was taken, and why.")
    ] = False,
) -> None:
    """Plant a known flaw in models and see which explainers show it (data staining).

    Every stain makes models err in a known way: inputs with certain words get one label. An explainer is scored by how
    many of these words are among its top b, on inputs whose label was flipped.
    """
    show_reasons(verbose)
    from verax.benchmarks.staining.spec import make_spec, read_spec

    given: dict[str, Any] = {
        "datasets": _listed(datasets),
        "models": _listed(models),
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
        "weight": weight,
        "learnt": learnt,
        "inputs": inputs,
        "seed": seed,
        "split": split,
        "limit": limit,
        "text": text_column,
        "label": label_column,
        "format": format,
    }
    options = read_spec(spec) if spec is not None else {}
    options |= {name: value for name, value in given.items() if value is not None}
    if explainers is not None:
        options["explainers"] = [explainers]
    run = _run(make_spec(options), out, jobs, cluster, retry_failed)
    if as_json:
        sys.stdout.write((out / "summary.json").read_text(encoding="utf-8"))
        sys.stdout.flush()
        return
    _print(run, out)


def _run(spec: Any, out: Path, jobs: int, cluster: str | None, retry_failed: bool) -> StainingRun:
    from verax.benchmarks.staining.plan import make_plan
    from verax.benchmarks.staining.staining_run import run_staining
    from verax.cli.names import parse_explainers
    from verax.report.staining.staining_page import write_staining_report
    from verax.run import terminal_progress

    named = parse_explainers(",".join(spec.explainers), spec.samples, spec.seed)
    methods = [(one.name, one.registered, one.parameters) for one in named]
    with working(f"loading {', '.join(spec.datasets)}"):
        plan = make_plan(spec, methods)
    run = run_staining(
        plan,
        out,
        workers=jobs,
        cluster=cluster,
        progress=terminal_progress("trials"),
        retry_failed=retry_failed,
    )
    with working("writing the report"):
        write_staining_report(out, run.summary, run.measurements, run.examples, run.timings, run.manifest)
    return run


def _print(run: StainingRun, out: Path) -> None:
    from verax.report.staining.staining_terminal import terminal_summary

    console = output()
    console.print(terminal_summary(run.summary))
    failed = len(run.summary["failures"])
    if failed:
        messages().print(f"{failed} trials failed; they are listed in the report and in summary.json.")
    console.print(f"The run is in {out}: report.html, summary.json, results.parquet.", soft_wrap=True)
    console.print(f"Next: open {out / 'report.html'} in a browser.", soft_wrap=True)
