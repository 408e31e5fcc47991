"""Coming in: a token for a new participant, by link, by code, or from a platform that knows them."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, insert, select, update

from verax.errors import VeraxError
from verax.studies.design.allocation import choose_row
from verax.studies.model.study import Study
from verax.studies.store.participant.participant_view import Refused
from verax.studies.store.people import LOCK_STUDY, taken
from verax.studies.store.person_ids import Person
from verax.studies.store.tables import codes, participants, studies
from verax.studies.store.tokens import new_code, new_token, token_for, token_hash, typed_code
from verax.version import VERSION

MOST_CODES = 100_000

STUDY = select(studies.c.state, studies.c.secret, studies.c.consented).where(
    studies.c.id == bindparam("study_id")
)
CODE = (
    select(codes.c.code, codes.c.participant_id)
    .where(codes.c.code == bindparam("code"), codes.c.study_id == bindparam("study_id"))
    .with_for_update(key_share=True)
)
USE_CODE = (
    update(codes).where(codes.c.code == bindparam("used")).values(participant_id=bindparam("participant_id"))
)
KNOWN = select(participants.c.id, participants.c.status, participants.c.return_to).where(
    participants.c.study_id == bindparam("study_id"), participants.c.person_hash == bindparam("person_hash")
)
RETURN_TO = (
    update(participants)
    .where(participants.c.id == bindparam("who"), participants.c.status != "withdrawn")
    .values(return_to=bindparam("to"))
)
RECOGNISE = (
    update(participants).where(participants.c.id == bindparam("who")).values(person_hash=bindparam("hash"))
)
NEW_PARTICIPANT = insert(participants)


def enter(
    connection: Connection, study: Study, study_id: int, now: int, code: str | None, *, is_bot: bool
) -> str:
    """The token of a new participant, or of the one who came with this code before."""
    state = connection.execute(STUDY, {"study_id": study_id}).one()
    if code is None:
        if not is_bot and study.spec.entry != "link":
            raise Refused("code-needed" if study.spec.entry == "code" else "ids-needed")
        _check_open(connection, study, study_id, state.state, now, is_bot=is_bot)
        token = new_token()
        _add(connection, study_id, token, now, is_bot=is_bot)
        return token
    known = connection.execute(CODE, {"code": typed_code(code), "study_id": study_id}).one_or_none()
    if known is None:
        raise Refused("unknown-code")
    token = token_for(state.secret, known.code)
    if known.participant_id is None:
        _check_open(connection, study, study_id, state.state, now, is_bot=is_bot)
        participant_id = _add(connection, study_id, token, now, is_bot=is_bot, platform="code")
        connection.execute(USE_CODE, {"used": known.code, "participant_id": participant_id})
    return token


def enter_person(connection: Connection, study: Study, study_id: int, now: int, person: Person) -> str:
    """The token of somebody whom a platform sent: a new participant, or the one whom they were before."""
    keys = {"study_id": study_id, "person_hash": person.hash}
    known = connection.execute(KNOWN, keys).one_or_none()
    if known is None:
        # They may have come twice at the same moment: one is let in at a time, and looks again.
        state = connection.execute(LOCK_STUDY, {"study_id": study_id}).one()
        known = connection.execute(KNOWN, keys).one_or_none()
    if known is not None:
        if person.return_to is not None and known.return_to != dict(person.return_to):
            # Who gave a task back on MTurk and took it again has another assignment now.
            connection.execute(RETURN_TO, {"who": known.id, "to": dict(person.return_to)})
        return person.token
    _check_open(connection, study, study_id, state.state, now, is_bot=False)
    added = _add(connection, study_id, person.token, now, is_bot=False, platform=person.platform)
    connection.execute(RECOGNISE, {"who": added, "hash": person.hash})
    if person.return_to is not None:
        connection.execute(RETURN_TO, {"who": added, "to": dict(person.return_to)})
    return person.token


def make_codes(connection: Connection, study_id: int, now: int, count: int) -> list[str]:
    """New codes, each for one participant."""
    if not 1 <= count <= MOST_CODES:
        raise VeraxError(f"Between 1 and {MOST_CODES:,} codes can be made at once; {count:,} were asked for.")
    made: set[str] = set()
    while len(made) < count:
        made.add(new_code())
    connection.execute(
        insert(codes), [{"code": code, "study_id": study_id, "created_at": now} for code in sorted(made)]
    )
    return sorted(made)


def _check_open(
    connection: Connection, study: Study, study_id: int, state: str, now: int, *, is_bot: bool
) -> None:
    if state == "paused":
        raise Refused("paused")
    if state == "closed":
        raise Refused("closed")
    if not has_room(connection, study, study_id, now, is_bot=is_bot):
        raise Refused("full")


def has_room(connection: Connection, study: Study, study_id: int, now: int, *, is_bot: bool) -> bool:
    """Whether a place is free at the moment."""
    return choose_row(study.rows, taken(connection, study_id, now, is_bot=is_bot), 0, 0) is not None


def _add(
    connection: Connection, study_id: int, token: str, now: int, *, is_bot: bool, platform: str = "link"
) -> int:
    added = connection.execute(
        NEW_PARTICIPANT,
        {
            "study_id": study_id,
            "token_hash": token_hash(token),
            "status": "invited",
            "is_bot": is_bot,
            "phases": 0,
            "steps": 0,
            "current": 0,
            "version": VERSION,
            "created_at": now,
            "last_seen_at": now,
            "platform": platform,
        },
    ).inserted_primary_key
    assert added is not None
    participant_id: int = added[0]
    return participant_id
