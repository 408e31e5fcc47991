"""Time as the store keeps it: microseconds since 1970 in UTC.

A machine's clock is set now and then, and a time that is measured across such a step is wrong or negative. So a server
looks at it once, when it starts, and from then on counts the seconds that pass. Its processes share the beginning.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
CENTURY = (
    100 * 365 * 24 * 3600
)  # seconds: no limit is longer, so that no sum of times is too large for a column


# What passes also while the machine sleeps, where the system has it.
_PASSING = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))
BEGINNING = (
    "VERAX_CLOCK_BEGINNING"  # of the environment, by which processes have it from the one that starts them
)


def _passed() -> float:
    return time.monotonic() if _PASSING is None else time.clock_gettime(_PASSING)


_beginning = float(os.environ.get(BEGINNING) or time.time() - _passed())


def utc_now() -> datetime:
    """The time: the clock of the machine when the server started, and the seconds that passed since."""
    return datetime.fromtimestamp(_beginning + _passed(), UTC)


def share_clock() -> None:
    """Lets the processes that are started from now on have the same time, also those that take another's place."""
    os.environ[BEGINNING] = repr(_beginning)


def micros(seconds: float) -> int:
    """So many seconds in microseconds."""
    return round(min(seconds, CENTURY) * SECOND)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_micros(count: int) -> datetime:
    """The moment of so many microseconds since 1970."""
    return EPOCH + timedelta(microseconds=count)
