"""A submission: one transaction that stores the answers and moves the participant on, or changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert

from verax.studies.model.study import Study
from verax.studies.store.participant.advance import GRACE, STEP, Mover, after_answers, after_limit
from verax.studies.store.participant.participant_view import Submitted
from verax.studies.store.participant.posted import check_answers, check_times, keepable
from verax.studies.store.people import lock, note
from verax.studies.store.tables import responses

NEW_RESPONSE = insert(responses)


def submit(
    connection: Connection,
    study: Study,
    study_id: int,
    token_hash: str,
    now: int,
    ord: int,
    nonce: str,
    given: Mapping[str, str],
    client: Mapping[str, Any],
) -> Submitted:
    """Stores the answers to the step that is due; whatever else arrives is kept as an event."""
    person = lock(connection, study_id, token_hash)
    if person is None or person.status == "withdrawn" or not 1 <= ord <= person.steps:
        return Submitted()  # of who has left nothing more is kept
    step = connection.execute(STEP, {"who": person.id, "ord": ord}).one()
    if ord != person.current or nonce != step.nonce or step.state != "open" or person.status != "active":
        answered = nonce == step.nonce and step.state == "closed"
        note(
            connection,
            person.id,
            person.current,
            "duplicate" if answered else "stale",
            now,
            _sent(ord, given, client),
        )
        return Submitted(duplicate=answered)
    late = step.deadline_at is not None and now > step.deadline_at + GRACE
    mover = Mover(connection, study, person.id, now)
    if late and study.phases[step.phase].late == "close":
        note(connection, person.id, ord, "late", now, _sent(ord, given, client))
        after_limit(mover, step)
        return Submitted()
    answers = check_answers(study.screens[step.screen], given)
    if answers.errors:
        wrong = _sent(ord, given, client) | {"errors": answers.errors}
        note(connection, person.id, ord, "refused", now, wrong)
        return Submitted(errors=answers.errors)
    connection.execute(
        NEW_RESPONSE,
        {
            "step_id": step.id,
            "answers": answers.meanings,
            "positions": answers.positions,
            "received_at": now,
            "late": late,
            "client": check_times(client),
        },
    )
    after_answers(mover, step, answers.meanings)
    return Submitted(stored=True)


def _sent(ord: int, given: Mapping[str, str], client: Mapping[str, Any]) -> dict[str, Any]:
    """What is not stored as a response, to be kept beside an event."""
    return {"ord": ord, "given": keepable(given), "client": keepable(client)}
