"""``verax study restore``: a backup takes the place of a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import one_sentence, output, working
from verax.cli.study_options import check_installed

RESTORE_EXAMPLES = """Examples:

verax study restore studies/forward forward.backup

verax study restore studies/forward forward.backup --database postgresql:///forward
"""


@one_sentence
def restore_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the study.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `verax study backup` wrote.")],
    database: Annotated[
        str | None,
        typer.Option(help="The URL of an empty database; a SQLite file in the study's folder by default."),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Give a SQLite file that holds answers another name; nothing is deleted."
        ),
    ] = False,
) -> None:
    """Put a backup back; stop the server before."""
    check_installed()
    from verax.studies.model.study import load_study
    from verax.studies.store.database.restore import restore
    from verax.web.serve import default_database

    study = load_study(folder)
    with working("restoring"):
        done = restore(study, file, database or default_database(folder), force=force)
    if done.aside is not None:
        output().print(f"What was there before is now {done.aside}.", soft_wrap=True)
    output().print(
        f"{done.rows['participant']:,} participants and {done.rows['response']:,} answered pages are in {done.target}. "
        "Whoever withdrew after the backup was made is there again: withdraw them once more.",
        soft_wrap=True,
    )
