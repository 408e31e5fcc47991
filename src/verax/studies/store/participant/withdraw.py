"""Leaving a study at one's wish, and the end of the time for which answers are kept.

What stays of somebody whose data are deleted is a tombstone: a row that says that they were here and left, so that
whoever comes back is recognised and not let in again.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, func, not_, null, select

from verax.studies.store.clock import micros
from verax.studies.store.people import CHANGE, RELEASE, Known, Transaction, act, lock
from verax.studies.store.tables import codes, consents, events, exclusions, participants, responses, steps

_steps_of = select(steps.c.id).where(steps.c.participant_id == bindparam("who"))
COUNT_ANSWERS = select(func.count()).select_from(responses).where(responses.c.step_id.in_(_steps_of))
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
    language=null(),
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
class Withdrawal:
    """Somebody who has left.

    Attributes:
        number: of the participant, by arrival; None if they had not agreed yet.
        deleted: how many answered pages were deleted.
    """

    number: int | None
    deleted: int


def withdraw(work: Transaction, known: Known, value: str, *, delete: bool, by: str) -> Withdrawal | None:
    """Ends somebody's part, and deletes what they gave if they wish it; None if nobody is known by this.

    Who has completed the study has nothing to stop, but may still have everything deleted.
    """
    person = lock(work, value, known)
    if person is None:
        return None
    stops = person.status not in ("complete", "withdrawn")
    gone = person.status == "withdrawn" and person.steps == 0
    if gone or not (stops or delete):
        return Withdrawal(person.number, 0)
    work.connection.execute(STOP, {"who": person.id, "now": work.now})
    deleted = empty(work, person.id) if delete else 0
    act(work, by, "withdrawal", {"number": person.number, "deleted": delete})
    return Withdrawal(person.number, deleted)


def empty(work: Transaction, participant_id: int) -> int:
    """Deletes all that is stored of somebody but the row itself; how many answered pages that were."""
    who = {"who": participant_id}
    count: int = work.connection.execute(COUNT_ANSWERS, who).scalar_one()
    size = work.connection.execute(EVENT_BYTES, who).scalar_one()
    for statement in DELETE:
        work.connection.execute(statement, who)
    work.connection.execute(EMPTY, who | {"now": work.now})
    if size:
        work.connection.execute(RELEASE, {"study": work.study_id, "size": size})
    return count


DAY = 24 * 3600
# What no token's hash begins with: nobody's link opens this row.
GONE = "gone-"
BATCH = 50  # people in one transaction, so that answers that arrive meanwhile need not wait for long

_due = (
    participants.c.study_id == bindparam("study"),
    participants.c.last_seen_at <= bindparam("latest"),
    not_(participants.c.token_hash.startswith(GONE)),
)
COUNT_DUE = select(func.count()).select_from(participants).where(*_due)
DUE = (
    select(participants.c.id)
    .where(*_due)
    .order_by(participants.c.id)
    .limit(BATCH)
    .with_for_update(key_share=True)  # whoever does something at this moment is waited for
)
FORGET = CHANGE.values(
    # Who was in the middle cannot go on; who completed the study still counts as one who did.
    status=case((participants.c.status == "active", "withdrawn"), else_=participants.c.status),
    token_hash=bindparam("nobody"),
    person_hash=null(),
    link_hash=null(),
    origin=null(),
    subnet=null(),
    language=null(),
)
FORGET_CODE = delete(codes).where(codes.c.participant_id == bindparam("who"))


@dataclass(frozen=True)
class Purged:
    """What was deleted: of how many people, and how many answered pages."""

    people: int = 0
    answers: int = 0


def last_moment(work: Transaction) -> int | None:
    """Whoever was last seen then or before is due; None where answers are kept for ever."""
    days = work.study.spec.retention_days
    return None if days is None else work.now - micros(days * DAY)


def due(work: Transaction) -> int:
    """How many people's data are to be deleted."""
    latest = last_moment(work)
    if latest is None:
        return 0
    return int(work.connection.execute(COUNT_DUE, {"study": work.study_id, "latest": latest}).scalar_one())


def purge_some(work: Transaction, latest: int, *, by: str) -> Purged:
    """Deletes some of what is due, each person's data whole or not at all; nothing once all is deleted."""
    people = work.connection.execute(DUE, {"study": work.study_id, "latest": latest}).scalars().all()
    answers = 0
    for who in people:
        answers += empty(work, who)
        work.connection.execute(FORGET_CODE, {"who": who})
        work.connection.execute(FORGET, {"who": who, "nobody": GONE + secrets.token_hex(16)})
    if people:
        act(work, by, "purge", {"people": len(people), "answers": answers})
    return Purged(len(people), answers)
