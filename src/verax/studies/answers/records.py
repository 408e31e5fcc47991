"""What is known of a study's people, as flat records; one source for export, status and analysis.

Records are streamed: some hundred participants are in memory at a time, however many there are. All records that are
read through one `View` are of one moment, whatever is written meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import BindParameter, String, and_, bindparam, cast, func, or_, select

from verax.studies.answers.json_cells import from_json, known
from verax.studies.answers.schema import EVENTS, EXCLUSIONS, PARTICIPANTS, RESPONSES, TABLES, Column
from verax.studies.answers.snapshot import View, view
from verax.studies.store.clock import SECOND, from_micros
from verax.studies.store.store import Store
from verax.studies.store.tables import events, exclusions, participants, responses, steps
from verax.studies.store.tokens import pseudonym

__all__ = [
    "EVENTS",
    "EXCLUSIONS",
    "PARTICIPANTS",
    "READERS",
    "RESPONSES",
    "TABLES",
    "Column",
    "View",
    "event_records",
    "exclusion_records",
    "participant_records",
    "pseudonym",
    "response_records",
    "view",
    "written",
]

AT_ONCE = 200  # participants in memory
MINUTE = 60 * SECOND

Record = dict[str, Any]

UNANSWERED = dict.fromkeys(column.name for column in RESPONSES)

_people: BindParameter[int] = bindparam("people", expanding=True)
_at_step = and_(steps.c.participant_id == participants.c.id, steps.c.ord == participants.c.current)
PEOPLE = (
    select(participants, steps.c.phase)
    .outerjoin_from(participants, steps, _at_step)
    .where(participants.c.study_id == bindparam("study_id"), participants.c.id > bindparam("after"))
    .order_by(participants.c.id)
    .limit(AT_ONCE)
)
DONE = (
    select(steps.c.participant_id, func.count().label("done"))
    .where(steps.c.participant_id.in_(_people), steps.c.state == "closed")
    .group_by(steps.c.participant_id)
)
IN_FORCE = (
    select(exclusions.c.participant_id, exclusions.c.rule)
    .where(exclusions.c.participant_id.in_(_people), exclusions.c.lifted_at.is_(None))
    .order_by(exclusions.c.rule)
)
# As text: the database's JSON would be parsed whether it is looked at or not.
_answers_text = cast(responses.c.answers, String).label("answers")
ANSWERED = (
    select(
        steps.c.participant_id,
        steps.c.ord,
        steps.c.phase,
        steps.c.screen,
        steps.c.item,
        steps.c.condition,
        steps.c.number_in_phase,
        steps.c.state,
        steps.c.opened_at,
        steps.c.closed_at,
        steps.c.views,
        _answers_text,
        cast(responses.c.positions, String).label("positions"),
        responses.c.received_at,
        responses.c.late,
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
HAPPENED = (
    select(events).where(events.c.participant_id.in_(_people)).order_by(events.c.participant_id, events.c.id)
)
EXCLUDED = (
    select(exclusions)
    .where(exclusions.c.participant_id.in_(_people))
    .order_by(exclusions.c.participant_id, exclusions.c.rule)
)


def participant_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """Everybody who came, in the order of coming; the columns are `PARTICIPANTS`."""
    with view(store, identifying=identifying) as seen:
        yield from read_participants(seen)


def response_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """Every answer, and every step that expired; the columns are `RESPONSES`. Identifying ones hold the texts."""
    with view(store, identifying=identifying, free_text=identifying) as seen:
        yield from read_responses(seen)


def event_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """What happened beside the answers; the columns are `EVENTS`. Identifying ones hold what was sent."""
    with view(store, identifying=identifying, free_text=identifying) as seen:
        yield from read_events(seen)


def exclusion_records(store: Store, *, identifying: bool = False) -> Iterator[Record]:
    """Every exclusion that holds or held; the columns are `EXCLUSIONS`."""
    with view(store, identifying=identifying) as seen:
        yield from read_exclusions(seen)


def written(meaning: Any) -> str | None:
    """What an answer means, as text; a number in digits."""
    if isinstance(meaning, float) and meaning.is_integer():
        return str(int(meaning))
    return None if meaning is None else str(meaning)


def read_participants(seen: View) -> Iterator[Record]:
    """The records of `participant_records`."""
    conditions = {row.number: row.cells.get("condition") for row in seen.study.rows}
    for people in _in_parts(seen):
        done = {row.participant_id: row.done for row in _of(seen, DONE, people)}
        rules: dict[int, list[str]] = {}
        for row in _of(seen, IN_FORCE, people):
            rules.setdefault(row.participant_id, []).append(row.rule)
        for person in people.values():
            condition = conditions.get(person.design_row)
            record = {
                "participant": pseudonym(seen.secret, person.token_hash),
                "bot": person.is_bot,
                "status": person.status,
                "platform": person.platform,
                "design_row": person.design_row,
                "number": person.number,
                "condition": condition if isinstance(condition, str) else None,
                "steps": person.steps,
                "done": done.get(person.id, 0),
                "phase": person.phase,
                "minutes": _minutes(person.consented_at, person.finished_at or person.last_seen_at),
                "left": has_left(person, seen.now),
                "excluded": person.id in rules,
                "rules": rules.get(person.id, []),
                "version": person.version,
            }
            if seen.identifying:
                record |= {
                    "created_at": _iso(person.created_at),
                    "finished_at": _iso(person.finished_at),
                    "completion_code": person.completion_code,
                    "person_hash": person.person_hash,
                }
            yield record


def has_left(person: Any, now: int) -> bool:
    """Whether somebody is in the middle, but away for longer than a place is held."""
    return bool(person.status == "active" and person.hold_until <= now)


def read_responses(seen: View) -> Iterator[Record]:
    """The records of `response_records`."""
    for people in _in_parts(seen):
        names = {id: pseudonym(seen.secret, person.token_hash) for id, person in people.items()}
        for step in _of(seen, ANSWERED, people):
            person = people[step[0]]
            if step.state == "expired":
                yield _expired(seen, step, person, names[person.id])
            else:
                yield from _answers(seen, step, person, names[person.id])


# Rows are taken apart at once: reading some twenty attributes of each of a million rows would take most of the time.
def _answers(seen: View, step: Any, person: Any, name: str) -> Iterator[Record]:
    """One record for each answer on a page; a question that was left open is none."""
    _, ord, phase, screen, item, condition, place, state, opened, _, views, answers, positions, *rest = step
    received, late, client_text = rest
    chosen, client, own_words = known(positions), from_json(client_text), seen.asked[screen]
    drawn, sent, blurs = client.get("shown"), client.get("submitted"), client.get("blurs")
    kind = seen.kinds[phase]
    label, prediction, correct, variant, flips = seen.items[item]
    for question, meaning in known(answers).items():
        if meaning is None:
            continue
        withheld = own_words[question] and not seen.free_text
        is_scored = kind == "test" and item is not None and question == seen.scored
        yield {
            "participant": name,
            "bot": person.is_bot,
            "design_row": person.design_row,
            "phase": phase,
            "phase_kind": kind,
            "step": ord,
            "number_in_phase": place,
            "item": item,
            "condition": condition,
            "question": question,
            "answer": None if withheld else written(meaning),
            "position": chosen.get(question),
            "score": seen.score(item, meaning) if is_scored else None,
            "label": label,
            "prediction": prediction,
            "model_correct": correct,
            "variant_prediction": variant,
            "flips": flips,
            "state": state,
            "late": late,
            "withheld": withheld,
            "seconds": (received - opened) / SECOND,
            "client_ms": None if drawn is None or sent is None else float(sent - drawn),
            "visible_ms": client.get("visible_ms"),
            "blurs": None if blurs is None else int(blurs),
            "views": views,
            "minute": _minutes(person.consented_at, received),
        }


def _expired(seen: View, step: Any, person: Any, name: str) -> Record:
    asked = seen.asked[step.screen]
    label, prediction, correct, variant, flips = seen.items[step.item]
    about = {
        "participant": name,
        "bot": person.is_bot,
        "design_row": person.design_row,
        "phase": step.phase,
        "phase_kind": seen.kinds[step.phase],
        "step": step.ord,
        "number_in_phase": step.number_in_phase,
        "item": step.item,
        "condition": step.condition,
        "question": seen.scored if seen.scored in asked else next(iter(asked), None),
        "label": label,
        "prediction": prediction,
        "model_correct": correct,
        "variant_prediction": variant,
        "flips": flips,
        "state": step.state,
        "late": True,
        "withheld": False,
        "views": step.views,
        "minute": _minutes(person.consented_at, step.closed_at),
    }
    return UNANSWERED | about


def read_events(seen: View) -> Iterator[Record]:
    """The records of `event_records`."""
    for people in _in_parts(seen):
        for event in _of(seen, HAPPENED, people):
            person = people[event.participant_id]
            record = {
                "participant": pseudonym(seen.secret, person.token_hash),
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
    for people in _in_parts(seen):
        for found in _of(seen, EXCLUDED, people):
            person, evidence = people[found.participant_id], found.evidence
            yield {
                "participant": pseudonym(seen.secret, person.token_hash),
                "bot": person.is_bot,
                "rule": found.rule,
                "limit": evidence["limit"],
                "measured": evidence["measured"],
                "answers": evidence["answers"],
                "evidence": evidence,
                "in_force": found.lifted_at is None,
            }


READERS: Mapping[str, Callable[[View], Iterator[Record]]] = {
    "participants": read_participants,
    "responses": read_responses,
    "events": read_events,
    "exclusions": read_exclusions,
}


def _in_parts(seen: View) -> Iterator[dict[int, Any]]:
    """The participants by their number in the database, some hundred at a time."""
    after = -1
    while people := seen.connection.execute(PEOPLE, {"study_id": seen.study_id, "after": after}).all():
        yield {person.id: person for person in people}
        after = people[-1].id


def _of(seen: View, query: Any, people: Mapping[int, Any]) -> Any:
    return seen.connection.execute(query, {"people": list(people)}).all()


def _minutes(since: int | None, until: int | None) -> float | None:
    return None if since is None or until is None else round((until - since) / MINUTE, 6)


def _iso(moment: int | None) -> str | None:
    return None if moment is None else from_micros(moment).isoformat(timespec="milliseconds")
