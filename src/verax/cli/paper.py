"""``verax paper``: a paper's procedures run again, its tables with the published number beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from verax.cli.console import (
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
    run = run_paper(name, out, full=full, data=data, jobs=jobs, during=working, tell=note)
    if as_json:
        print_file(run.folder / AS_DATA)
        return
    say(run.tables.read_text(encoding="utf-8"), f"The run is in {run.folder}; its tables: {run.tables}.")
