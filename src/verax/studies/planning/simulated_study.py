"""Answers of simulated people, laid out as the records of a study that was collected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from verax.stats.power.simulation import Design, Simulated, simulate
from verax.studies.answers.frames import Collected, to_frame
from verax.studies.answers.response_record import Record, ResponseRecords, StepColumns
from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, shown
from verax.studies.model.design_row import DesignRow
from verax.studies.model.steps import Step
from verax.studies.model.study import Study
from verax.studies.planning.question import question_of
from verax.studies.planning.simulated_people import SURE, People
from verax.studies.planning.toy import planning_of
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocol.planning import Planning


def simulated_study(
    study: Study, who: People, seed: np.random.SeedSequence | int, effect: float = 0.0
) -> Collected:
    """A study as it would be collected, in which the first method raises accuracy by a share.

    Nobody leaves or is excluded; 3% of the pages expire. Only scored questions of test phases are answered.
    """
    planning, question = planning_of(study.spec), question_of(study.spec)
    protocol, made = make_protocol(study.spec.protocol), ResponseRecords(study)
    people = [row for row in study.rows for _ in range(row.target)]
    tests = {key for key, phase in study.phases.items() if phase.kind == "test"}
    tested = [
        [step for step in protocol.steps(study, row, number) if step.phase in tests and step.item]
        for number, row in enumerate(people, start=1)
    ]
    places: dict[str | None, int] = {}
    for steps in tested:
        for step in steps:
            places.setdefault(step.item, len(places))
    drawn = _drawn(study, who, len(people), len(places), seed, effect)
    rng = np.random.default_rng(seed)

    def records() -> Iterator[Record]:
        for number, (row, steps) in enumerate(zip(people, tested, strict=True)):
            for order, step in enumerate(steps, start=1):
                helped = step.condition == question.method and step.phase != "pre"
                # After explanations everybody answers anew, also where nothing helped.
                after = helped or (planning.compared == "between" and step.phase == "post")
                right = float((drawn.post if after else drawn.pre)[0, number, places[step.item]])
                item = study.items[step.item or ""]
                worth = None if np.isnan(right) else _worth(planning, bool(right), rng)
                meaning = None if worth is None else planning.answer(item, worth)
                about = _about(row, number, order, step, float(np.exp(rng.normal(2.0, 0.5))))
                if meaning is None:
                    yield made.expired(about, protocol.scored)
                else:
                    yield made.answered(about, protocol.scored, meaning, position=None)

    return Collected(
        study=study,
        participants=to_frame(
            (_participant(row, number) for number, row in enumerate(people)),
            shown(PARTICIPANTS, identifying=False),
        ),
        responses=to_frame(records(), shown(RESPONSES, identifying=False)),
        exclusions=to_frame(iter(()), shown(EXCLUSIONS, identifying=False)),
        source="simulated",
    )


def _drawn(
    study: Study, who: People, people: int, items: int, seed: np.random.SeedSequence | int, effect: float
) -> Simulated:
    """Answers of everybody to every item, before and after; between people only the method's own are helped."""
    planning, question = planning_of(study.spec), question_of(study.spec)
    groups: tuple[int, ...] = (people,)
    effects: tuple[float, ...] = (effect,)
    if planning.compared == "between":
        groups = tuple(row.target for row in study.rows)
        effects = tuple(effect * (row.condition == question.method) for row in study.rows)
    return simulate(Design(groups, items, who.right(planning)), effects, who.spreads(), 1, seed)


def _worth(planning: Planning, right: bool, rng: np.random.Generator) -> float:
    """What the answer of somebody who is right, or wrong, is worth: graded answers by how sure they are."""
    if not planning.graded:
        return float(right)
    sure, undecided = rng.random() < SURE, rng.random() < planning.undecided
    if undecided:
        return 0.0
    return (1.0 if sure else 0.5) * (1 if right else -1)


def _about(row: DesignRow, number: int, order: int, step: Step, seconds: float) -> StepColumns:
    return {
        "participant": _name(number),
        "bot": False,
        "design_row": row.number,
        "phase": step.phase,
        "step": order,
        "number_in_phase": order,
        "item": step.item,
        "condition": step.condition,
        "late": False,
        "seconds": seconds,
        "client_ms": None,
        "visible_ms": None,
        "blurs": 0,
        "views": 1,
        "minute": float(order - 1),
    }


def _participant(row: DesignRow, number: int) -> Record:
    return {
        "participant": _name(number),
        "bot": False,
        "status": "complete",
        "platform": "link",
        "design_row": row.number,
        "number": number + 1,
        "condition": row.condition,
        "steps": 1,
        "done": 1,
        "phase": None,
        "minutes": 10.0,
        "left": False,
        "excluded": False,
        "rules": [],
        "version": "0",
        "link": None,
    }


def _name(number: int) -> str:
    return f"p{number:010x}"
