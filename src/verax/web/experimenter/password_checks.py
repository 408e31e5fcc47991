"""Passwords are checked apart from everything else: a crowd at the experimenters' door holds up no participant.

A check takes a tenth of a second and 64 MB. So there is one thread for it, with little right to the processor, and a
short queue. A browser in which somebody has signed in before has a thread of its own: whatever strangers try, it is
let in.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

MOST_WAITING = 20
NICE = 10


class Full(Exception):  # noqa: N818
    """Too many wait already."""


class Queue:
    """Does one thing after the other, in a thread of its own; whoever finds a long queue is sent away."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="password", initializer=_step_back)
        self._most = most
        self._waiting = 0

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns.

        Raises:
            Full: it was not even begun.
        """
        if self._waiting >= self._most:
            raise Full
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Ends the thread; who still waits is not let in."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class PasswordChecks:
    """The two queues at the door.

    Attributes:
        strangers: for browsers that are not known.
        known: for those in which somebody has signed in before.
    """

    def __init__(self) -> None:
        self.strangers = Queue()
        self.known = Queue()

    def close(self) -> None:
        """Ends both threads."""
        self.strangers.close()
        self.known.close()


def _step_back() -> None:
    """Lets the threads of participants go first."""
    with suppress(OSError, AttributeError):  # where threads have no priority of their own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
