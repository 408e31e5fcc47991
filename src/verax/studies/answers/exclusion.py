"""Applies a study's exclusion rules to everybody who agreed to take part, and keeps what holds in the database.

Only people who did something since the last time are looked at again, so that it may be done as often as one likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

from sqlalchemy import BindParameter, Connection, String, and_, bindparam, cast, insert, or_, select, update

from verax.studies.answers.exclusion_rules import Evidence, Person, judge, scored_question
from verax.studies.store.clock import SECOND, to_micros
from verax.studies.store.store import Store
from verax.studies.store.tables import exclusions, participants, responses, steps, studies

AT_ONCE = 200  # participants in memory
# Who was seen so shortly before the last time is looked at again: the answer may have been on its way, or another
# server's clock may be behind.
OVERLAP = 600 * SECOND

JUDGED_AT = select(studies.c.judged_at).where(studies.c.id == bindparam("study_id"))
SET_JUDGED_AT = (
    update(studies).where(studies.c.id == bindparam("of_study")).values(judged_at=bindparam("judged_at"))
)
_people: BindParameter[int] = bindparam("people", expanding=True)
_news = or_(
    participants.c.last_seen_at >= bindparam("since"),
    and_(participants.c.status == "active", participants.c.hold_until >= bindparam("since")),
)
PEOPLE = (
    select(
        participants.c.id,
        participants.c.status,
        participants.c.hold_until,
        participants.c.current,
        participants.c.steps,
    )
    .where(
        participants.c.study_id == bindparam("study_id"),
        participants.c.id > bindparam("after"),
        participants.c.consented_at.is_not(None),
        _news,
    )
    .order_by(participants.c.id)
    .limit(AT_ONCE)
)
# As text, since not all rules look at them.
_answers_text = cast(responses.c.answers, String).label("answers")
CLOSED = (
    select(
        steps.c.participant_id,
        steps.c.phase,
        steps.c.screen,
        steps.c.item,
        steps.c.state,
        steps.c.opened_at,
        steps.c.deadline_at,
        responses.c.received_at,
        responses.c.late,
        _answers_text,
        cast(responses.c.positions, String).label("positions"),
    )
    .outerjoin_from(steps, responses)
    .where(
        steps.c.participant_id.in_(_people),
        # Pages that asked nothing have empty answers.
        or_(steps.c.state == "expired", and_(steps.c.state == "closed", _answers_text != "{}")),
    )
    .order_by(steps.c.participant_id, steps.c.ord)
)
# Who withdraws meanwhile waits until the transaction is over, and deletes what it wrote. Whose data were deleted since
# they were read has no steps any more.
STILL_THERE = (
    select(participants.c.id)
    .where(participants.c.id.in_(_people), participants.c.status != "withdrawn", participants.c.steps > 0)
    .with_for_update(key_share=True)
)
KNOWN = select(exclusions).where(exclusions.c.participant_id.in_(_people))
NEW = insert(exclusions)
CHANGE = (
    update(exclusions)
    .where(exclusions.c.id == bindparam("exclusion_id"))
    .values(evidence=bindparam("evidence"), at=bindparam("at"), lifted_at=bindparam("lifted_at"))
)


def apply_exclusions(store: Store) -> None:
    """Records which of the study's rules hold for whom, with the evidence; what no longer holds is marked as lifted."""
    if not store.study.spec.exclusion:
        return
    now = to_micros(store.clock())
    # First all is read and then all is written: one who holds a connection must not wait for another.
    for found in list(_findings(store, now)):
        store.database.write(partial(_record, found, now))
    store.database.write(
        lambda connection: connection.execute(SET_JUDGED_AT, {"of_study": store.study_id, "judged_at": now})
    )


def _findings(store: Store, now: int) -> Iterator[dict[int, dict[str, Evidence]]]:
    """By participant: what holds; some hundred participants at a time."""
    scored = scored_question(store.study)
    with store.database.snapshot() as connection:
        judged_at = connection.execute(JUDGED_AT, {"study_id": store.study_id}).scalar_one()
        since, after = 0 if judged_at is None else judged_at - OVERLAP, -1
        while people := connection.execute(
            PEOPLE, {"study_id": store.study_id, "since": since, "after": after}
        ).all():
            rows = connection.execute(CLOSED, {"people": [person.id for person in people]})
            closed = {key: list(group) for key, group in groupby(rows, key=lambda row: row.participant_id)}
            yield {
                person.id: judge(
                    Person(
                        study=store.study,
                        scored=scored,
                        left=person.status == "active" and person.hold_until <= now,
                        behind=max(person.current - 1, 0),
                        steps=person.steps,
                        closed=closed.get(person.id, []),
                    )
                )
                for person in people
            }
            after = people[-1].id


def _record(found: Mapping[int, Mapping[str, Evidence]], now: int, connection: Connection) -> None:
    there = set(connection.execute(STILL_THERE, {"people": sorted(found)}).scalars())
    known = {
        (row.participant_id, row.rule): row for row in connection.execute(KNOWN, {"people": sorted(found)})
    }
    holding = {
        (person, rule): evidence
        for person, rules in found.items()
        if person in there
        for rule, evidence in rules.items()
    }
    changes = [_change(row, holding.get(key), now) for key, row in known.items()]
    for change in filter(None, changes):
        connection.execute(CHANGE, change)
    new = [
        {"participant_id": person, "rule": rule, "evidence": evidence, "at": now}
        for (person, rule), evidence in holding.items()
        if (person, rule) not in known
    ]
    if new:
        connection.execute(NEW, new)


def _change(row: Any, evidence: Evidence | None, now: int) -> dict[str, Any] | None:
    """What becomes of an exclusion that was recorded before; None if nothing."""
    if evidence is None:
        if row.lifted_at is not None:
            return None
        return {"exclusion_id": row.id, "evidence": row.evidence, "at": row.at, "lifted_at": now}
    if row.lifted_at is None and row.evidence == evidence:
        return None
    at = row.at if row.lifted_at is None else now
    return {"exclusion_id": row.id, "evidence": evidence, "at": at, "lifted_at": None}
