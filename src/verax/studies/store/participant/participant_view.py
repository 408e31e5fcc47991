"""Where a participant is, what came of a submission, and how right they were: what the store tells the web layer.

Nobody is told while a measure is still to come: a score between two rounds of predictions would teach what the
explanations are there to teach. In a training the model's answer is shown in any case, and on the last page all answers
are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from sqlalchemy import and_, bindparam, select

from verax.errors import VeraxError
from verax.studies.definition.languages import in_language
from verax.studies.definition.screen import Meaning, Screen, with_names
from verax.studies.definition.study import Phase, Step
from verax.studies.design import shown_screen
from verax.studies.protocol.contract import Protocol, make_protocol
from verax.studies.store.clock import SECOND, from_micros
from verax.studies.store.people import Transaction, columns
from verax.studies.store.tables import participants, responses, steps, studies

GIVEN = (
    select(steps.c.ord, steps.c.item, responses.c.answers)
    .join_from(steps, responses)
    .where(
        steps.c.participant_id == bindparam("who"),
        steps.c.phase.in_(bindparam("phases", expanding=True)),
        steps.c.item.is_not(None),
    )
    .order_by(steps.c.ord)
)


@dataclass(frozen=True)
class Tally:
    """How many answers were right, of how many; ``last`` is whether the latest was."""

    right: int
    answers: int
    last: bool = False


def training_tally(work: Transaction, participant: int, phase: str, screen: str) -> Tally | None:
    """What is said where an answer of a training is repeated beside the model's; None on other pages."""
    protocol = make_protocol(work.study.spec.protocol)
    if work.study.phases[phase].kind != "training" or work.study.screens[screen].echo != protocol.scored:
        return None
    return _tally(work, participant, [phase], protocol)


def final_tally(work: Transaction, participant: int) -> Tally | None:
    """All answers that count; None where the spec keeps it to itself, or nothing was answered."""
    if not work.study.spec.about.score:
        return None
    phases = [phase.key for phase in work.study.phases.values() if phase.kind == "test"]
    return _tally(work, participant, phases, make_protocol(work.study.spec.protocol))


def _tally(work: Transaction, participant: int, phases: Iterable[str], protocol: Protocol) -> Tally | None:
    rows = work.connection.execute(GIVEN, {"who": participant, "phases": list(phases)}).all()
    scored = [
        protocol.is_right(work.study.items[item], given[protocol.scored])
        for _, item, given in rows
        if _is_given(given, protocol.scored)
    ]
    return Tally(sum(scored), len(scored), scored[-1]) if scored else None


def _is_given(answers: Mapping[str, Meaning | None], name: str) -> bool:
    return answers.get(name) is not None


Status = Literal[
    "consent", "active", "complete", "screened-out", "over-quota", "full", "declined", "withdrawn", "paused"
]
Reason = Literal["full", "closed", "paused", "unknown-code", "code-needed", "ids-needed", "other-session"]

PAGES: Mapping[str, Status] = {status: status for status in get_args(Status)}
SENTENCES: Mapping[Reason, str] = {
    "full": "All places of this study are taken.",
    "closed": "This study is closed.",
    "paused": "This study is paused; please come back later.",
    "unknown-code": "This code is not known; please check that it is typed as it was given.",
    "code-needed": "This study is open to those who have a code; please type yours.",
    "other-session": "This person has begun the study with another session; please go on where you began.",
    "ids-needed": "This study is open to those whom its platform sends; please open it from there.",
}


