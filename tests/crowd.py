"""People who answer all the time, in threads, while a test does something to their database."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import select

from real_parts import LONG
from small_study import answers, begin
from verax.studies.store import Store
from verax.studies.store.identifiers import token_hash
from verax.studies.store.tables import participants, responses, steps


class Crowd:
    """Each of some threads is one participant after the other.

    Attributes:
        told: the token and step of every answer of which the store said that it is stored.
        problems: what was raised.
    """

    def __init__(self, stores: list[Store]) -> None:
        self.told: list[tuple[str, int]] = []
        self.problems: list[Exception] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._take_part, args=(store,)) for store in stores]

    def wait_for(self, more: int) -> None:
        """Until so many more answers are stored."""
        enough, until = len(self.told) + more, time.monotonic() + LONG
        wait_until(lambda: len(self.told) >= enough or bool(self.problems), until)
        assert self.problems == []

    def _take_part(self, store: Store) -> None:
        try:
            while not self._stop.is_set():
                token = begin(store)
                while not self._stop.is_set() and (where := store.show(token)).status == "active":
                    if store.submit(token, where.ord, where.nonce, answers(where.screen), {}).stored:
                        self.told.append((token, where.ord))
        except Exception as error:
            self.problems.append(error)

    @contextmanager
    def at_work(self) -> Iterator[Crowd]:
        """The crowd answers during the block."""
        for thread in self._threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join(LONG)
        assert self.problems == []


def wait_until(holds: Callable[[], bool], until: float) -> None:
    """Looks again and again, until a moment of the monotonic clock."""
    while not holds():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.005)


def stored(store: Store) -> Counter[tuple[str, int]]:
    """The token's hash and the step of every answer in a database, with how often it is there."""
    query = (
        select(participants.c.token_hash, steps.c.ord)
        .join_from(responses, steps)
        .join(participants)
        .where(participants.c.study_id == store.study_id)
    )
    return Counter(map(tuple, store.database.read(lambda connection: connection.execute(query).all())))


def told_and_stored(told: list[tuple[str, int]], store: Store) -> None:
    """Checks that every answer of which somebody was told is there, and no answer is there twice."""
    there = stored(store)
    assert set(there.values()) <= {1}
    assert {(token_hash(token), ord) for token, ord in told} <= set(there)
