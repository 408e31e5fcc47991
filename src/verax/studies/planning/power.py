"""How many participants and items a study needs: power by simulation, with the analysis that will be used.

Simulated people (`verax.stats.power.simulation`) take the design of the spec; their answers go through the primary
analysis of
the protocol: between people `verax.stats.crossed.between`, within people `verax.stats.crossed.within`, corrected by
Holm for all
comparisons of the primary analysis. The first method has the effect, all other conditions have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.crossed.within import NOT_SHOWN, Met, difference_claims
from verax.stats.power.power import Analysis, Power, analysis, detectable_effect, power
from verax.stats.power.simulation import Design, Simulated, Spreads
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import FEWEST_ITEMS, FEWEST_OWN
from verax.studies.model.spec import StudySpec
from verax.studies.planning.toy import sized, toy_study
from verax.studies.protocol.contract import make_protocol

BETWEEN = ("forward", "counterfactual")
GRADED = ("model-choice", "class-from-evidence", "uncertain-case")
# Right answers without explanations: the published averages (before explanations; on plain inputs), or near chance.
ACCURACY = {"forward": 0.66, "counterfactual": 0.66, "reverse-turing": 0.55}
NEAR_CHANCE = 0.55
# Of graded answers: the share that are sure, and that cannot say where that may be said.
SURE, UNDECIDED = 0.5, 0.1
MOST_PEOPLE = 1_000
Say = Callable[[str], None]


@dataclass(frozen=True)
class Question:
    """The comparison that the primary analysis makes for the first method.

    Attributes:
        protocol: the protocol's name.
        method: the condition that has the effect.
        reference: what it is compared with; None if its own Change is tested.
        comparisons: how many comparisons are corrected together.
        sessions: that everybody has, each with items of its own.
        unit: of effects: "points" of accuracy, or "hundredths of the score".
    """

    protocol: str
    method: str
    reference: str | None
    comparisons: int
    unit: Literal["points", "hundredths of the score"]
    sessions: int = 1

    def asked(self, items: int) -> str:
        """A number of items in words."""
        if self.sessions == 1:
            return f"{items} items"
        return f"{items} items ({items // self.sessions} in each of {self.sessions} sessions)"

    def sized(self, effect: float) -> str:
        """An effect in words."""
        return f"{effect:.3g} points" if self.unit == "points" else f"{effect / 100:.2f} in the mean score"

    def to_words(self) -> str:
        """What is tested."""
        if self.reference is None:
            return f"the Change of {self.method}"
        where = "" if self.protocol in BETWEEN else ", within people"
        return f"{self.method} against {self.reference}{where}"


def question_of(spec: StudySpec) -> Question:
    """What the primary analysis of a spec will ask."""
    name = spec.protocol["name"]
    kinds = {one.name: one.kind for one in spec.conditions}
    methods = [one for one, kind in kinds.items() if kind == "method"] or list(kinds)
    plain = [one for one, kind in kinds.items() if kind == "none"]
    controls = [one for one, kind in kinds.items() if kind == "control"]
    unit: Literal["points", "hundredths of the score"] = (
        "hundredths of the score" if name in GRADED else "points"
    )
    if name in BETWEEN:
        reference = plain[0] if plain and len(kinds) > 1 else None
        method = next(one for one in methods if one != reference)
        return Question(name, method, reference, len(kinds) - (reference is not None), unit)
    if len(kinds) < 2:
        raise VeraxError(
            f"The spec has one condition, {next(iter(kinds))!r}: there is nothing to compare it with; add a control."
        )
    # Without a control two methods are compared, which is what is asked then.
    references = plain + controls + methods[1:]
    method = next(one for one in methods if one != references[0])
    sessions = len(kinds) if name == "reverse-turing" else 1
    # With a random control only methods are compared in the Reverse Turing Test.
    compared = len(kinds) - 1 if plain or name in GRADED else len(methods)
    return Question(name, method, references[0], compared if plain or controls else 1, unit, sessions)


@dataclass(frozen=True)
class People:
    """How simulated people are.

    Attributes:
        accuracy: share of right answers without explanations; None is the protocol's default.
        between_people: standard deviation of their log-odds; what they gain differs in proportion.
        between_items: the same of items.
    """

    accuracy: float | None = None
    between_people: float = Spreads.person
    between_items: float = Spreads.item

    def spreads(self) -> Spreads:
        """All standard deviations: gains differ as much, for their size, as in the calibration."""
        if self.between_people < 0 or self.between_items < 0:
            raise VeraxError("How much people and items differ are standard deviations: give numbers from 0.")
        default = Spreads()
        gain = default.person_change if isinstance(default.person_change, float) else 0.3
        return Spreads(
            person=self.between_people,
            item=self.between_items,
            person_change=gain * self.between_people / default.person,
            item_change=default.item_change * self.between_items / default.item,
        )

    def right(self, protocol: str) -> float:
        """Their accuracy without explanations."""
        return ACCURACY.get(protocol, NEAR_CHANCE) if self.accuracy is None else self.accuracy


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
    accuracy = who.right(question.protocol)
    if question.protocol in BETWEEN:
        conditions = len(spec.conditions)
        items = make_protocol(spec.protocol).model_dump()["test"]
        design = Design((spec.participants,) * conditions, items, accuracy)
        claim: Literal["change", "contrast"] = "change" if question.reference is None else "contrast"
        test = analysis(claim, "random" if items >= FEWEST_ITEMS else "fixed", "Holm")
        return Planned(spec, question, conditions * spec.participants, design, test)
    shown = shown_conditions(spec)
    design = Design((len(shown),), shown.shape[1], accuracy)
    return Planned(spec, question, len(shown), design, _within(spec, question, shown))


def shown_conditions(spec: StudySpec) -> IndexArray:
    """(participants, tested items): the place of the condition under which each is shown, -1 if it is not."""
    study, protocol = toy_study(spec), make_protocol(spec.protocol)
    tests = {key for key, phase in study.phases.items() if phase.kind == "test"}
    names = [one.name for one in spec.conditions]
    asked: dict[str, int] = {}
    rows = []
    for row in study.rows:
        steps = [
            one for one in protocol.steps(study, row, 0) if one.phase in tests and one.item and one.condition
        ]
        rows.append({one.item: names.index(one.condition or "") for one in steps})
        for one in steps:
            asked.setdefault(one.item or "", len(asked))
    codes = np.full((len(rows), len(asked)), NOT_SHOWN, dtype=np.intp)
    for place, cells in enumerate(rows):
        for item, condition in cells.items():
            codes[place, asked[item or ""]] = condition
    return np.repeat(codes, spec.participants, axis=0)


def values_of(drawn: Simulated, shown: IndexArray, method: int, graded: str | None) -> FloatArray:
    """The scores of simulated people: helped under the method, not helped under all other conditions.

    Args:
        drawn: answers without and with help to every item.
        shown: what is shown under which condition.
        method: the place of the condition that helps.
        graded: the protocol whose answers are graded, or None for right and wrong.
    """
    right = np.where(shown == method, drawn.post, drawn.pre)
    right = np.where(shown == NOT_SHOWN, np.nan, right)
    if graded is None:
        return right
    # How sure people are is drawn anew in every study, and the same for every effect, as are the people themselves.
    chance = np.random.default_rng(shown.size).random((2, *right.shape))
    worth = np.where(chance[0] < SURE, 1.0, 0.5)
    worth = np.where(chance[1] < undecided(graded), 0.0, worth)
    return np.asarray((2 * right - 1) * worth, dtype=np.float64)


def undecided(protocol: str) -> float:
    """The share of answers that cannot say."""
    return 0.0 if protocol == "uncertain-case" else UNDECIDED


def share_of(effect: float, protocol: str) -> float:
    """An effect in points, or hundredths of the score, as a share of right answers."""
    if protocol not in GRADED:
        return effect / 100
    worth = (1 - undecided(protocol)) * (SURE + 0.5 * (1 - SURE))
    return effect / 100 / (2 * worth)


def _within(spec: StudySpec, question: Question, shown: IndexArray) -> Analysis:
    """The comparison within people, with Holm's correction for the other comparisons."""
    names = [one.name for one in spec.conditions]
    method, reference = names.index(question.method), names.index(question.reference or "")
    others = [place for place in range(len(names)) if place not in (method, reference)]
    compared = [method, *others[: question.comparisons - 1]]
    graded = question.protocol if question.protocol in GRADED else None

    def p_values(drawn: Simulated) -> FloatArray:
        values = values_of(drawn, shown, method, graded)
        rows = Met(
            tuple(range(shown.shape[0])),
            tuple(range(shown.shape[1])),
            tuple(range(len(names))),
            shown,
            values,
        )
        if shown.shape[0] < FEWEST_OWN or shown.shape[1] < FEWEST_ITEMS:
            return np.ones(len(values))  # the analysis claims nothing then
        p = np.stack([difference_claims(rows, one, reference).p for one in compared], axis=1)
        return np.array([holm(row)[0] for row in p])

    return p_values


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
class PowerPlan:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the sentence."""
        return {"format": 1, "kind": "power", **asdict(self), "sentence": self.sentence()}

    def needs(self, needed: Needed) -> str:
        """How many people are needed with a number of items."""
        where = f"With {self.question.asked(needed.items)}, finding it in {self.wanted:.0%} of cases needs"
        if needed.items < FEWEST_ITEMS and self.question.protocol not in BETWEEN:
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
        own = next((one for one in self.needed if one.items == size.items), None)
        if own is not None:
            said += f" {self.needs(own)}"
        if self.detectable is None:
            return (
                f"{said} The spec's own size finds no effect, however large, in {self.wanted:.0%} of cases."
            )
        least = asked.sized(math.ceil(self.detectable))
        return f"{said} The least effect that the spec's own size finds in {self.wanted:.0%} of cases is about {least}."


def plan_power(
    spec: StudySpec,
    effect: float = 10.0,
    participants: Sequence[int] = (5, 10, 20, 40),
    items: Sequence[int] = (),
    wanted: float = 0.8,
    who: People | None = None,
    studies: int = 400,
    seed: int = 0,
    say: Say = lambda _: None,
) -> PowerPlan:
    """How often studies of a spec's design find an effect, by size.

    Args:
        spec: the study.
        effect: in points; of the graded tasks in hundredths of the score.
        participants: for each row of the design; sizes to try beside the spec's own.
        items: sizes to try beside the spec's own.
        wanted: the power wanted.
        who: how people are.
        studies: to simulate for each size.
        seed: of the simulation.
        say: is told what is done.
    """
    _check(effect, participants, items, wanted)
    who = who or People()
    own = sized(spec)
    question = question_of(own)
    share, spreads = share_of(effect, question.protocol), who.spreads()
    _check_room(effect, share, question, who.right(question.protocol))
    found: dict[tuple[int, int | None], Row] = {}

    def at(each: int, count: int | None) -> Row:
        if (each, count) not in found:
            say(f"{each} participants in each row")
            plan = planned(sized(spec, each, count), who)
            result = power(plan.design, share, spreads, plan.analyse, studies, seed)
            found[each, count] = _row(each, plan, result)
        return found[each, count]

    size = at(own.participants, None)
    counts: list[int | None] = [None, *(one for one in dict.fromkeys(items))]
    rows = [at(each, count) for count in counts for each in sorted({*participants, own.participants})]
    needed = tuple(_needed(at, count, wanted) for count in counts)
    say("the least effect")
    plan = planned(own, who)
    least = detectable_effect(plan.design, wanted, spreads, plan.analyse, max(studies // 2, 1), seed).effect
    unit = share_of(1.0, question.protocol)
    unique = {(row.participants, row.items): row for row in rows}
    return PowerPlan(
        question=question,
        effect=effect,
        wanted=wanted,
        rows=tuple(unique.values()),
        needed=tuple({one.items: one for one in needed}.values()),
        detectable=None if least is None else least / unit,
        size=size,
        people=who,
        accuracy=who.right(question.protocol),
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


def _check(effect: float, participants: Sequence[int], items: Sequence[int], wanted: float) -> None:
    if not 0 < wanted < 1:
        raise VeraxError(f"The power wanted is {wanted}: give a share between 0 and 1, such as 0.8.")
    if not 0 < abs(effect) < 100:
        raise VeraxError(f"The effect is {effect:g} points: give a number between 0 and 100, such as 10.")
    for name, numbers in (("participants", participants), ("items", items)):
        wrong = [number for number in numbers if number < 1]
        if wrong:
            raise VeraxError(f"The number of {name} is {wrong[0]}: give whole numbers from 1.")
