"""Coming in: a token for a new participant, by link or by code."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, insert, select, update

from verax import __version__
from verax.errors import VeraxError
from verax.studies.allocation import choose_row
from verax.studies.store.people import taken
from verax.studies.store.tables import codes, participants, studies
from verax.studies.store.tokens import new_code, new_token, token_for, token_hash, typed_code
from verax.studies.store.where import Refused
from verax.studies.study import Study

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
NEW_PARTICIPANT = insert(participants)


def enter(
    connection: Connection, study: Study, study_id: int, now: int, code: str | None, *, is_bot: bool
) -> str:
    """The token of a new participant, or of the one who came with this code before."""
    state = connection.execute(STUDY, {"study_id": study_id}).one()
    if code is None:
        if study.spec.entry == "code":
            raise Refused("code-needed")
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
        participant_id = _add(connection, study_id, token, now, is_bot=is_bot)
        connection.execute(USE_CODE, {"used": known.code, "participant_id": participant_id})
    return token


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


def _add(connection: Connection, study_id: int, token: str, now: int, *, is_bot: bool) -> int:
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
            "version": __version__,
            "created_at": now,
            "last_seen_at": now,
        },
    ).inserted_primary_key
    assert added is not None
    participant_id: int = added[0]
    return participant_id
