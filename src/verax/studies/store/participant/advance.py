"""Moving on: which step comes next, what is passed over, and when a participant is done.

Everything here runs in a transaction that has locked the participant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, or_, select, update

from verax.studies.model.steps import Phase
from verax.studies.model.study import Study
from verax.studies.store.clock import SECOND, micros
from verax.studies.store.participant.consent import hold_micros
from verax.studies.store.tables import participants, responses, steps
from verax.studies.store.tokens import new_code

GRACE = 2 * SECOND  # what a page may take on its way after the deadline

_of_participant = steps.c.participant_id == bindparam("who")

STEP = select(
    steps.c.id, steps.c.ord, steps.c.phase, steps.c.screen, steps.c.nonce, steps.c.state, steps.c.deadline_at
).where(_of_participant, steps.c.ord == bindparam("ord"))
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
MOVE = (
    update(participants)
    .where(participants.c.id == bindparam("who"))
    .values(
        current=func.coalesce(_following, participants.c.current),
        hold_until=bindparam("hold_until"),
        last_seen_at=bindparam("now"),
    )
    .returning(participants.c.current)
)
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
COMPLETE = (
    update(participants)
    .where(participants.c.id == bindparam("who"), ~_unanswered)
    .values(
        status="complete",
        completion_code=bindparam("completion_code"),
        finished_at=bindparam("now"),
        last_seen_at=bindparam("now"),
    )
)
LEAVE = (
    update(participants)
    .where(participants.c.id == bindparam("who"))
    .values(status=bindparam("status"), finished_at=bindparam("now"), last_seen_at=bindparam("now"))
)


@dataclass(frozen=True)
class Mover:
    """Who moves, in what, and when: what every move needs."""

    connection: Connection
    study: Study
    participant_id: int
    now: int


def after_answers(mover: Mover, step: Any, answers: dict[str, Any]) -> None:
    """Moves on from a step whose answers were just stored."""
    mover.connection.execute(CLOSE, {"step_id": step.id, "new": "closed", "now": mover.now})
    screening = mover.study.screening
    if screening is not None and _is_test(mover.study, step):
        _judge(mover, step.ord, passed=screening.passed(answers))
    else:
        _go(mover, step.ord)


def after_limit(mover: Mover, step: Any) -> None:
    """Moves on from a step whose time is over: past it, and past its phase if the time of the phase is over."""
    phase = mover.study.phases[step.phase]
    if phase_is_over(mover, phase):
        mover.connection.execute(
            EXPIRE_PHASE,
            {
                "who": mover.participant_id,
                "from_ord": step.ord,
                "of_phase": phase.key,
                "now": mover.now,
            },
        )
    else:
        mover.connection.execute(CLOSE, {"step_id": step.id, "new": "expired", "now": mover.now})
    if _is_test(mover.study, step):
        _judge(mover, step.ord, passed=False)
    else:
        _go(mover, step.ord)


def phase_deadline(mover: Mover, phase: Phase) -> int | None:
    """When the time of the phase ends; None if it has no limit. A phase that nobody opened yet begins now."""
    if phase.session_seconds is None:
        return None
    opened = mover.connection.execute(
        PHASE_OPENED, {"who": mover.participant_id, "phase": phase.key}
    ).scalar()
    return (mover.now if opened is None else opened) + micros(phase.session_seconds)


def phase_is_over(mover: Mover, phase: Phase) -> bool:
    """Whether the time of the phase is over."""
    deadline = phase_deadline(mover, phase)
    return deadline is not None and mover.now >= deadline


def leave(mover: Mover, status: str) -> None:
    """Ends the participation without completing it; the place is free again."""
    mover.connection.execute(LEAVE, {"who": mover.participant_id, "status": status, "now": mover.now})


def _is_test(study: Study, step: Any) -> bool:
    """Whether it is a try at the screening test; its phase may show the instructions once more as well."""
    return study.phases[step.phase].kind == "screening" and bool(study.screens[step.screen].questions)


def _judge(mover: Mover, ord: int, *, passed: bool) -> None:
    """After a try at the screening test: past all later tries, to the next one, or out."""
    keys = [phase.key for phase in mover.study.phases.values() if phase.kind == "screening"]
    last = mover.connection.execute(
        LAST_TRY, {"who": mover.participant_id, "after": ord, "phases": keys}
    ).scalar()
    if last is None and not passed:
        leave(mover, "screened-out")
        return
    if last is not None and passed:
        mover.connection.execute(
            SKIP, {"who": mover.participant_id, "after": ord, "last": last, "now": mover.now}
        )
    _go(mover, ord)


def _go(mover: Mover, ord: int) -> None:
    """To the next step that waits; after the last one the participant is done and gets the completion code."""
    connection, now = mover.connection, mover.now
    hold_until = now + hold_micros(mover.study)
    moved_to = connection.execute(
        MOVE, {"who": mover.participant_id, "hold_until": hold_until, "now": now}
    ).scalar_one()
    if moved_to != ord:
        return
    done = connection.execute(
        COMPLETE, {"who": mover.participant_id, "completion_code": new_code(), "now": now}
    )
    if done.rowcount != 1:
        raise RuntimeError(f"Participant {mover.participant_id} has no step left, but an answer is missing.")
