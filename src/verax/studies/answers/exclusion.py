"""Exclusion rules: declared before the study, applied by the program, recorded with their evidence.

They mark people and delete nothing. What each rule means is in `RULES`; where there is nothing to measure, as before
the first answer, no rule holds.

Only people who did something since the last time are looked at again, so that it may be done as often as one likes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from statistics import median
from typing import NamedTuple

from sqlalchemy import BindParameter, Connection, and_, bindparam, insert, or_, select, update

from verax.studies.answers.flat_records import ANSWERED, AnsweredStep, known
from verax.studies.definition.own_pages import right_answers
from verax.studies.definition.spec_tables import CHECK_RULES, PREFIX, ExclusionRule, RuleName
from verax.studies.definition.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.store.clock import SECOND, to_micros
from verax.studies.store.identifiers import token_hash
from verax.studies.store.one_participant import BY_HAND
from verax.studies.store.people import HAS_LEFT, Transaction, columns, lock, rules_in_force
from verax.studies.store.store import Store
from verax.studies.store.tables import exclusions, participants, studies

FEWEST_ANSWERS = 8  # before the same answer always says something
DIGITS = 6

Evidence = dict[str, float]


@dataclass(frozen=True)
class ExclusionCase:
    """What rules look at.

    Attributes:
        study: the frozen study.
        scored: the name of the question that its protocol scores.
        left: in the middle, but away for longer than a place is held.
        behind: how many steps are behind the participant.
        steps: how many there are.
        closed: the steps that were answered or expired, with what was answered.
    """

    study: Study
    scored: str
    left: bool
    behind: int
    steps: int
    closed: Sequence[AnsweredStep]


def evidence_by_rule(person: ExclusionCase) -> dict[str, Evidence]:
    """By rule that holds: its limit, what was measured, on how many answers, and what else it rests on."""
    holding: dict[str, Evidence] = {}
    for declared in person.study.spec.exclusion:
        evidence = _evidence(declared, person)
        if evidence is not None:
            holding.setdefault(declared.rule, evidence)
    return holding


def limit_of(declared: ExclusionRule) -> float:
    """The declared limit, or the rule's own."""
    return RULES[declared.rule].limit if declared.limit is None else declared.limit


def scored_question(study: Study) -> str:
    """The name of the question that the study's protocol scores."""
    return make_protocol(study.spec.protocol).scored


def _evidence(declared: ExclusionRule, person: ExclusionCase) -> Evidence | None:
    limit, rule = limit_of(declared), RULES[declared.rule]
    measured = _background(person, declared) if declared.rule == "background" else rule.measure(person)
    if measured is None:
        return None
    value, answers, further = measured
    if not rule.holds(value, limit):
        return None
    return {"limit": limit, "measured": round(value, DIGITS), "answers": answers, **further}


Measured = tuple[float, int, Evidence]


def _too_fast(person: ExclusionCase) -> Measured | None:
    """The median of the seconds from the first display of a page with an item to its answer.

    Where the server's clock was set back in between there are none.
    """
    seconds = [
        (step.received_at - step.opened_at) / SECOND
        for step in person.closed
        if step.state == "closed" and step.item is not None and _asks(person, step)
    ]
    seconds = [each for each in seconds if each >= 0]
    return (median(seconds), len(seconds), {}) if seconds else None


def _failed_checks(person: ExclusionCase) -> Measured | None:
    """The share of wrong answers to the questions of the screening test, in all tries."""
    screening = person.study.screening
    if screening is None:
        return None
    given = [
        known(step.answers).get(question) == right
        for step in person.closed
        if step.state == "closed"
        and person.study.phases[step.phase].kind == "screening"
        and _asks(person, step)
        for question, right in screening.answers.items()
    ]
    failed = given.count(False)
    return (failed / len(given), len(given), {"failed": failed}) if given else None


def _attention_checks(person: ExclusionCase) -> Measured | None:
    """The share of wrong answers to questions of one's own that ask for a certain answer."""
    right = right_answers(person.study.spec.questions)
    given = [
        answers[question] == wanted
        for step in person.closed
        if step.state == "closed" and right
        for answers in [known(step.answers)]
        for question, wanted in right.items()
        if question in answers
    ]
    failed = given.count(False)
    return (failed / len(given), len(given), {"failed": failed}) if given else None


