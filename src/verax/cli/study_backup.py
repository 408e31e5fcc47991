"""``verax study backup``: everything that people answered, in one file, while they answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import one_sentence, output, working
from verax.cli.study_options import Database, Folder, check_installed

BACKUP_EXAMPLES = """Examples:

verax study backup studies/forward --out forward.backup

verax study backup studies/forward --database postgresql:///forward --out forward.backup --force
"""


@one_sentence
def backup_command(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of the backup.")],
    database: Database = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an older backup, once the new one is whole.")
    ] = False,
) -> None:
    """Copy the answers of a study into one SQLite file, as they are at one moment; the server goes on.

    The backup holds everything that the database holds, also codes and hashes of passwords; only its owner may read it.
    Keep the study's folder as well: the backup holds the answers alone.
    """
    check_installed()
    from verax.studies.model.study import load_study
    from verax.studies.store.database.backup import backup
    from verax.web.serve import default_database

    study = load_study(folder)
    with working("copying"):
        made = backup(database or default_database(folder), out, study=study, force=force)
    output().print(
        f"{made.rows['participant']:,} participants and {made.rows['response']:,} answered pages of {made.source} are "
        f"in {made.path} ({made.bytes / 1e6:,.1f} MB, checked).",
        soft_wrap=True,
    )
