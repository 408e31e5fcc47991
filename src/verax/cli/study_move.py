"""``verax study move``: a running study goes to another database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import one_sentence, output, working
from verax.cli.study_options import Database, check_installed

MOVE_EXAMPLES = """Examples:

verax study move studies/forward --to postgresql:///forward

verax study move studies/forward --database postgresql:///forward --to sqlite:///forward.sqlite
"""


@one_sentence
def move_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the study.")],
    to: Annotated[str, typer.Option("--to", help="The URL of an empty database.")],
    database: Database = None,
) -> None:
    """Move a study to another database while people answer; running servers follow by themselves.

    Answers that arrive meanwhile wait, and are stored in the new database. The old one stays as a copy that nobody can
    write to, and tells where the study went.
    """
    check_installed()
    from verax.studies.model.study import load_study
    from verax.studies.store.database.relocate import move
    from verax.web.serve import default_database

    with working("moving"):
        done = move(load_study(folder), database or default_database(folder), to)
    console = output()
    console.print(
        f"{done.rows['participant']:,} participants and {done.rows['response']:,} answered pages were moved to "
        f"{done.target}; answers waited for {done.seconds:.1f} seconds.",
        soft_wrap=True,
    )
    console.print(
        f"Servers that run follow by themselves; start the next one with --database. {done.source} is a copy from "
        "before the move, which withdrawals do not reach: delete it when you have a backup.",
        soft_wrap=True,
    )
    if done.password_kept:
        console.print(
            "It also holds the password in --to, for the servers that run, and only its owner may read it now; a "
            "password in ~/.pgpass would not be written anywhere.",
            soft_wrap=True,
        )
