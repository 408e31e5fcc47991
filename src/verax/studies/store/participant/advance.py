"""Moving on: which step comes next, what is passed over, and when a participant is done.

Everything here runs in a transaction that has locked the participant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import bindparam, func, or_, select, update

from verax.studies.model.steps import Phase, Screening
from verax.studies.store.clock import SECOND, micros
from verax.studies.store.participant.placing import held_until, place
from verax.studies.store.participant.queueing import PROVE, proves
from verax.studies.store.people import CHANGE, Person, Transaction, columns
from verax.studies.store.tables import participants, responses, steps
from verax.studies.store.tokens import new_code

GRACE = 2 * SECOND  # what a page may take on its way after the deadline


class StepRow(NamedTuple):
    """A step of a participant as it is stored."""

    id: int
    participant_id: int
    ord: int
    phase: str
    screen: str
    nonce: str
    state: str
    deadline_at: int | None
    opened_at: int | None


_of_participant = steps.c.participant_id == bindparam("who")

STEP = select(*columns(steps, StepRow._fields)).where(_of_participant, steps.c.ord == bindparam("ord"))
PHASE_OPENED = select(func.min(steps.c.opened_at)).where(_of_participant, steps.c.phase == bindparam("phase"))
CLOSE = (
    update(steps)
    .where(steps.c.id == bindparam("step_id"))
    .values(state=bindparam("new"), closed_at=bindparam("now"))
)
LAST_TRY = select(func.max(steps.c.ord)).where(
    _of_participant,
    steps.c.ord > bindparam("after"),
    steps.c.phase.in_(bindparam("phases", expanding=True)),
    steps.c.state == "pending",
)
SKIP = (
    update(steps)
    .where(
        _of_participant,
        steps.c.ord > bindparam("after"),
        steps.c.ord <= bindparam("last"),
        steps.c.state == "pending",
    )
    .values(state="skipped", closed_at=bindparam("now"))
)
EXPIRE_PHASE = (
    update(steps)
    .where(
        _of_participant,
        steps.c.ord >= bindparam("from_ord"),
        steps.c.phase == bindparam("of_phase"),
        or_(steps.c.state == "pending", steps.c.state == "open"),
    )
    .values(state="expired", closed_at=bindparam("now"))
)
_following = (
    select(func.min(steps.c.ord))
    .where(steps.c.participant_id == participants.c.id, steps.c.ord > participants.c.current)
    .where(steps.c.state == "pending")
    .scalar_subquery()
)
MOVE = CHANGE.values(
    current=func.coalesce(_following, participants.c.current),
    hold_until=bindparam("hold_until"),
    last_seen_at=bindparam("now"),
).returning(participants.c.current)
# The code is given only if no step is left and every closed one has its response: the database itself sees to it.
_unanswered = (
    select(steps.c.id)
    .outerjoin_from(steps, responses)
    .where(
        steps.c.participant_id == participants.c.id,
        or_(
            steps.c.state.in_(["pending", "open"]),
            (steps.c.state == "closed") & responses.c.step_id.is_(None),
        ),
    )
    .exists()
)
COMPLETE = CHANGE.where(~_unanswered).values(
    status="complete",
    completion_code=bindparam("completion_code"),
    finished_at=bindparam("now"),
    last_seen_at=bindparam("now"),
)
SCREEN_OUT = CHANGE.values(status="screened-out", finished_at=bindparam("now"), last_seen_at=bindparam("now"))


def read_step(work: Transaction, participant_id: int, ord: int) -> StepRow | None:
    """A step of a participant, who is locked; None if it is not planned yet."""
    row = work.connection.execute(STEP, {"who": participant_id, "ord": ord}).one_or_none()
    return None if row is None else StepRow._make(row)


def after_answers(
    work: Transaction, person: Person, step: StepRow, answers: Mapping[str, str | int | float | None]
) -> None:
    """Moves on from a step whose answers were just stored."""
    work.connection.execute(CLOSE, {"step_id": step.id, "new": "closed", "now": work.now})
    if person.origin is not None and proves(work, step.opened_at, step.screen):
        work.connection.execute(PROVE, {"who": person.id})
        person = person._replace(origin=None, subnet=None)
    judged = _judged(work, step)
    _go_on(work, person, step, passed=judged is not None and judged.passed(answers))


def after_limit(work: Transaction, person: Person, step: StepRow) -> None:
    """Moves on from a step whose time is over: past it, and past its phase if the time of the phase is over."""
    phase = work.study.phases[step.phase]
    ends = phase_deadline(work, step.participant_id, phase)
    if ends is not None and work.now >= ends:
        keys = {"who": step.participant_id, "from_ord": step.ord, "of_phase": phase.key, "now": work.now}
        work.connection.execute(EXPIRE_PHASE, keys)
    else:
        work.connection.execute(CLOSE, {"step_id": step.id, "new": "expired", "now": work.now})
    _go_on(work, person, step, passed=False)


def phase_deadline(work: Transaction, participant_id: int, phase: Phase) -> int | None:
    """When the time of the phase ends; None if it has no limit. A phase that nobody opened yet begins now."""
    if phase.session_seconds is None:
        return None
    opened = work.connection.execute(PHASE_OPENED, {"who": participant_id, "phase": phase.key}).scalar()
    return (work.now if opened is None else opened) + micros(phase.session_seconds)


def _go_on(work: Transaction, person: Person, step: StepRow, *, passed: bool) -> None:
    """To the next step; after a try at the screening test past all later tries or to the next one.

    Who never passes it is out; who passes it before a row of the design was given gets one now.
    """
    if _judged(work, step) is not None:
        keys = [phase.key for phase in work.study.phases.values() if phase.kind == "screening"]
        after = {"who": step.participant_id, "after": step.ord}
        last = work.connection.execute(LAST_TRY, after | {"phases": keys}).scalar()
        if last is None and not passed:
            work.connection.execute(SCREEN_OUT, {"who": step.participant_id, "now": work.now})
            return
        if last is not None and passed:
            work.connection.execute(SKIP, after | {"last": last, "now": work.now})
        waits = passed and person.design_row is None and person.number is not None
        if waits and not place(work, person):
            return
    _go(work, person, step)


def _judged(work: Transaction, step: StepRow) -> Screening | None:
    """How a try at the screening test is judged; None for any other step, as the instructions that are shown again."""
    is_try = work.study.phases[step.phase].kind == "screening" and work.study.screens[step.screen].questions
    return work.study.screening if is_try else None


def _go(work: Transaction, person: Person, step: StepRow) -> None:
    """To the next step that waits; after the last one the participant is done and gets the completion code."""
    who = {"who": step.participant_id, "now": work.now}
    until = held_until(work, proven=person.origin is None)
    moved_to = work.connection.execute(MOVE, who | {"hold_until": until}).scalar_one()
    if moved_to != step.ord:
        return
    done = work.connection.execute(COMPLETE, who | {"completion_code": new_code()})
    if done.rowcount != 1:
        raise RuntimeError(f"Participant {step.participant_id} has no step left, but an answer is missing.")
