"""Earlier pages of a phase, looked at again where it may be leafed through; what was said stays as it was."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import bindparam, select

from verax.studies.model.screen import Question, with_names
from verax.studies.model.steps import Step
from verax.studies.store.participant.in_vain import keep
from verax.studies.store.participant.participant_view import (
    ANSWERED,
    Looked,
    Where,
    at_step,
    look_up,
    page_of,
)
from verax.studies.store.people import Transaction, lock
from verax.studies.store.tables import steps

LEAF = "leaf"
EARLIER = select(
    steps.c.phase, steps.c.screen, steps.c.item, steps.c.condition, steps.c.number_in_phase
).where(steps.c.participant_id == bindparam("who"), steps.c.ord == bindparam("ord"))


def leaf(work: Transaction, token_hash: str, ord: int) -> Where | None:
    """An earlier page of the phase where somebody is, noted as looked at; None where there is none to be seen."""
    person = lock(work, token_hash)
    row = look_up(work, token_hash)
    if person is None or row is None or page_of(row) != "active" or not 0 < ord < row.current:
        return None
    earlier = work.connection.execute(EARLIER, {"who": row.id, "ord": ord}).one_or_none()
    if earlier is None or earlier.phase != row.phase or not work.study.phases[row.phase].leaf:
        return None
    keep(work, person, ord, LEAF, {})
    return replace(
        at_step(work, row, None, _said(work, row, ord)),
        step=Step(earlier.phase, earlier.screen, earlier.item, earlier.condition),
        screen=work.study.screens[earlier.screen],
        number_in_phase=earlier.number_in_phase,
        nonce="",
        looking=ord,
    )


def _said(work: Transaction, row: Looked, ord: int) -> str | None:
    """What was answered there, in the words that stood on the page."""
    given = work.connection.execute(ANSWERED, {"participant_id": row.id, "ord": ord}).one_or_none()
    if given is None:
        return None
    by_name = {question.name: question for question in work.study.screens[given.screen].questions}
    words = [
        with_names(_label(by_name[name], position), row.names or ())
        for name, position in (given.positions or {}).items()
        if position is not None and name in by_name
    ]
    return ", ".join(words) or None


def _label(question: Question, position: int) -> str:
    return question.options[position - 1].label
