"""Coming in: a token for a new participant, who may have been here before, and the consent.

A lab's computer has many people, so nobody is turned away for it; it is kept, and told with the answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import bindparam, insert, null, select, update

from verax.errors import VeraxError
from verax.installed import VERSION
from verax.studies.definition.languages import in_language, speaking_for, spoken_spec
from verax.studies.design import has_room
from verax.studies.display import wording
from verax.studies.protocol.common_steps import door_steps, participant_class_names, participant_steps
from verax.studies.store.identifiers import (
    PERSON_LENGTH,
    PlatformPerson,
    new_code,
    new_token,
    person_of_code,
    pseudonym,
    token_for,
    token_hash,
    typed_code,
)
from verax.studies.store.participant.participant_view import Refused
from verax.studies.store.participant.placing import (
    add_steps,
    held_until,
    is_crowded,
    is_next,
    may_wait,
    part_numbers,
    place,
)
from verax.studies.store.participant.steps import MOVE
from verax.studies.store.people import CHANGE, ParticipantRow, Transaction, lock, note, state_of, taken
from verax.studies.store.tables import codes, consents, events, participants, studies

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


def enter(
    work: Transaction,
    code: str | None,
    *,
    is_bot: bool,
    origin: Origin = None,
    language: str | None = None,
    link: str | None = None,
) -> str:
    """The token of a new participant, or of the one who came with this code before.

    Args:
        work: the transaction.
        code: one of `make_codes`.
        is_bot: a simulated person.
        origin: keyed hashes of the address and the network from which they come, where that is known.
        language: of their pages.
        link: by what they are known in other studies, until they say whether they agree to it.
    """
    told = _from(origin) | {"language": language}
    state, entry = state_of(work), work.study.spec.entry
    if code is None:
        if not is_bot and entry != "link":
            raise Refused("code-needed" if entry == "code" else "ids-needed")
        room = _check_open(work, state.state, is_bot=is_bot, waits=origin is not None)
        token = new_token()
        _add(work, token, {"is_bot": is_bot, "platform": "link"} | told, room=room)
        return token
    keys = {"code": typed_code(code), "study_id": work.study_id}
    known = work.connection.execute(CODE, keys).one_or_none()
    if known is None:
        raise Refused("unknown-code")
    token = token_for(state.secret, known.code)
    if known.participant_id is None:
        room = _check_open(work, state.state, is_bot=is_bot, waits=origin is not None)
        about = {"is_bot": is_bot, "platform": "code"} | ({} if link is None else {"link_hash": link})
        participant_id = _add(work, token, about | told, room=room)
        work.connection.execute(USE_CODE, {"used": known.code, "participant_id": participant_id})
    return token


def enter_person(
    work: Transaction,
    person: PlatformPerson,
    holds: str | None = None,
    origin: Origin = None,
    language: str | None = None,
) -> bool:
    """Lets in somebody whom a platform sent: a new participant, or the one whom they were before.

    Args:
        work: the transaction.
        person: who comes.
        holds: the hash of the token that their browser kept from before, if it did.
        origin: see `enter`.
        language: see `enter`.

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
        about |= {"language": language}
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


def make_codes(work: Transaction, count: int, again: Sequence[str] = ()) -> list[str]:
    """New codes, each for one participant.

    Args:
        work: the transaction.
        count: how many.
        again: codes of another study, whose people come again: as many new ones, which begin alike.
    """
    if again:
        people = [person_of_code(typed_code(code)) for code in again]
        if short := [code for code, person in zip(again, people, strict=True) if len(person) < PERSON_LENGTH]:
            raise VeraxError(f"{short[0]!r} is no code of a study; give a file with a code on each line.")
        records = [
            {"code": new_code(person), "study_id": work.study_id, "created_at": work.now} for person in people
        ]
        work.connection.execute(insert(codes), records)
        return [str(record["code"]) for record in records]
    if not 1 <= count <= MOST_CODES:
        raise VeraxError(f"Between 1 and {MOST_CODES:,} codes can be made at once; {count:,} were asked for.")
    made: dict[str, str] = {}
    while len(made) < count:
        code = new_code()
        made[person_of_code(code)] = code
    records = [
        {"code": code, "study_id": work.study_id, "created_at": work.now} for code in sorted(made.values())
    ]
    work.connection.execute(insert(codes), records)
    return sorted(made.values())


def has_free_place(work: Transaction, *, is_bot: bool) -> bool:
    """Whether a place is free at the moment."""
    return has_room(work.study.rows, taken(work, is_bot=is_bot))


def _check_open(work: Transaction, state: str, *, is_bot: bool, waits: bool) -> bool:
    """Whether a place is free now; if none is, but some are only held, people may wait for one."""
    if state == "paused":
        raise Refused("paused")
    if state == "closed":
        raise Refused("closed")
    if has_free_place(work, is_bot=is_bot):
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


def _begin(work: Transaction, person: ParticipantRow, number: int) -> None:
    """Gives the first steps: those before a row of the design is given, or all with the row."""
    study = work.study
    door = door_steps(in_language(study, person.language))
    # How long the way is can be told from any row.
    planned = participant_steps(study, study.rows[0], number, person.language)
    begun = {
        "who": person.id,
        "number": number,
        "names": list(participant_class_names(study, number, person.language)),
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


def _set_status(work: Transaction, person: ParticipantRow, status: str) -> None:
    work.connection.execute(SET_STATUS, {"who": person.id, "new_status": status, "now": work.now})


def _note(work: Transaction, person: ParticipantRow, *, agreed: bool) -> None:
    with speaking_for(work.study, person.language):
        text = "\n\n".join(wording.consent(spoken_spec(work.study)))
    decision = {
        "participant_id": person.id,
        "agreed": agreed,
        "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "at": work.now,
    }
    work.connection.execute(NEW_CONSENT, decision)
