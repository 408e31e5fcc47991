"""Opens the database of a study: its tables are made or brought up to date, and the study has its row there."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import DatabaseError

from verax.errors import VeraxError
from verax.studies.model.study import Study
from verax.studies.store.clock import to_micros, utc_now
from verax.studies.store.database.engine import Database, open_database, reason_of
from verax.studies.store.database.migrate import migrate
from verax.studies.store.database.redirect import following, settle
from verax.studies.store.tables import studies


def open_registered(study: Study, url: str, clock: Callable[[], datetime] = utc_now) -> tuple[Database, int]:
    """The database in which a study is or begins, wherever it was moved from the URL, and the study's number there.

    Args:
        study: a saved one: its hash says which answers belong to it.
        url: of the database, or of one from which it was moved.
        clock: the time, with a time zone.
    """
    if not study.hash:
        raise VeraxError("The study was never saved, so it has no hash; save it with save_study first.")
    database = following(open_database(url))
    try:
        return database, register(database, study, clock)
    except BaseException:
        database.close()
        raise


def register(database: Database, study: Study, clock: Callable[[], datetime] = utc_now) -> int:
    """The number of a study in an open database, where it is or begins."""
    try:
        return database.write(
            lambda connection: _register(connection, study, database.name, to_micros(clock()))
        )
    except DatabaseError as error:
        raise VeraxError(
            f"The database {database.name!r} cannot be used ({reason_of(error)}); check its address and that it is "
            "running."
        ) from error


def _register(connection: Connection, study: Study, name: str, now: int) -> int:
    migrate(connection)
    title = study.spec.own_name
    row = connection.execute(
        select(studies.c.id, studies.c.hash, studies.c.moved_to).where(
            (studies.c.hash == study.hash) | (studies.c.title == title)
        )
    ).one_or_none()
    if row is None:
        record = {
            "hash": study.hash,
            "title": title,
            "secret": secrets.token_hex(32),
            "state": "open",
            "consented": 0,
            "created_at": now,
        }
        added = connection.execute(insert(studies), record).inserted_primary_key
        assert added is not None
        return int(added[0])
    if row.hash != study.hash:
        raise VeraxError(
            f"The database {name!r} holds answers to another build of the study {title!r} ({row.hash[:12]}, not "
            f"{study.hash[:12]}); serve the folder that it was begun with, or name a new database."
        )
    if row.moved_to is not None:
        settle(connection, row.moved_to)
    return int(row.id)
