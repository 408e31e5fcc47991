"""``verax verify``: whether the files of a run, a study or an analysis are those that were written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import INCOMPLETE, note, one_sentence, print_json, say
from verax.cli.options import AsJson
from verax.text import listed

EXAMPLE = """Example: verax verify runs/stain

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
    from verax.run.checksums import verify as look

    found = [look(folder) for folder in folders]
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
