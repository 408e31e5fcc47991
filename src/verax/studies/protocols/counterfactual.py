"""Counterfactual simulation: does the explanation of an input help people to predict the model on a changed version?

Hase and Bansal (2020), section 4.3. Two rounds with the same inputs and changed versions; the second has explanations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field, field_validator

from verax.errors import VeraxError
from verax.seeds import shuffled
from verax.studies.definition.screen import Block, Meaning, Passage, Prose, Question, Row, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import ScreeningQuestion as Asked
from verax.studies.definition.study import DesignRow, Item, OneCondition, Phase, Step, Study
from verax.studies.design import one_row_per_condition
from verax.studies.display import stimulus, wording
from verax.studies.display.legends import Terms, method_question, terms
from verax.studies.display.wording import Paragraphs, limits, reading, task
from verax.studies.items import pool, variants
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
from verax.studies.protocols.screens import (
    BEFORE_EXPLANATIONS,
    EVEN_IF_WRONG,
    RATE_THE_REASONS,
    by_role,
    explained_input,
    half_right,
    how_often_right,
    made_items,
    method_audience,
    method_audiences,
    outputs,
    page,
    prediction_question,
    rating_question,
    shows_direction,
    timed,
)


def brief(material: Material, *, test: int, method: str | None, direction: bool) -> Briefing:
    """Counterfactual simulation, for people with the explanations of a condition, or without any."""
    words = terms(material)
    said: Paragraphs = (
        *task(material),
        f"For each of {test} {words.many} you see the right answer, the model's answer, and a changed version of the "
        f"{words.one} in which some {words.pieces} were replaced.",
        "Your task is to predict what the model says about the changed version, even if you think it is wrong. The "
        "model makes mistakes.",
        f"{half_right(material)} And in half of them, the change alters the model's answer.",
        "You will do two things:",
        f"- First predictions: {test} {words.many}.",
        f"- Second predictions: the same {words.many} in another order.",
        *limits(material.spec.timing),
    )
    read = () if method is None else reading(material, method, direction=direction)
    # The instructions are the same in all conditions: what comes before explanations must not hint at them.
    if method is None:
        own = _nothing_new(words)
        introduction: Paragraphs = (
            f"The second predictions show the same {words.many} and changes as the first.",
        )
    else:
        own = method_question(material, method)
        introduction = (
            "In the second predictions the model's answer to the original is explained.",
            *read,
            f"You also rate each explanation. {RATE_THE_REASONS}",
        )
    questions = (
        Asked(
            question="What do you predict?",
            answers=[
                f"The right answer for the changed {words.one}",
                f"What the model says about the original {words.one}",
                f"What the model says about the changed {words.one}, even if it is wrong",
            ],
            correct=3,
        ),
        how_often_right(material),
        Asked(
            question="How often does the change alter the model's answer?",
            answers=["Always", f"In half of the {words.many}", "Never"],
            correct=2,
        ),
    )
    return Briefing(said, questions, own, read, introduction)


def _nothing_new(words: Terms) -> Asked:
    """What people without explanations see in the second predictions; they are not told that others see more."""
    return Asked(
        question="What do you see in the second predictions?",
        answers=[
            f"Other {words.many} than in the first",
            f"The same {words.many} and changes as in the first",
            f"Only the changed {words.many}",
        ],
        correct=2,
    )


# The part of the dataset that items are taken from.
PART = "test"


@protocols.register("counterfactual")
class Counterfactual(Protocol):
    """Predict the model on changed inputs, without and then with explanations (Hase and Bansal 2020).

    Attributes:
        test: items, from the test part.
        vectors: a GloVe file in which similar words are found; vectors trained on the training texts if None.
        fluent: changed texts shall read like language: words that do not fit between their neighbours are not used, and
            of many changes the likeliest are. False draws among all, as published.
        struck: inputs that a reviewer struck, as `verax study review` writes them: "test 512".
    """

    asks: ClassVar[str] = (
        "Do explanations help people to predict how a changed input changes the model's answer?"
    )
    explained: ClassVar[tuple[str, ...]] = ("test",)
    own_models: ClassVar[bool] = True
    shows_weights: ClassVar[bool] = True
    introduces: ClassVar[str] = "about-post"
    asks_about_changes: ClassVar[bool] = True

    test: int = Field(default=32, ge=1)
    vectors: str | None = None
    fluent: bool = True
    struck: tuple[str, ...] = ()

    @field_validator("struck")
    @classmethod
    def _part_and_place(cls, struck: tuple[str, ...]) -> tuple[str, ...]:
        for name in struck:
            part, _, place = name.partition(" ")
            if part != PART or not place.isdecimal():
                raise ValueError(
                    f"{name!r} is no input; copy it from `verax study review`, such as 'test 512'"
                )
        return struck

    def check_item(self, item: Item) -> None:
        """An item that is asked about needs a changed version."""
        if item.variant is None and item.role == "test":
            raise VeraxError("there is no changed version; fill in 'variant' and 'variant_prediction'")

    def items(self, source: Source) -> list[Item]:
        """True and false positives and negatives in equal numbers, and half of the changes flip within each."""
        return self.chosen(source)

    def chosen(self, source: Source, taken: frozenset[int] = frozenset()) -> list[Item]:
        """The same from what is left of the test part when the inputs in these places are taken."""
        candidates = pool.candidates(source, PART)
        if taken:
            places = [number for number, place in enumerate(candidates.places.tolist()) if place in taken]
            candidates = pool.without(candidates, places)
        drawn = variants.balanced_variants(
            source,
            candidates,
            self.test,
            source.spec.seed,
            "test",
            vectors=self.vectors,
            fluent=self.fluent,
            struck={int(name.partition(" ")[2]) for name in self.struck},
        )
        numbers = [number for number, _ in drawn]
        return made_items(source, candidates, numbers, "test", variants=[variant for _, variant in drawn])

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """Two rounds, each after a page that says what comes."""
        return (
            Phase("about-pre", "First predictions", "instructions"),
            timed(material.spec, "pre", "First predictions", "test"),
            Phase("about-post", "Second predictions", "instructions"),
            timed(material.spec, "post", "Second predictions", "test"),
        )

    def screens(self, material: Material) -> dict[str, Screen]:
        """Each item without an explanation, and with that of each condition."""
        screens = _pages(material)
        for item in by_role(material.items, "test"):
            screens[f"pre:{item.id}"] = _without(material, item)
            for condition in material.spec.conditions:
                screens[f"post:{item.id}:{condition.name}"] = _with(material, item, condition.name)
        return screens

    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """One row per condition: everybody sees the same items."""
        return one_row_per_condition(material.spec)

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:
        """The two rounds, each shuffled in its own way."""
        condition = row.get(OneCondition).condition
        items = [item.id for item in by_role(study.items.values(), "test")]
        return (
            Step("about-pre", "about-pre"),
            *(Step("pre", f"pre:{item}", item, condition) for item in shuffled(items, seed, "pre")),
            Step("about-post", f"about-post:{self.audience(study.spec, row)}"),
            *(
                Step("post", f"post:{item}:{condition}", item, condition)
                for item in shuffled(items, seed, "post")
            ),
        )

    def audience(self, spec: StudySpec, row: DesignRow) -> str:
        """Everybody is told about their own method, or about none."""
        return method_audience(spec, row.get(OneCondition).condition)

    def briefing(self, material: Material, audience: str) -> Briefing:
        """What the two parts are, and the balance of the items and their changes."""
        return brief(
            material,
            test=len(by_role(material.items, "test")),
            method=method_audiences(material.spec)[audience],
            direction=shows_direction(material.spec),
        )

    def score(self, item: Item, meaning: Meaning) -> float:
        """1 for the model's output on the changed version, 0 for another class."""
        return float(meaning == _output(item))

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Accuracy after explanations against accuracy before."""
        from verax.studies.analysis.between.simulation import SIMULATION

        return SIMULATION

    def planning(self, spec: StudySpec) -> Planning:  # noqa: ARG002
        """Change from first to second predictions, compared between people."""
        return Planning(
            items="test",
            roles=(Role("test", self.test),),
            answer=lambda item, worth: _output(item) if worth else 1 - _output(item),
            compared="between",
            accuracy=BEFORE_EXPLANATIONS,
        )


def _output(item: Item) -> int:
    """What the model says about the changed version."""
    if item.variant is None:
        raise VeraxError(f"The item {item.id!r} has no changed version to be judged by.")
    return item.variant.prediction


def _question(material: Material) -> Question:
    noun = terms(material).one
    return prediction_question(material, f"What does the model say about the changed {noun}?")


def _without(material: Material, item: Item) -> Screen:
    words = terms(material)
    return Screen(
        f"What does the model say about the changed {words.one}?",
        (
            outputs(item, of_original=True),
            Prose((f"Some {words.pieces} were changed. {EVEN_IF_WRONG}",)),
            stimulus.changes_marked(item, stimulus.input_block(item, title=f"Original {words.one}")),
            stimulus.variant_block(item, title=f"Changed {words.one}"),
        ),
        (_question(material),),
        button="Next",
    )


def _with(material: Material, item: Item, condition: str) -> Screen:
    if material.spec.condition(condition).kind == "none":
        return _without(material, item)
    words = terms(material)
    said = f"The explanation is of the original. Then some {words.pieces} were changed. {EVEN_IF_WRONG}"
    return Screen(
        "Rate the explanation, then predict",
        (
            outputs(item, of_original=True),
            Prose((said,)),
            *_changes_marked(item, explained_input(material, item, condition, title=f"Original {words.one}")),
            stimulus.variant_block(item, title=f"Changed {words.one}"),
        ),
        # The rating comes first, as in the paper's forms.
        (rating_question(material.spec), _question(material)),
        button="Next",
    )


def _changes_marked(item: Item, blocks: tuple[Block, ...]) -> Iterator[Block]:
    """The blocks, in that of the original what will be changed is marked."""
    for block in blocks:
        yield stimulus.changes_marked(item, block) if isinstance(block, Passage | Row) else block


def _pages(material: Material) -> dict[str, Screen]:
    words = terms(material)
    count = len(by_role(material.items, "test"))

    def again(method: str | None) -> Screen:
        if method is None:
            return page(
                "Second predictions",
                f"You will now see the same {words.many} and changes again, in another order.",
                "Predict the model's answer to the changed version. Your answers may be the same as before, or "
                "different.",
            )
        return page(
            "Second predictions",
            f"You will now see the same {words.many} and changes again, in another order, with an explanation of the "
            "model's answer to the original. Rate the explanation, and predict the model's answer to the changed "
            "version.",
            *wording.reading(material, method, direction=shows_direction(material.spec)),
            RATE_THE_REASONS,
        )

    return {
        "about-pre": page(
            "First predictions",
            f"You will now see {count} {words.many} and a changed version of each.",
            "Predict the model's answer to the changed version, even if you think it is wrong.",
        ),
        **{
            f"about-post:{audience}": again(method)
            for audience, method in method_audiences(material.spec).items()
        },
    }
