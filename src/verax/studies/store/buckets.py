"""Buckets of tokens in the database: what somebody may try so often is counted over all processes and machines.

A bucket is known by the moment at which it is full again. Of who tries only a keyed hash is stored, and a bucket that
is full again is deleted.
"""

from __future__ import annotations

import time

from sqlalchemy import ColumnElement, Connection, bindparam, case, delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from verax.studies.store.clock import SECOND, to_micros
from verax.studies.store.store import Store
from verax.studies.store.tables import buckets

TIDY_SECONDS = 60

_now = bindparam("now", type_=buckets.c.full_at.type)
_token = bindparam("token", type_=buckets.c.full_at.type)
_all = bindparam("all", type_=buckets.c.full_at.type)
_full_at = buckets.c.full_at
# Nothing is ever taken beyond an empty bucket: what says so was written before a clock was set back.
_taken_from: ColumnElement[int] = case(
    (_full_at <= _now, _now + _token), (_full_at > _now + _all, _now + _all), else_=_full_at + _token
)
_has_one = or_(_full_at <= _now + _all - _token, _full_at > _now + _all)
TAKE = {
    name: dialect.insert(buckets)
    .values(key=bindparam("key"), full_at=_now + _token)
    .on_conflict_do_update(index_elements=["key"], set_={"full_at": _taken_from}, where=_has_one)
    .returning(_full_at)
    for name, dialect in (("postgresql", postgresql), ("sqlite", sqlite))
}
LOOK = select(_full_at).where(buckets.c.key == bindparam("key"))
TIDY = delete(buckets).where(_full_at <= _now)


class Buckets:
    """The buckets of one study."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tidied = time.monotonic()

    def take(self, key: str, token: float, burst: int) -> tuple[bool, float]:
        """Takes a token if there is one: whether there was, and in how many seconds the bucket is full.

        Args:
            key: whose bucket.
            token: the seconds in which one grows back.
            burst: how many there are at most.
        """
        now = to_micros(self._store.clock())
        keys = {"key": self._store.keyed(f"bucket {key}"), "now": now}
        span = {"token": round(token * SECOND), "all": round(burst * token * SECOND)}
        due = time.monotonic() - self._tidied > TIDY_SECONDS

        def take(connection: Connection) -> tuple[bool, int]:
            if due:
                connection.execute(TIDY, {"now": now})
            full_at = connection.execute(TAKE[connection.dialect.name], keys | span).scalar_one_or_none()
            if full_at is not None:
                return True, full_at
            return False, connection.execute(LOOK, {"key": keys["key"]}).scalar_one()

        taken, full_at = self._store.database.write(take)
        if due:
            self._tidied = time.monotonic()
        return taken, (full_at - now) / SECOND

    def full_in(self, key: str) -> float:
        """In how many seconds the bucket is full; 0 if it is."""
        keys = {"key": self._store.keyed(f"bucket {key}")}
        full_at = self._store.database.read(
            lambda connection: connection.execute(LOOK, keys).scalar_one_or_none()
        )
        return 0.0 if full_at is None else max(0.0, (full_at - to_micros(self._store.clock())) / SECOND)
