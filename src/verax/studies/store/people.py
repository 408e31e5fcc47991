"""What all work on a study's people shares: transaction, locks, actions, places taken, and events within bounds.

Anybody can send the same page a thousand times. So there is a limit for each participant and one for the study, and
nobody's answers ever lack room because of what somebody else sent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    Table,
    and_,
    bindparam,
    case,
    false,
    func,
    insert,
    select,
    true,
    union_all,
    update,
)

from verax.studies.definition.study import Study
from verax.studies.design import Places, offered_again
from verax.studies.store.tables import actions, events, exclusions, participants, steps, studies

# How somebody is found: by their link, by what they were given at the end, or by the platform's id.
Known = Literal["token_hash", "completion_code", "person_hash"]


@dataclass(frozen=True)
class Transaction:
    """One piece of work in the database of a study.

    Attributes:
        connection: what it is done with.
        study: the frozen study.
        study_id: its number in the database.
        now: the moment of the work, in microseconds since 1970.
        preview: nothing here is for keeps.
    """

    connection: Connection
    study: Study
    study_id: int
    now: int
    preview: bool = False


class ParticipantRow(NamedTuple):
    """A participant whom nobody else can move until the end of the transaction."""

    id: int
    status: str
    is_bot: bool
    current: int
    steps: int
    number: int | None
    design_row: int | None
    answer_order: int | None
    events: int
    event_bytes: int
    origin: str | None
    subnet: str | None
    language: str | None


class StudyState(NamedTuple):
    """What changes of a study while it runs, and its secret."""

    state: str
    consented: int
    secret: str


class Action(NamedTuple):
    """What was done to a study: by whom, and when."""

    by: str
    type: str
    at: int
    data: Mapping[str, object]


def columns(table: Table, names: Iterable[str]) -> list[Column[object]]:
    """The columns of a table with these names, such as the fields of a record."""
    return [table.c[name] for name in names]


# PostgreSQL locks the row until the end of the transaction; in SQLite the transaction itself is the lock. The key
# stays free, so that a page view may note its event meanwhile.
_known_by: tuple[Known, ...] = ("token_hash", "completion_code", "person_hash")
LOCK_PARTICIPANT = {
    known: select(*columns(participants, ParticipantRow._fields))
    .where(participants.c[known] == bindparam("value"), participants.c.study_id == bindparam("study_id"))
    .with_for_update(key_share=True)
    for known in _known_by
}
STUDY = select(*columns(studies, StudyState._fields)).where(studies.c.id == bindparam("study_id"))
LOCK_STUDY = STUDY.with_for_update(key_share=True)
# A change of one participant.
CHANGE = update(participants).where(participants.c.id == bindparam("who"))

# Whether somebody is in the middle, but away for longer than a place is held.
HAS_LEFT = case(
    (and_(participants.c.status == "active", participants.c.hold_until <= bindparam("now")), true()),
    else_=false(),
)
# The step that is due.
AT_STEP = and_(steps.c.participant_id == participants.c.id, steps.c.ord == participants.c.current)
RULES = (
    select(exclusions.c.participant_id, exclusions.c.rule)
    .where(
        exclusions.c.participant_id.in_(bindparam("people", expanding=True)), exclusions.c.lifted_at.is_(None)
    )
    .order_by(exclusions.c.rule)
)
_people_by_row = (
    select(participants.c.design_row, participants.c.answer_order, func.count().label("people"))
    .where(participants.c.study_id == bindparam("study_id"), participants.c.is_bot == bindparam("is_bot"))
    .group_by(participants.c.design_row, participants.c.answer_order)
)
# In two parts, since the first one, which grows, is then answered by the index alone.
TAKEN = union_all(
    _people_by_row.where(participants.c.status == "complete"),
    _people_by_row.where(participants.c.status == "active", participants.c.hold_until > bindparam("now")),
)

# Who completed the study and is excluded by a rule.
_is_excluded = (
    select(exclusions.c.id)
    .where(exclusions.c.participant_id == participants.c.id, exclusions.c.lifted_at.is_(None))
    .exists()
)
EXCLUDED = _people_by_row.where(participants.c.status == "complete", _is_excluded)

# What experimenters do who look at conditions before the study is closed.
UNBLINDING = "unblinding"
UNBLINDED = select(actions.c.id).where(
    actions.c.study_id == bindparam("study_id"), actions.c.type == UNBLINDING
)

NOTE = insert(events)
ACT = insert(actions)
ACTED = (
    select(*columns(actions, Action._fields))
    .where(actions.c.study_id == bindparam("study_id"))
    .order_by(actions.c.id.desc())
    .limit(bindparam("last"))
)


def lock(work: Transaction, value: str, known: Known = "token_hash") -> ParticipantRow | None:
    """The participant, whom nobody else can move until the end of the transaction; None if there is none."""
    keys = {"study_id": work.study_id, "value": value}
    row = work.connection.execute(LOCK_PARTICIPANT[known], keys).one_or_none()
    return None if row is None else ParticipantRow._make(row)


def state_of(work: Transaction, *, lock: bool = False) -> StudyState:
    """The state of the study; if it is locked, arrivals wait for each other until the end of the transaction."""
    query = LOCK_STUDY if lock else STUDY
    return StudyState._make(work.connection.execute(query, {"study_id": work.study_id}).one())


def is_blind(work: Transaction) -> bool:
    """Whether conditions are hidden from experimenters: until the study is closed, or somebody unblinds it."""
    if state_of(work).state == "closed":
        return False
    keys = {"study_id": work.study_id}
    return work.connection.execute(UNBLINDED, keys).first() is None


def note(work: Transaction, participant_id: int, ord: int, type: str, data: object) -> None:
    """Keeps an event."""
    event = {"participant_id": participant_id, "ord": ord, "type": type, "at": work.now, "data": data}
    work.connection.execute(NOTE, event)


def act(work: Transaction, by: str, type: str, data: Mapping[str, object]) -> None:
    """Keeps what was done to the study, and by whom."""
    action = {"study_id": work.study_id, "by": by, "type": type, "at": work.now, "data": dict(data)}
    work.connection.execute(ACT, action)


def acted(work: Transaction, last: int) -> list[Action]:
    """The last actions, the latest first."""
    rows = work.connection.execute(ACTED, {"study_id": work.study_id, "last": last})
    return [Action._make(row) for row in rows]


def taken(work: Transaction, *, is_bot: bool) -> Places:
    """Who completed a row of the design, or is at it and holds the place. Bots never take the place of a person."""
    counted = Places()
    keys = {"study_id": work.study_id, "is_bot": is_bot, "now": work.now}
    for row, order, people in work.connection.execute(TAKEN, keys):
        counted.add(row, order, people)
    spec = work.study.spec
    if spec.exclusion and spec.replace_excluded and not is_bot:
        _offer_again(work, counted)
    return counted


def _offer_again(work: Transaction, counted: Places) -> None:
    """Frees places of people whom a rule excludes, up to the limit; orders are to be even among those who are kept."""
    keys = {"study_id": work.study_id, "is_bot": False}
    excluded: Counter[int] = Counter()
    for row, order, people in work.connection.execute(EXCLUDED, keys):
        excluded[row] += people
        if order is not None:
            counted.orders[row, order] -= people
    for one in work.study.rows:
        freed = offered_again(one, excluded[one.number], work.study.spec.replace_excluded)
        counted.rows[one.number] -= freed


def rules_in_force(work: Transaction, people: Iterable[int]) -> dict[int, list[str]]:
    """By participant: the exclusion rules that hold, if any does."""
    rules: dict[int, list[str]] = {}
    for person, rule in work.connection.execute(RULES, {"people": list(people)}):
        rules.setdefault(person, []).append(rule)
    return rules


MOST_EVENTS = 300  # of one participant
MOST_BYTES = 128 * 1024  # of one participant's events
MOST_STUDY_BYTES = 64 * 1024 * 1024  # of all events of a study
MOST_RELOADS = 50  # of one page; the step itself counts how often it was seen
OVERHEAD = 100  # bytes that a row takes besides

RESERVE = (
    update(studies)
    .where(studies.c.id == bindparam("study"), studies.c.event_bytes + bindparam("size") <= bindparam("most"))
    .values(event_bytes=studies.c.event_bytes + bindparam("size"))
)
RELEASE = (
    update(studies)
    .where(studies.c.id == bindparam("study"))
    .values(event_bytes=studies.c.event_bytes - bindparam("size"))
)
KEPT = CHANGE.values(
    events=participants.c.events + 1, event_bytes=participants.c.event_bytes + bindparam("size")
)
UNKEPT = CHANGE.values(unkept=participants.c.unkept + 1)


def note_rejected(work: Transaction, person: ParticipantRow, ord: int, type: str, data: object) -> None:
    """Keeps what somebody, who is locked, sent; or counts it, once there is no room."""
    size = OVERHEAD + len(json.dumps(data, ensure_ascii=False).encode())
    if _may_keep(work, person, size):
        note(work, person.id, ord, type, data)
        work.connection.execute(KEPT, {"who": person.id, "size": size})
    else:
        work.connection.execute(UNKEPT, {"who": person.id})


def _may_keep(work: Transaction, person: ParticipantRow, size: int) -> bool:
    if person.events >= MOST_EVENTS or person.event_bytes + size > MOST_BYTES:
        return False
    reserved = {"study": work.study_id, "size": size, "most": MOST_STUDY_BYTES}
    return work.connection.execute(RESERVE, reserved).rowcount == 1
