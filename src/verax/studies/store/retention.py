"""The end of the time for which answers are kept: what is due is deleted, and nobody can be recognised any more."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, func, not_, null, select

from verax.studies.store.clock import micros
from verax.studies.store.participant.withdraw import empty
from verax.studies.store.people import CHANGE, Transaction, act
from verax.studies.store.tables import codes, participants

DAY = 24 * 3600
# What no token's hash begins with: nobody's link opens this row.
GONE = "gone-"
BATCH = 50  # people in one transaction, so that answers that arrive meanwhile need not wait for long

_due = (
    participants.c.study_id == bindparam("study"),
    participants.c.last_seen_at <= bindparam("latest"),
    not_(participants.c.token_hash.startswith(GONE)),
)
COUNT = select(func.count()).select_from(participants).where(*_due)
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
    return int(work.connection.execute(COUNT, {"study": work.study_id, "latest": latest}).scalar_one())


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
