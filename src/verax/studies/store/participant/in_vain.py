"""What participants send in vain: kept as events within bounds, and beyond them only counted.

Anybody can send the same page a thousand times. So there is a limit for each participant and one for the study, and
nobody's answers ever lack room because of what somebody else sent.
"""

from __future__ import annotations

import json

from sqlalchemy import bindparam, update

from verax.studies.store.people import CHANGE, Person, Transaction, note
from verax.studies.store.tables import participants, studies

MOST_EVENTS = 300  # of one participant
MOST_BYTES = 128 * 1024  # of one participant's events
MOST_STUDY_BYTES = 64 * 1024 * 1024  # of all events of a study
MOST_RELOADS = 50  # of one page; the step itself counts how often it was seen
OVERHEAD = 100  # bytes that a row takes besides

RESERVE = (
    update(studies)
    .where(studies.c.id == bindparam("study"), studies.c.event_bytes + bindparam("size") <= bindparam("most"))
    .values(event_bytes=studies.c.event_bytes + bindparam("size"))
)
RELEASE = (
    update(studies)
    .where(studies.c.id == bindparam("study"))
    .values(event_bytes=studies.c.event_bytes - bindparam("size"))
)
KEPT = CHANGE.values(
    events=participants.c.events + 1, event_bytes=participants.c.event_bytes + bindparam("size")
)
UNKEPT = CHANGE.values(unkept=participants.c.unkept + 1)


def keep(work: Transaction, person: Person, ord: int, type: str, data: object) -> None:
    """Keeps what somebody, who is locked, sent; or counts it, once there is no room."""
    size = OVERHEAD + len(json.dumps(data, ensure_ascii=False).encode())
    if _has_room(work, person, size):
        note(work, person.id, ord, type, data)
        work.connection.execute(KEPT, {"who": person.id, "size": size})
    else:
        work.connection.execute(UNKEPT, {"who": person.id})


def _has_room(work: Transaction, person: Person, size: int) -> bool:
    if person.events >= MOST_EVENTS or person.event_bytes + size > MOST_BYTES:
        return False
    reserved = {"study": work.study_id, "size": size, "most": MOST_STUDY_BYTES}
    return work.connection.execute(RESERVE, reserved).rowcount == 1
