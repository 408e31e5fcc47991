"""A number of places for many threads, given in the order of asking.

The pools of SQLAlchemy give a connection to whoever is quickest, and in a crowd somebody then waits for seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Turns:
    """So many threads at a time."""

    def __init__(self, places: int) -> None:
        self._lock = Lock()  # of the two below
        self._free = places
        self._waiting: deque[Lock] = deque()

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for the time of the block."""
        with self._lock:
            turn = Lock() if self._free == 0 else None
            if turn is None:
                self._free -= 1
            else:
                turn.acquire()
                self._waiting.append(turn)
        if turn is not None:
            turn.acquire()  # until somebody who leaves passes the place on
        try:
            yield
        finally:
            with self._lock:
                if self._waiting:
                    self._waiting.popleft().release()
                else:
                    self._free += 1
