"""The database under a store: SQLite in one file, or PostgreSQL; many threads and processes may use either at once.

A commit that survives a power cut takes milliseconds, and SQLite has one writer. So whoever's turn it is does the work
of all who wait, commits once, and only then do they go on. Work may be run twice, the first time in vain: it must do
nothing but change the database.

Work is handed in as a function of a connection. `Database.write` runs it as one transaction and returns when that is
on the disk; `Database.read` runs it beside the writers.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from verax.errors import VeraxError

T = TypeVar("T")

MOST = 64  # jobs in one commit, so that nobody holds the database for long


class _Unfinished(Exception):  # noqa: N818
    """Nobody came to do the work, or somebody was stopped in the middle of it."""


class _Job:
    """A piece of work, and in the end what it raised; until it is committed, it has failed."""

    def __init__(self, work: Callable[[Connection], None]) -> None:
        self.work = work
        self.taken = False  # whether somebody does it
        self.error: Exception | None = _Unfinished("The server was stopped before this was stored.")
        self._sleeping = Lock()
        self._sleeping.acquire()

    def sleep(self) -> None:
        """Waits to be woken: the work was done by somebody else, or it is this one's turn."""
        self._sleeping.acquire()

    def wake(self) -> None:
        self._sleeping.release()


class GroupCommit:
    """Runs work of any number of threads with the one connection of an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()  # of the two below
        self._waiting: deque[_Job] = deque()
        self._busy = False

    def __call__(self, work: Callable[[Connection], T], /) -> T:
        """What the work returns, once it is committed; what it raises, once it is undone."""
        results: list[T] = []

        def keep(connection: Connection) -> None:
            results[:] = [work(connection)]

        job = _Job(keep)
        with self._lock:
            self._waiting.append(job)
            others_turn, self._busy = self._busy, True
        if others_turn:
            job.sleep()
        if not job.taken:
            self._take_turn()
        if job.error is not None:
            raise job.error
        return results[0]

    def _take_turn(self) -> None:
        """Does the work of those who wait, this thread first; then it is the turn of the first of the others."""
        with self._lock:
            jobs = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
            for job in jobs:
                job.taken = True
        try:
            self._commit(jobs)
        finally:
            with self._lock:
                self._busy = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].wake()
            for job in jobs[1:]:
                job.wake()

    def _commit(self, jobs: list[_Job]) -> bool:
        """Whether it could at least begin."""
        begun = False
        try:
            with self._engine.begin() as connection:
                begun = True
                for job in jobs:
                    job.work(connection)
        except Exception as error:
            if len(jobs) == 1 or not begun:
                # A database that does not even begin, as one that another program holds, is not waited for by each.
                _fail(jobs, error)
                return begun
            # All is undone; each is done again by itself, and only who asked for what cannot be done hears of it.
            for place, job in enumerate(jobs, 1):
                if not self._commit([job]):
                    _fail(jobs[place:], error)
                    break
        else:
            for job in jobs:
                job.error = None
        return begun


def _fail(jobs: list[_Job], error: Exception) -> None:
    for job in jobs:
        job.error = error


# How long a database is waited for until somebody is told that it is busy; with the ways to it, nobody waits for
# more than ten seconds.
BUSY_SECONDS = 8
HELD_SECONDS = 0.5  # once a wait was in vain, until it answers again: or a queue would wait for each in turn
CONNECTIONS = 16  # per process; PostgreSQL allows 100 by default
# Threads of a process that use PostgreSQL at once. Each gives the interpreter away at every question to the server and
# has to wait for it afterwards: with forty of them a step takes 3.8 ms of the processor, with three 2.7.
AT_ONCE = 3
CACHE_KILOBYTES = 32_000  # of the writer: the table of ten thousand participants, which each arrival looks at


class Run(Protocol):
    """Runs a piece of work with a connection."""

    def __call__(self, work: Callable[[Connection], T], /) -> T: ...  # noqa: D102


@dataclass(frozen=True)
class Database:
    """An open database.

    Attributes:
        read: runs work that changes nothing; each statement sees what is committed at its moment.
        write: runs work as one transaction, whole or not at all.
        snapshot: a connection that sees the database as it is at the beginning, whatever is written meanwhile.
        engines: to be disposed of at the end; the last one writes.
        name: where it is, without a password.
        threads: how many of a process should use it at once: more only take the interpreter from each other.
    """

    read: Run
    write: Run
    snapshot: Callable[[], AbstractContextManager[Connection]]
    engines: Sequence[Engine]
    name: str
    threads: int

    def close(self) -> None:
        """Closes all connections."""
        for engine in self.engines:
            engine.dispose()


class Turns:
    """A number of places for many threads, given in the order of asking.

    The pools of SQLAlchemy give a connection to whoever is quickest, and in a crowd somebody then waits for seconds.
    """

    def __init__(self, places: int) -> None:
        self._lock = Lock()  # of the two below
        self._free = places
        self._waiting: deque[Lock] = deque()

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for the time of the block."""
        if not self._enter(BUSY_SECONDS):
            raise NoConnection("All connections to the database are in use.")
        try:
            yield
        finally:
            self._leave()

    def _enter(self, seconds: float) -> bool:
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        # Until somebody who leaves passes the place on.
        return turn.acquire(timeout=seconds) or not self._gives_up(turn)

    def _leave(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1

    def _gives_up(self, turn: Lock) -> bool:
        """Takes somebody out of the queue, unless they got a place at this very moment."""
        with self._lock:
            waits = turn in self._waiting
            if waits:
                self._waiting.remove(turn)
            return waits


def open_database(url: str) -> Database:
    """The database at a URL: ``sqlite:///answers.db`` or ``postgresql://user:password@host/name``."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise VeraxError(
            f"{url!r} is not the URL of a database; write sqlite:///answers.db or postgresql://user:password@host/name."
        ) from error
    match parsed.get_backend_name():
        case "sqlite":
            return _sqlite(parsed)
        case "postgresql" | "postgres":
            return _postgresql(parsed)
    raise VeraxError(f"A study's answers go to SQLite or PostgreSQL; {parsed.drivername!r} is neither.")


def _sqlite(url: URL) -> Database:
    if not url.database or url.database == ":memory:":
        raise VeraxError("A study's answers need a file: write sqlite:///answers.db.")
    folder = Path(url.database).absolute().parent
    if not folder.is_dir():
        raise VeraxError(
            f"There is no folder {str(folder)!r} for the database {url.database!r}; make it or check the path."
        )
    readers = _engine(url, CONNECTIONS, {"isolation_level": "AUTOCOMMIT"})
    # One writer in each process: threads wait for it in a queue, which is fairer than SQLite's asking again and again.
    writer = _engine(url, 1, {"connect_args": {"isolation_level": None}})
    event.listen(readers, "connect", partial(_set_up_sqlite, read_only=True))
    event.listen(writer, "connect", partial(_only_for_owner, Path(url.database)))
    event.listen(writer, "connect", partial(_set_up_sqlite, read_only=False))
    event.listen(writer, "begin", BeginImmediate())
    turns = Turns(CONNECTIONS)
    read, snapshot = partial(_run, readers, turns), partial(_snapshot, readers, turns, "BEGIN")
    # All who wait are served by one commit, so the more wait the better.
    return Database(read, GroupCommit(writer), snapshot, (readers, writer), url.database, MOST)


def _postgresql(url: URL) -> Database:
    url = url.set(drivername="postgresql+psycopg")
    # A server that is there but silent, as behind a cut cable, is given up after a while too.
    bounds = {"connect_timeout": BUSY_SECONDS, "tcp_user_timeout": BUSY_SECONDS * 1000}
    given = {name: bound for name, bound in bounds.items() if name not in url.query}
    engine, turns = _engine(url, CONNECTIONS, {"connect_args": given}), Turns(CONNECTIONS)
    reader = engine.execution_options(isolation_level="AUTOCOMMIT")
    read, write = partial(_run, reader, turns), partial(_run_whole, engine, turns)
    begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    return Database(
        partial(_again_if_cut, read),
        partial(_again_if_cut, write),
        partial(_snapshot, reader, turns, begin),
        (engine,),
        url.render_as_string(),
        AT_ONCE,
    )


def _engine(url: URL, connections: int, options: Mapping[str, object]) -> Engine:
    to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    # Parameters are people's answers: they must not stand in errors, which end up in logs.
    return create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        json_serializer=to_json,
        hide_parameters=True,
        **options,
    )


def _only_for_owner(path: Path, _connection: object, _record: object) -> None:
    """A file that was just made: it will hold answers, entry codes, and the secret of the study."""
    with suppress(OSError):  # somebody else's file, or none with this name
        if path.stat().st_size == 0:
            path.chmod(0o600)  # what SQLite keeps beside it gets the same


def _set_up_sqlite(connection: DBAPIConnection, _record: object, *, read_only: bool) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")  # first, since the others may have to wait
    cursor.execute("PRAGMA foreign_keys = ON")
    if read_only:
        cursor.execute("PRAGMA query_only = ON")
    else:
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")  # an acknowledged answer survives a power cut too
        cursor.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
    cursor.close()


class BeginImmediate:
    """Begins a transaction that will write; a file that another program holds is waited for once, then only looked at.

    A transaction that begins by reading would fail at once when it wants to write while another one does.
    """

    def __init__(self) -> None:
        self._held = False

    def __call__(self, connection: Connection) -> None:
        """Begins it, or raises what SQLite says."""
        seconds = min(HELD_SECONDS, BUSY_SECONDS) if self._held else BUSY_SECONDS
        if connection.info.get("waits") != seconds:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(seconds * 1000)}")
            connection.info["waits"] = seconds
        self._held = True  # unless the next line comes to its end
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        self._held = False


def reason_of(error: DBAPIError) -> str:
    """What the database itself says went wrong, in one line."""
    return " ".join(str(error.orig).split())


def _again_if_cut(run: Run, work: Callable[[Connection], T]) -> T:
    """Once more if the server had cut the connection, as after a restart; whatever was stored then is a duplicate now.

    Asking the server before each use whether it is still there would take longer than the work itself.
    """
    try:
        return run(work)
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        return run(work)


def _run(engine: Engine, turns: Turns, work: Callable[[Connection], T]) -> T:
    with turns.place(), engine.connect() as connection:
        return work(connection)


def _run_whole(engine: Engine, turns: Turns, work: Callable[[Connection], T]) -> T:
    with turns.place(), engine.begin() as connection:
        return work(connection)


@contextmanager
def _snapshot(engine: Engine, turns: Turns, begin: str) -> Iterator[Connection]:
    with turns.place():
        try:
            connection = engine.connect()
            connection.exec_driver_sql(begin)
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            connection = engine.connect()  # the server had cut the first one, as after a restart
            connection.exec_driver_sql(begin)
        try:
            yield connection
        finally:
            if not connection.invalidated:
                connection.exec_driver_sql("ROLLBACK")
            connection.close()
