"""One size of a study, ready to be simulated: who answers what, and the analysis that will be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.stats.crossed.within import NOT_SHOWN, Met, difference_claims
from verax.stats.power.power import Analysis, analysis
from verax.stats.power.simulation import Design, Simulated
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import FEWEST_ITEMS, FEWEST_PEOPLE
from verax.studies.model.spec import StudySpec
from verax.studies.planning.question import Question, question_of
from verax.studies.planning.simulated_people import People, values_of
from verax.studies.planning.toy import planning_of, toy_study
from verax.studies.protocol.contract import make_protocol


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
        items = make_protocol(spec.protocol).model_dump()[planning.items]
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
        rows = Met(
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
