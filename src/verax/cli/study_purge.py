"""``verax study purge``: deletes the answers whose time is over."""

from __future__ import annotations

from typing import Annotated

import typer

from verax.cli.console import one_sentence, output
from verax.cli.study_answers import answers
from verax.cli.study_options import Database, Folder, check_installed
from verax.errors import VeraxError

PURGE_EXAMPLES = """Examples:

verax study purge studies/forward --dry-run

verax study purge studies/forward
"""


@one_sentence
def purge_command(
    folder: Folder,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many are due; delete nothing.")
    ] = False,
    database: Database = None,
) -> None:
    """Delete the data of participants who were last seen more than retention_days ago, as the spec promises.

    A running server does the same when it starts, and once a day. Who took part can no longer be recognised afterwards.
    """
    check_installed()
    from verax.studies.model.study import load_study

    study = load_study(folder)
    days = study.spec.retention_days
    if days is None:
        raise VeraxError(
            f"The study in {str(folder)!r} promises no deletion: its spec has no retention_days. To delete what one "
            "participant gave, use `verax study withdraw`."
        )
    with answers(folder, database) as store:
        if dry_run:
            said = f"{_people(store.due())} last seen {days} days ago or before; nothing was deleted."
        else:
            done = store.purge()
            said = f"{_people(done.people)} last seen {days} days ago or before; {done.answers} answered pages deleted."
    output().print(said, soft_wrap=True)


def _people(count: int) -> str:
    return f"{count} participant was" if count == 1 else f"{count} participants were"
