"""How many participants and items a study needs: power by simulation, with the analysis that will be used.

Simulated people (`verax.stats.power`) take the design of the spec; their answers go through the primary
analysis of the protocol: between people `verax.stats.crossed.between`, within people `verax.stats.crossed.within`,
corrected by Holm for all comparisons of the primary analysis. The first method has the effect, all other conditions
have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Unpack

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.codec import Record
from verax.errors import VeraxError
from verax.options import checked_spec, default_of, takes_options
from verax.stats.crossed.within import NOT_SHOWN, ConditionResponses, difference_claims
from verax.stats.power import Analysis, Design, Power, Simulated, analysis, detectable_effect, power
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import FEWEST_ITEMS, FEWEST_PEOPLE
from verax.studies.definition.options import PowerOptions, PowerSpec
from verax.studies.definition.spec import StudySpec
from verax.studies.planning.planned_study import (
    People,
    Question,
    planning_of,
    question_of,
    share_of,
    sized,
    toy_study,
    values_of,
)
from verax.studies.protocol.contract import make_protocol

__all__ = ["DesignPower", "People", "PowerPlan", "design_power", "plan_power"]


@dataclass(frozen=True, eq=False)
class Planned:
    """One size of a study, ready to be simulated.

    Attributes:
        spec: of this size.
        question: what is tested.
        people: how many take part.
        design: who answers what.
        analyse: the analysis.
    """

    spec: StudySpec
    question: Question
    people: int
    design: Design
    analyse: Analysis


def planned(spec: StudySpec, who: People) -> Planned:
    """A study of the spec's size."""
    question = question_of(spec)
    planning = planning_of(spec)
    accuracy = who.right(planning)
    if planning.compared == "between":
        groups = tuple(condition.participants or spec.participants for condition in spec.conditions)
        asked = make_protocol(spec.protocol).model_dump()
        items = sum(asked[name] for name in (planning.items, *planning.more))
        design = Design(groups, items, accuracy)
        claim: Literal["change", "contrast"] = "change" if question.reference is None else "contrast"
        test = analysis(claim, "random" if items >= FEWEST_ITEMS else "fixed", "Holm")
        return Planned(spec, question, sum(groups), design, test)
    shown = shown_conditions(spec)
    design = Design((len(shown),), shown.shape[1], accuracy)
    return Planned(spec, question, len(shown), design, _within(spec, question, shown))


def shown_conditions(spec: StudySpec) -> IndexArray:
    """(participants, tested items): the place of the condition under which each is shown, -1 if it is not."""
    study, protocol = toy_study(spec), make_protocol(spec.protocol)
    tests = {key for key, phase in study.phases.items() if phase.kind == "test"}
    names = [condition.name for condition in spec.conditions]
    asked: dict[str, int] = {}
    rows = []
    for row in study.rows:
        met = {
            step.item: names.index(step.condition)
            for step in protocol.steps(study, row, 0)
            if step.phase in tests and step.item and step.condition
        }
        rows.append(met)
        for item in met:
            asked.setdefault(item, len(asked))
    codes = np.full((len(rows), len(asked)), NOT_SHOWN, dtype=np.intp)
    for place, met in enumerate(rows):
        for item, condition in met.items():
            codes[place, asked[item]] = condition
    return np.repeat(codes, spec.participants, axis=0)


def _within(spec: StudySpec, question: Question, shown: IndexArray) -> Analysis:
    """The comparison within people, with Holm's correction for the other comparisons."""
    names = [condition.name for condition in spec.conditions]
    method, reference = names.index(question.method), names.index(question.reference or "")
    others = [place for place in range(len(names)) if place not in (method, reference)]
    compared = [method, *others[: question.comparisons - 1]]
    planning = planning_of(spec)

    def p_values(drawn: Simulated) -> FloatArray:
        values = values_of(drawn, shown, method, planning)
        rows = ConditionResponses(
            tuple(range(shown.shape[0])),
            tuple(range(shown.shape[1])),
            tuple(range(len(names))),
            shown,
            values,
        )
        if shown.shape[0] < FEWEST_PEOPLE or shown.shape[1] < FEWEST_ITEMS:
            return np.ones(len(values))  # the analysis claims nothing then
        p = np.stack([difference_claims(rows, condition, reference).p for condition in compared], axis=1)
        return np.array([holm(row)[0] for row in p])

    return p_values


