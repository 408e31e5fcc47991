"""Many threads' transactions in one commit: SQLite waits for the disk once for all that wait at the same time.

A commit that survives a power cut takes milliseconds, and SQLite has one writer. So whoever's turn it is does the work
of all who wait, commits once, and only then do they go on. Work may be run twice, the first time in vain: it must do
nothing but change the database.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from sqlalchemy import Connection, Engine

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
