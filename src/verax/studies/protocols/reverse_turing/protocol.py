"""The Reverse Turing Test: can people imitate the model, with explanations and without, on tasks they know or not?

Gonzalez and Sogaard (2020), section 4.3. In each condition a timed training session (guess, then see the model's
answer) and a timed evaluation session (guess only); a Latin square over item groups, conditions in Williams orders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.seeds import shuffled
from verax.studies.definition.screen import Facts, Meaning, Prose, Screen, class_mark
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import DesignRow, Item, Phase, Round, Rounds, Step, Study
from verax.studies.design import crossover, deal
from verax.studies.display import wording
from verax.studies.display.legends import asked
from verax.studies.display.wording import Paragraphs, how_to_read, limits, masked_task, task
from verax.studies.items import pool
from verax.studies.protocol.contract import (
    Briefing,
    Material,
    Planning,
    Protocol,
    ProtocolAnalysis,
    Role,
    Source,
    protocols,
)
from verax.studies.protocols.reverse_turing.session_items import SessionItems, enough, too_few
from verax.studies.protocols.screens import (
    EXPLAINED,
    PLAIN,
    audience_of,
    audiences,
    by_role,
    made_items,
    marked_input,
    next_button,
    page,
    prediction_question,
    refuse_direction,
    strata,
    timed,
    what_a_mark_means,
    what_to_predict,
)

say = partial(say_phrase, "reverse-turing")


def brief(
    material: Material, *, training: int, evaluation: int, masked: bool, untrained_first: bool = False
) -> Briefing:
    """The Reverse Turing Test, with a task that is described or kept secret.

    Beyond what the task is about, both are told and asked the same. Nobody is told how often the model is right: who
    knows that it is often wrong trusts their own belief less, and that belief is what the test is to measure.
    """
    kind = material.kind
    kinds = {condition.kind for condition in material.spec.conditions}
    marked = kinds != {"none"}
    rounds = say("rounds", rounds=len(material.spec.conditions))
    said: Paragraphs = (
        *(masked_task(material) if masked else task(material)),
        say("task"),
        say("first-without-training") if untrained_first else rounds,
        *((say("training-point", kind=kind, training=training),) if training else ()),
        say("test-point", kind=kind, evaluation=evaluation, new="yes" if training else "no"),
        *limits(material.spec.timing),
        say("time"),
    )
    if marked:
        hints = how_to_read(material, direction=False)
        said += (say("hints-sometimes", kind=kind, how_to_read=hints) if "none" in kinds else hints,)
    questions = [
        what_to_predict(material, say("own-opinion")),
        asked("reverse-turing", "is-time-measured", 2),
    ]
    if marked:
        questions.append(what_a_mark_means(material))
    if training:
        questions.append(asked("reverse-turing", "when-shown", 3))
    return Briefing(said, tuple(questions))


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
        untrained_first: a test without training comes first and one with training second, each on items of its own: the
            paper's pre-experiment (section 4.4), which takes one condition.
        task: what the task is called in tables, never on a page; by its data if empty.
    """

    asks: ClassVar[str] = "Can people tell what the model says, and does what they believe stand in the way?"
    explained: ClassVar[tuple[str, ...]] = ("training", "evaluation")
    asks_strategy_itself: ClassVar[bool] = True
    own_models: ClassVar[bool] = True

    training: int = Field(default=25, ge=0)
    evaluation: int = Field(default=15, ge=1)
    masked: bool = False
    only_wrong: bool = False
    untrained_first: bool = False
    task: str = ""

    @classmethod
    def draft(cls, items: int) -> dict[str, int]:
        """So many in each test session."""
        return {"evaluation": items}

    def check(self, spec: StudySpec) -> None:
        """The direction of a mark would give the answer away; the pre-experiment compares nothing but training."""
        refuse_direction(spec, "people could read the model's answer off it")
        if self.untrained_first and (len(spec.conditions) != 1 or not self.training):
            raise VeraxError(
                "untrained_first compares a test without training with one after it, under one condition; name one "
                "condition only, and a training of 1 item or more."
            )

    def rounds(self, spec: StudySpec) -> range:
        """The numbers of the rounds, which are those of the groups of test items."""
        return range(2 if self.untrained_first else len(spec.conditions))

    def trained(self, spec: StudySpec) -> list[int]:
        """The groups that have training items: all, but for a first test without training."""
        return [number for number in self.rounds(spec) if self.training and not self._untrained(number)]

    def _untrained(self, group: int) -> bool:
        return self.untrained_first and group == 0

    def items(self, source: Source) -> list[Item]:
        """As many groups as conditions; within each, the cells of a balanced draw differ by at most one item."""
        spec, chosen = source.spec, []
        if trained := self.trained(spec):
            chosen = self._session_items(source, "validation", "training", self.training, trained, 1)
        rounds = self.rounds(spec)
        return chosen + self._session_items(
            source, "test", "evaluation", self.evaluation, rounds, len(chosen) + 1
        )

    def _session_items(
        self, source: Source, part: str, role: str, count: int, groups: Sequence[int], first: int
    ) -> list[Item]:
        candidates = pool.candidates(source, part)
        if self.only_wrong:
            candidates = pool.wrong(candidates)
        wanted = SessionItems(role, len(groups), count)
        if not enough(candidates, wanted, self.only_wrong):
            raise VeraxError(too_few(source, candidates, wanted, self._wanted(source.spec), self.only_wrong))
        numbers = pool.spread(candidates, len(groups) * count, source.spec.seed, role)
        dealt = [groups[place] for place in deal(strata(candidates, numbers), len(groups))]
        return made_items(source, candidates, numbers, role, first=first, groups=dealt)

    def _wanted(self, spec: StudySpec) -> dict[str, SessionItems]:
        """By part of the dataset, the items that its sessions take."""
        trained = {"validation": SessionItems("training", len(self.trained(spec)), self.training)}
        tested = {"test": SessionItems("evaluation", len(self.rounds(spec)), self.evaluation)}
        return tested | (trained if self.trained(spec) else {})

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """A training and an evaluation session in each round, each after a page that says what comes."""
        phases: list[Phase] = []
        trained = by_role(material.items, "training")
        for number in (1 + place for place in self.rounds(material.spec)):
            if trained and not self._untrained(number - 1):
                title = say("round-training", round=number)
                phases.append(Phase(f"about-training-{number}", title, "instructions"))
                phases.append(timed(material.spec, f"training-{number}", title, "training"))
            title = say("round-test", round=number)
            phases.append(Phase(f"about-evaluation-{number}", title, "instructions"))
            phases.append(timed(material.spec, f"evaluation-{number}", title, "test"))
            if self.strategy:
                title = say("round-question", round=number)
                phases.append(Phase(f"strategy-{number}", title, "questions"))
        return tuple(phases)

    def screens(self, material: Material) -> dict[str, Screen]:
        """Each item in each condition; in training also with the model's answer."""
        if self.masked:
            _refuse_task_words(material)
        screens = _pages(material, untrained_first=self.untrained_first)
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
        rounds = self.rounds(material.spec)
        groups = {item.group for item in material.items}
        if groups != set(rounds):
            needs = "Two tests need" if self.untrained_first else f"{len(names)} conditions need"
            raise VeraxError(
                f"{needs} as many groups of items, numbered from 0; the items have {len(groups)}."
            )
        orders = [[(0, group) for group in rounds]] if self.untrained_first else crossover(len(names))
        return tuple(
            DesignRow(
                number,
                material.spec.participants,
                Rounds(tuple(Round(names[condition], group) for condition, group in pairs)),
            )
            for number, pairs in enumerate(orders)
        )

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:
        """Round by round; the items of each session are shuffled."""
        return tuple(
            step
            for number, one_round in enumerate(row.get(Rounds).rounds, start=1)
            for step in _round_steps(study, one_round, number, seed)
        )

    def stood_for(self, material: Material) -> dict[str, str]:
        """Of a masked task, what the letters stood for."""
        names = material.spec.class_names or material.class_names
        return {class_mark(number): name for number, name in enumerate(names)} if self.masked else {}

    def names(self, study: Study, number: int) -> tuple[str, ...]:
        """In a masked task, neutral names in an order of this participant's own."""
        if not self.masked:
            return super().names(study, number)
        letters = wording.masked_names(len(study.class_names))
        return tuple(shuffled(letters, study.spec.seed, "class names", number))

    def briefing(self, material: Material, audience: str) -> Briefing:  # noqa: ARG002
        """The sessions, and the task unless it is masked."""
        return brief(
            material,
            training=most(material.items, "training"),
            evaluation=most(material.items, "evaluation"),
            masked=self.masked,
            untrained_first=self.untrained_first,
        )

    def score(self, item: Item, meaning: Meaning) -> float:
        """1 for the model's output, 0 for another class."""
        return float(meaning == item.prediction)

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Agreement with the model, and with the truth."""
        from verax.studies.protocols.reverse_turing.analysis import IMITATION

        return IMITATION

    def planning(self, spec: StudySpec) -> Planning | None:
        """Everybody meets every condition, each in a session with items of its own."""
        if self.untrained_first:
            return None
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


def most(items: Iterable[Item], role: str) -> int:
    """How many items of a role a session has."""
    return max(Counter(item.group for item in items if item.role == role).values(), default=0)


def _round_steps(study: Study, one_round: Round, number: int, seed: int) -> Iterator[Step]:
    condition, group = one_round.condition, one_round.group
    audience = audience_of(study.spec, condition)
    trained = f"training-{number}" in study.phases
    training = by_role(study.items.values(), "training", group) if trained else []
    if training:
        yield Step(f"about-training-{number}", f"about-training:{audience}")
    for item in shuffled(training, seed, "training", group):
        for sort in ("training", "answer"):
            yield Step(f"training-{number}", f"{sort}:{item.id}:{condition}", item.id, condition)
    yield Step(f"about-evaluation-{number}", f"about-evaluation:{audience}")
    for item in shuffled(by_role(study.items.values(), "evaluation", group), seed, "evaluation", group):
        yield Step(f"evaluation-{number}", f"evaluation:{item.id}:{condition}", item.id, condition)
    if f"strategy-{number}" in study.phases:
        yield Step(f"strategy-{number}", "strategy", condition=condition)


def _guess(material: Material, item: Item, condition: str, *, shown_after: bool) -> Screen:
    question = say("question", kind=material.kind)
    title = say("input-title", kind=material.kind)
    return Screen(
        question,
        (
            Prose((say("guess-shown-after" if shown_after else "guess-not-shown"),)),
            marked_input(material, item, condition, direction=False, title=title),
        ),
        (prediction_question(material, question),),
        button=say_phrase("participant", "answer"),
    )


def _answer(material: Material, item: Item, condition: str) -> Screen:
    title = say("input-title", kind=material.kind)
    return Screen(
        say("answer-heading"),
        (
            Facts(((say("answer-heading"), class_mark(item.prediction)),)),
            Prose((say("answer-text", kind=material.kind),)),
            marked_input(material, item, condition, direction=False, title=title),
        ),
        echo="prediction",
        button=next_button(),
    )


def _pages(material: Material, *, untrained_first: bool) -> dict[str, Screen]:
    kind = material.kind
    training, evaluation = (most(material.items, role) for role in ("training", "evaluation"))
    new = "yes" if training and not untrained_first else "no"
    hints = {
        EXPLAINED: say("hints-explained", how_to_read=wording.how_to_read(material, direction=False)),
        PLAIN: say("hints-plain", kind=kind),
    }
    screens: dict[str, Screen] = {}
    for audience in audiences(material.spec):
        if training:
            screens[f"about-training:{audience}"] = page(
                say("training"),
                say("about-training", kind=kind, training=training),
                hints[audience],
                say("time-from-next-page"),
            )
        screens[f"about-evaluation:{audience}"] = page(
            say("test"),
            say("about-test", kind=kind, evaluation=evaluation, new=new),
            hints[audience],
            say("time-from-next-page"),
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
    for name in ("purpose", "pay", "run_by", "ethics"):
        yield f"about.{name}", getattr(spec.about, name)
    for question in spec.screening.questions if spec.screening else []:
        yield "a question of the screening test", " ".join([question.question, *question.answers])
