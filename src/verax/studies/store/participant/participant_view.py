"""Where a participant is, and what came of a submission: what the store tells the web layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, and_, bindparam, select

from verax.errors import VeraxError
from verax.studies.model.screen import Screen, with_names
from verax.studies.model.steps import Phase, Step
from verax.studies.model.study import Study
from verax.studies.store.clock import SECOND, from_micros
from verax.studies.store.tables import participants, responses, steps, studies

Status = Literal["consent", "active", "complete", "screened-out", "full", "declined", "withdrawn", "paused"]
Reason = Literal["full", "closed", "paused", "unknown-code", "code-needed", "ids-needed"]

SENTENCES: Mapping[Reason, str] = {
    "full": "All places of this study are taken.",
    "closed": "This study is closed.",
    "paused": "This study is paused; please come back later.",
    "unknown-code": "This code is not known; please check that it is typed as it was given.",
    "code-needed": "This study is open to those who have a code; please type yours.",
    "ids-needed": "This study is open to those whom its platform sends; please open it from there.",
}


class Refused(VeraxError):  # noqa: N818
    """Somebody cannot enter the study; `reason` says why in one word."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(SENTENCES[reason])
        self.reason = reason


@dataclass(frozen=True)
class Where:
    """What a participant sees now.

    Attributes:
        status: which page: the step only if "active".
        participant: the participant's number in the database.
        ord: which step is due, from 1; 0 before the consent.
        steps: how many there are.
        step, screen, phase: what to draw.
        nonce: to be sent back with the answers.
        names: what the classes are called for this participant.
        phase_number, phases: the part's place, from 1 (0 if the step is in no part), and how many parts there are, as
            participants count them; see `verax.studies.store.participant.numbering`.
        number_in_phase, steps_in_phase: the item's place in its phase, from 1, and how many items there are; pages
            where the step has no item.
        deadline, seconds_left: if the step has a limit and was displayed; never below 0.
        echo: the answer to the step before, as the participant read it, where the screen shows it.
        completion_code: once everything is answered and stored.
        preview: nothing here is for keeps.
    """

    status: Status
    participant: int
    ord: int = 0
    steps: int = 0
    step: Step | None = None
    screen: Screen | None = None
    nonce: str = ""
    names: tuple[str, ...] = ()
    phase: Phase | None = None
    phase_number: int = 0
    phases: int = 0
    number_in_phase: int = 0
    steps_in_phase: int = 0
    deadline: datetime | None = None
    seconds_left: float | None = None
    echo: str | None = None
    completion_code: str | None = None
    preview: bool = False


@dataclass(frozen=True)
class Submitted:
    """What came of a submission; in any case the participant goes where `Store.show` says.

    Attributes:
        stored: the answers are on the disk.
        duplicate: this step was answered before; what was sent now is kept as an event.
        errors: by question: what is wrong, in a sentence; nothing was stored.
    """

    stored: bool = False
    duplicate: bool = False
    errors: Mapping[str, str] = field(default_factory=dict, hash=False)


LOOK = (
    select(
        participants.c.id,
        participants.c.status,
        participants.c.is_bot,
        participants.c.current,
        participants.c.steps,
        participants.c.phases,
        participants.c.names,
        participants.c.hold_until,
        participants.c.completion_code,
        studies.c.state.label("study_state"),
        steps.c.id.label("step_id"),
        steps.c.phase,
        steps.c.screen,
        steps.c.item,
        steps.c.condition,
        steps.c.phase_number,
        steps.c.number_in_phase,
        steps.c.steps_in_phase,
        steps.c.nonce,
        steps.c.state,
        steps.c.deadline_at,
    )
    .join_from(participants, studies)
    .outerjoin(
        steps, and_(steps.c.participant_id == participants.c.id, steps.c.ord == participants.c.current)
    )
    .where(participants.c.token_hash == bindparam("token_hash"), studies.c.id == bindparam("study_id"))
)

ANSWERED = (
    select(steps.c.screen, responses.c.answers, responses.c.positions)
    .join_from(steps, responses)
    .where(steps.c.participant_id == bindparam("participant_id"), steps.c.ord == bindparam("ord"))
)


def page_of(row: Any) -> Status:
    """Which page a participant gets, from a row of `LOOK`."""
    match row.status:
        case "invited" | "full" if row.study_state == "closed":
            return "full"
        case "invited":
            return "paused" if row.study_state == "paused" else "consent"
        case "active":
            return "paused" if row.study_state == "paused" else "active"
    status: Status = row.status
    return status


def waiting(row: Any, status: Status, *, preview: bool) -> Where:
    """Where a participant is who has no step to do now."""
    return Where(
        status=status,
        participant=row.id,
        ord=row.current,
        steps=row.steps,
        names=tuple(row.names or ()),
        phases=row.phases,
        completion_code=row.completion_code,
        preview=preview,
    )


def at_step(
    study: Study, row: Any, deadline_at: int | None, now: int, echo: str | None, *, preview: bool
) -> Where:
    """Where a participant is who has a step to do."""
    return Where(
        status="active",
        participant=row.id,
        ord=row.current,
        steps=row.steps,
        step=Step(row.phase, row.screen, row.item, row.condition),
        screen=study.screens[row.screen],
        nonce=row.nonce,
        names=tuple(row.names),
        phase=study.phases[row.phase],
        phase_number=row.phase_number,
        phases=row.phases,
        number_in_phase=row.number_in_phase,
        steps_in_phase=row.steps_in_phase,
        deadline=None if deadline_at is None else from_micros(deadline_at),
        seconds_left=None if deadline_at is None else max(0.0, (deadline_at - now) / SECOND),
        echo=echo,
        preview=preview,
    )


def echo_of(connection: Connection, study: Study, row: Any) -> str | None:
    """What the participant answered to the step before, in the words that stood on the page."""
    name = study.screens[row.screen].echo
    if not name:
        return None
    before = connection.execute(ANSWERED, {"participant_id": row.id, "ord": row.current - 1}).one_or_none()
    if before is None or before.answers.get(name) is None:
        return None
    position = before.positions.get(name)
    if position is None:
        return str(before.answers[name])
    question = next(question for question in study.screens[before.screen].questions if question.name == name)
    return with_names(question.options[position - 1].label, row.names)
