"""What a participant is shown: the first display of a step fixes its times, later ones are only counted."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import bindparam, update

from verax.studies.store.clock import micros
from verax.studies.store.participant.advance import GRACE, after_limit, phase_deadline, read_step
from verax.studies.store.participant.feedback import Tally, final_tally, training_tally
from verax.studies.store.participant.in_vain import MOST_RELOADS
from verax.studies.store.participant.participant_view import (
    Looked,
    Where,
    at_step,
    echo_of,
    look_up,
    page_of,
    waiting,
)
from verax.studies.store.participant.placing import held_until
from verax.studies.store.participant.queueing import is_crowded, is_next, queue_place
from verax.studies.store.people import CHANGE, Transaction, lock, note
from verax.studies.store.tables import participants, steps

OPEN = (
    update(steps)
    .where(steps.c.id == bindparam("step_id"), steps.c.state == "pending")
    .values(state="open", opened_at=bindparam("now"), deadline_at=bindparam("deadline"), views=1)
)
VIEW = (
    update(steps)
    .where(steps.c.id == bindparam("step_id"), steps.c.state == "open")
    .values(views=steps.c.views + 1)
    .returning(steps.c.views)
)
HOLD_AGAIN = CHANGE.where(participants.c.status == "active").values(
    hold_until=bindparam("until"), last_seen_at=bindparam("now")
)


class Due(NamedTuple):
    """A step that is to be displayed."""

    row: Looked
    echo: str | None
    tally: Tally | None = None


def look(work: Transaction, token_hash: str) -> Where | None:
    """Where the participant is; nothing is counted as shown by this."""
    seen = find(work, token_hash)
    return _at(work, seen, seen.row.deadline_at) if isinstance(seen, Due) else seen


def find(work: Transaction, token_hash: str) -> Where | Due | None:
    """Where the participant is, or the step that is due; it is not displayed yet."""
    row = look_up(work, token_hash)
    if row is None:
        return None
    status = page_of(row)
    if status == "active":
        echo = echo_of(work, row)
        return Due(row, echo, None if echo is None else training_tally(work, row.id, row.phase, row.screen))
    queue = 0
    if status == "full" and row.study_state == "open":
        if is_next(work, row.id, is_bot=row.is_bot) and not is_crowded(work, row.origin, row.subnet):
            status = "consent"  # somebody left meanwhile
        elif row.origin is not None:
            queue = queue_place(work, row.id)
    where = replace(waiting(work, row, status), queue=queue)
    return replace(where, tally=final_tally(work, row.id)) if status == "complete" else where


def display(work: Transaction, due: Due, token_hash: str) -> Where | None:
    """Notes that the step is on a page, and fixes its deadline; None if it is not due any more."""
    row = due.row
    # First the participant, then the step, as in a submission: or each could wait for what the other has locked.
    if row.hold_until <= work.now:
        _hold_again(work, row)
    phase = work.study.phases[row.phase]
    closes = phase.late == "close"
    if row.state == "open":
        if closes and row.deadline_at is not None and work.now > row.deadline_at + GRACE:
            _pass_over(work, row, token_hash)
            return None
        views = work.connection.execute(VIEW, {"step_id": row.step_id}).scalar()
        if views is None:
            return None
        if views <= MOST_RELOADS:
            note(work, row.id, row.current, "reload", {})
        return _at(work, due, row.deadline_at)
    ends = phase_deadline(work, row.id, phase)
    if closes and ends is not None and work.now >= ends:
        _pass_over(work, row, token_hash)
        return None
    limits = [] if ends is None else [ends]
    if phase.item_seconds is not None:
        limits.append(work.now + micros(phase.item_seconds))
    deadline = min(limits, default=None)
    keys = {"step_id": row.step_id, "now": work.now, "deadline": deadline}
    opened = work.connection.execute(OPEN, keys)
    return _at(work, due, deadline) if opened.rowcount else None


def _at(work: Transaction, due: Due, deadline: int | None) -> Where:
    """The step, and what its deadline ends: the page alone if it has a limit of its own that comes first."""
    phase = work.study.phases[due.row.phase]
    ends_page = deadline is not None and phase.item_seconds is not None
    if ends_page and phase.session_seconds is not None:
        ends_page = deadline != phase_deadline(work, due.row.id, phase)
    return at_step(work, due.row, deadline, due.echo, page=ends_page, tally=due.tally)


def _pass_over(work: Transaction, row: Looked, token_hash: str) -> None:
    person = lock(work, token_hash)
    if person is None or person.status != "active" or person.current != row.current:
        return  # somebody else was faster
    step = read_step(work, row.id, row.current)
    if step is not None:
        after_limit(work, person, step)


def _hold_again(work: Transaction, row: Looked) -> None:
    """Somebody came back after their place could be given away: they go on, and hold a place again."""
    keys = {"who": row.id, "until": held_until(work, proven=row.origin is None), "now": work.now}
    if work.connection.execute(HOLD_AGAIN, keys).rowcount:
        note(work, row.id, row.current, "resume", {})
