"""Who has to wait for a place: the queue, and bounds on the places that one address holds before it has answered.

Somebody invents a hundred ids and takes all places of a study in seconds. So a place is first held for a short time
only; one address, and one network, holds some of the places at most before an answer was given there; and whoever
finds none waits in a queue instead of being sent away. Where somebody comes from is kept as a keyed hash, until their
first answer; all this is for those of whom it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, null, select

from verax.studies.design import allocation
from verax.studies.store.clock import micros
from verax.studies.store.people import CHANGE, Transaction, taken
from verax.studies.store.tables import participants

FIRST_SECONDS = 120  # for which a place is held until the first answer
FASTEST_SECONDS = 1.5  # in which nobody reads a question and answers it
# Of all places, at the most; a class behind one address takes them in turns.
PER_ADDRESS, PER_SUBNET = 1 / 3, 1 / 2
FEWEST_PER_ADDRESS, FEWEST_PER_SUBNET = 10, 20
WAITING_SECONDS = 90  # after which somebody who waits and shows no sign of life has gone
LOOK_AGAIN_SECONDS = 15

_of_study = participants.c.study_id == bindparam("study_id")
_holding = (
    _of_study,
    participants.c.status == "active",
    participants.c.hold_until > bindparam("now"),
)
_in_queue = (
    _of_study,
    participants.c.status == "full",
    participants.c.origin.is_not(None),
    participants.c.last_seen_at > bindparam("since"),
)
UNPROVEN = {
    name: select(func.count()).where(*_holding, participants.c[name] == bindparam("value"))
    for name in ("origin", "subnet")
}
MOST_FROM_ONE = (
    select(func.count().label("people"))
    .where(*_holding, participants.c.origin.is_not(None))
    .group_by(participants.c.origin)
    .order_by(func.count().desc())
    .limit(1)
)
HELD = select(func.count()).where(*_holding)
WAITING = select(func.count()).where(*_in_queue)
BEFORE = WAITING.where(participants.c.id < bindparam("who"))
SEEN = CHANGE.values(last_seen_at=bindparam("now"))
PROVE = CHANGE.values(origin=null(), subnet=null())


class Crowd(NamedTuple):
    """How many wait for a place, and how many places one address holds without an answer."""

    waiting: int
    from_one: int
    allowed: int


def is_crowded(work: Transaction, origin: str | None, subnet: str | None) -> bool:
    """Whether as many places as one address, or one network, may have are held from there without an answer."""
    bounds = {"origin": (origin, address_bound(work)), "subnet": (subnet, _subnet_bound(work))}
    for name, (value, most) in bounds.items():
        if value is not None and _count(work, UNPROVEN[name], value=value) >= most:
            return True
    return False


def address_bound(work: Transaction) -> int:
    """How many places may be held from one address without an answer."""
    return max(FEWEST_PER_ADDRESS, ceil(PER_ADDRESS * _places(work)))


def _subnet_bound(work: Transaction) -> int:
    return max(FEWEST_PER_SUBNET, ceil(PER_SUBNET * _places(work)))


def _places(work: Transaction) -> int:
    return sum(row.target for row in work.study.rows)


def queue_place(work: Transaction, participant_id: int) -> int:
    """The place in the queue, from 1, of somebody who waits; 0 where no place will ever be free."""
    return 1 + _waiting(work, BEFORE, who=participant_id) if may_wait(work) else 0


def is_next(work: Transaction, participant_id: int, *, is_bot: bool) -> bool:
    """Whether a place is free for somebody who waits, once all before them have theirs."""
    people = taken(work, is_bot=is_bot)
    people.at_door += _waiting(work, BEFORE, who=participant_id)
    return allocation.has_room(work.study.rows, people)


def may_wait(work: Transaction) -> bool:
    """Whether somebody may hope for a place: one is held and its holder may leave, or one waits for who came first."""
    return _count(work, HELD) > 0 or allocation.has_room(work.study.rows, taken(work, is_bot=False))


def keep_waiting(work: Transaction, participant_id: int) -> None:
    """Notes a sign of life of somebody in the queue."""
    work.connection.execute(SEEN, {"who": participant_id, "now": work.now})


def crowd(work: Transaction) -> Crowd:
    """What an experimenter should know of a crowd at the door."""
    keys = {"study_id": work.study_id, "now": work.now}
    from_one = work.connection.execute(MOST_FROM_ONE, keys).scalar() or 0
    return Crowd(_waiting(work, WAITING), from_one, address_bound(work))


def proves(work: Transaction, opened_at: int | None, screen: str) -> bool:
    """Whether an answer is one that nobody gives who only wants a place: to a question, and not in no time."""
    asked = bool(work.study.screens[screen].questions)
    return asked and opened_at is not None and work.now - opened_at >= micros(FASTEST_SECONDS)


def _waiting(work: Transaction, query: ColumnElement[int] | object, **more: int) -> int:
    return _count(work, query, since=work.now - micros(WAITING_SECONDS), **more)


def _count(work: Transaction, query: object, **more: object) -> int:
    keys: Mapping[str, object] = {"study_id": work.study_id, "now": work.now, **more}
    return int(work.connection.execute(query, keys).scalar_one())  # type: ignore[call-overload]
