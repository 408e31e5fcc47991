"""Coming in: a token for a new participant, by link, by code, or from a platform that knows them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, insert, select, update

from verax.errors import VeraxError
from verax.studies.design import allocation
from verax.studies.store.participant.participant_view import Refused
from verax.studies.store.participant.queueing import may_wait
from verax.studies.store.people import CHANGE, Transaction, state_of, taken
from verax.studies.store.person_ids import PlatformPerson
from verax.studies.store.tables import codes, participants
from verax.studies.store.tokens import new_code, new_token, token_for, token_hash, typed_code
from verax.version import VERSION

MOST_CODES = 100_000

CODE = (
    select(codes.c.code, codes.c.participant_id)
    .where(codes.c.code == bindparam("code"), codes.c.study_id == bindparam("study_id"))
    .with_for_update(key_share=True)
)
USE_CODE = (
    update(codes).where(codes.c.code == bindparam("used")).values(participant_id=bindparam("participant_id"))
)
KNOWN = select(
    *(participants.c[name] for name in ("id", "steps", "token_hash", "return_to", "session_hash"))
).where(
    participants.c.study_id == bindparam("study_id"), participants.c.person_hash == bindparam("person_hash")
)
RETURN_TO = CHANGE.where(participants.c.status != "withdrawn").values(return_to=bindparam("to"))
BIND = CHANGE.where(participants.c.status != "withdrawn").values(session_hash=bindparam("session"))
NEW_PARTICIPANT = insert(participants)


Origin = tuple[str, str] | None


def enter(work: Transaction, code: str | None, *, is_bot: bool, origin: Origin = None) -> str:
    """The token of a new participant, or of the one who came with this code before.

    Args:
        work: the transaction.
        code: one of `make_codes`.
        is_bot: a simulated person.
        origin: keyed hashes of the address and the network from which they come, where that is known.
    """
    state, entry = state_of(work), work.study.spec.entry
    if code is None:
        if not is_bot and entry != "link":
            raise Refused("code-needed" if entry == "code" else "ids-needed")
        room = _check_open(work, state.state, is_bot=is_bot, waits=origin is not None)
        token = new_token()
        _add(work, token, {"is_bot": is_bot, "platform": "link"} | _from(origin), room=room)
        return token
    keys = {"code": typed_code(code), "study_id": work.study_id}
    known = work.connection.execute(CODE, keys).one_or_none()
    if known is None:
        raise Refused("unknown-code")
    token = token_for(state.secret, known.code)
    if known.participant_id is None:
        room = _check_open(work, state.state, is_bot=is_bot, waits=origin is not None)
        participant_id = _add(work, token, {"is_bot": is_bot, "platform": "code"} | _from(origin), room=room)
        work.connection.execute(USE_CODE, {"used": known.code, "participant_id": participant_id})
    return token


def enter_person(
    work: Transaction, person: PlatformPerson, holds: str | None = None, origin: Origin = None
) -> bool:
    """Lets in somebody whom a platform sent: a new participant, or the one whom they were before.

    Args:
        work: the transaction.
        person: who comes.
        holds: the hash of the token that their browser kept from before, if it did.
        origin: see `enter`.

    Returns:
        Whether they may know the token: they are new, have it already, or nothing is there that it could delete.

    Raises:
        Refused: nobody can enter now, or this person has begun with another session of the platform's: whoever knows
            a platform's id must not get into the place of its owner.
    """
    keys = {"study_id": work.study_id, "person_hash": person.hash}
    known = work.connection.execute(KNOWN, keys).one_or_none()
    if known is None:
        # They may have come twice at the same moment: one is let in at a time, and looks again.
        state = state_of(work, lock=True)
        known = work.connection.execute(KNOWN, keys).one_or_none()
    return_to = None if person.return_to is None else dict(person.return_to)
    if known is None:
        room = _check_open(work, state.state, is_bot=False, waits=origin is not None)
        about = {"is_bot": False, "platform": person.platform, "person_hash": person.hash, **_from(origin)}
        about |= {"session_hash": person.session} if person.session is not None else {}
        # Until they say whether they agree to it; who does not has none.
        about |= {"link_hash": person.link} if person.link is not None else {}
        about |= {"return_to": return_to} if return_to is not None else {}
        _add(work, person.token, about, room=room)
        return True
    owns = holds == known.token_hash
    if person.session not in (None, known.session_hash):
        # Who came before sessions were noted is bound to the first one after that.
        if not owns and known.session_hash is not None:
            raise Refused("other-session")
        work.connection.execute(BIND, {"who": known.id, "session": person.session})
    if return_to is not None and known.return_to != return_to:
        # Who gave a task back on MTurk and took it again has another assignment now.
        work.connection.execute(RETURN_TO, {"who": known.id, "to": return_to})
    return owns or person.session is None or known.steps == 0


def is_known(work: Transaction, person: PlatformPerson) -> bool:
    """Whether somebody whom a platform sent was here before."""
    keys = {"study_id": work.study_id, "person_hash": person.hash}
    return work.connection.execute(KNOWN, keys).one_or_none() is not None


def make_codes(work: Transaction, count: int) -> list[str]:
    """New codes, each for one participant."""
    if not 1 <= count <= MOST_CODES:
        raise VeraxError(f"Between 1 and {MOST_CODES:,} codes can be made at once; {count:,} were asked for.")
    made: set[str] = set()
    while len(made) < count:
        made.add(new_code())
    records = [{"code": code, "study_id": work.study_id, "created_at": work.now} for code in sorted(made)]
    work.connection.execute(insert(codes), records)
    return sorted(made)


def has_room(work: Transaction, *, is_bot: bool) -> bool:
    """Whether a place is free at the moment."""
    return allocation.has_room(work.study.rows, taken(work, is_bot=is_bot))


def _check_open(work: Transaction, state: str, *, is_bot: bool, waits: bool) -> bool:
    """Whether a place is free now; if none is, but some are only held, people may wait for one."""
    if state == "paused":
        raise Refused("paused")
    if state == "closed":
        raise Refused("closed")
    if has_room(work, is_bot=is_bot):
        return True
    if not waits or not may_wait(work):
        raise Refused("full")
    return False


def _from(origin: Origin) -> dict[str, object]:
    return {} if origin is None else {"origin": origin[0], "subnet": origin[1]}


def _add(work: Transaction, token: str, about: Mapping[str, object], *, room: bool = True) -> int:
    record = {
        "study_id": work.study_id,
        "token_hash": token_hash(token),
        "status": "invited" if room else "full",
        "phases": 0,
        "steps": 0,
        "current": 0,
        "version": VERSION,
        "created_at": work.now,
        "last_seen_at": work.now,
        **about,
    }
    added = work.connection.execute(NEW_PARTICIPANT, record).inserted_primary_key
    assert added is not None
    participant_id: int = added[0]
    return participant_id
