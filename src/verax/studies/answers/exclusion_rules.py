"""Exclusion rules: declared before the study, applied by the program, recorded with their evidence.

They mark people and delete nothing. What each rule means is in `RULES`; where there is nothing to measure, as before
the first answer, no rule holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from verax.studies.answers.flat_records import AnsweredStep
from verax.studies.answers.json_cells import known
from verax.studies.model.background import PREFIX
from verax.studies.model.spec_tables import ExclusionRule, RuleName
from verax.studies.model.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.store.clock import SECOND

FEWEST_ANSWERS = 8  # before the same answer always says something
DIGITS = 6

Evidence = dict[str, float]


@dataclass(frozen=True)
class Person:
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


def judge(person: Person) -> dict[str, Evidence]:
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


def _evidence(declared: ExclusionRule, person: Person) -> Evidence | None:
    limit, rule = limit_of(declared), RULES[declared.rule]
    measured = _background(person, declared) if declared.rule == "background" else rule.measure(person)
    if measured is None:
        return None
    value, answers, further = measured
    if not rule.holds(value, limit):
        return None
    return {"limit": limit, "measured": round(value, DIGITS), "answers": answers, **further}


Measured = tuple[float, int, Evidence]


def _too_fast(person: Person) -> Measured | None:
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


def _background(person: Person, declared: ExclusionRule) -> Measured | None:
    """1 if one of the named answers was given to the named question, 0 if another was."""
    name = f"{PREFIX}{declared.question}"
    given = [
        answer
        for step in person.closed
        if step.state == "closed" and (answer := known(step.answers).get(name)) is not None
    ]
    return (float(given[-1] in declared.answers), 1, {}) if given else None


def _of_its_question(person: Person) -> Measured | None:  # noqa: ARG001
    """A rule on one's background is measured by what it declares, see `_background`."""
    return None


def _asks(person: Person, step: AnsweredStep) -> bool:
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

    measure: Callable[[Person], Measured | None]
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