MOST_PEOPLE = 1_000
# Below, a study misses the effect more often than it finds it.
HALF = 0.5
Say = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """Power of one size: participants in each row of the design, people in all, items asked about."""

    participants: int
    people: int
    items: int
    power: float
    low: float
    high: float


@dataclass(frozen=True)
class Needed:
    """The least number of participants in each row that finds the effect; None if it takes more than 500 people."""

    items: int
    participants: int | None
    people: int | None


@dataclass(frozen=True)
class PowerPlan(Record):
    """What a study of some sizes would find.

    Attributes:
        question: what is tested.
        effect: that is looked for, in the question's unit.
        wanted: the power wanted.
        rows: power by size.
        needed: participants needed, by number of items.
        detectable: the least effect found with the power wanted by the spec's own size; None if none is.
        size: the spec's own size.
        people: how simulated people are.
        accuracy: theirs without explanations.
        studies: simulated for each number.
        seed: of the simulation.
    """

    question: Question
    effect: float
    wanted: float
    rows: tuple[Row, ...]
    needed: tuple[Needed, ...]
    detectable: float | None
    size: Row
    people: People
    accuracy: float
    studies: int
    seed: int

    format: ClassVar = 1
    kind: ClassVar = "power"
    JSON: ClassVar = ("format", "kind", ..., "sentence")

    def needs(self, needed: Needed) -> str:
        """How many people are needed with a number of items."""
        where = f"With {self.question.asked(needed.items)}, finding it in {self.wanted:.0%} of cases needs"
        if needed.items < FEWEST_ITEMS and self.question.within:
            return (
                f"With {self.question.asked(needed.items)} nothing can be claimed about items like these: it needs "
                f"{FEWEST_ITEMS}."
            )
        if needed.participants is None:
            return f"{where} more than {MOST_PEOPLE // 2:,} people."
        return f"{where} {needed.participants} in each row ({needed.people} people)."

    def sentence(self) -> str:
        """What it means."""
        size, asked = self.size, self.question
        said = (
            f"With {size.participants} participants in each row of the design ({size.people} people) and "
            f"{asked.asked(size.items)} this study finds an effect of {asked.sized(self.effect)} ({asked.to_words()}) "
            f"in {size.power:.0%} of cases ({self.studies:,} simulated studies: {size.low:.0%} to {size.high:.0%})."
        )
        own = next((needed for needed in self.needed if needed.items == size.items), None)
        if own is not None:
            said += f" {self.needs(own)}"
        if self.detectable is None:
            return (
                f"{said} The spec's own size finds no effect, however large, in {self.wanted:.0%} of cases."
            )
        least = asked.sized(math.ceil(self.detectable))
        return f"{said} The least effect that the spec's own size finds in {self.wanted:.0%} of cases is about {least}."


@dataclass(frozen=True)
class DesignPower:
    """How often a study of the spec's own size finds an effect."""

    question: Question
    effect: float
    power: Power

    @property
    def is_low(self) -> bool:
        """Whether it would more often miss the effect than find it."""
        return self.power.power < HALF

    def sentence(self) -> str:
        """What it means, and what to do where that is little."""
        found, asked = self.power, self.question
        said = (
            f"finds an effect of {asked.sized(self.effect)} ({asked.to_words()}) in {found.power:.0%} of simulated "
            f"studies ({found.low:.0%} to {found.high:.0%})"
        )
        return f"{said}: more often than not it would miss it" if self.is_low else said


