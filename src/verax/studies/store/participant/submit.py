"""A submission: one transaction that stores the answers and moves the participant on, or changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import BindParameter, bindparam, insert, select, update

from verax.studies.design.answer_order import shown_screen
from verax.studies.store.clock import SECOND
from verax.studies.store.participant.advance import GRACE, after_answers, after_limit, read_step
from verax.studies.store.participant.in_vain import keep
from verax.studies.store.participant.participant_view import Submitted
from verax.studies.store.participant.posted import check_answers, check_times, keepable
from verax.studies.store.people import Transaction, lock
from verax.studies.store.tables import participants, responses, steps

NEW_RESPONSE = insert(responses)
# Milliseconds that a simulated person would have looked at the page.
SIMULATED = "simulated_ms"
_back: BindParameter[int] = bindparam("back")
_own_steps = select(steps.c.id).where(steps.c.participant_id == bindparam("who"))
SHIFTS = (
    update(participants)
    .where(participants.c.id == bindparam("who"))
    .values(created_at=participants.c.created_at - _back, consented_at=participants.c.consented_at - _back),
    update(steps)
    .where(steps.c.participant_id == bindparam("who"))
    .values(opened_at=steps.c.opened_at - _back, closed_at=steps.c.closed_at - _back),
    update(responses)
    .where(responses.c.step_id.in_(_own_steps))
    .values(received_at=responses.c.received_at - _back),
)


def submit(
    work: Transaction,
    token_hash: str,
    ord: int,
    nonce: str,
    given: Mapping[str, str],
    client: Mapping[str, object],
) -> Submitted:
    """Stores the answers to the step that is due; whatever else arrives is kept as an event."""
    person = lock(work, token_hash)
    if person is None or person.status == "withdrawn" or not 1 <= ord <= person.steps:
        return Submitted()  # of who has left nothing more is kept
    step = read_step(work, person.id, ord)
    if step is None:
        return Submitted()
    if ord != person.current or nonce != step.nonce or step.state != "open" or person.status != "active":
        answered = nonce == step.nonce and step.state == "closed"
        keep(work, person, person.current, "duplicate" if answered else "stale", _sent(ord, given, client))
        return Submitted(duplicate=answered, in_vain=not person.is_bot)
    if person.is_bot:
        _pass_time(work, person.id, check_times(client).get(SIMULATED))
    late = step.deadline_at is not None and work.now > step.deadline_at + GRACE
    if late and work.study.phases[step.phase].late == "close":
        keep(work, person, ord, "late", _sent(ord, given, client))
        after_limit(work, person, step)
        return Submitted(in_vain=not person.is_bot)
    answers = check_answers(shown_screen(work.study, step.screen, person.answer_order), given)
    if answers.errors:
        keep(work, person, ord, "refused", _sent(ord, given, client) | {"errors": answers.errors})
        return Submitted(errors=answers.errors, in_vain=not person.is_bot)
    response = {
        "step_id": step.id,
        "answers": answers.meanings,
        "positions": answers.positions,
        "received_at": work.now,
        "late": late,
        "client": check_times(client),
    }
    work.connection.execute(NEW_RESPONSE, response)
    after_answers(work, person, step, answers.meanings)
    return Submitted(stored=True)


def _pass_time(work: Transaction, who: int, simulated: object) -> None:
    """Lets the time pass that a simulated person says it took: all that it did so far was that much earlier.

    Nobody waits for it, and the times of bots are still those of people; people's own times are the server's alone.
    """
    if not isinstance(simulated, int | float) or not simulated:
        return
    back = int(simulated * SECOND / 1000)
    values = {"who": who, "back": back}
    for shift in SHIFTS:
        work.connection.execute(shift, values)


def _sent(ord: int, given: Mapping[str, str], client: Mapping[str, object]) -> dict[str, object]:
    """What is not stored as a response, to be kept beside an event."""
    return {"ord": ord, "given": keepable(given), "client": keepable(client)}
