"""``verax study export``: a study's answers as files, with a codebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import one_sentence, output, working
from verax.cli.study_answers import answers
from verax.cli.study_options import Database, Folder, check_installed

if TYPE_CHECKING:
    from verax.studies.answers.export import Exported
    from verax.studies.store import Store

EXPORT_EXAMPLES = """Examples:

verax study export studies/forward --out exported

verax study export studies/forward --out exported --format csv,jsonl,parquet --free-text
"""


@one_sentence
def export_command(
    folder: Folder,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where it goes; an older export is replaced."),
    ],
    formats: Annotated[
        str,
        typer.Option(
            "--format", "-f", metavar="FORMATS", help="csv, jsonl, parquet; commas between several."
        ),
    ] = "csv",
    identifying: Annotated[
        bool,
        typer.Option("--identifying", help="With times of day, completion codes and hashes of persons."),
    ] = False,
    free_text: Annotated[
        bool, typer.Option("--free-text", help="With what people wrote in their own words.")
    ] = False,
    database: Database = None,
) -> None:
    """Write all answers to a folder, with a codebook of every column; anonymous unless you ask for more.

    The study may be running. docs/data.md says what is in each file.
    """
    check_installed()
    from verax.studies.answers.export import export_study

    wanted = [name.strip() for name in formats.split(",") if name.strip()]
    with answers(folder, database) as store, working("Exporting"):
        exported = export_study(store, out, wanted, identifying, free_text)
        _note(store, exported)
    console = output()
    for file in exported.files:
        console.print(f"{file['name']:<22}{file['rows']:>9,} rows{file['bytes'] / 1e6:>9,.1f} MB")
    console.print("codebook.json, codebook.md: every column, its meaning, type and values")
    console.print(f"{_said(exported)} It is in {out}.", soft_wrap=True)


def _note(store: Store, exported: Exported) -> None:
    from verax.studies.store.clock import to_micros
    from verax.studies.store.people import act

    data = {
        "rows": dict(exported.rows),
        "identifying": exported.identifying,
        "free_text": exported.free_text,
        "files": [file["name"] for file in exported.files],
    }
    store.database.write(
        lambda connection: act(
            connection, store.study_id, "command line", "export", to_micros(store.clock()), data
        )
    )


def _said(exported: Exported) -> str:
    if exported.identifying and exported.free_text:
        return "The export is NOT anonymous: it has identifying columns and what people wrote."
    if exported.identifying:
        return "The export is NOT anonymous: it has identifying columns."
    if exported.free_text:
        return "The export has no identifying columns, but what people wrote may say who they are."
    return "The export is anonymous."
