"""Moves a running study from one database to another: no answer is lost or doubled, and nobody has to stop.

The old database is held while its rows are copied, and whoever wants to write waits. The copy is committed first; then
the transaction that held the old database gives its tables other names, says where the study went and is committed too.
A server that waited misses its table and does its work in the new database, see
`verax.studies.store.database.location`. Killed
before that second commit, the old database is as it was, and the next try begins by emptying the copy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import Connection, delete, make_url, select, update
from sqlalchemy.exc import DBAPIError

from verax.errors import VeraxError
from verax.studies.definition.study import Study
from verax.studies.store.database.backup import BESIDE, copy_tables, count_rows, lock_tables
from verax.studies.store.database.engine import Database, open_database, reason_of
from verax.studies.store.database.location import (
    OLD,
    moved_to,
    open_registered,
    present_url,
    same_place,
    shown,
    sqlite_file,
    without_password,
)
from verax.studies.store.database.migrate import migrate
from verax.studies.store.tables import metadata, studies

# PostgreSQL looks for transactions that wait for each other after a second; we give way long before.
PATIENCE = "200ms"
TRIES = 100
PAUSE = 0.1
LOCK_NOT_AVAILABLE = "55P03"


@dataclass(frozen=True)
class Moved:
    """What came of a move.

    Attributes:
        source, target: where the study was and is, without passwords.
        rows: by table.
        seconds: for how long nothing could be stored.
        password_kept: the old database holds the password of the new one, for servers that run.
    """

    source: str
    target: str
    rows: dict[str, int]
    seconds: float
    password_kept: bool


def move(study: Study, source: str, target: str) -> Moved:
    """Moves everything in a study's database to another one, while answers arrive.

    Args:
        study: whose database it is.
        source: the URL of the database, or of one from which it was moved before.
        target: the URL of an empty database, or of a SQLite file that does not exist.
    """
    source = present_url(_absolute(source))
    target = _absolute(target)
    if same_place(source, target):
        raise VeraxError(f"The study is in {shown(target)} already; name another database with --to.")
    file = sqlite_file(source)
    if file is not None and not file.exists():
        raise VeraxError(f"There is no database {shown(source)} to move; nobody was served from it yet.")
    open_registered(study, source)[0].close()  # it belongs to the study, and its tables are of today
    with closing(open_database(source)) as old, closing(open_database(target)) as new:
        try:
            rows, seconds = _carry(old, new, source, target)
        except DBAPIError as error:
            _check_still_there(source)
            raise VeraxError(
                f"{shown(source)} could not be moved to {shown(target)} ({reason_of(error)}); it goes on where it "
                "was, and you may try again."
            ) from error
    return Moved(shown(source), shown(target), rows, seconds, _has_password(target))


def _check_still_there(source: str) -> None:
    now = source
    with suppress(VeraxError):  # who cannot be reached has not moved, as far as we know
        now = present_url(source)
    if now != source:
        raise VeraxError(f"{shown(source)} was moved to {shown(now)} meanwhile, by somebody else.")


def _carry(old: Database, new: Database, source: str, target: str) -> tuple[dict[str, int], float]:
    """The move itself; the rows of each table, and how long the old database was held."""
    with new.engines[-1].connect() as arriving:
        whole = arriving.begin()  # undone by the end of the connection, unless it is committed
        if moved_to(arriving) is not None:
            raise VeraxError(f"{shown(target)} is the old database of a move; name an empty one with --to.")
        migrate(arriving)
        _make_empty(arriving, source)
        with _held(old) as leaving:
            held = monotonic()
            rows = copy_tables(leaving, arriving)
            arriving.execute(update(studies).values(moved_to=without_password(source)))
            whole.commit()
            _send_away(leaving, target)
            if _has_password(target):
                _only_for_owner(source)
        seconds = monotonic() - held
        with arriving.begin():
            arriving.execute(update(studies).values(moved_to=None))
    return rows, seconds


def _make_empty(connection: Connection, source: str) -> None:
    """Refuses a database that holds anything but the rest of a move from here that was killed."""
    if connection.dialect.name == "postgresql":
        lock_tables(connection)
    filled = {name: count for name, count in count_rows(connection).items() if count}
    origins = set(connection.execute(select(studies.c.moved_to)).scalars())
    unused = set(filled) <= {"study"}
    if filled and not unused and origins != {without_password(source)}:
        what = ", ".join(f"{count} in {name}" for name, count in filled.items())
        raise VeraxError(
            f"{shown(connection.engine.url)} is not empty (rows: {what}); name an empty database with --to."
        )
    for table in reversed(metadata.sorted_tables):
        connection.execute(delete(table))


@contextmanager
def _held(database: Database) -> Iterator[Connection]:
    """A transaction during which nobody else can write; in PostgreSQL nobody can read either."""
    with database.engines[-1].begin() as connection:  # SQLite begins as a writer
        if connection.dialect.name == "postgresql":
            _lock_postgresql(connection)
        yield connection


def _lock_postgresql(connection: Connection) -> None:
    # All at once or none: the tables are locked one by one, and somebody in the middle of a transaction may hold one
    # and want another. Then we let go and try again, before PostgreSQL stops either of us.
    for _ in range(TRIES):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{PATIENCE}'")
                lock_tables(connection)
                return
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
        sleep(PAUSE)
    raise VeraxError(
        f"{shown(connection.engine.url)} could not be held, since somebody reads or writes in it all the time, as an "
        "export does; try again when that has ended."
    )


def _send_away(connection: Connection, target: str) -> None:
    connection.execute(update(studies).values(moved_to=target))
    for table in metadata.sorted_tables:
        connection.exec_driver_sql(f'ALTER TABLE "{table.name}" RENAME TO "{OLD}{table.name}"')


def _only_for_owner(source: str) -> None:
    """The password is in the file from now on."""
    file = sqlite_file(source)
    if file is None:
        return
    for ending in BESIDE:
        with suppress(FileNotFoundError):
            os.chmod(file.with_name(file.name + ending), 0o600)


def _has_password(url: str) -> bool:
    return bool(make_url(url).password)


def _absolute(url: str) -> str:
    """The URL for whoever may run in another folder; a bad one is a sentence."""
    open_database(url).close()
    file = sqlite_file(url)
    return url if file is None else f"sqlite:///{Path(file).resolve()}"
