"""What is known of a study's people, as flat records; one source for export, status and analysis.

Records are streamed: some hundred participants are in memory at a time, however many there are. All records that are
read through one `View` are of one moment, whatever is written meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, String, and_, bindparam, cast, func, or_, select

from verax.studies.answers.response_record import Offered, Record, ResponseRecords, StepColumns, machine_signs
from verax.studies.answers.schema import DEVICES, POINTERS
from verax.studies.store.clock import SECOND, from_micros
from verax.studies.store.identifiers import pseudonym
from verax.studies.store.participant.enter import retakes
from verax.studies.store.people import AT_STEP, HAS_LEFT, Transaction, columns, rules_in_force, state_of
from verax.studies.store.store import Store
from verax.studies.store.tables import events, exclusions, participants, responses, steps

_decode = json.JSONDecoder().raw_decode  # what is around it in json.loads takes longer than the work itself


def from_json(text: str) -> dict[str, Any]:
    """The mapping that a JSON text holds, which begins with it."""
    decoded: dict[str, Any] = _decode(text)[0]
    return decoded


@lru_cache(maxsize=10_000)
def known(text: str) -> dict[str, Any]:
    """The same, to be read only: answers to a question are equal a thousand times, and such are parsed once."""
    return from_json(text)


AT_ONCE = 200  # participants in memory
MINUTE = 60 * SECOND


class PersonRow(NamedTuple):
    """A participant as the database has them, with whether they have left and the phase in which they are."""

    id: int
    token_hash: str
    is_bot: bool
    status: str
    platform: str
    design_row: int | None
    number: int | None
    answer_order: int | None
    language: str | None
    steps: int
    version: str
    created_at: int
    consented_at: int | None
    last_seen_at: int
    finished_at: int | None
    completion_code: str | None
    person_hash: str | None
    link_hash: str | None
    left: bool
    phase: str | None


class AnsweredStep(NamedTuple):
    """A step that was answered or expired; what was sent with it is JSON text, as it is not always looked at."""

    participant_id: int
    ord: int
    phase: str
    screen: str
    item: str | None
    condition: str | None
    number_in_phase: int
    state: str
    opened_at: int
    closed_at: int
    deadline_at: int | None
    views: int
    received_at: int
    late: bool | None
    answers: str
    positions: str
    client: str


_people: BindParameter[int] = bindparam("people", expanding=True)
PEOPLE = (
    select(*columns(participants, PersonRow._fields[:-2]), HAS_LEFT.label("left"), steps.c.phase)
    .outerjoin_from(participants, steps, AT_STEP)
    .where(participants.c.study_id == bindparam("study_id"), participants.c.id > bindparam("after"))
    .order_by(participants.c.id)
    .limit(AT_ONCE)
)
DONE = (
    select(steps.c.participant_id, func.count().label("done"))
    .where(steps.c.participant_id.in_(_people), steps.c.state == "closed")
    .group_by(steps.c.participant_id)
)
# As text: the database's JSON would be parsed whether it is looked at or not.
_answers_text = cast(responses.c.answers, String).label("answers")
ANSWERED = (
    select(
        *columns(steps, AnsweredStep._fields[:12]),
        responses.c.received_at,
        responses.c.late,
        _answers_text,
        cast(responses.c.positions, String).label("positions"),
        cast(responses.c.client, String).label("client"),
    )
    .outerjoin_from(steps, responses)
    .where(
        steps.c.participant_id.in_(_people),
        # Pages that asked nothing have empty answers.
        or_(steps.c.state == "expired", and_(steps.c.state == "closed", _answers_text != "{}")),
    )
    .order_by(steps.c.participant_id, steps.c.ord)
)
PAGES_SHOWN = (
    select(steps, cast(responses.c.client, String).label("client"))
    .outerjoin_from(steps, responses)
    .where(steps.c.participant_id.in_(_people), steps.c.opened_at.is_not(None))
    .order_by(steps.c.participant_id, steps.c.ord)
)
# What browsers measured on pages that were answered.
MEASURED = (
    select(steps.c.participant_id, cast(responses.c.client, String).label("client"))
    .join_from(steps, responses)
    .where(steps.c.participant_id.in_(_people), responses.c.client.is_not(None))
    .order_by(steps.c.participant_id, steps.c.ord)
)
HAPPENED = (
    select(events).where(events.c.participant_id.in_(_people)).order_by(events.c.participant_id, events.c.id)
)
EXCLUDED = (
    select(exclusions)
    .where(exclusions.c.participant_id.in_(_people))
    .order_by(exclusions.c.participant_id, exclusions.c.rule)
)


@dataclass(frozen=True)
class View:
    """A study's answers as they are at one moment.

    Attributes:
        work: sees the database of that moment.
        secret: the study's, from which pseudonyms are made.
        identifying: whether records have the columns that could lead to a person.
        free_text: whether they have what people wrote.
    """

    work: Transaction
    secret: str
    identifying: bool = False
    free_text: bool = False

    @cached_property
    def own_words(self) -> Mapping[str, frozenset[str]]:
        """By screen: the questions that are answered in own words."""
        return {
            key: frozenset(question.name for question in screen.questions if question.in_own_words)
            for key, screen in self.work.study.screens.items()
        }

    def people(self) -> Iterator[dict[int, PersonRow]]:
        """The participants by their number in the database, some hundred at a time."""
        keys = {"study_id": self.work.study_id, "now": self.work.now}
        after = -1
        while rows := self.work.connection.execute(PEOPLE, keys | {"after": after}).all():
            people = [PersonRow._make(row) for row in rows]
            yield {person.id: person for person in people}
            after = people[-1].id

    def name(self, person: PersonRow) -> str:
        """What the participant is called outside of the database."""
        return pseudonym(self.secret, person.token_hash)


@contextmanager
def view(store: Store, *, identifying: bool = False, free_text: bool = False) -> Iterator[View]:
    """The study's answers as they are now; those that arrive meanwhile are not seen."""
    with store.snapshot() as work:
        yield View(work, state_of(work).secret, identifying, free_text)