def _left(person: ExclusionCase) -> Measured | None:
    """The share of steps that were behind somebody who left."""
    if not person.left:
        return None
    return person.behind / person.steps, person.behind, {"steps": person.steps}


def _late(person: ExclusionCase) -> Measured | None:
    """The share of late and missing answers, of the pages that had a limit."""
    limited = [
        step
        for step in person.closed
        if _asks(person, step) and (step.state == "expired" or step.deadline_at is not None)
    ]
    if not limited:
        return None
    expired = sum(step.state == "expired" for step in limited)
    late = sum(bool(step.late) for step in limited)
    return (late + expired) / len(limited), len(limited), {"late": late, "expired": expired}


def _same_answer(person: ExclusionCase) -> Measured | None:
    """The share of the place on the page that was chosen most often, of the scored answers."""
    places = Counter(
        known(step.positions)[person.scored]
        for step in person.closed
        if step.state == "closed"
        and person.study.phases[step.phase].kind == "test"
        and person.scored in known(step.positions)
    )
    if places.total() < FEWEST_ANSWERS:
        return None
    position, times = places.most_common(1)[0]
    return times / places.total(), places.total(), {"position": position, "times": times}


def _background(person: ExclusionCase, declared: ExclusionRule) -> Measured | None:
    """1 if one of the named answers was given to the named question, 0 if another was."""
    name = f"{PREFIX}{declared.question}"
    given = [
        answer
        for step in person.closed
        if step.state == "closed" and (answer := known(step.answers).get(name)) is not None
    ]
    return (float(given[-1] in declared.answers), 1, {}) if given else None


def _of_its_question(person: ExclusionCase) -> Measured | None:  # noqa: ARG001
    """A rule on one's background is measured by what it declares, see `_background`."""
    return None


def _asks(person: ExclusionCase, step: AnsweredStep) -> bool:
    return bool(person.study.screens[step.screen].questions)


@dataclass(frozen=True)
class Rule:
    """What a rule measures, and when it holds.

    Attributes:
        measure: what is compared with the limit; None where there is nothing to measure.
        holds: whether it does, for what was measured and the limit.
        limit: where the spec names none.
        excludes: whom, in the words of a registration; {} is the limit.
    """

    measure: Callable[[ExclusionCase], Measured | None]
    holds: Callable[[float, float], bool]
    limit: float
    excludes: str


RULES: Mapping[RuleName, Rule] = {
    "too-fast": Rule(
        _too_fast, float.__lt__, 2.0, "whose median time per answer to an item is below {} seconds"
    ),
    "failed-checks": Rule(
        _failed_checks,
        float.__gt__,
        0.5,
        "who get more than {} of the questions of the screening test wrong, in all tries",
    ),
    "attention-checks": Rule(
        _attention_checks,
        float.__ge__,
        0.5,
        "who get at least {} of the questions that ask for a certain answer wrong",
    ),
    "left": Rule(_left, float.__lt__, 1.0, "who have left with less than {} of their steps behind them"),
    "late": Rule(
        _late, float.__gt__, 0.5, "who answered more than {} of the pages with a limit late or not at all"
    ),
    "same-answer": Rule(
        _same_answer,
        float.__ge__,
        0.95,
        "who chose the answer in the same place in at least {} of the scored answers",
    ),
    "background": Rule(_of_its_question, float.__ge__, 1.0, "who said of themselves ({question}): {answers}"),
}


def checks_failed(rules: Iterable[str]) -> list[str]:
    """Of the rules that hold for somebody, those on checks of attention and understanding."""
    return [rule for rule in rules if rule in CHECK_RULES]


def failed_checks(store: Store, token: str) -> bool:
    """Whether somebody failed the checks of the study, by its rules as they stand now."""
    apply_exclusions(store)

    def look(work: Transaction) -> bool:
        person = lock(work, token_hash(token))
        held = {} if person is None else rules_in_force(work, [person.id])
        return any(checks_failed(rules) for rules in held.values())

    return store.read(look)


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
                id: evidence_by_rule(
                    ExclusionCase(store.study, scored, left, max(current - 1, 0), steps, closed.get(id, []))
                )
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
