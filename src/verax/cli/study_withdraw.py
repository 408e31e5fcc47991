"""``verax study withdraw``: deletes what one participant gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import one_sentence, output
from verax.cli.study_answers import answers
from verax.cli.study_options import Database, Folder, check_installed
from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.studies.store import Store
    from verax.studies.store.participant.withdraw import Known

WITHDRAW_EXAMPLES = """Examples:

verax study withdraw studies/forward --completion-code K7QH2MXRT9

verax study withdraw studies/forward --prolific 5f3c0a2b9d1e4f0012345678

verax study withdraw studies/forward --link https://study.example.org/p/3qJt0c8...
"""


@one_sentence
def withdraw_command(
    folder: Folder,
    completion_code: Annotated[
        str | None, typer.Option("--completion-code", help="The code of the participant's last page.")
    ] = None,
    prolific: Annotated[str | None, typer.Option(help="The participant's id on Prolific.")] = None,
    mturk: Annotated[str | None, typer.Option(help="The worker's id on MTurk.")] = None,
    link: Annotated[str | None, typer.Option(help="The participant's own link.")] = None,
    database: Database = None,
) -> None:
    """Delete what a participant gave, at their wish; they cannot come back.

    Answers, times, events and the consent are deleted for good; what stays is that somebody left, so that they are
    recognised should they come again. Backups and exports that were made before are your own files: delete those too.
    """
    check_installed()
    from verax.studies.model.study import load_study
    from verax.studies.store import platform_key
    from verax.studies.store.person_ids import KEY_FILE

    given = {"--completion-code": completion_code, "--prolific": prolific, "--mturk": mturk, "--link": link}
    named = {option: value.strip() for option, value in given.items() if value is not None}
    if len(named) != 1:
        verb = "were" if named else "was"
        raise VeraxError(
            f"Say who withdraws by exactly one of {', '.join(given)}; {len(named) or 'none'} of them {verb} given."
        )
    [(option, value)] = named.items()
    study = load_study(folder)
    if option in ("--prolific", "--mturk") and study.spec.entry != option.removeprefix("--"):
        raise VeraxError(
            f"People enter the study in {str(folder)!r} by {study.spec.entry!r}, so nobody has an id for {option}; "
            "use --completion-code or --link."
        )
    if option in ("--prolific", "--mturk") and not (folder / KEY_FILE).exists():
        raise VeraxError(
            f"{option} needs the key {KEY_FILE} of the folder that is served, and {str(folder)!r} has none; run this "
            "there, or use --completion-code or --link."
        )
    key = platform_key(study, folder) if option in ("--prolific", "--mturk") else None
    with answers(folder, database, key=key) as store:
        known, looked_for = _known(store, option, value)
        left = store.withdraw_known(known, looked_for, delete=True, by="command line")
    if left is None:
        raise VeraxError(f"Nobody in the study in {str(folder)!r} is known by {option} {value!r}; check it.")
    who = "Somebody who had not agreed yet" if left.number is None else f"Participant {left.number}"
    pages = "1 answered page was" if left.deleted == 1 else f"{left.deleted} answered pages were"
    output().print(
        f"{who} has left; {pages} deleted. Delete backups and exports too.",
        soft_wrap=True,
    )


def _known(store: Store, option: str, value: str) -> tuple[Known, str]:
    from verax.studies.store.tokens import token_hash, typed_code

    if option == "--completion-code":
        return "completion_code", typed_code(value)
    if option == "--link":
        return "token_hash", token_hash(value.rstrip("/").removesuffix("/leave").rpartition("/")[2])
    return "person_hash", store.person_hash(option.removeprefix("--"), value)
