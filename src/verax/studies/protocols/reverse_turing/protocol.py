"""The Reverse Turing Test: can people imitate the model, with explanations and without, on tasks they know or not?

Gonzalez and Sogaard (2020), section 4.3. In each condition a timed training session (guess, then see the model's
answer) and a timed evaluation session (guess only); a Latin square over item groups, conditions in Williams orders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from verax.errors import VeraxError
from verax.seeds import shuffled
from verax.studies.design.rows import crossover, deal
from verax.studies.display import wording
from verax.studies.items import pool
from verax.studies.model.design_row import DesignRow, Round, Rounds
from verax.studies.model.item import Item
from verax.studies.model.screen import Facts, Meaning, Prose, Screen, class_mark
from verax.studies.model.spec import StudySpec
from verax.studies.model.steps import Phase, Step
from verax.studies.model.study import Study
from verax.studies.protocol.contract import Briefing, Material, Protocol, Source, protocols
from verax.studies.protocol.findings import ProtocolAnalysis
from verax.studies.protocol.planning import Planning, Role
from verax.studies.protocols.reverse_turing.briefing import brief
from verax.studies.protocols.screens import (
    EXPLAINED,
    PLAIN,
    audience_of,
    audiences,
    by_role,
    made_items,
    marked_input,
    page,
    prediction_question,
    refuse_direction,
    strata,
    timed,
)

# Letters that come to mind in no order, so that a list of them in any order looks natural.
LETTERS = "KRMTFWPLGZDHVSNB"
# A class name of one or two letters ("no", "is") is in too many sentences to be refused there.
SHORTEST_REFUSED = 3


@protocols.register("reverse-turing")
class ReverseTuring(Protocol):
    """Imitate the model in timed sessions, on a task that is described or kept secret (Gonzalez and Sogaard 2020).

    Attributes:
        training: items of each training session, from the validation part; 0 for no such sessions.
        evaluation: items of each evaluation session, from the test part.
        masked: whether the task is kept secret: classes get neutral names, drawn anew for each participant.
        only_wrong: only items that the model gets wrong.
    """

    asks: ClassVar[str] = "Can people tell what the model says, and does what they believe stand in the way?"
    explained: ClassVar[tuple[str, ...]] = ("training", "evaluation")
    own_models: ClassVar[bool] = True

    training: int = Field(default=25, ge=0)
    evaluation: int = Field(default=15, ge=1)
    masked: bool = False
    only_wrong: bool = False

    def check(self, spec: StudySpec) -> None:
        """The direction of a mark would give the answer away."""
        refuse_direction(spec, "people could read the model's answer off it")

    def items(self, source: Source) -> list[Item]:
        """As many groups as conditions; within each, the cells of a balanced draw differ by at most one item."""
        chosen = (
            self._session_items(source, "validation", "training", self.training, 1) if self.training else []
        )
        return chosen + self._session_items(source, "test", "evaluation", self.evaluation, len(chosen) + 1)

    def _session_items(self, source: Source, part: str, role: str, count: int, first: int) -> list[Item]:
        groups = len(source.spec.conditions)
        candidates = pool.candidates(source, part)
        if self.only_wrong:
            candidates = pool.wrong(candidates)
        sizes = [
            len(members)
            for (_, right), members in candidates.cells.items()
            if not (right and self.only_wrong)
        ]
        _refuse_uneven(candidates, sizes, role, count, groups)
        numbers = pool.spread(candidates, groups * count, source.spec.seed, role)
        dealt = deal(strata(candidates, numbers), groups)
        return made_items(source, candidates, numbers, role, first=first, groups=dealt)

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """A training and an evaluation session in each round, each after a page that says what comes."""
        phases: list[Phase] = []
        for number in range(1, len(material.spec.conditions) + 1):
            if by_role(material.items, "training"):
                title = f"Round {number}: training"
                phases.append(Phase(f"about-training-{number}", title, "instructions"))
                phases.append(timed(material.spec, f"training-{number}", title, "training"))
            title = f"Round {number}: test"
            phases.append(Phase(f"about-evaluation-{number}", title, "instructions"))
            phases.append(timed(material.spec, f"evaluation-{number}", title, "test"))
        return tuple(phases)

    def screens(self, material: Material) -> dict[str, Screen]:
        """Each item in each condition; in training also with the model's answer."""
        if self.masked:
            _refuse_task_words(material)
        screens = _pages(material)
        for condition in (condition.name for condition in material.spec.conditions):
            for item in by_role(material.items, "training"):
                screens[f"training:{item.id}:{condition}"] = _guess(
                    material, item, condition, shown_after=True
                )
                screens[f"answer:{item.id}:{condition}"] = _answer(material, item, condition)
            for item in by_role(material.items, "evaluation"):
                screens[f"evaluation:{item.id}:{condition}"] = _guess(
                    material, item, condition, shown_after=False
                )
        return screens

    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """Conditions with their item groups, in order: twice as many rows as conditions."""
        names = [condition.name for condition in material.spec.conditions]
        groups = {item.group for item in material.items}
        if groups != set(range(len(names))):
            raise VeraxError(
                f"{len(names)} conditions need as many groups of items, numbered from 0; the items have {len(groups)}."
            )
        return tuple(
            DesignRow(
                number,
                material.spec.participants,
                Rounds(tuple(Round(names[condition], group) for condition, group in pairs)),
            )
            for number, pairs in enumerate(crossover(len(names)))
        )

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:
        """Round by round; the items of each session are shuffled."""
        return tuple(
            step
            for number, one_round in enumerate(row.get(Rounds).rounds, start=1)
            for step in _round_steps(study, one_round, number, seed)
        )

    def names(self, study: Study, number: int) -> tuple[str, ...]:
        """In a masked task, neutral names in an order of this participant's own."""
        if not self.masked:
            return super().names(study, number)
        count = len(study.class_names)
        letters = [letter * (1 + turn) for turn in range(1 + count // len(LETTERS)) for letter in LETTERS]
        return tuple(shuffled(letters[:count], study.spec.seed, "class names", number))

    def briefing(self, material: Material, audience: str) -> Briefing:  # noqa: ARG002
        """The sessions, and the task unless it is masked."""
        return brief(
            material,
            training=len(by_role(material.items, "training", group=0)),
            evaluation=len(by_role(material.items, "evaluation", group=0)),
            masked=self.masked,
            only_wrong=self.only_wrong,
        )

    def score(self, item: Item, meaning: Meaning) -> float:
        """1 for the model's output, 0 for another class."""
        return float(meaning == item.prediction)

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Agreement with the model, and with the truth."""
        from verax.studies.protocols.reverse_turing.analysis import IMITATION

        return IMITATION

    def planning(self, spec: StudySpec) -> Planning:
        """Everybody meets every condition, each in a session with items of its own."""
        sessions = len(spec.conditions)
        return Planning(
            items="evaluation",
            roles=(
                Role("training", sessions * self.training, sessions),
                Role("evaluation", sessions * self.evaluation, sessions),
            ),
            answer=lambda item, worth: item.prediction if worth else 1 - item.prediction,
            sessions=sessions,
            beside_control="methods",
        )


def _refuse_uneven(candidates: pool.Candidates, sizes: list[int], role: str, count: int, groups: int) -> None:
    """A cell that is used up would be made up for by others, and labels would tell something of the model's answers."""
    least, more = divmod(groups * count, len(sizes))
    if min(sizes) >= least and sum(size > least for size in sizes) >= more:
        return
    possible = min(sizes) * len(sizes) // groups
    advice = f"ask for at most {possible} in a session, or use more data" if possible else "use more data"
    raise VeraxError(
        f"{groups} sessions of {count} {role} items cannot be balanced with the {len(candidates):,} {candidates.about} "
        f"({candidates.sizes()}); {advice}."
    )


def _round_steps(study: Study, one_round: Round, number: int, seed: int) -> Iterator[Step]:
    condition, group = one_round.condition, one_round.group
    audience = audience_of(study.spec, condition)
    training = by_role(study.items.values(), "training", group)
    if training:
        yield Step(f"about-training-{number}", f"about-training:{audience}")
    for item in shuffled(training, seed, "training", group):
        for sort in ("training", "answer"):
            yield Step(f"training-{number}", f"{sort}:{item.id}:{condition}", item.id, condition)
    yield Step(f"about-evaluation-{number}", f"about-evaluation:{audience}")
    for item in shuffled(by_role(study.items.values(), "evaluation", group), seed, "evaluation", group):
        yield Step(f"evaluation-{number}", f"evaluation:{item.id}:{condition}", item.id, condition)


def _guess(material: Material, item: Item, condition: str, *, shown_after: bool) -> Screen:
    noun = wording.terms(material).one
    after = "You see it after your guess." if shown_after else "It is not shown in this part."
    return Screen(
        "What is the model's answer?",
        (
            Prose((f"Read the {noun} and guess the model's answer. {after}",)),
            marked_input(material, item, condition, direction=False, title=noun.capitalize()),
        ),
        (prediction_question(material, f"What does the model say about this {noun}?"),),
        button="Answer",
    )


def _answer(material: Material, item: Item, condition: str) -> Screen:
    noun = wording.terms(material).one
    return Screen(
        "This is the model's answer",
        (
            Facts((("The model's answer", class_mark(item.prediction)),)),
            Prose((f"Look at the {noun} again, and try to learn how the model decides.",)),
            marked_input(material, item, condition, direction=False, title=noun.capitalize()),
        ),
        echo="prediction",
        button="Next",
    )


def _pages(material: Material) -> dict[str, Screen]:
    words = wording.terms(material)
    training, evaluation = (
        len(by_role(material.items, role, group=0)) for role in ("training", "evaluation")
    )
    hints = {
        EXPLAINED: f"In this round you see hints. {wording.how_to_read(material, direction=False)}",
        PLAIN: f"In this round no {words.pieces} are highlighted.",
    }
    screens: dict[str, Screen] = {}
    for audience in audiences(material.spec):
        if training:
            screens[f"about-training:{audience}"] = page(
                "Training",
                f"You now see {training} {words.many}, one by one. Guess the model's answer; then you see it.",
                hints[audience],
                "Time is measured from the next page on.",
            )
        screens[f"about-evaluation:{audience}"] = page(
            "Test",
            f"You now see {evaluation} {'new ' if training else ''}{words.many}, one by one. Guess the model's answer; "
            "you do not see it.",
            hints[audience],
            "Time is measured from the next page on.",
        )
    return screens


def _refuse_task_words(material: Material) -> None:
    """What a spec says to people must not name the classes or the dataset of a masked task."""
    spec = material.spec
    dataset = re.sub(r"[-_]+", " ", Path(spec.dataset).stem)
    words = [dataset, *material.class_names, *(spec.class_names or ())]
    for where, text in _said(spec):
        plain = re.sub(r"[-_]+", " ", text)
        for word in words:
            said = re.sub(r"[-_]+", " ", word)
            if len(said) >= SHORTEST_REFUSED and re.search(
                rf"(?<!\w){re.escape(said)}(?!\w)", plain, re.IGNORECASE
            ):
                raise VeraxError(
                    f"The task is masked, but {where} has the word {word!r}, which gives it away; say it otherwise."
                )


def _said(spec: StudySpec) -> Iterator[tuple[str, str]]:
    """All words of a spec that people read before their last answer, and where they stand."""
    yield "title", spec.title
    for name in ("welcome", "consent", "instructions", "contact"):
        yield f"texts.{name}", getattr(spec.texts, name) or ""
    for question in spec.screening.questions if spec.screening else []:
        yield "a question of the screening test", " ".join([question.question, *question.answers])
