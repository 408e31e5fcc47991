"""``verax study backup``, ``restore`` and ``move``: where answers are kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import one_sentence, print_json, say, working
from verax.cli.options import AsJson, Database, Folder
from verax.workflows.answers import check_installed

BACKUP_EXAMPLES = """Examples:

verax study backup studies/forward --out forward.backup

verax study backup studies/forward --database postgresql:///forward --out forward.backup --force
"""
RESTORE_EXAMPLES = """Examples:

verax study restore studies/forward forward.backup

verax study restore studies/forward forward.backup --database postgresql:///forward
"""
MOVE_EXAMPLES = """Examples:

verax study move studies/forward --to postgresql:///forward

verax study move studies/forward --database postgresql:///forward --to sqlite:///forward.sqlite
"""


@one_sentence
def backup_command(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of the backup.")],
    database: Database = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an older backup, once the new one is whole.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy the answers of a study into one SQLite file, as they are at one moment; the server goes on.

    The backup holds everything that the database holds, also codes and hashes of passwords; only its owner may read it.
    Keep the study's folder as well: the backup holds the answers alone.
    """
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.backup import backup
    from verax.web.serve import default_database

    study = load_study(folder)
    with working("copying"):
        made = backup(database or default_database(folder), out, study=study, force=force)
    if as_json:
        where = {"source": made.source, "file": str(made.path), "bytes": made.bytes}
        print_json(_counts(made.rows) | where)
        return
    say(
        f"{made.rows['participant']:,} participants and {made.rows['response']:,} answered pages of {made.source} are "
        f"in {made.path} ({made.bytes / 1e6:,.1f} MB, checked).",
    )


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
    as_json: AsJson = False,
) -> None:
    """Put a backup back; stop the server before."""
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.backup import restore
    from verax.web.serve import default_database

    study = load_study(folder)
    with working("restoring"):
        done = restore(study, file, database or default_database(folder), force=force)
    if as_json:
        aside = None if done.aside is None else str(done.aside)
        print_json(_counts(done.rows) | {"target": done.target, "set_aside": aside})
        return
    if done.aside is not None:
        say(f"What was there before is now {done.aside}.")
    say(
        f"{done.rows['participant']:,} participants and {done.rows['response']:,} answered pages are in {done.target}. "
        "Whoever withdrew after the backup was made is there again: withdraw them once more.",
    )


@one_sentence
def move_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the study.")],
    to: Annotated[str, typer.Option("--to", help="The URL of an empty database.")],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Move a study to another database while people answer; running servers follow by themselves.

    Answers that arrive meanwhile wait, and are stored in the new database. The old one stays as a copy that nobody can
    write to, and tells where the study went.
    """
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.relocate import move
    from verax.web.serve import default_database

    with working("moving"):
        done = move(load_study(folder), database or default_database(folder), to)
    if as_json:
        where = {"source": done.source, "target": done.target, "password_kept": done.password_kept}
        print_json(_counts(done.rows) | where | {"seconds_of_waiting": done.seconds})
        return
    say(
        f"{done.rows['participant']:,} participants and {done.rows['response']:,} answered pages were moved to "
        f"{done.target}; answers waited for {done.seconds:.1f} seconds.",
    )
    say(
        f"Servers that run follow by themselves; start the next one with --database. {done.source} is a copy from "
        "before the move, which withdrawals do not reach: delete it when you have a backup.",
    )
    if done.password_kept:
        say(
            "It also holds the password in --to, for the servers that run, and only its owner may read it now; a "
            "password in ~/.pgpass would not be written anywhere.",
        )


def _counts(rows: Mapping[str, int]) -> dict[str, object]:
    return {"participants": rows["participant"], "pages": rows["response"]}