def participant_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """Everybody who came, in the order of coming; the columns are `PARTICIPANTS` of the schema."""
    return _streamed(read_participants, store, identifying=identifying)


def response_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """Every answer, and every step that expired; the columns are `RESPONSES`. Identifying ones hold the texts."""
    return _streamed(read_responses, store, identifying=identifying)


def event_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """What happened beside the answers; the columns are `EVENTS`. Identifying ones hold what was sent."""
    return _streamed(read_events, store, identifying=identifying)


def exclusion_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """Every exclusion that holds or held; the columns are `EXCLUSIONS`."""
    return _streamed(read_exclusions, store, identifying=identifying)


def read_participants(seen: View) -> Iterator[Record]:
    """The records of `participant_records`."""
    conditions = {row.number: row.condition for row in seen.work.study.rows}
    for people in seen.people():
        counted = seen.work.connection.execute(DONE, {"people": list(people)})
        done: dict[int, int] = dict(counted.tuples().all())
        rules = rules_in_force(seen.work, people)
        earlier = retakes(seen.work, people)
        measured: dict[int, list[dict[str, float]]] = {}
        for page in seen.work.connection.execute(MEASURED, {"people": list(people)}):
            measured.setdefault(page.participant_id, []).append(from_json(page.client))
        for person in people.values():
            condition = None if person.design_row is None else conditions.get(person.design_row)
            record = {
                "participant": seen.name(person),
                "bot": person.is_bot,
                "status": person.status,
                "platform": person.platform,
                "design_row": person.design_row,
                "number": person.number,
                "answer_order": person.answer_order,
                "language": person.language or seen.work.study.spec.languages[0],
                "device": _device(measured.get(person.id, [])),
                "condition": condition if isinstance(condition, str) else None,
                "steps": person.steps,
                "done": done.get(person.id, 0),
                "phase": person.phase,
                "minutes": _minutes(person.consented_at, person.finished_at or person.last_seen_at),
                "left": person.left,
                "excluded": person.id in rules,
                "rules": rules.get(person.id, []),
                "retake_of": earlier.get(person.id),
                "signs": machine_signs(measured.get(person.id, [])),
                "version": person.version,
                "link": person.link_hash if person.consented_at is not None else None,
            }
            if seen.identifying:
                record |= {
                    "created_at": _iso(person.created_at),
                    "finished_at": _iso(person.finished_at),
                    "completion_code": person.completion_code,
                    "person_hash": person.person_hash,
                }
            yield record


def read_responses(seen: View) -> Iterator[Record]:
    """The records of `response_records`."""
    records = ResponseRecords(seen.work.study)
    for people in seen.people():
        names = {id: seen.name(person) for id, person in people.items()}
        for row in seen.work.connection.execute(ANSWERED, {"people": list(people)}).all():
            step = AnsweredStep._make(row)
            person, name = people[step.participant_id], names[step.participant_id]
            if step.state == "expired":
                yield records.expired(
                    _about(step, person, name, step.closed_at), records.question_of(step.screen)
                )
            else:
                about = _about(step, person, name, step.received_at)
                offered = records.offered(step.screen, person.answer_order)
                yield from _answers(seen, records, step, about, offered)


def _about(step: AnsweredStep, person: PersonRow, name: str, ended: int) -> StepColumns:
    return {
        "participant": name,
        "bot": person.is_bot,
        "design_row": person.design_row,
        "phase": step.phase,
        "step": step.ord,
        "number_in_phase": step.number_in_phase,
        "item": step.item,
        "condition": step.condition,
        "late": bool(step.late),
        "seconds": None,
        "client_ms": None,
        "visible_ms": None,
        "blurs": None,
        "views": step.views,
        "minute": _minutes(person.consented_at, ended),
    }


