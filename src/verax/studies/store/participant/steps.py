"""A participant's steps: shown, answered in one transaction, moved on from, and looked at again.

Everything here runs in a transaction that has locked the participant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import BindParameter, and_, bindparam, func, insert, or_, select, update

from verax.studies.definition.own_pages import hidden_by
from verax.studies.definition.own_questions import FIRST
from verax.studies.definition.screen import Question, with_names
from verax.studies.definition.study import Phase, Screening, Step
from verax.studies.design import shown_screen
from verax.studies.protocol.common_steps import OWN
from verax.studies.store.clock import SECOND, micros
from verax.studies.store.identifiers import new_code
from verax.studies.store.participant.participant_view import (
    ANSWERED,
    CurrentStep,
    ParticipantView,
    Submitted,
    Tally,
    at_step,
    echo_of,
    final_tally,
    look_up,
    page_of,
    training_tally,
    waiting,
)
from verax.studies.store.participant.placing import (
    PROVE,
    held_until,
    is_crowded,
    is_next,
    is_over_quota,
    place,
    proves,
    queue_place,
)
from verax.studies.store.participant.posted import check_answers, check_times, keepable
from verax.studies.store.people import (
    CHANGE,
    MOST_RELOADS,
    ParticipantRow,
    Transaction,
    columns,
    lock,
    note,
    note_rejected,
)
from verax.studies.store.tables import participants, responses, steps

LARGEST = 2**31  # numbers of steps are smaller
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
LOCK_AT = (
    select(
        *columns(participants, ParticipantRow._fields),
        *(column.label(f"step_{column.name}") for column in columns(steps, StepRow._fields)),
    )
    .outerjoin_from(
        participants,
        steps,
        and_(steps.c.participant_id == participants.c.id, steps.c.ord == bindparam("ord")),
    )
    .where(participants.c.token_hash == bindparam("value"), participants.c.study_id == bindparam("study_id"))
    .with_for_update(key_share=True, of=participants)
)
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
# Pages of one's own that somebody's answers rule out.
HIDE = (
    update(steps)
    .where(
        _of_participant,
        steps.c.ord > bindparam("after"),
        steps.c.screen.in_(bindparam("screens", expanding=True)),
        steps.c.state == "pending",
    )
    .values(state="skipped", closed_at=bindparam("now"))
)
ANSWERED_FIRST = (
    select(steps.c.ord, steps.c.screen, responses.c.answers)
    .join_from(steps, responses)
    .where(_of_participant, steps.c.phase == OWN + FIRST)
    .order_by(steps.c.ord)
)
PENDING = (
    select(steps.c.id)
    .where(_of_participant, steps.c.ord > bindparam("after"), steps.c.state == "pending")
    .limit(1)
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
OVER_QUOTA = CHANGE.values(status="over-quota", finished_at=bindparam("now"), last_seen_at=bindparam("now"))
SCREEN_OUT = CHANGE.values(status="screened-out", finished_at=bindparam("now"), last_seen_at=bindparam("now"))


def read_step(work: Transaction, participant_id: int, ord: int) -> StepRow | None:
    """A step of a participant, who is locked; None if it is not planned yet."""
    row = work.connection.execute(STEP, {"who": participant_id, "ord": ord}).one_or_none()
    return None if row is None else StepRow._make(row)


def after_answers(
    work: Transaction, person: ParticipantRow, step: StepRow, answers: Mapping[str, str | int | float | None]
) -> None:
    """Moves on from a step whose answers were just stored."""
    work.connection.execute(CLOSE, {"step_id": step.id, "new": "closed", "now": work.now})
    if person.origin is not None and proves(work, step.opened_at, step.screen):
        work.connection.execute(PROVE, {"who": person.id})
        person = person._replace(origin=None, subnet=None)
    _hide(work, person.id, step.ord, step.screen, answers)
    if is_over_quota(work, person, step.screen, answers):
        work.connection.execute(OVER_QUOTA, {"who": person.id, "now": work.now})
        return
    judged = _judged(work, step)
    _go_on(work, person, step, passed=judged is not None and judged.passed(answers))


def _hide(
    work: Transaction, who: int, ord: int, screen: str, answers: Mapping[str, str | int | float | None]
) -> None:
    """Passes over the later pages of one's own that are shown after other answers."""
    study = work.study
    hidden = hidden_by(study.spec.questions, study.screens, screen, answers) if study.spec.questions else []
    if hidden:
        # The pages of the language that is read begin as this one does.
        language = screen.removesuffix(screen.rpartition("/")[2])
        keys = {"screens": [f"{language}{page}" for page in hidden], "now": work.now}
        work.connection.execute(HIDE, {"who": who, "after": ord} | keys)


