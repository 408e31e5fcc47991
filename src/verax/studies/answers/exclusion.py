"""Applies a study's exclusion rules to everybody who agreed to take part, and keeps what holds in the database.

Only people who did something since the last time are looked at again, so that it may be done as often as one likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import BindParameter, Connection, and_, bindparam, insert, or_, select, update

from verax.studies.answers.exclusion_rules import Evidence, Person, judge, scored_question
from verax.studies.answers.flat_records import ANSWERED, AnsweredStep
from verax.studies.store.clock import SECOND, to_micros
from verax.studies.store.one_participant import BY_HAND
from verax.studies.store.people import HAS_LEFT, columns
from verax.studies.store.store import Store
from verax.studies.store.tables import exclusions, participants, studies

AT_ONCE = 200  # participants in memory
# Who was seen so shortly before the last time is looked at again: the answer may have been on its way, or another
# server's clock may be behind.
OVERLAP = 600 * SECOND

JUDGED_AT = select(studies.c.judged_at).where(studies.c.id == bindparam("study_id"))
SET_JUDGED_AT = (
    update(studies).where(studies.c.id == bindparam("of_study")).values(judged_at=bindparam("judged_at"))
)


class Recorded(NamedTuple):
    """An exclusion as it was recorded before."""

    id: int
    participant_id: int
    rule: str
    evidence: Evidence
    at: int
    lifted_at: int | None


_people: BindParameter[int] = bindparam("people", expanding=True)
_news = or_(
    participants.c.last_seen_at >= bindparam("since"),
    and_(participants.c.status == "active", participants.c.hold_until >= bindparam("since")),
)
PEOPLE = (
    select(participants.c.id, HAS_LEFT, participants.c.current, participants.c.steps)
    .where(
        participants.c.study_id == bindparam("study_id"),
        participants.c.id > bindparam("after"),
        participants.c.consented_at.is_not(None),
        _news,
    )
    .order_by(participants.c.id)
    .limit(AT_ONCE)
)
# Who withdraws meanwhile waits until the transaction is over, and deletes what it wrote. Whose data were deleted since
# they were read has no steps any more.
STILL_THERE = (
    select(participants.c.id)
    .where(participants.c.id.in_(_people), participants.c.status != "withdrawn", participants.c.steps > 0)
    .with_for_update(key_share=True)
)
# What somebody decided by hand no rule takes back.
KNOWN = select(*columns(exclusions, Recorded._fields)).where(
    exclusions.c.participant_id.in_(_people), exclusions.c.rule != BY_HAND
)
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
    for findings in list(_findings(store, now)):
        store.database.write(partial(_record, findings, now))
    store.database.write(
        lambda connection: connection.execute(SET_JUDGED_AT, {"of_study": store.study_id, "judged_at": now})
    )


def _findings(store: Store, now: int) -> Iterator[dict[int, dict[str, Evidence]]]:
    """By participant: what holds; some hundred participants at a time."""
    scored = scored_question(store.study)
    with store.database.snapshot() as connection:
        judged_at = connection.execute(JUDGED_AT, {"study_id": store.study_id}).scalar_one()
        keys = {
            "study_id": store.study_id,
            "now": now,
            "since": 0 if judged_at is None else judged_at - OVERLAP,
        }
        after = -1
        while people := connection.execute(PEOPLE, keys | {"after": after}).all():
            rows = connection.execute(ANSWERED, {"people": [id for id, *_ in people]})
            closed = {
                id: list(group)
                for id, group in groupby(map(AnsweredStep._make, rows), key=lambda step: step.participant_id)
            }
            yield {
                id: judge(Person(store.study, scored, left, max(current - 1, 0), steps, closed.get(id, [])))
                for id, left, current, steps in people
            }
            after = people[-1].id


def _record(findings: Mapping[int, Mapping[str, Evidence]], now: int, connection: Connection) -> None:
    people = {"people": sorted(findings)}
    there = set(connection.execute(STILL_THERE, people).scalars())
    recorded = [Recorded._make(row) for row in connection.execute(KNOWN, people)]
    holding = {
        (person, rule): evidence
        for person, rules in findings.items()
        if person in there
        for rule, evidence in rules.items()
    }
    for exclusion in recorded:
        evidence = holding.pop((exclusion.participant_id, exclusion.rule), None)
        change = _change(exclusion, evidence, now)
        if change is not None:
            connection.execute(CHANGE, change)
    new = [
        {"participant_id": person, "rule": rule, "evidence": evidence, "at": now}
        for (person, rule), evidence in holding.items()
    ]
    if new:
        connection.execute(NEW, new)


def _change(exclusion: Recorded, evidence: Evidence | None, now: int) -> dict[str, object] | None:
    """What becomes of an exclusion that was recorded before; None if nothing."""
    holds, held = evidence is not None, exclusion.lifted_at is None
    if holds == held and (not holds or evidence == exclusion.evidence):
        return None
    return {
        "exclusion_id": exclusion.id,
        "evidence": evidence if holds else exclusion.evidence,
        "at": now if holds and not held else exclusion.at,
        "lifted_at": None if holds else now,
    }
