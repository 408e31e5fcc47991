"""``verax atlas``: every explainer on every sort of model, and an explainer of one's own among them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verax.benchmarks.atlas.spec import AtlasSpec
from verax.cli.console import note, one_sentence, output, print_file, say, show_reasons, working
from verax.cli.options import RunFolder, SummaryJson, Verbose, with_spec_options
from verax.options import RunSpec

if TYPE_CHECKING:
    from verax.workflows.atlas import Atlas

atlas = typer.Typer(
    name="atlas",
    invoke_without_command=True,
    epilog="Example: verax atlas --size small --out atlas\n\nMore: verax docs atlas",
)


@with_spec_options(AtlasSpec, RunSpec)
def _make(
    *,
    out: RunFolder = Path("atlas"),
    given: dict[str, Any],
    as_json: SummaryJson = False,
    verbose: Verbose = False,
) -> None:
    show_reasons(verbose)
    from verax.workflows.atlas import atlas as make

    _show(make(out=out, during=working, tell=note, **given), as_json)


def _unless_added(command: Any) -> Any:
    """The group's own work is left to ``add`` where that is called."""
    import functools

    @functools.wraps(command)
    def run(*, context: typer.Context, **values: Any) -> None:
        if context.invoked_subcommand is None:
            command(context=context, **values)

    return run


atlas.callback(
    help="Which explainer for which sort of model: all that apply, through every benchmark without people.\n\n"
    "A stopped atlas goes on where it stopped; a finished one computes nothing."
)(one_sentence(_unless_added(_make)))


@atlas.command("add", epilog="Example: verax atlas add my_package.mine:MyExplainer --out atlas")
@one_sentence
@with_spec_options(RunSpec)
def add(
    *,
    explainer: Annotated[str, typer.Argument(metavar="EXPLAINER", help="A name, or package.module:Class.")],
    out: RunFolder = Path("atlas"),
    given: dict[str, Any],
    as_json: SummaryJson = False,
    verbose: Verbose = False,
) -> None:
    """Put another explainer into an atlas: run what is missing, and write the page again."""
    show_reasons(verbose)
    from verax.workflows.atlas import add_to_atlas

    _show(add_to_atlas(explainer, out=out, during=working, tell=note, **given), as_json)


def _show(made: Atlas, as_json: bool) -> None:
    if as_json:
        print_file(made.folder / "summary.json")
        return
    for sentence in made.summary.sentences:
        output().print(sentence, markup=False, highlight=False)
    say(
        f"The atlas is in {made.folder}: index.html, summary.json, findings.csv, results.parquet, runs/.",
        f"Next: open {made.folder / 'index.html'} in a browser.",
    )
