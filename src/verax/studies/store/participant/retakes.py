"""Who may have been here before: a browser in which somebody else took part already.

A lab's computer has many people, so nobody is turned away for it; it is kept, and told with the answers.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from verax.studies.store.people import Transaction, lock, note, state_of
from verax.studies.store.tables import events, participants
from verax.studies.store.tokens import pseudonym, token_hash

RETAKE = "suspected-retake"
# Who has seen nothing of the study yet cannot have learnt from it.
NOTHING_SEEN = ("invited", "full")

EARLIER = select(participants.c.status, participants.c.token_hash).where(
    participants.c.study_id == bindparam("study_id"), participants.c.token_hash == bindparam("value")
)
NOTED = select(events.c.participant_id, events.c.data).where(
    events.c.participant_id.in_(bindparam("people", expanding=True)), events.c.type == RETAKE
)


def note_retake(work: Transaction, token: str, earlier: str) -> None:
    """Keeps that whoever has a token came in a browser in which the owner of an earlier one took part."""
    if token == earlier:
        return
    before = work.connection.execute(
        EARLIER, {"study_id": work.study_id, "value": token_hash(earlier)}
    ).one_or_none()
    person = lock(work, token_hash(token))
    if before is None or person is None or before.status in NOTHING_SEEN:
        return
    if not retakes(work, [person.id]):
        name = pseudonym(state_of(work).secret, before.token_hash)
        note(work, person.id, 0, RETAKE, {"earlier": name, "status": before.status})


def retakes(work: Transaction, people: Iterable[int]) -> dict[int, str]:
    """By participant: who took part in the same browser before them."""
    noted = work.connection.execute(NOTED, {"people": list(people)})
    return {person: str(data["earlier"]) for person, data in noted}