def design_power(
    spec: StudySpec,
    effect: float = default_of(PowerSpec, "effect"),
    who: People | None = None,
    studies: int = 200,
    seed: int = 0,
) -> DesignPower:
    """The power of a spec's own size, in a second or two; `plan_power` says how many people it would take.

    Raises:
        VeraxError: the protocol says nothing of its planning, or there is nothing to compare.
    """
    who = who or People()
    own = sized(spec)
    question, planning = question_of(own), planning_of(own)
    plan = planned(own, who)
    share = share_of(effect, planning)
    _check_room(effect, share, question, who.right(planning))
    return DesignPower(
        question, effect, power(plan.design, share, who.spreads(), plan.analyse, studies, seed)
    )


@takes_options(PowerSpec)
def plan_power(spec: StudySpec, *, say: Say = lambda _: None, **options: Unpack[PowerOptions]) -> PowerPlan:
    """How often studies of a spec's design find an effect, by size.

    Args:
        spec: the study.
        say: is told what is done.
        options: see docs/planning.md.
    """
    asked = checked_spec(PowerSpec, options)
    effect, wanted, studies, seed = asked.effect, asked.power, asked.studies, asked.seed
    if not 0 < abs(effect) < 100:
        raise VeraxError(f"The effect is {effect:g} points: give a number between 0 and 100, such as 10.")
    who = People.asked(asked)
    own = sized(spec)
    question, planning = question_of(own), planning_of(own)
    share, spreads = share_of(effect, planning), who.spreads()
    _check_room(effect, share, question, who.right(planning))
    made: dict[tuple[int, int | None], Row] = {}

    def at(each: int, count: int | None) -> Row:
        if (each, count) not in made:
            say(f"{each} participants in each row")
            plan = planned(sized(spec, each, count), who)
            result = power(plan.design, share, spreads, plan.analyse, studies, seed)
            made[each, count] = _row(each, plan, result)
        return made[each, count]

    size = at(own.participants, None)
    counts: list[int | None] = [None, *dict.fromkeys(asked.items)]
    rows = [at(each, count) for count in counts for each in sorted({*asked.participants, own.participants})]
    needed = tuple(_needed(at, count, wanted) for count in counts)
    say("the least effect")
    plan = planned(own, who)
    least = detectable_effect(plan.design, wanted, spreads, plan.analyse, max(studies // 2, 1), seed).effect
    unit = share_of(1.0, planning)
    unique = {(row.participants, row.items): row for row in rows}
    return PowerPlan(
        question=question,
        effect=effect,
        wanted=wanted,
        rows=tuple(unique.values()),
        needed=tuple({size.items: size for size in needed}.values()),
        detectable=None if least is None else least / unit,
        size=size,
        people=who,
        accuracy=who.right(planning),
        studies=studies,
        seed=seed,
    )


def _row(each: int, plan: Planned, result: Power) -> Row:
    return Row(each, plan.people, plan.design.items, result.power, result.low, result.high)


def _needed(at: Callable[[int, int | None], Row], count: int | None, wanted: float) -> Needed:
    """The least number for each row by doubling and halving; power grows with it but for the chance of simulating."""
    above = 1
    while at(above, count).power < wanted:
        if at(above, count).people * 2 > MOST_PEOPLE:
            return Needed(at(above, count).items, None, None)
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if at(middle, count).power >= wanted else (middle, above)
    row = at(above, count)
    return Needed(row.items, above, row.people)


def _check_room(effect: float, share: float, question: Question, accuracy: float) -> None:
    """Refuses an effect that people's accuracy leaves no room for."""
    if 0 < accuracy < 1 and not 0 < accuracy + share < 1:
        most = ((1 - accuracy) if share > 0 else -accuracy) / share * effect
        raise VeraxError(
            f"There is no room for an effect of {question.sized(effect)} where people are right in {accuracy:.0%} "
            f"without explanations: give --effect {'below' if effect > 0 else 'above'} {most:.0f}."
        )
