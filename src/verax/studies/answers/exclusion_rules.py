"""Exclusion rules: declared before the study, applied by the program, recorded with their evidence.

They mark people and delete nothing. What each rule means is in `RULES`; where there is nothing to measure, as before
the first answer, no rule holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from verax.studies.answers.json_cells import known
from verax.studies.model.spec import ExclusionRule
from verax.studies.model.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.store.clock import SECOND

FEWEST_ANSWERS = 8  # before the same answer always says something
DIGITS = 6

Evidence = dict[str, Any]


@dataclass(frozen=True)
class Person:
    """What rules look at.

    Attributes:
        study: the frozen study.
        scored: the name of the question that its protocol scores.
        left: in the middle, but away for longer than a place is held.
        behind: how many steps are behind the participant.
        steps: how many there are.
        closed: the steps that were answered or expired, with what was answered: rows of
            `verax.studies.answers.exclusion.CLOSED`.
    """

    study: Study
    scored: str
    left: bool
    behind: int
    steps: int
    closed: Sequence[Any]


def judge(person: Person) -> dict[str, Evidence]:
    """By rule that holds: its limit, what was measured, on how many answers, and what else it rests on."""
    found: dict[str, Evidence] = {}
    for declared in person.study.spec.exclusion:
        evidence = _evidence(declared, person)
        if evidence is not None:
            found.setdefault(declared.rule, evidence)
    return found


def limit_of(declared: ExclusionRule) -> float:
    """The declared limit, or the rule's own."""
    return DEFAULTS[declared.rule] if declared.limit is None else declared.limit


def scored_question(study: Study) -> str:
    """The name of the question that the study's protocol scores."""
    return make_protocol(study.spec.protocol).scored


def _evidence(declared: ExclusionRule, person: Person) -> Evidence | None:
    limit = limit_of(declared)
    measured = RULES[declared.rule](person)
    if measured is None:
        return None
    value, answers, further = measured
    if not HOLDS[declared.rule](value, limit):
        return None
    return {"limit": limit, "measured": round(value, DIGITS), "answers": answers, **further}


Measured = tuple[float, int, Evidence]


def _too_fast(person: Person) -> Measured | None:
    """The median of the seconds from the first display of a page with an item to its answer."""
    seconds = [
        (step.received_at - step.opened_at) / SECOND
        for step in person.closed
        if step.state == "closed" and step.item is not None and _asks(person, step)
    ]
    return (median(seconds), len(seconds), {}) if seconds else None


def _failed_checks(person: Person) -> Measured | None:
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


def _left(person: Person) -> Measured | None:
    """The share of steps that were behind somebody who left."""
    if not person.left:
        return None
    return person.behind / person.steps, person.behind, {"steps": person.steps}


def _late(person: Person) -> Measured | None:
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


def _same_answer(person: Person) -> Measured | None:
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


def _asks(person: Person, step: Any) -> bool:
    return bool(person.study.screens[step.screen].questions)


RULES: Mapping[str, Callable[[Person], Measured | None]] = {
    "too-fast": _too_fast,
    "failed-checks": _failed_checks,
    "left": _left,
    "late": _late,
    "same-answer": _same_answer,
}
DEFAULTS = {"too-fast": 2.0, "failed-checks": 0.5, "left": 1.0, "late": 0.5, "same-answer": 0.95}
HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "too-fast": float.__lt__,
    "failed-checks": float.__gt__,
    "left": float.__lt__,
    "late": float.__gt__,
    "same-answer": float.__ge__,
}