def after_limit(work: Transaction, person: ParticipantRow, step: StepRow) -> None:
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


def _go_on(work: Transaction, person: ParticipantRow, step: StepRow, *, passed: bool) -> None:
    """To the next step; after a try at the screening test past all later tries or to the next one.

    Who never passes it is out; who has done all that comes before a row of the design is given gets one now.
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
    waits = person.design_row is None and person.number is not None
    if waits and work.connection.execute(PENDING, {"who": person.id, "after": step.ord}).first() is None:
        if not place(work, person):
            return
        for answered in work.connection.execute(ANSWERED_FIRST, {"who": person.id}).all():
            _hide(work, person.id, answered.ord, answered.screen, answered.answers)
    _go(work, person, step)


def _judged(work: Transaction, step: StepRow) -> Screening | None:
    """How a try at the screening test is judged; None for any other step, as the instructions that are shown again."""
    is_try = work.study.phases[step.phase].kind == "screening" and work.study.screens[step.screen].questions
    return work.study.screening if is_try else None


def _go(work: Transaction, person: ParticipantRow, step: StepRow) -> None:
    """To the next step that waits; after the last one the participant is done and gets the completion code."""
    who = {"who": step.participant_id, "now": work.now}
    until = held_until(work, proven=person.origin is None)
    moved_to = work.connection.execute(MOVE, who | {"hold_until": until}).scalar_one()
    if moved_to != step.ord:
        return
    done = work.connection.execute(COMPLETE, who | {"completion_code": new_code()})
    if done.rowcount != 1:
        raise RuntimeError(f"Participant {step.participant_id} has no step left, but an answer is missing.")


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

    row: CurrentStep
    echo: str | None
    tally: Tally | None = None


def look(work: Transaction, token_hash: str) -> ParticipantView | None:
    """Where the participant is; nothing is counted as shown by this."""
    seen = find(work, token_hash)
    return _at(work, seen, seen.row.deadline_at) if isinstance(seen, Due) else seen


def find(work: Transaction, token_hash: str) -> ParticipantView | Due | None:
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


def display(work: Transaction, due: Due, token_hash: str) -> ParticipantView | None:
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


def _at(work: Transaction, due: Due, deadline: int | None) -> ParticipantView:
    """The step, and what its deadline ends: the page alone if it has a limit of its own that comes first."""
    phase = work.study.phases[due.row.phase]
    ends_page = deadline is not None and phase.item_seconds is not None
    if ends_page and phase.session_seconds is not None:
        ends_page = deadline != phase_deadline(work, due.row.id, phase)
    return at_step(work, due.row, deadline, due.echo, page=ends_page, tally=due.tally)


def _pass_over(work: Transaction, row: CurrentStep, token_hash: str) -> None:
    person = lock(work, token_hash)
    if person is None or person.status != "active" or person.current != row.current:
        return  # somebody else was faster
    step = read_step(work, row.id, row.current)
    if step is not None:
        after_limit(work, person, step)


def _hold_again(work: Transaction, row: CurrentStep) -> None:
    """Somebody came back after their place could be given away: they go on, and hold a place again."""
    keys = {"who": row.id, "until": held_until(work, proven=row.origin is None), "now": work.now}
    if work.connection.execute(HOLD_AGAIN, keys).rowcount:
        note(work, row.id, row.current, "resume", {})


NEW_RESPONSE = insert(responses)
# Milliseconds that a simulated person would have looked at the page.
SIMULATED = "simulated_ms"
_back: BindParameter[int] = bindparam("back")
_own_steps = select(steps.c.id).where(steps.c.participant_id == bindparam("who"))
SHIFTS = (
    update(participants)
    .where(participants.c.id == bindparam("who"))
    .values(created_at=participants.c.created_at - _back, consented_at=participants.c.consented_at - _back),
    update(steps)
    .where(steps.c.participant_id == bindparam("who"))
    .values(opened_at=steps.c.opened_at - _back, closed_at=steps.c.closed_at - _back),
    update(responses)
    .where(responses.c.step_id.in_(_own_steps))
    .values(received_at=responses.c.received_at - _back),
)


def submit(
    work: Transaction,
    token_hash: str,
    ord: int,
    nonce: str,
    given: Mapping[str, str],
    client: Mapping[str, object],
) -> Submitted:
    """Stores the answers to the step that is due; whatever else arrives is kept as an event."""
    person, step = _lock_at(work, token_hash, ord)
    if person is None or person.status == "withdrawn" or not 1 <= ord <= person.steps:
        return Submitted()  # of who has left nothing more is kept
    if step is None:
        return Submitted()
    if not _is_due(person, step, nonce):
        answered = nonce == step.nonce and step.state == "closed"
        note_rejected(
            work, person, person.current, "duplicate" if answered else "stale", _sent(ord, given, client)
        )
        return Submitted(duplicate=answered, rejected=not person.is_bot)
    if person.is_bot:
        _pass_time(work, person.id, check_times(client).get(SIMULATED))
    late = step.deadline_at is not None and work.now > step.deadline_at + GRACE
    if late and work.study.phases[step.phase].late == "close":
        note_rejected(work, person, ord, "late", _sent(ord, given, client))
        after_limit(work, person, step)
        return Submitted(rejected=not person.is_bot)
    answers = check_answers(shown_screen(work.study, step.screen, person.answer_order), given)
    if answers.errors:
        note_rejected(work, person, ord, "refused", _sent(ord, given, client) | {"errors": answers.errors})
        return Submitted(errors=answers.errors, rejected=not person.is_bot)
    response = {
        "step_id": step.id,
        "answers": answers.meanings,
        "positions": answers.positions,
        "received_at": work.now,
        "late": late,
        "client": check_times(client),
    }
    work.connection.execute(NEW_RESPONSE, response)
    after_answers(work, person, step, answers.meanings)
    return Submitted(stored=True)


def _is_due(person: ParticipantRow, step: StepRow, nonce: str) -> bool:
    return (
        step.ord == person.current
        and step.nonce == nonce
        and step.state == "open"
        and person.status == "active"
    )


def _lock_at(work: Transaction, token_hash: str, ord: int) -> tuple[ParticipantRow | None, StepRow | None]:
    """The participant, locked, and one of their steps.

    Where PostgreSQL waited for the lock it has the participant as they are then, but the step as it was before. A step
    never closes without the participant moving on, so one that is open and due is both; any other is read again.
    """
    # A number that no step has may be larger than the database can hold.
    keys = {"study_id": work.study_id, "value": token_hash, "ord": ord if 0 < ord < LARGEST else 0}
    row = work.connection.execute(LOCK_AT, keys).one_or_none()
    if row is None:
        return None, None
    many = len(ParticipantRow._fields)
    person = ParticipantRow._make(row[:many])
    if row[many] is not None:
        step = StepRow._make(row[many:])
        if _is_due(person, step, step.nonce):
            return person, step
    return person, read_step(work, person.id, ord) if 1 <= ord <= person.steps else None


def _pass_time(work: Transaction, who: int, simulated: object) -> None:
    """Lets the time pass that a simulated person says it took: all that it did so far was that much earlier.

    Nobody waits for it, and the times of bots are still those of people; people's own times are the server's alone.
    """
    if not isinstance(simulated, int | float) or not simulated:
        return
    back = int(simulated * SECOND / 1000)
    values = {"who": who, "back": back}
    for shift in SHIFTS:
        work.connection.execute(shift, values)


def _sent(ord: int, given: Mapping[str, str], client: Mapping[str, object]) -> dict[str, object]:
    """What is not stored as a response, to be kept beside an event."""
    return {"ord": ord, "given": keepable(given), "client": keepable(client)}


LEAF = "leaf"
EARLIER = select(
    steps.c.phase, steps.c.screen, steps.c.item, steps.c.condition, steps.c.number_in_phase
).where(steps.c.participant_id == bindparam("who"), steps.c.ord == bindparam("ord"))


def leaf(work: Transaction, token_hash: str, ord: int) -> ParticipantView | None:
    """An earlier page of the phase where somebody is, noted as looked at; None where there is none to be seen."""
    person = lock(work, token_hash)
    row = look_up(work, token_hash)
    if person is None or row is None or page_of(row) != "active" or not 0 < ord < row.current:
        return None
    earlier = work.connection.execute(EARLIER, {"who": row.id, "ord": ord}).one_or_none()
    if earlier is None or earlier.phase != row.phase or not work.study.phases[row.phase].leaf:
        return None
    note_rejected(work, person, ord, LEAF, {})
    return replace(
        at_step(work, row, None, _said(work, row, ord)),
        step=Step(earlier.phase, earlier.screen, earlier.item, earlier.condition),
        screen=work.study.screens[earlier.screen],
        number_in_phase=earlier.number_in_phase,
        nonce="",
        looking=ord,
    )


def _said(work: Transaction, row: CurrentStep, ord: int) -> str | None:
    """What was answered there, in the words that stood on the page."""
    given = work.connection.execute(ANSWERED, {"participant_id": row.id, "ord": ord}).one_or_none()
    if given is None:
        return None
    by_name = {question.name: question for question in work.study.screens[given.screen].questions}
    words = [
        with_names(_label(by_name[name], position), row.names or ())
        for name, position in (given.positions or {}).items()
        if position is not None and name in by_name
    ]
    return ", ".join(words) or None


def _label(question: Question, position: int) -> str:
    return question.options[position - 1].label
