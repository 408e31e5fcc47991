"""``verax report``, ``verax paper`` and ``verax verify``: results on one page, beside published ones, and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from verax.cli.console import (
    INCOMPLETE,
    note,
    one_sentence,
    output,
    plain_table,
    print_file,
    print_json,
    say,
    show_reasons,
    working,
)
from verax.cli.options import AsJson, Jobs, Verbose
from verax.text import listed

REPORT_EXAMPLE = """Example: verax report runs/stain studies/forward/analysis --out report.html

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
    """Put benchmarks and studies on one page: every explainer in every evaluation, and whether they agree."""
    show_reasons(verbose)
    from verax.workflows.report import report as write_report

    with working("comparing benchmarks and studies"):
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


@one_sentence
def paper(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Of the paper, or its folder; all names if left out."),
    ] = None,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder of the run; papers/NAME if not given.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="In the paper's size, not in minutes.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="A folder with files that do not come with Verax.")
    ] = None,
    bots: Annotated[
        bool, typer.Option(help="Let bots answer the studies; otherwise these are only built.")
    ] = True,
    jobs: Jobs = 1,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run a paper again: all that needs no people, and its tables with the published number beside ours.

    Studies are built and answered by bots, which is a rehearsal. Asked for again, a run goes on where it stopped.
    """
    show_reasons(verbose)
    from verax.workflows.paper import AS_DATA, run_paper
    from verax.workflows.paper_files import known_papers, read_paper

    if name is None and as_json:
        print_json({known: read_paper(known).about.title for known in known_papers()})
        return
    if name is None:
        table = plain_table("name", "paper", left=("name", "paper"))
        for known in known_papers():
            table.add_row(Text(known, style="bold"), Text(read_paper(known).about.title))
        output().print(table)
        return
    run = run_paper(name, out, full=full, data=data, bots=bots, jobs=jobs, during=working, tell=note)
    if as_json:
        print_file(run.folder / AS_DATA)
        return
    say(run.tables.read_text(encoding="utf-8"), f"The run is in {run.folder}; its tables: {run.tables}.")


VERIFY_EXAMPLE = """Example: verax verify runs/stain

More: verax docs reports"""


@one_sentence
def verify(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of benchmark runs, built studies and analyses."),
    ],
    as_json: AsJson = False,
) -> None:
    """Say whether files were changed after they were written, by the hashes in manifest.json.

    It ends with status 3 if any was.
    """
    from verax.run.manifest import verify as look

    # An atlas holds runs, each with a manifest of its own.
    inside = [run.parent for folder in folders for run in sorted(folder.glob("runs/*/manifest.json"))]
    found = [look(folder) for folder in (*folders, *inside)]
    if as_json:
        print_json(
            [
                {
                    "folder": str(one.folder),
                    "files": one.files,
                    "problems": list(one.problems),
                    "results_hashed": not one.unsaid,
                }
                for one in found
            ]
        )
    else:
        for one in found:
            if one.problems:
                note(f"{one.folder}: {listed(one.problems)}.")
            else:
                say(f"{one.folder}: {one.files} files are as they were written.")
            if one.unsaid:
                say(f"{one.folder}: the manifest has no hashes of results; a new run writes them.")
    if any(one.problems for one in found):
        raise typer.Exit(INCOMPLETE)
