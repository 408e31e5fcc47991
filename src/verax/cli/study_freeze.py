"""``verax study freeze``: a dated hash of all that is planned, for a pre-registration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import messages, one_sentence
from verax.cli.study_options import Folder, check_installed

if TYPE_CHECKING:
    from verax.studies.model.study import Study

FREEZE_EXAMPLES = """Examples:

verax study freeze studies/forward > registration.txt

verax study freeze studies/forward --database postgresql:///forward
"""


@one_sentence
def freeze_command(
    folder: Folder,
    database: Annotated[
        str | None,
        typer.Option(
            help="The URL of the answers' database, to count who takes part already; a SQLite file in the study's "
            "folder by default."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Freeze it anew, with today's date; not once people take part.")
    ] = False,
) -> None:
    """Freeze a study before its first participant, and print the text of a pre-registration.

    The hash covers the spec, the items, every screen, the explanations and the analysis plan. From then on the folder
    runs only as it was frozen.
    """
    from verax.studies.model.freeze import FREEZE, freeze_study
    from verax.studies.model.study import load_study, read_study
    from verax.studies.planning.registration import registration

    study = read_study(folder) if again else load_study(folder)
    made = freeze_study(folder, study, people=_people(study, folder, database), again=again)
    typer.echo(registration(study, made), nl=False)
    messages().print(
        f"Frozen in {folder / FREEZE}; register the text above before the first participant.", soft_wrap=True
    )


def _people(study: Study, folder: Path, database: str | None) -> int | None:
    """How many people take part already; None where there is no database to ask."""
    if database is None and not (folder / "answers.sqlite").exists():
        return None
    check_installed()
    from verax.studies.store.consent_count import people_who_agreed
    from verax.web.serve import default_database

    return people_who_agreed(database or default_database(folder), study.spec.title)
