"""Leaving a study: at the participant's wish their part ends, and what they gave is kept or deleted.

What stays of somebody whose data are deleted is a tombstone: a row that says that they were here and left, so that
whoever comes back is recognised and not let in again.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, func, null, select

from verax.studies.store.participant.in_vain import RELEASE
from verax.studies.store.people import CHANGE, Known, Transaction, act, lock
from verax.studies.store.tables import consents, events, exclusions, participants, responses, steps

_steps_of = select(steps.c.id).where(steps.c.participant_id == bindparam("who"))
COUNT = select(func.count()).select_from(responses).where(responses.c.step_id.in_(_steps_of))
EVENT_BYTES = select(participants.c.event_bytes).where(participants.c.id == bindparam("who"))
# Steps before events: whoever is shown a page just now has locked its step, and notes that in an event.
DELETE = (
    delete(responses).where(responses.c.step_id.in_(_steps_of)),
    delete(steps).where(steps.c.participant_id == bindparam("who")),
    delete(events).where(events.c.participant_id == bindparam("who")),
    delete(consents).where(consents.c.participant_id == bindparam("who")),
    delete(exclusions).where(exclusions.c.participant_id == bindparam("who")),
)
STOP = CHANGE.values(
    status="withdrawn", hold_until=null(), finished_at=bindparam("now"), last_seen_at=bindparam("now")
)
EMPTY = CHANGE.values(
    phases=0,
    steps=0,
    current=0,
    names=null(),
    answer_order=null(),
    hold_until=null(),
    origin=null(),
    subnet=null(),
    return_to=null(),
    session_hash=null(),
    link_hash=null(),
    events=0,
    event_bytes=0,
    unkept=0,
    completion_code=null(),
    created_at=bindparam("now"),
    consented_at=case((participants.c.consented_at.is_not(None), bindparam("now")), else_=null()),
    finished_at=bindparam("now"),
    last_seen_at=bindparam("now"),
)


@dataclass(frozen=True)
class Left:
    """Somebody who has left.

    Attributes:
        number: of the participant, by arrival; None if they had not agreed yet.
        deleted: how many answered pages were deleted.
    """

    number: int | None
    deleted: int


def withdraw(work: Transaction, known: Known, value: str, *, delete: bool, by: str) -> Left | None:
    """Ends somebody's part, and deletes what they gave if they wish it; None if nobody is known by this.

    Who has completed the study has nothing to stop, but may still have everything deleted.
    """
    person = lock(work, value, known)
    if person is None:
        return None
    stops = person.status not in ("complete", "withdrawn")
    gone = person.status == "withdrawn" and person.steps == 0
    if gone or not (stops or delete):
        return Left(person.number, 0)
    work.connection.execute(STOP, {"who": person.id, "now": work.now})
    deleted = empty(work, person.id) if delete else 0
    act(work, by, "withdrawal", {"number": person.number, "deleted": delete})
    return Left(person.number, deleted)


def empty(work: Transaction, participant_id: int) -> int:
    """Deletes all that is stored of somebody but the row itself; how many answered pages that were."""
    who = {"who": participant_id}
    count: int = work.connection.execute(COUNT, who).scalar_one()
    size = work.connection.execute(EVENT_BYTES, who).scalar_one()
    for statement in DELETE:
        work.connection.execute(statement, who)
    work.connection.execute(EMPTY, who | {"now": work.now})
    if size:
        work.connection.execute(RELEASE, {"study": work.study_id, "size": size})
    return count
