"""A place in the design: which row a participant takes, in which order answers stand, and the steps that follow.

Everything here runs in a transaction that has locked the participant.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import bindparam, insert

from verax.studies.design.allocation import choose_order, choose_row
from verax.studies.design.answer_order import order_count
from verax.studies.model.steps import Step
from verax.studies.protocol.surroundings import door_steps, participant_steps
from verax.studies.store.clock import micros
from verax.studies.store.participant.numbering import part_numbers, places
from verax.studies.store.participant.queueing import FIRST_SECONDS
from verax.studies.store.people import CHANGE, Person, Transaction, state_of, taken
from verax.studies.store.tables import steps

PLACE = CHANGE.values(
    design_row=bindparam("design_row"),
    answer_order=bindparam("answer_order"),
    phases=bindparam("phases"),
    steps=bindparam("steps"),
)
FULL = CHANGE.values(status="full", last_seen_at=bindparam("now"))
NEW_STEPS = insert(steps)


def place(work: Transaction, person: Person, number: int | None = None) -> bool:
    """Gives a row of the design with all steps that are left; without a free one the participant finds it full."""
    study, seed = work.study, work.study.spec.seed
    number = person.number if number is None else number
    assert number is not None
    state_of(work, lock=True)  # one after the other: each sees the places that all before it took
    people = taken(work, is_bot=person.is_bot)
    row = choose_row(study.rows, people.rows, seed, number)
    if row is None:
        work.connection.execute(FULL, {"who": person.id, "now": work.now})
        return False
    planned = participant_steps(study, row, number)
    given = {
        "who": person.id,
        "design_row": row.number,
        "answer_order": choose_order(order_count(study), row, people, seed, number),
        "phases": max(part_numbers(study, planned)),
        "steps": len(planned),
    }
    work.connection.execute(PLACE, given)
    add_steps(work, person.id, planned, after=len(door_steps(study)))
    return True


def add_steps(
    work: Transaction,
    participant_id: int,
    planned: Sequence[Step],
    *,
    after: int = 0,
    until: int | None = None,
) -> None:
    """Stores the planned steps behind the first so many, up to a certain one."""
    numbered = zip(planned, part_numbers(work.study, planned), places(planned), strict=True)
    records = [
        {
            "participant_id": participant_id,
            "ord": ord,
            "phase": step.phase,
            "screen": step.screen,
            "item": step.item,
            "condition": step.condition,
            "phase_number": part,
            "number_in_phase": number,
            "steps_in_phase": of,
            "nonce": secrets.token_urlsafe(12),
            "state": "pending",
            "views": 0,
        }
        for ord, (step, part, (number, of)) in enumerate(numbered, 1)
    ]
    work.connection.execute(NEW_STEPS, records[after:until])


def held_until(work: Transaction, *, proven: bool = True) -> int:
    """Until when a place is kept for somebody who does nothing from now on; not for long before the first answer."""
    seconds = work.study.spec.timing.hold_minutes * 60
    return work.now + micros(seconds if proven else min(seconds, FIRST_SECONDS))
