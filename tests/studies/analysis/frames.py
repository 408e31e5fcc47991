"""Answers to a study as an analysis gets them, without a server: everybody walks the study's own steps.

`sample_study` makes a small study of any protocol, `collected` the frames, with the columns of
`verax.studies.answers.schema`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from verax.stats.power import Design, Simulated, Spreads, simulate
from verax.studies.analysis import Options, Summary, analyse
from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, Collected, shown, to_frame
from verax.studies.build.build import compose_study
from verax.studies.definition.screen import Question
from verax.studies.definition.study import Step, Study
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material

# What an answer is, or None where the step's time is over before one comes.
Answer = Callable[["Person", Step, Question], Any]
THREE = ({"name": "none"}, {"name": "lime", "explainer": "lime"}, {"name": "shap", "explainer": "shap"})


@dataclass(frozen=True)
class Person:
    """Somebody who came.

    Attributes:
        number: from 1; also the pseudonym and the seed of the order of steps.
        row: of the design.
        status: what became of the person.
        bot: whether it is one.
        left: whether an active person's place was given up.
        rules: exclusion rules in force.
        until: answers all phases before this one only; None answers all.
        late: whether all answers of the test phases come too late.
        seconds: for each page.
    """

    number: int
    row: int
    status: str = "complete"
    bot: bool = False
    left: bool = False
    rules: tuple[str, ...] = ()
    until: str | None = None
    late: bool = False
    seconds: float = 5.0

    @property
    def name(self) -> str:
        """The pseudonym."""
        return f"p{self.number:010x}"


def sample_study(
    protocol: dict[str, Any],
    roles: dict[str, int],
    *,
    conditions: Sequence[dict[str, Any]] = THREE,
    groups: int = 1,
    kind: str = "text",
    **options: Any,
) -> Study:
    """A study of made-up items; ``options`` are further entries of its spec (participants, analysis, exclusion)."""
    material = sample_material(
        protocol,
        roles,
        conditions=conditions,
        groups=groups,
        kind=kind,
        options={"screening": False} | options,
    )
    made = compose_study(material, make_protocol(material.spec.protocol), "")
    return replace(made, hash=hashlib.sha256(repr((made.spec, kind, roles)).encode()).hexdigest())


def summarised(taken: Collected, options: Options | None = None, **more: Any) -> dict[str, Any]:
    """What stands in summary.json; reading it back and writing it again changes nothing, and no interval pretends."""
    written = analyse(taken, options, **more).to_dict()
    assert Summary.from_dict(written).to_dict() == written
    for table in written["tables"]:
        for column in table["columns"]:
            if column["kind"] == "interval" and "range" not in column["title"]:
                for row in table["rows"]:
                    check_interval(row[column["key"]], column["unit"], (table["key"], column["key"], row))
    for line in written["primary"]["estimates"] if written["primary"] else ():
        check_interval((line["low"], line["high"]), written["primary"]["unit"], line)
    for figure in written["figures"]:
        data = figure["data"]
        unit = "%" if "%" in data.get("y_label", "") else ""
        for line in (*data.get("lines", ()), *data.get("bars", ())):
            for ends in zip(line.get("low", ()), line.get("high", ()), strict=True):
                check_interval(ends, unit, (figure["key"], line))
    return written


def check_interval(ends: Sequence[float | None] | None, unit: str, where: Any) -> None:
    """No interval without width, which would claim that nothing varies, and none of a share outside 0 to 100%."""
    if ends is None or None in ends:
        return
    low, high = ends
    assert low < high, where
    if unit in ("per cent", "%"):
        assert low >= 0, where
        assert high <= 100, where


def everybody(study: Study, each: int, **same: Any) -> list[Person]:
    """So many people in every row of the design, all alike."""
    rows = [row.number for row in study.rows for _ in range(each)]
    return [Person(number, row, **same) for number, row in enumerate(rows, start=1)]


def collected(study: Study, people: Sequence[Person], answer: Answer) -> Collected:
    """What these people answered, as an analysis gets it."""
    rows = [row for person in people if _has_answers(person) for row in _responses(study, person, answer)]
    return Collected(
        study=study,
        participants=_frame([_participant(study, person) for person in people], PARTICIPANTS),
        responses=_frame(rows, RESPONSES),
        exclusions=_frame([_exclusion(p, rule) for p in people for rule in p.rules], EXCLUSIONS),
        source="made by hand",
    )


def _has_answers(person: Person) -> bool:
    return person.status in ("active", "complete", "screened-out")


def _frame(rows: list[dict[str, Any]], columns: Any) -> pd.DataFrame:
    return to_frame(iter(rows), shown(columns, identifying=False))


def _participant(study: Study, person: Person) -> dict[str, Any]:
    placed = person.status not in ("invited", "declined", "full")
    return {
        "participant": person.name,
        "bot": person.bot,
        "status": person.status,
        "platform": "link",
        "design_row": person.row if placed else None,
        "number": person.number if placed else None,
        "condition": study.rows[person.row].condition if placed else None,
        "steps": 1,
        "done": 1,
        "phase": person.until,
        "minutes": 10.0,
        "left": person.left,
        "excluded": bool(person.rules),
        "rules": list(person.rules),
        "version": "0",
        "link": None,
    }


def _exclusion(person: Person, rule: str) -> dict[str, Any]:
    found = {"rule": rule, "limit": 2.0, "measured": 1.0, "answers": 8, "evidence": {}, "in_force": True}
    return {"participant": person.name, "bot": person.bot} | found


def _responses(study: Study, person: Person, answer: Answer) -> list[dict[str, Any]]:
    protocol = make_protocol(study.spec.protocol)
    rows, places, minute = [], {}, 0.0
    for number, step in enumerate(participant_steps(study, study.rows[person.row], person.number), start=1):
        if step.phase == person.until:
            break
        places[step.phase] = places.get(step.phase, 0) + 1
        minute += person.seconds / 60
        item = None if step.item is None else study.items[step.item]
        kind = study.phases[step.phase].kind
        questions = study.screens[step.screen].questions
        given = {question.name: answer(person, step, question) for question in questions}
        if None in given.values():  # the page's time was over: one row
            questions = tuple(one for one in questions if one.name == protocol.scored) or questions[:1]
            given = {questions[0].name: None}
        for question in questions:
            meaning = given[question.name]
            scored = kind == "test" and item and question.name == protocol.scored and meaning is not None
            means = [option.means for option in question.options]
            rows.append(
                {
                    "participant": person.name,
                    "bot": person.bot,
                    "design_row": person.row,
                    "phase": step.phase,
                    "phase_kind": kind,
                    "step": number,
                    "number_in_phase": places[step.phase],
                    "item": step.item,
                    "condition": step.condition,
                    "question": question.name,
                    "answer": None if meaning is None else str(meaning),
                    "position": means.index(meaning) + 1 if meaning in means else None,
                    "score": protocol.score(item, meaning) if scored else None,
                    "label": item and item.label,
                    "prediction": item and item.prediction,
                    "model_correct": item and item.correct,
                    "variant_prediction": item.variant.prediction if item and item.variant else None,
                    "flips": item.flips if item and item.variant else None,
                    "state": "expired" if meaning is None else "closed",
                    "late": meaning is None or (person.late and kind == "test"),
                    "withheld": False,
                    "seconds": person.seconds,
                    "client_ms": None,
                    "visible_ms": None,
                    "blurs": 0,
                    "views": 1,
                    "minute": minute,
                }
            )
    return rows


def drawn(
    counts: tuple[int, ...],
    items: int,
    effects: Any = 0.0,
    seed: int = 0,
    missing: float = 0.0,
    **spreads: float,
) -> Simulated:
    """One simulated study: people per condition, in the order of the conditions."""
    return simulate(Design(counts, items, missing=missing), effects, Spreads(**spreads), seed=seed)


def simulated_answers(study: Study, right: Simulated, ratings_seed: int = 0) -> Answer:
    """Answers of simulated people: person n is the n-th of the simulation, test item i its i-th item."""
    tests = [item.id for item in study.items.values() if item.role == "test"]
    rng = np.random.default_rng(ratings_seed)
    ratings = rng.integers(1, 8, (len(right.method), len(study.items)))
    places = {name: place for place, name in enumerate(study.items)}

    def answer(person: Person, step: Step, question: Question) -> Any:
        if question.name == "rating":
            return int(ratings[person.number - 1, places[step.item]])
        if question.name != "prediction":
            return question.options[0].means if question.options else "a word"
        table = right.pre if step.phase == "pre" else right.post
        correct = table[0, person.number - 1, tests.index(step.item)]
        return None if np.isnan(correct) else _meaning(study, step.item, bool(correct))

    return answer


def _meaning(study: Study, item: str, correct: bool) -> int:
    """The class that is right, or the next one: what the model says of the item, or of its changed version."""
    one = study.items[item]
    changed = study.spec.protocol["name"] == "counterfactual"
    said = one.variant.prediction if changed and one.variant else one.prediction
    return said if correct else (said + 1) % len(study.class_names)
