"""The consent: in one transaction a participant gets a place in the design and all of their steps."""

from __future__ import annotations

import hashlib
import secrets

from sqlalchemy import bindparam, insert, null, update

from verax.studies.design.allocation import choose_row
from verax.studies.display import wording
from verax.studies.model.design_row import DesignRow
from verax.studies.protocol.surroundings import participant_class_names, participant_steps
from verax.studies.store.clock import micros
from verax.studies.store.participant.numbering import part_numbers, places
from verax.studies.store.people import CHANGE, Person, Transaction, lock, state_of, taken
from verax.studies.store.tables import consents, participants, steps, studies

BEGIN = CHANGE.values(
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
SET_STATUS = CHANGE.values(status=bindparam("new_status"), last_seen_at=bindparam("now"))
UNLINK = CHANGE.where(participants.c.link_hash.is_not(None)).values(link_hash=null())
COUNT_UP = (
    update(studies).where(studies.c.id == bindparam("study_id")).values(consented=bindparam("consented"))
)
NEW_STEPS = insert(steps)
NEW_CONSENT = insert(consents)


def consent(work: Transaction, token_hash: str, *, agreed: bool, linked: bool = False) -> None:
    """Notes the decision; whoever agrees gets a place if one is free. Who has a place keeps it, whatever comes.

    By what somebody is known again in other studies is kept only if they agree to that too.
    """
    person = lock(work, token_hash)
    if person is None or person.status not in ("invited", "declined", "full"):
        return
    if not linked:
        work.connection.execute(UNLINK, {"who": person.id})
    if not agreed:
        if person.status != "declined":
            _note(work, person, agreed=False)
            _set_status(work, person, "declined")
        return
    # Arrivals are allocated one at a time: each sees the places that all before it took.
    state = state_of(work, lock=True)
    if state.state != "open":
        return
    number = state.consented + 1
    people = taken(work, is_bot=person.is_bot)
    row = choose_row(work.study.rows, people, work.study.spec.seed, number)
    if row is None:
        _set_status(work, person, "full")
        return
    work.connection.execute(COUNT_UP, {"study_id": work.study_id, "consented": number})
    _note(work, person, agreed=True)
    _begin(work, person, row, number)


def held_until(work: Transaction) -> int:
    """Until when a place is kept for somebody who does nothing from now on."""
    return work.now + micros(work.study.spec.timing.hold_minutes * 60)


def _begin(work: Transaction, person: Person, row: DesignRow, number: int) -> None:
    study = work.study
    planned = participant_steps(study, row, number)
    parts = part_numbers(study, planned)
    records = [
        {
            "participant_id": person.id,
            "ord": ord,
            "phase": step.phase,
            "screen": step.screen,
            "item": step.item,
            "condition": step.condition,
            "phase_number": part,
            "number_in_phase": place,
            "steps_in_phase": of,
            "nonce": secrets.token_urlsafe(12),
            "state": "pending",
            "views": 0,
        }
        for ord, (step, part, (place, of)) in enumerate(zip(planned, parts, places(planned), strict=True), 1)
    ]
    begun = {
        "who": person.id,
        "number": number,
        "design_row": row.number,
        "names": list(participant_class_names(study, number)),
        "phases": max(parts),
        "steps": len(records),
        "hold_until": held_until(work),
        "now": work.now,
    }
    work.connection.execute(BEGIN, begun)
    work.connection.execute(NEW_STEPS, records)


def _set_status(work: Transaction, person: Person, status: str) -> None:
    work.connection.execute(SET_STATUS, {"who": person.id, "new_status": status, "now": work.now})


def _note(work: Transaction, person: Person, *, agreed: bool) -> None:
    text = "\n\n".join(wording.consent(work.study.spec))
    decision = {
        "participant_id": person.id,
        "agreed": agreed,
        "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "at": work.now,
    }
    work.connection.execute(NEW_CONSENT, decision)
