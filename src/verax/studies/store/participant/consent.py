"""The consent: in one transaction a participant gets a number and their first steps, or a place and all of them."""

from __future__ import annotations

import hashlib

from sqlalchemy import bindparam, insert, null, update

from verax.studies.design.allocation import has_room
from verax.studies.display import wording
from verax.studies.protocol.surroundings import door_steps, participant_class_names, participant_steps
from verax.studies.store.participant.advance import MOVE
from verax.studies.store.participant.numbering import part_numbers
from verax.studies.store.participant.placing import add_steps, held_until, place
from verax.studies.store.participant.queueing import is_crowded, is_next
from verax.studies.store.people import CHANGE, Person, Transaction, lock, state_of, taken
from verax.studies.store.tables import consents, participants, studies

BEGIN = CHANGE.values(
    status="active",
    current=1,
    number=bindparam("number"),
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
    if person.status == "full":
        room = is_next(work, person.id, is_bot=person.is_bot)
    else:
        room = has_room(work.study.rows, taken(work, is_bot=person.is_bot))
    if not room or is_crowded(work, person.origin, person.subnet):
        _set_status(work, person, "full")
        return
    _note(work, person, agreed=True)
    if person.number is not None:  # passed the screening test when all places were taken
        _set_status(work, person, "active")
        place(work, person)
        until = held_until(work, proven=person.origin is None)
        work.connection.execute(MOVE, {"who": person.id, "hold_until": until, "now": work.now})
        return
    number = state.consented + 1
    work.connection.execute(COUNT_UP, {"study_id": work.study_id, "consented": number})
    _begin(work, person, number)


def _begin(work: Transaction, person: Person, number: int) -> None:
    """Gives the first steps: those before a row of the design is given, or all with the row."""
    study = work.study
    door = door_steps(study)
    # How long the way is can be told from any row.
    planned = participant_steps(study, study.rows[0], number)
    begun = {
        "who": person.id,
        "number": number,
        "names": list(participant_class_names(study, number)),
        "phases": max(part_numbers(study, planned)),
        "steps": len(planned),
        "hold_until": held_until(work, proven=person.origin is None),
        "now": work.now,
    }
    work.connection.execute(BEGIN, begun)
    if door:
        add_steps(work, person.id, planned, until=len(door))
    else:
        place(work, person, number)


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
