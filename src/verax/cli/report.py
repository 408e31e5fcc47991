"""``verax report``: benchmarks and studies together on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import one_sentence, output, print_file, say, show_reasons, working
from verax.cli.options import AsJson

EXAMPLE = """Example: verax report runs/stain studies/forward/analysis --out report.html

More: verax docs reports"""


@one_sentence
def report(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of benchmark runs and of analysed studies."),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="A page (.html; its numbers go beside it as .json) or a folder."),
    ] = Path("report.html"),
    as_json: AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say where an unexpected error arose.")
    ] = False,
) -> None:
    """Put benchmarks and studies on one page: every explainer in every court, and whether the courts agree."""
    show_reasons(verbose)
    from verax.workflows.report import report as write_report

    with working("comparing the courts"):
        made = write_report(folders, out)
    if as_json:
        print_file(made.numbers)
        return
    console = output()
    console.print(f"{made.summary.answer} {made.summary.needs}".strip())
    for agreement in made.summary.agreements:
        console.print(agreement.sentence)
    for sentence in made.summary.notes:
        console.print(f"Note: {sentence}")
    say(
        f"The report is {made.page}; its numbers are in {made.numbers}.",
        f"Next: open {made.page} in a browser.",
    )
