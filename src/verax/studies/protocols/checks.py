"""The contract of a protocol as tests: ours pass them all; import ``check_protocol`` to test yours."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from verax.studies.build.build import compose_study
from verax.studies.model.design_row import DesignRow
from verax.studies.model.screen import Bars, Block, Evidence, Facts, Passage, Prose, Quote, Row, Screen, Told
from verax.studies.model.sources import Material
from verax.studies.model.steps import Step
from verax.studies.model.study import Study
from verax.studies.protocol.contract import Protocol, make_protocol
from verax.studies.protocol.surroundings import participant_steps
from verax.studies.protocols.sample import sample_material

__all__ = ["check_protocol", "sample_material"]

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
        again = DesignRow.from_dict(json.loads(json.dumps(row.to_dict())))
        assert again == row, f"the cells of row {row.number} do not survive JSON: {row.cells}"


def check_screens(study: Study) -> None:
    """A screen has a heading and says what to do, survives JSON, and never names a class."""
    for key, screen in study.screens.items():
        assert screen.heading, f"the screen {key!r} has no heading"
        assert any(block.type == "prose" for block in screen.blocks), (
            f"the screen {key!r} does not say what to do"
        )
        again = Screen.from_dict(json.loads(json.dumps(screen.to_dict())))
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
        case Passage() | Row() | Quote() | Told() | Bars():
            return [block.legend]
        case Evidence():
            return []