class Refused(VeraxError):  # noqa: N818
    """Somebody cannot enter the study; `reason` says why in one word."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(SENTENCES[reason])
        self.reason = reason


@dataclass(frozen=True)
class ParticipantView:
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
            participants count them; see `verax.studies.store.participant.placing`.
        number_in_phase, steps_in_phase: the item's place in its phase, from 1, and how many items there are; pages
            where the step has no item.
        deadline, seconds_left: if the step has a limit and was displayed; never below 0.
        limited: what ends at the deadline: this "page", or the whole "part".
        echo: the answer to the step before, as the participant read it, where the screen shows it.
        tally: how many answers were right: so far, on a page of a training that says so; of all, at the very end.
        completion_code: once everything is answered and stored.
        preview: nothing here is for keeps.
        queue: the place in the queue of somebody who waits for a place, from 1; 0 for everybody else.
        hidden_question: whether the page has a question that people do not see.
        looking: an earlier step of the phase that is looked at again in place of the one that is due; 0 for none.
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
    limited: Literal["page", "part"] = "part"
    echo: str | None = None
    tally: Tally | None = None
    completion_code: str | None = None
    preview: bool = False
    queue: int = 0
    hidden_question: bool = False
    looking: int = 0

    @property
    def earlier(self) -> int:
        """The page before the one that is shown, if this phase may be leafed through; 0 for none."""
        shown = self.looking or self.ord
        return shown - 1 if self.phase is not None and self.phase.leaf and self.number_in_phase > 1 else 0


@dataclass(frozen=True)
class Submitted:
    """What came of a submission; in any case the participant goes where `Store.show` says.

    Attributes:
        stored: the answers are on the disk.
        duplicate: this step was answered before; what was sent now is kept as an event.
        errors: by question: what is wrong, in a sentence; nothing was stored.
        rejected: a person, not a bot, sent something that was no answer to the step that is due.
    """

    stored: bool = False
    duplicate: bool = False
    rejected: bool = field(default=False, compare=False)
    errors: Mapping[str, str] = field(default_factory=dict, hash=False)


class CurrentStep(NamedTuple):
    """A participant, the state of the study, and the step that is due; before the consent there is none."""

    id: int
    status: str
    is_bot: bool
    current: int
    steps: int
    phases: int
    names: list[str] | None
    hold_until: int
    completion_code: str | None
    answer_order: int | None
    study_state: str
    step_id: int
    phase: str
    screen: str
    item: str | None
    condition: str | None
    phase_number: int
    number_in_phase: int
    steps_in_phase: int
    nonce: str
    state: str
    deadline_at: int | None
    origin: str | None
    subnet: str | None
    language: str | None


LOOK = (
    select(
        *columns(participants, CurrentStep._fields[:10]),
        studies.c.state.label("study_state"),
        steps.c.id.label("step_id"),
        *columns(steps, CurrentStep._fields[12:-3]),
        *columns(participants, CurrentStep._fields[-3:]),
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


def look_up(work: Transaction, token_hash: str) -> CurrentStep | None:
    """The participant and the step that is due; None if nobody has this token."""
    keys = {"study_id": work.study_id, "token_hash": token_hash}
    row = work.connection.execute(LOOK, keys).one_or_none()
    return None if row is None else CurrentStep._make(row)


def page_of(row: CurrentStep) -> Status:
    """Which page a participant gets."""
    match row.status:
        case "invited" | "full" if row.study_state == "closed":
            return "full"
        case "invited":
            return "paused" if row.study_state == "paused" else "consent"
        case "active":
            return "paused" if row.study_state == "paused" else "active"
    return PAGES[row.status]


def waiting(work: Transaction, row: CurrentStep, status: Status) -> ParticipantView:
    """Where a participant is who has no step to do now."""
    return ParticipantView(
        status=status,
        participant=row.id,
        ord=row.current,
        steps=row.steps,
        names=tuple(row.names or ()),
        phases=row.phases,
        completion_code=row.completion_code,
        preview=work.preview,
    )


def at_step(
    work: Transaction,
    row: CurrentStep,
    deadline_at: int | None,
    echo: str | None,
    *,
    page: bool = False,
    tally: Tally | None = None,
) -> ParticipantView:
    """Where a participant is who has a step to do; ``page`` if it is the page that the deadline ends."""
    return ParticipantView(
        status="active",
        participant=row.id,
        ord=row.current,
        steps=row.steps,
        step=Step(row.phase, row.screen, row.item, row.condition),
        screen=shown_screen(work.study, row.screen, row.answer_order),
        nonce=row.nonce,
        names=tuple(row.names or ()),
        phase=in_language(work.study, row.language).phases[row.phase],
        phase_number=row.phase_number,
        phases=row.phases,
        number_in_phase=row.number_in_phase,
        steps_in_phase=row.steps_in_phase,
        deadline=None if deadline_at is None else from_micros(deadline_at),
        seconds_left=None if deadline_at is None else max(0.0, (deadline_at - work.now) / SECOND),
        limited="page" if page else "part",
        tally=tally,
        echo=echo,
        preview=work.preview,
        hidden_question=work.study.spec.hidden_question and bool(work.study.screens[row.screen].questions),
    )


def echo_of(work: Transaction, row: CurrentStep) -> str | None:
    """What the participant answered to the step before, in the words that stood on the page."""
    name = work.study.screens[row.screen].echo
    if not name:
        return None
    keys = {"participant_id": row.id, "ord": row.current - 1}
    before = work.connection.execute(ANSWERED, keys).one_or_none()
    if before is None or before.answers.get(name) is None:
        return None
    position = before.positions.get(name)
    if position is None:
        return str(before.answers[name])
    questions = shown_screen(work.study, before.screen, row.answer_order).questions
    question = next(question for question in questions if question.name == name)
    return with_names(question.options[position - 1].label, row.names or ())
