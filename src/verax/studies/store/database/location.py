"""Where a study's database is, also when it has moved, and how it is opened with the study's row in it.

The transaction that ends a move gives every table of the old database another name. So from that moment nothing can be
read or written there as before: no page shows what was true before the move, no answer is stored where nobody looks,
and where nothing has moved nobody need ask. Whoever misses a table looks where the study went, and does it there.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TypeVar

from sqlalchemy import URL, Connection, insert, inspect, make_url, select, text, update
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError

from verax.errors import VeraxError
from verax.studies.definition.study import Study
from verax.studies.store.clock import to_micros, utc_now
from verax.studies.store.database.engine import Database, open_database, reason_of
from verax.studies.store.database.migrate import migrate
from verax.studies.store.tables import studies

T = TypeVar("T")

# How the tables of a database that has moved begin.
OLD = "moved_"
MOST_MOVES = 20
NO_SUCH_TABLE = "42P01"  # PostgreSQL's number for it

logger = logging.getLogger("verax.studies.store")


def moved_to(connection: Connection) -> str | None:
    """The URL of the database in which the studies of this one go on; None if they are here."""
    if not inspect(connection).has_table(f"{OLD}study"):
        return None
    return str(connection.execute(text(f"SELECT moved_to FROM {OLD}study ORDER BY id LIMIT 1")).scalar_one())


def settle(connection: Connection, origin: str) -> None:
    """Ends a move that was killed after its last answer was copied; refuses a copy that nobody was sent to.

    Args:
        connection: to the new database, whose studies say where they come from.
        origin: the URL of the old database.
    """
    here = connection.engine.url
    try:
        went = _asked(origin)
    except VeraxError as error:
        raise VeraxError(
            f"{shown(here)} holds a copy of {shown(origin)}, which cannot be asked whether the move was ended; open "
            "that one first."
        ) from error
    if went is None or not same_place(went, here):
        raise VeraxError(
            f"{shown(here)} holds a copy of {shown(origin)} from a move that did not end; the study is in "
            f"{shown(went or origin)}: serve that one, or run `verax study move` again."
        )
    connection.execute(update(studies).values(moved_to=None))


def same_place(url: str | URL, other: str | URL) -> bool:
    """Whether two URLs are of one database, whatever their passwords."""
    return _plain(url) == _plain(other)


def without_password(url: str | URL) -> str:
    """A URL that may be written down."""
    return make_url(url)._replace(password=None).render_as_string()


def present_url(url: str) -> str:
    """Where the answers are that once were at this URL."""
    for _ in range(MOST_MOVES):
        parsed = sqlite_file(url)
        if parsed is not None and not parsed.exists():
            return url  # and looking would make the file
        further = _asked(url)
        if further is None:
            return url
        url = further
    raise VeraxError(
        f"{shown(url)} was moved more than {MOST_MOVES} times; name the database that holds the answers."
    )


def _asked(url: str) -> str | None:
    """What the database at a URL says of a move; one that does not answer is a sentence."""
    with closing(open_database(url)) as database:
        try:
            return database.read(moved_to)
        except DBAPIError as error:
            raise VeraxError(
                f"The database {shown(url)} cannot be used ({reason_of(error)}); check its address and that it is "
                "running."
            ) from error


def sqlite_file(url: str | URL) -> Path | None:
    """The file of a SQLite URL; None for other databases."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None  # whoever opens it says what is wrong
    return Path(parsed.database) if parsed.get_backend_name() == "sqlite" and parsed.database else None


def shown(url: str | URL) -> str:
    """A URL for people to read: the file, or the address without its password."""
    return str(sqlite_file(url) or make_url(url).render_as_string(hide_password=True))


def following(database: Database) -> Database:
    """The same database, which follows a move."""
    follower = _Follower(database)
    return Database(
        follower.read, follower.write, follower.snapshot, follower.engines, database.name, database.threads
    )


class _Follower:
    """Runs work in the database where the study is; if it moves meanwhile, once more in the new one."""

    def __init__(self, database: Database) -> None:
        self._now = database
        self._lock = Lock()
        self.engines = list(database.engines)

    def read(self, work: Callable[[Connection], T], /) -> T:
        return self._run(lambda database: database.read(work))

    def write(self, work: Callable[[Connection], T], /) -> T:
        return self._run(lambda database: database.write(work))

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        with ExitStack() as stack:
            yield self._run(lambda database: self._seen(stack, database))

    def _seen(self, stack: ExitStack, database: Database) -> Connection:
        with ExitStack() as trying:
            connection = trying.enter_context(database.snapshot())
            connection.execute(text("SELECT id FROM study LIMIT 1"))  # from here on nothing can move away
            stack.push(trying.pop_all())
        return connection

    def _run(self, work: Callable[[Database], T]) -> T:
        for _ in range(MOST_MOVES):
            database = self._now
            try:
                return work(database)
            except DBAPIError as error:
                if not _misses_table(error) or not self._follow(database):
                    raise
        raise RuntimeError(f"The database {self._now.name} was moved again and again.")

    def _follow(self, left: Database) -> bool:
        """Opens the new database, if there is one."""
        with self._lock:
            if self._now is not left:
                return True  # somebody else was faster
            further = left.read(moved_to)
            if further is None:
                return False
            # Whoever is still at work in the old one ends there, so it stays open until all is closed.
            self._now = open_database(further)
            self.engines.extend(self._now.engines)
            logger.warning("The answers of %s were moved to %s.", left.name, self._now.name)
            return True


def _plain(url: str | URL) -> tuple[str, str]:
    file = sqlite_file(url)
    if file is not None:
        return "sqlite", str(file.resolve())
    return "postgresql", without_password(make_url(url).set(drivername="postgresql"))


def _misses_table(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) == NO_SUCH_TABLE or "no such table" in str(error.orig)


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