def _answers(
    seen: View, records: ResponseRecords, step: AnsweredStep, about: StepColumns, offered: Offered
) -> Iterator[Record]:
    """One record for each answer on a page; a question that was left open is none."""
    client, positions, own_words = from_json(step.client), known(step.positions), seen.own_words[step.screen]
    drawn, sent, blurs = client.get("shown"), client.get("submitted"), client.get("blurs")
    about["seconds"] = (step.received_at - step.opened_at) / SECOND
    about["client_ms"] = None if drawn is None or sent is None else float(sent - drawn)
    about["visible_ms"] = client.get("visible_ms")
    about["blurs"] = None if blurs is None else int(blurs)
    for question, meaning in known(step.answers).items():
        if meaning is not None:
            withheld = question in own_words and not seen.free_text
            place = positions.get(question)
            yield records.answered(about, question, meaning, place, offered.get(question), withheld=withheld)


def read_pages(seen: View) -> Iterator[Record]:
    """Every page that was shown, instructions and looks included, with its time and how it was seen."""
    kinds = {key: phase.kind for key, phase in seen.work.study.phases.items()}
    for people in seen.people():
        for page in seen.work.connection.execute(PAGES_SHOWN, {"people": list(people)}).all():
            person, client = people[page.participant_id], from_json(page.client or "{}")
            drawn, sent = client.get("shown"), client.get("submitted")
            yield {
                "participant": seen.name(person),
                "bot": person.is_bot,
                "design_row": person.design_row,
                "step": page.ord,
                "phase": page.phase,
                "phase_kind": kinds[page.phase],
                "item": page.item,
                "condition": page.condition,
                "state": page.state,
                "seconds": None if page.closed_at is None else (page.closed_at - page.opened_at) / SECOND,
                "client_ms": None if drawn is None or sent is None else float(sent - drawn),
                "visible_ms": client.get("visible_ms"),
                "away_ms": client.get("away_ms"),
                "blurs": _whole(client.get("blurs")),
                "views": page.views,
                "width": _whole(client.get("width")),
                "height": _whole(client.get("height")),
                "zoom": client.get("zoom"),
                "device": _named(DEVICES, client.get("device")),
                "pointer": _named(POINTERS, client.get("pointer")),
                "translated": None if "translated" not in client else bool(client["translated"]),
            }


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _device(pages: Iterable[Mapping[str, float]]) -> str | None:
    """The device of the first page that says so."""
    known = (_named(DEVICES, page.get("device")) for page in pages)
    return next((device for device in known if device is not None), None)


def _named(names: tuple[str, ...], number: float | None) -> str | None:
    """The name of a number from 1; None for one that no browser of ours sends."""
    return names[int(number) - 1] if number in range(1, len(names) + 1) and number is not None else None


def read_events(seen: View) -> Iterator[Record]:
    """The records of `event_records`."""
    for people in seen.people():
        for event in seen.work.connection.execute(HAPPENED, {"people": list(people)}).all():
            person = people[event.participant_id]
            record = {
                "participant": seen.name(person),
                "bot": person.is_bot,
                "step": event.ord,
                "type": event.type,
                "minute": _minutes(person.created_at, event.at),
            }
            if seen.identifying:
                record["at"] = _iso(event.at)
            withheld = bool(event.data) and not seen.free_text
            yield record | {"data": None if withheld else event.data or None, "withheld": withheld}


def read_exclusions(seen: View) -> Iterator[Record]:
    """The records of `exclusion_records`."""
    for people in seen.people():
        for exclusion in seen.work.connection.execute(EXCLUDED, {"people": list(people)}).all():
            person, evidence = people[exclusion.participant_id], exclusion.evidence
            yield {
                "participant": seen.name(person),
                "bot": person.is_bot,
                "rule": exclusion.rule,
                # What somebody decided by hand has a reason, and nothing that was measured.
                **{name: evidence.get(name) for name in ("limit", "measured", "answers")},
                "evidence": evidence,
                "in_force": exclusion.lifted_at is None,
            }


READERS: Mapping[str, Callable[[View], Iterator[Record]]] = {
    "participants": read_participants,
    "responses": read_responses,
    "pages": read_pages,
    "events": read_events,
    "exclusions": read_exclusions,
}


def _streamed(
    read: Callable[[View], Iterator[Record]], store: Store, *, identifying: bool
) -> Iterator[Record]:
    with view(store, identifying=identifying, free_text=identifying) as seen:
        yield from read(seen)


def _minutes(since: int | None, until: int | None) -> float | None:
    return None if since is None or until is None else round((until - since) / MINUTE, 6)


def _iso(moment: int | None) -> str | None:
    return None if moment is None else from_micros(moment).isoformat(timespec="milliseconds")
