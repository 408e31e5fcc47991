"""The answers to a study: its open store, and an export of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.extras import require

if TYPE_CHECKING:
    from verax.studies.answers.export import Exported
    from verax.studies.definition.study import Study
    from verax.studies.store import Store


def check_installed() -> None:
    """Studies are built with the core; what serves them is an extra."""
    packages = ("alembic", "matplotlib", "pyarrow", "sqlalchemy", "starlette", "uvicorn")
    require("Serving a study", *packages, extra="study")


@contextmanager
def opened(
    study: Study, folder: str | Path, database: str | None = None, *, key: bytes | None = None
) -> Iterator[Store]:
    """The store of a study, made if it is not there, and closed afterwards.

    Args:
        study: whose answers.
        folder: of the study.
        database: its URL; a SQLite file in the study's folder if None.
        key: of the hashes of people's ids; see `open_store`.
    """
    check_installed()
    from verax.studies.store import open_store
    from verax.web.serve import default_database

    store = open_store(study, database or default_database(folder), key=key)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def answers(folder: str | Path, database: str | None, *, key: bytes | None = None) -> Iterator[Store]:
    """The store of the study in a folder; a database that is not there is a sentence, and is not made.

    Args:
        folder: of the study.
        database: its URL; a SQLite file in the study's folder if None.
        key: of the hashes of people's ids; see `open_store`.
    """
    check_installed()
    from sqlalchemy.exc import DBAPIError

    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.location import sqlite_file
    from verax.web.serve import default_database

    study = load_study(folder)
    url = database or default_database(folder)
    file = sqlite_file(url) if url.startswith("sqlite:") else None
    if file is not None and not file.exists():
        raise VeraxError(
            f"There are no answers yet: {str(file)!r} does not exist. Serve the study with "
            f"`verax study serve {folder}`, or say where they are with --database."
        )
    with opened(study, folder, url, key=key) as store:
        try:
            yield store
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise VeraxError(
                f"The database {store.database.name!r} did not answer ({reason}); check that it is running, and try "
                "again."
            ) from error


def export_answers(
    folder: str | Path,
    out: Path,
    formats: Sequence[str] = ("csv",),
    *,
    identifying: bool = False,
    free_text: bool = False,
    database: str | None = None,
) -> Exported:
    """Writes all answers to a folder, with a codebook of every column; the study notes that it was done.

    Args:
        folder: of the study.
        out: where the export goes; an older one is replaced.
        formats: "csv", "jsonl", "parquet".
        identifying: with times of day, completion codes and hashes of persons.
        free_text: with what people wrote in their own words.
        database: its URL; a SQLite file in the study's folder if None.
    """
    check_installed()
    from verax.studies.answers.export import export_study
    from verax.studies.store.people import act

    with answers(folder, database) as store:
        exported = export_study(store, out, list(formats), identifying, free_text)
        data = {
            "rows": dict(exported.rows),
            "identifying": exported.identifying,
            "free_text": exported.free_text,
            "files": [file["name"] for file in exported.files],
        }
        store.write(act, "command line", "export", data)
    return exported
