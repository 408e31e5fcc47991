"""``verax report``: benchmarks and studies together on one page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import one_sentence, output, show_reasons, working

EXAMPLE = "Example: verax report runs/stain studies/forward/analysis --out report.html"


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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the page's numbers as JSON, and nothing else.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say where an unexpected error arose.")
    ] = False,
) -> None:
    """Put benchmarks and studies on one page: every explainer in every court, and whether the courts agree."""
    show_reasons(verbose)
    from verax.report.courts.courts_page import places, write_courts_report

    with working("comparing the courts"):
        summary = write_courts_report(folders, out)
    page, numbers, _ = places(out)
    if as_json:
        sys.stdout.write(numbers.read_text(encoding="utf-8"))
        sys.stdout.flush()
        return
    console = output()
    console.print(" ".join([summary["answer"], summary["needs"]]).strip())
    for note in summary["notes"]:
        console.print(f"Note: {note}")
    console.print(f"The report is {page}; its numbers are in {numbers}.", soft_wrap=True)
    console.print(f"Next: open {page} in a browser.", soft_wrap=True)
