"""Time as the store keeps it: microseconds since 1970 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
CENTURY = (
    100 * 365 * 24 * 3600
)  # seconds: no limit is longer, so that no sum of times is too large for a column


def utc_now() -> datetime:
    """The time of the server's clock."""
    return datetime.now(UTC)


def micros(seconds: float) -> int:
    """So many seconds in microseconds."""
    return round(min(seconds, CENTURY) * SECOND)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_micros(count: int) -> datetime:
    """The moment of so many microseconds since 1970."""
    return EPOCH + timedelta(microseconds=count)
