"""A place in the design: who has to wait for one, which row a participant takes, and the steps that follow.

Somebody invents a hundred ids and takes all places of a study in seconds. So a place is first held for a short time
only; one address, and one network, holds some of the places at most before an answer was given there; and whoever
finds none waits in a queue instead of being sent away. Where somebody comes from is kept as a keyed hash, until their
first answer; all this is for those of whom it is known.

Everything here runs in a transaction that has locked the participant.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, insert, null, or_, select

from verax.studies.definition.own_pages import names
from verax.studies.definition.own_questions import Quota
from verax.studies.definition.study import Step, Study
from verax.studies.design import choose_order, choose_row, has_room, order_count
from verax.studies.protocol.common_steps import door_steps, participant_steps
from verax.studies.store.clock import micros
from verax.studies.store.people import CHANGE, ParticipantRow, Transaction, state_of, taken
from verax.studies.store.tables import exclusions, participants, responses, steps


def part_numbers(study: Study, planned: Sequence[Step]) -> list[int]:
    """By step: the number of its part, from 1; 0 for what is in no part, as the debriefing.

    Instructions are in the part that follows them, and all attempts at the screening test are one part.
    """
    parts: list[str | None] = []
    following: str | None = None
    for step in reversed(planned):
        kind = study.phases[step.phase].kind
        if kind == "debrief":
            following = None
        elif kind != "instructions":
            following = kind if kind == "screening" else step.phase
        parts.append(following)
    parts.reverse()
    numbers = {part: number for number, part in enumerate(dict.fromkeys(filter(None, parts)), 1)}
    return [0 if part is None else numbers[part] for part in parts]


def places(planned: Sequence[Step]) -> list[tuple[int, int]]:
    """By step: its place in its phase, from 1, and how many there are.

    Steps with an item count items, since an item may have several steps (the guess and the answer); others count pages.
    """
    numbered: list[tuple[int, int]] = []
    for _, together in groupby(planned, key=lambda step: step.phase):
        run = list(together)
        items = list(dict.fromkeys(step.item for step in run if step.item is not None))
        pages = sum(step.item is None for step in run)
        page = 0
        for step in run:
            page += step.item is None
            numbered.append((page, pages) if step.item is None else (items.index(step.item) + 1, len(items)))
    return numbered


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
_by_origin = select(participants.c.subnet, participants.c.origin, func.count()).group_by(
    participants.c.subnet, participants.c.origin
)
HELD_BY_ORIGIN = _by_origin.where(*_holding, participants.c.origin.is_not(None))
BEFORE_BY_ORIGIN = _by_origin.where(*_in_queue, participants.c.id < bindparam("who"))
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
    return 1 + _before(work, participant_id) if may_wait(work) else 0


def is_next(work: Transaction, participant_id: int, *, is_bot: bool) -> bool:
    """Whether a place is free for somebody who waits, once all before them have theirs."""
    people = taken(work, is_bot=is_bot)
    people.at_door += _before(work, participant_id)
    return has_room(work.study.rows, people)


def _before(work: Transaction, participant_id: int) -> int:
    """How many in front of somebody in the queue may have a place: of a crowd from one address only some.

    The others of that crowd would hold up everybody behind them for as long as a program lets them wait.
    """
    keys = {"study_id": work.study_id, "now": work.now}
    since = work.now - micros(WAITING_SECONDS)
    waiting = work.connection.execute(BEFORE_BY_ORIGIN, keys | {"since": since, "who": participant_id}).all()
    if not waiting:
        return 0
    held: Counter[str] = Counter()
    for subnet, origin, people in work.connection.execute(HELD_BY_ORIGIN, keys):
        held[origin] += people
        held[subnet] += people
    allowed: Counter[str] = Counter()  # by network
    for subnet, origin, people in waiting:
        allowed[subnet] += min(people, max(0, address_bound(work) - held[origin]))
    return sum(min(people, max(0, _subnet_bound(work) - held[subnet])) for subnet, people in allowed.items())


def may_wait(work: Transaction) -> bool:
    """Whether somebody may hope for a place: one is held and its holder may leave, or one waits for who came first."""
    return _count(work, HELD) > 0 or has_room(work.study.rows, taken(work, is_bot=False))


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


PLACE = CHANGE.values(
    design_row=bindparam("design_row"),
    answer_order=bindparam("answer_order"),
    phases=bindparam("phases"),
    steps=bindparam("steps"),
)
FULL = CHANGE.values(status="full", last_seen_at=bindparam("now"))
NEW_STEPS = insert(steps)


def place(work: Transaction, person: ParticipantRow, number: int | None = None) -> bool:
    """Gives a row of the design with all steps that are left; without a free one the participant finds it full."""
    study, seed = work.study, work.study.spec.seed
    number = person.number if number is None else number
    assert number is not None
    state_of(work, lock=True)  # one after the other: each sees the places that all before it took
    people = taken(work, is_bot=person.is_bot)
    row = choose_row(study.rows, people.rows, seed, number)
    if row is None:
        work.connection.execute(FULL, {"who": person.id, "now": work.now})
        return False
    planned = participant_steps(study, row, number, person.language)
    given = {
        "who": person.id,
        "design_row": row.number,
        "answer_order": choose_order(order_count(study), row, people, seed, number),
        "phases": max(part_numbers(study, planned)),
        "steps": len(planned),
    }
    work.connection.execute(PLACE, given)
    add_steps(work, person.id, planned, after=len(door_steps(study)))
    return True


# What people with a place of their own, or on the way to one, answered to a page; who is excluded has none.
_excluded = (
    select(exclusions.c.id)
    .where(exclusions.c.participant_id == participants.c.id, exclusions.c.lifted_at.is_(None))
    .exists()
)
ANSWERED_BY_OTHERS = (
    select(responses.c.answers)
    .join_from(steps, responses)
    .join(participants, participants.c.id == steps.c.participant_id)
    .where(
        _of_study,
        participants.c.is_bot == bindparam("bots"),
        participants.c.id != bindparam("who"),
        steps.c.screen.in_(bindparam("screens", expanding=True)),
        or_(
            (participants.c.status == "complete") & ~_excluded,
            (participants.c.status == "active") & (participants.c.hold_until > bindparam("now")),
        ),
    )
)


def is_over_quota(
    work: Transaction, person: ParticipantRow, screen: str, answers: Mapping[str, object]
) -> bool:
    """Whether as many people as a quota takes have given the same answer before."""
    limits = [quota for quota in work.study.spec.quotas if quota.question in answers]
    if not limits:
        return False
    state_of(work, lock=True)  # one after the other, as places are taken
    plain = screen.rpartition("/")[2]
    keys = {
        "study_id": work.study_id,
        "bots": person.is_bot,
        "who": person.id,
        # In all languages of the study: a quota is of people, whatever they read.
        "screens": [plain, *(f"{language}/{plain}" for language in work.study.editions)],
        "now": work.now,
    }
    others = list(work.connection.execute(ANSWERED_BY_OTHERS, keys).scalars())
    return any(exceeds(work.study, quota, answers, others) for quota in limits)


def exceeds(
    study: Study, quota: Quota, answers: Mapping[str, object], others: Sequence[Mapping[str, object]]
) -> bool:
    """Whether a quota is full for somebody with these answers, given those of the others who count."""
    own = answers[quota.question]
    option = next(
        option
        for screen in study.screens.values()
        for question in screen.questions
        if question.name == quota.question
        for option in question.options
        if option.means == own
    )
    most = next((most for answer, most in quota.most.items() if answer in names(option)), None)
    return most is not None and sum(other.get(quota.question) == own for other in others) >= most


def add_steps(
    work: Transaction,
    participant_id: int,
    planned: Sequence[Step],
    *,
    after: int = 0,
    until: int | None = None,
) -> None:
    """Stores the planned steps behind the first so many, up to a certain one."""
    records = step_records(work.study, participant_id, planned)
    work.connection.execute(NEW_STEPS, records[after:until])


def step_records(study: Study, participant_id: int, planned: Sequence[Step]) -> list[dict[str, object]]:
    """The steps as rows of their table, each with its part and its place there, as participants count them."""
    numbered = zip(planned, part_numbers(study, planned), places(planned), strict=True)
    return [
        {
            "participant_id": participant_id,
            "ord": ord,
            "phase": step.phase,
            "screen": step.screen,
            "item": step.item,
            "condition": step.condition,
            "phase_number": part,
            "number_in_phase": number,
            "steps_in_phase": of,
            "nonce": secrets.token_urlsafe(12),
            "state": "pending",
            "views": 0,
        }
        for ord, (step, part, (number, of)) in enumerate(numbered, 1)
    ]


def held_until(work: Transaction, *, proven: bool = True) -> int:
    """Until when a place is kept for somebody who does nothing from now on; not for long before the first answer."""
    seconds = work.study.spec.timing.hold_minutes * 60
    return work.now + micros(seconds if proven else min(seconds, FIRST_SECONDS))
