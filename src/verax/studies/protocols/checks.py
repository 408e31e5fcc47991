"""The contract of a protocol as tests: ours pass them all; import ``check_protocol`` to test yours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from verax.codec import decode, encode
from verax.data.words import split_words
from verax.explain.explanation import Attribution
from verax.studies.build.build import compose_study
from verax.studies.definition.screen import (
    Bars,
    Block,
    Evidence,
    Facts,
    Passage,
    Prose,
    Quote,
    Row,
    Screen,
    WordedExplanation,
)
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import DesignRow, Item, Step, Study, Variant
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import Material, Protocol, make_protocol

# Words of no language, so that none of them can stand in an instruction by chance.
CLASS_NAMES = ("zorbic", "plenkish", "quadrile", "vurmal", "drosty", "hembril")
WORDS = ("blarn", "crell", "dravin", "fropple", "glint", "hast", "jorrow", "kreb", "mulp", "nosk")


def sample_material(
    protocol: Mapping[str, Any],
    roles: Mapping[str, int],
    *,
    kind: str = "text",
    classes: int = 2,
    groups: int = 1,
    conditions: Sequence[Mapping[str, Any]] = (
        {"name": "plain"},
        {"name": "method", "explainer": "lime"},
        {"name": "control", "like": "method"},
    ),
    options: Mapping[str, Any] | None = None,
) -> Material:
    """Made-up items and explanations, balanced over (prediction, right or wrong); nothing is trained.

    Args:
        protocol: the ``[protocol]`` table of a spec.
        roles: how many items each role has in each group.
        kind: "text" or "table".
        classes: how many there are, at most six.
        groups: item groups, or blocks.
        conditions: as in a spec.
        options: further entries of the spec.
    """
    spec = make_study_spec(
        {
            "title": "A study",
            "dataset": "made-up",
            "protocol": dict(protocol),
            "conditions": [dict(condition) for condition in conditions],
            **(options or {}),
        }
    )
    items: list[Item] = []
    for role, count in roles.items():
        for group in range(groups):
            for place in range(count):
                items.append(_item(len(items) + 1, role, group, place, kind, classes))
    explanations = {
        (item.id, condition.name, model): _attribution(item, number, model)
        for item in items
        for number, condition in enumerate(spec.conditions)
        if condition.kind != "none"
        for model in ("model", "worse")
    }
    edges = {condition.name: (0.2, 0.4, 0.6) for condition in spec.conditions if condition.kind != "none"}
    return Material(spec, kind, CLASS_NAMES[:classes], tuple(items), explanations, edges)


def _item(number: int, role: str, group: int, place: int, kind: str, classes: int) -> Item:
    """The places of a role run through all cells in turn, and flips through twice as many."""
    prediction = place % classes
    right = place // classes % 2 == 0
    flips = place // (2 * classes) % 2 == 0
    rest = 0.4 / (classes - 1)
    shown, changed = _inputs(number, kind)
    return Item(
        id=f"i{number:03d}",
        role=role,
        input=shown,
        label=prediction if right else (prediction + 1) % classes,
        prediction=prediction,
        probabilities=tuple(0.6 if number == prediction else rest for number in range(classes)),
        group=group,
        variant=Variant(*changed, (prediction + 1) % classes if flips else prediction),
        worse=tuple(0.5 if number == prediction else 0.5 / (classes - 1) for number in range(classes)),
    )


def _inputs(number: int, kind: str) -> tuple[Any, tuple[Any, Any]]:
    """An input that no other item has, and a version in which its second part is changed."""
    words = [WORDS[(number + step) % len(WORDS)] for step in range(4)] + [f"{WORDS[0]}{number}"]
    if kind == "text":
        start = len(words[0]) + 1
        changed = " ".join([words[0], "snerk", *words[2:]])
        return " ".join(words), (changed, ((start, start + len("snerk")),))
    row = tuple((f"column {place}", word) for place, word in enumerate(words))
    return row, ((row[0], (row[1][0], "snerk"), *row[2:]), (1,))


def _attribution(item: Item, number: int, model: str) -> Attribution:
    """Scores of both signs, which differ between conditions and between models."""
    features = (
        split_words(item.input).distinct
        if isinstance(item.input, str)
        else [column for column, _ in item.input]
    )
    scores = np.array([0.9, -0.7, 0.5, -0.3, 0.1])
    shown = (
        item.input
        if isinstance(item.input, str)
        else tuple(f"{name} = {value}" for name, value in item.input)
    )
    return Attribution(
        tuple(features), np.roll(scores, number + (model == "worse")), item.prediction, input=shown
    )


# How many participants of each row are looked at.
PARTICIPANTS = 6


def check_protocol(material: Material) -> Study:
    """Raises an AssertionError that says which part of the contract the material's protocol breaks; the study made."""
    protocol = make_protocol(material.spec.protocol)
    protocol.check(material.spec)
    study = compose_study(material, protocol, "")
    check_rows(study)
    check_screens(study)
    for row in study.rows:
        for number in range(1, PARTICIPANTS + 1):
            steps = participant_steps(study, row, number)
            assert steps == participant_steps(study, row, number), (
                f"row {row.number}: the same seed gives other steps"
            )
            check_phases(study, steps)
            check_answers(study, protocol, steps)
    shown = {step.item for row in study.rows for step in participant_steps(study, row, 1)}
    unseen = [item for item in study.items if item not in shown]
    assert not unseen, f"the item {unseen[0]!r} is shown in no row of the design"
    return study


