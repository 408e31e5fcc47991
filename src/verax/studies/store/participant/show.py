"""What a participant is shown: the first display of a step fixes its times, later ones are only counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, update

from verax.studies.model.study import Study
from verax.studies.store.clock import micros
from verax.studies.store.database.engine import Database
from verax.studies.store.participant.advance import GRACE, STEP, Mover, after_limit, phase_deadline
from verax.studies.store.participant.consent import hold_micros
from verax.studies.store.participant.enter import has_room
from verax.studies.store.participant.participant_view import LOOK, Where, at_step, echo_of, page_of, waiting
from verax.studies.store.people import lock, note
from verax.studies.store.tables import participants, steps

LOOKS = 50  # more than tabs can be opened while a page is made

OPEN = (
    update(steps)
    .where(steps.c.id == bindparam("step_id"), steps.c.state == "pending")
    .values(state="open", opened_at=bindparam("now"), deadline_at=bindparam("deadline"), views=1)
)
VIEW = (
    update(steps)
    .where(steps.c.id == bindparam("step_id"), steps.c.state == "open")
    .values(views=steps.c.views + 1)
)
HOLD_AGAIN = (
    update(participants)
    .where(participants.c.id == bindparam("who"), participants.c.status == "active")
    .values(hold_until=bindparam("until"), last_seen_at=bindparam("now"))
)


@dataclass(frozen=True)
class Viewer:
    """Somebody who looks at their page."""

    database: Database
    study: Study
    study_id: int
    token_hash: str
    now: Callable[[], int]
    preview: bool


def look(viewer: Viewer) -> Where | None:
    """Where the participant is; nothing is counted as shown by this."""

    def glance(connection: Connection) -> Where | None:
        row = _row(viewer, connection)
        if row is None:
            return None
        status = page_of(row)
        if status == "active":
            echo = echo_of(connection, viewer.study, row)
            return at_step(viewer.study, row, row.deadline_at, viewer.now(), echo, preview=viewer.preview)
        return _waiting(viewer, connection, row)

    return viewer.database.read(glance)


def show(viewer: Viewer) -> Where | None:
    """What to draw now. Between looking and noting it, another tab may have moved on: then we look again."""
    for _ in range(LOOKS):
        seen = viewer.database.read(partial(_seen, viewer))
        if seen is None or isinstance(seen, Where):
            return seen
        row, echo = seen
        displayed = viewer.database.write(partial(_display, viewer, row))
        if displayed is not None:
            deadline_at, now = displayed
            return at_step(viewer.study, row, deadline_at, now, echo, preview=viewer.preview)
    raise RuntimeError(
        f"No step of participant {row.id} can be shown; the last one looked at was {row.current}."
    )


def _row(viewer: Viewer, connection: Connection) -> Any | None:
    keys = {"study_id": viewer.study_id, "token_hash": viewer.token_hash}
    return connection.execute(LOOK, keys).one_or_none()


def _seen(viewer: Viewer, connection: Connection) -> Where | tuple[Any, str | None] | None:
    row = _row(viewer, connection)
    if row is None:
        return None
    if page_of(row) == "active":
        return row, echo_of(connection, viewer.study, row)
    return _waiting(viewer, connection, row)


def _waiting(viewer: Viewer, connection: Connection, row: Any) -> Where:
    status = page_of(row)
    if (
        status == "full"
        and row.study_state == "open"
        and has_room(connection, viewer.study, viewer.study_id, viewer.now(), is_bot=row.is_bot)
    ):
        status = "consent"  # somebody left meanwhile
    return waiting(row, status, preview=viewer.preview)


def _display(viewer: Viewer, row: Any, connection: Connection) -> tuple[int | None, int] | None:
    """Notes that the step is on a page: its deadline and the time. None if it is not due any more."""
    now = viewer.now()
    mover = Mover(connection, viewer.study, row.id, now)
    # First the participant, then the step, as in a submission: or each could wait for what the other has locked.
    if row.hold_until <= now:
        _hold_again(viewer, connection, row, now)
    if row.state == "open":
        return _display_again(viewer, mover, row)
    phase = viewer.study.phases[row.phase]
    ends = phase_deadline(mover, phase)
    if phase.late == "close" and ends is not None and now >= ends:
        _pass_over(viewer, mover, row)
        return None
    limits = [] if ends is None else [ends]
    if phase.item_seconds is not None:
        limits.append(now + micros(phase.item_seconds))
    deadline = min(limits, default=None)
    opened = connection.execute(OPEN, {"step_id": row.step_id, "now": now, "deadline": deadline})
    return (deadline, now) if opened.rowcount else None


def _display_again(viewer: Viewer, mover: Mover, row: Any) -> tuple[int | None, int] | None:
    closes = viewer.study.phases[row.phase].late == "close"
    if closes and row.deadline_at is not None and mover.now > row.deadline_at + GRACE:
        _pass_over(viewer, mover, row)
        return None
    if mover.connection.execute(VIEW, {"step_id": row.step_id}).rowcount == 0:
        return None
    note(mover.connection, row.id, row.current, "reload", mover.now, {})
    return row.deadline_at, mover.now


def _pass_over(viewer: Viewer, mover: Mover, row: Any) -> None:
    person = lock(mover.connection, viewer.study_id, viewer.token_hash)
    if person is None or person.status != "active" or person.current != row.current:
        return  # somebody else was faster
    keys = {"who": row.id, "ord": row.current}
    after_limit(mover, mover.connection.execute(STEP, keys).one())


def _hold_again(viewer: Viewer, connection: Connection, row: Any, now: int) -> None:
    """Somebody came back after their place could be given away: they go on, and hold a place again."""
    until = now + hold_micros(viewer.study)
    if connection.execute(HOLD_AGAIN, {"who": row.id, "until": until, "now": now}).rowcount:
        note(connection, row.id, row.current, "resume", now, {})
