"""The consent: in one transaction a participant gets a place in the design and all of their steps."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, insert, update

from verax.studies.design.allocation import choose_row
from verax.studies.display import wording
from verax.studies.model.steps import DesignRow, Step
from verax.studies.model.study import Study
from verax.studies.protocol.surroundings import participant_class_names, participant_steps
from verax.studies.store.clock import micros
from verax.studies.store.participant.numbering import part_numbers, places
from verax.studies.store.people import LOCK_STUDY, lock, taken
from verax.studies.store.tables import consents, participants, steps, studies

BEGIN = (
    update(participants)
    .where(participants.c.id == bindparam("participant_id"))
    .values(
        status="active",
        current=1,
        number=bindparam("number"),
        design_row=bindparam("design_row"),
        names=bindparam("names"),
        phases=bindparam("phases"),
        steps=bindparam("steps"),
        hold_until=bindparam("hold_until"),
        consented_at=bindparam("now"),
        last_seen_at=bindparam("now"),
    )
)
SET_STATUS = (
    update(participants)
    .where(participants.c.id == bindparam("participant_id"))
    .values(status=bindparam("status"), last_seen_at=bindparam("now"))
)
COUNT_UP = (
    update(studies).where(studies.c.id == bindparam("study_id")).values(consented=bindparam("consented"))
)
NEW_STEPS = insert(steps)
NEW_CONSENT = insert(consents)


def consent(
    connection: Connection, study: Study, study_id: int, token: str, now: int, *, agreed: bool
) -> None:
    """Notes the decision; whoever agrees gets a place if one is free. Who has a place keeps it, whatever comes."""
    person = lock(connection, study_id, token)
    if person is None or person.status not in ("invited", "declined", "full"):
        return
    if not agreed:
        if person.status != "declined":
            _note(connection, study, person.id, now, agreed=False)
            connection.execute(SET_STATUS, {"participant_id": person.id, "status": "declined", "now": now})
        return
    # Arrivals are allocated one at a time: each sees the places that all before it took.
    state = connection.execute(LOCK_STUDY, {"study_id": study_id}).one()
    if state.state != "open":
        return
    number = state.consented + 1
    people = taken(connection, study_id, now, is_bot=person.is_bot)
    row = choose_row(study.rows, people, study.spec.seed, number)
    if row is None:
        connection.execute(SET_STATUS, {"participant_id": person.id, "status": "full", "now": now})
        return
    connection.execute(COUNT_UP, {"study_id": study_id, "consented": number})
    _note(connection, study, person.id, now, agreed=True)
    _begin(connection, study, person.id, row, number, now)


def hold_micros(study: Study) -> int:
    """How long a place is kept for somebody who does nothing."""
    return micros(study.spec.timing.hold_minutes * 60)


def step_records(study: Study, planned: Sequence[Step]) -> Iterator[dict[str, Any]]:
    """The steps as rows of the table, each with its part and its place there, as participants count them."""
    parts = part_numbers(study, planned)
    ord = 0
    for phase, together in groupby(planned, key=lambda step: step.phase):
        run = list(together)
        for step, (place, of) in zip(run, places(run), strict=True):
            ord += 1
            yield {
                "ord": ord,
                "phase": phase,
                "screen": step.screen,
                "item": step.item,
                "condition": step.condition,
                "phase_number": parts[ord - 1],
                "number_in_phase": place,
                "steps_in_phase": of,
                "nonce": secrets.token_urlsafe(12),
                "state": "pending",
                "views": 0,
            }


def _begin(
    connection: Connection, study: Study, participant_id: int, row: DesignRow, number: int, now: int
) -> None:
    records = [
        record | {"participant_id": participant_id}
        for record in step_records(study, participant_steps(study, row, number))
    ]
    connection.execute(
        BEGIN,
        {
            "participant_id": participant_id,
            "number": number,
            "design_row": row.number,
            "names": list(participant_class_names(study, number)),
            "phases": max(record["phase_number"] for record in records),
            "steps": len(records),
            "hold_until": now + hold_micros(study),
            "now": now,
        },
    )
    connection.execute(NEW_STEPS, records)


def _note(connection: Connection, study: Study, participant_id: int, now: int, *, agreed: bool) -> None:
    text = "\n\n".join(wording.consent(study.spec))
    connection.execute(
        NEW_CONSENT,
        {
            "participant_id": participant_id,
            "agreed": agreed,
            "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "at": now,
        },
    )