def check_rows(study: Study) -> None:
    """Rows are numbered from 0, have a target, and survive JSON."""
    numbers = [row.number for row in study.rows]
    assert numbers == list(range(len(numbers))), f"rows are numbered {numbers}, not from 0 without a gap"
    for row in study.rows:
        assert row.target >= 1, f"row {row.number} wants nobody"
        again = decode(DesignRow, json.loads(json.dumps(encode(row))))
        assert again == row, f"the cells of row {row.number} do not survive JSON: {row.cells}"


def check_screens(study: Study) -> None:
    """A screen has a heading and says what to do, survives JSON, and never names a class."""
    for key, screen in study.screens.items():
        assert screen.heading, f"the screen {key!r} has no heading"
        assert any(block.type == "prose" for block in screen.blocks), (
            f"the screen {key!r} does not say what to do"
        )
        again = decode(Screen, json.loads(json.dumps(encode(screen))))
        assert again == screen, f"the screen {key!r} does not survive JSON"
        # The debriefing of a masked task tells what its letters stood for.
        named = [] if key.startswith("debrief") else named_classes(screen, study.class_names)
        assert not named, (
            f"the screen {key!r} names the class {named[0]!r}; write class_mark({named[0]!r}'s number)"
        )


def check_phases(study: Study, steps: Sequence[Step]) -> None:
    """Nobody comes back to a phase, since its time runs from its first page; only instructions may be shown again."""
    runs = [phase for phase, _ in groupby(steps, key=lambda step: step.phase)]
    for phase in runs:
        again = runs.count(phase) > 1 and study.phases[phase].kind not in ("instructions", "screening")
        assert not again, f"participants leave the phase {phase!r} and come back to it"


def check_answers(study: Study, protocol: Protocol, steps: Sequence[Step]) -> None:
    """Every step of a test asks the scored question about an item; one answer is the best, and worth 1."""
    for step in steps:
        if study.phases[step.phase].kind != "test":
            continue
        assert step.item is not None, f"the step {step.screen!r} of a test has no item"
        assert step.condition is not None, f"the step {step.screen!r} of a test has no condition"
        asked = [
            question for question in study.screens[step.screen].questions if question.name == protocol.scored
        ]
        assert asked, f"the screen {step.screen!r} of a test does not ask {protocol.scored!r}"
        item = study.items[step.item]
        scores = sorted(protocol.score(item, option.means) for option in asked[0].options)
        assert scores[-1] == 1, f"the best answer of {step.screen!r} is not worth 1: {scores}"
        assert scores[-2] < 1, f"two answers of {step.screen!r} are the best: {scores}"
        assert scores[0] >= -1, f"an answer of {step.screen!r} is worth less than -1: {scores}"
    echoes = [(before, after) for before, after in pairwise(steps) if study.screens[after.screen].echo]
    for before, after in echoes:
        names = [question.name for question in study.screens[before.screen].questions]
        echo = study.screens[after.screen].echo
        assert echo in names, (
            f"{after.screen!r} repeats the answer to {echo!r}, which {before.screen!r} does not ask"
        )


def named_classes(screen: Screen, class_names: Sequence[str]) -> list[str]:
    """Class names that stand in the words of a screen; the words of the input itself do not count."""
    said = "\n".join(screen_words(screen))
    return [
        name for name in class_names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said, re.IGNORECASE)
    ]


def screen_words(screen: Screen) -> list[str]:
    """All that a screen says, without the words of inputs and fragments."""
    words = [screen.heading, screen.button]
    for block in screen.blocks:
        words += [block.title, *_said(block)]
    for question in screen.questions:
        words += [
            question.prompt,
            question.low,
            question.high,
            *(option.label for option in question.options),
        ]
    return words


def _said(block: Block) -> list[str]:
    match block:
        case Prose():
            return list(block.paragraphs)
        case Facts():
            return [text for pair in block.pairs for text in pair]
        case Passage() | Row() | Quote() | WordedExplanation() | Bars():
            return [block.legend]
        case Evidence():
            return []
