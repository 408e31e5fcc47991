"""Statements that several parts of the store make: finding and locking participants, noting events and actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, union_all

from verax.studies.store.tables import actions, events, participants, studies

# PostgreSQL locks the row until the end of the transaction; in SQLite the transaction itself is the lock. The key
# stays free, so that a page view may note its event meanwhile.
LOCK_PARTICIPANT = (
    select(
        participants.c.id,
        participants.c.status,
        participants.c.is_bot,
        participants.c.current,
        participants.c.steps,
    )
    .where(
        participants.c.token_hash == bindparam("token_hash"),
        participants.c.study_id == bindparam("study_id"),
    )
    .with_for_update(key_share=True)
)

LOCK_STUDY = (
    select(studies.c.id, studies.c.state, studies.c.consented, studies.c.secret)
    .where(studies.c.id == bindparam("study_id"))
    .with_for_update(key_share=True)
)

_people_by_row = (
    select(participants.c.design_row, func.count().label("people"))
    .where(participants.c.study_id == bindparam("study_id"), participants.c.is_bot == bindparam("is_bot"))
    .group_by(participants.c.design_row)
)
# In two parts, since the first one, which grows, is then answered by the index alone.
TAKEN = union_all(
    _people_by_row.where(participants.c.status == "complete"),
    _people_by_row.where(participants.c.status == "active", participants.c.hold_until > bindparam("now")),
)

NOTE = insert(events)
ACT = insert(actions)
ACTED = (
    select(actions.c.by, actions.c.type, actions.c.at, actions.c.data)
    .where(actions.c.study_id == bindparam("study_id"))
    .order_by(actions.c.id.desc())
    .limit(bindparam("last"))
)


def lock(connection: Connection, study_id: int, token_hash: str) -> Any | None:
    """The participant, whom nobody else can move until the end of the transaction; None if there is none."""
    return connection.execute(
        LOCK_PARTICIPANT, {"study_id": study_id, "token_hash": token_hash}
    ).one_or_none()


def note(connection: Connection, participant_id: int, ord: int, type: str, at: int, data: Any) -> None:
    """Keeps an event."""
    connection.execute(
        NOTE, {"participant_id": participant_id, "ord": ord, "type": type, "at": at, "data": data}
    )


def act(connection: Connection, study_id: int, by: str, type: str, at: int, data: Mapping[str, Any]) -> None:
    """Keeps what was done to the study, and by whom."""
    connection.execute(ACT, {"study_id": study_id, "by": by, "type": type, "at": at, "data": dict(data)})


def acted(connection: Connection, study_id: int, last: int) -> Sequence[Any]:
    """The last actions, the latest first."""
    return connection.execute(ACTED, {"study_id": study_id, "last": last}).all()


def taken(connection: Connection, study_id: int, now: int, *, is_bot: bool) -> Mapping[int, int]:
    """By design row: who completed it, or is at it and holds the place. Bots never take the place of a person."""
    counted: Counter[int] = Counter()
    for row in connection.execute(TAKEN, {"study_id": study_id, "is_bot": is_bot, "now": now}):
        counted[row.design_row] += row.people
    return counted
