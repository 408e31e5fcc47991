"""The end of the time for which answers are kept: what is due is deleted, and nobody can be recognised any more."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, case, delete, func, not_, null, select, update

from verax.studies.model.spec import StudySpec
from verax.studies.store.clock import micros
from verax.studies.store.database.engine import Database
from verax.studies.store.participant.withdraw import empty
from verax.studies.store.people import act
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
FORGET = (
    update(participants)
    .where(participants.c.id == bindparam("who"))
    .values(
        # Who was in the middle cannot go on; who completed the study still counts as one who did.
        status=case((participants.c.status == "active", "withdrawn"), else_=participants.c.status),
        token_hash=bindparam("nobody"),
        person_hash=null(),
    )
)
FORGET_CODE = delete(codes).where(codes.c.participant_id == bindparam("who"))


@dataclass(frozen=True)
class Purged:
    """What was deleted: of how many people, and how many answered pages."""

    people: int = 0
    answers: int = 0


def last_moment(spec: StudySpec, now: int) -> int | None:
    """Whoever was last seen then or before is due; None where answers are kept for ever."""
    return None if spec.retention_days is None else now - micros(spec.retention_days * DAY)


def due(connection: Connection, study_id: int, latest: int) -> int:
    """How many people's data are to be deleted."""
    return int(connection.execute(COUNT, {"study": study_id, "latest": latest}).scalar_one())


def purge(database: Database, study_id: int, latest: int, now: int, *, by: str) -> Purged:
    """Deletes what is due, some people at a time, each whole or not at all."""
    people = answers = 0
    while True:
        done = database.write(lambda connection: _some(connection, study_id, latest, now, by))
        if done.people == 0:
            return Purged(people, answers)
        people, answers = people + done.people, answers + done.answers


def _some(connection: Connection, study_id: int, latest: int, now: int, by: str) -> Purged:
    found = connection.execute(DUE, {"study": study_id, "latest": latest}).scalars().all()
    answers = 0
    for who in found:
        answers += empty(connection, who, now)
        connection.execute(FORGET_CODE, {"who": who})
        connection.execute(FORGET, {"who": who, "nobody": GONE + secrets.token_hex(16)})
    if found:
        act(connection, study_id, by, "purge", now, {"people": len(found), "answers": answers})
    return Purged(len(found), answers)
