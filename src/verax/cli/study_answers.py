"""The answers to a study, for commands that look at them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.studies.store import Store


@contextmanager
def answers(folder: Path, database: str | None, *, key: bytes | None = None) -> Iterator[Store]:
    """The store of the study in a folder; a database that is not there is a sentence, and is not made.

    Args:
        folder: of the study.
        database: its URL; a SQLite file in the study's folder if None.
        key: of the hashes of people's ids; see `open_store`.
    """
    from sqlalchemy.exc import DBAPIError

    from verax.studies.model.study import load_study
    from verax.studies.store import open_store
    from verax.studies.store.database.redirect import sqlite_file
    from verax.web.serve import default_database

    study = load_study(folder)
    url = database or default_database(folder)
    file = sqlite_file(url) if url.startswith("sqlite:") else None
    if file is not None and not file.exists():
        raise VeraxError(
            f"There are no answers yet: {str(file)!r} does not exist. Serve the study with "
            f"`verax study serve {folder}`, or say where they are with --database."
        )
    store = open_store(study, url, key=key)
    try:
        yield store
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())
        raise VeraxError(
            f"The database {store.database.name!r} did not answer ({reason}); check that it is running, and try "
            "again."
        ) from error
    finally:
        store.close()
