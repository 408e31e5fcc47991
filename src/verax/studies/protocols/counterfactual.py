"""Counterfactual simulation: does the explanation of an input help people to predict the model on a changed version?

Hase and Bansal (2020), section 4.3. Two rounds with the same inputs and changed versions; the second has explanations.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from pydantic import Field, field_validator

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.phrases import say_lines
from verax.seeds import shuffled
from verax.studies.definition.screen import Block, Meaning, Passage, Prose, Question, Row, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import DesignRow, Item, OneCondition, Phase, Step, Study
from verax.studies.design import one_row_per_condition
from verax.studies.display import stimulus, wording
from verax.studies.display.legends import asked, method_question
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
    by_role,
    even_if_wrong,
    explained_input,
    half_right,
    how_often_right,
    made_items,
    method_audience,
    method_audiences,
    next_button,
    outputs,
    page,
    prediction_question,
    rating_question,
    shows_direction,
    timed,
    what_to_rate,
)

say = partial(say_phrase, "counterfactual")


def brief(material: Material, *, test: int, method: str | None, direction: bool) -> Briefing:
    """Counterfactual simulation, for people with the explanations of a condition, or without any."""
    kind = material.kind
    said: Paragraphs = (
        *task(material),
        *say_lines("counterfactual", "task", kind=kind, test=test),
        say("balance", half_right=half_right(material)),
        *say_lines("counterfactual", "parts", kind=kind, test=test),
        *limits(material.spec.timing),
    )
    read = () if method is None else reading(material, method, direction=direction)
    # The instructions are the same in all conditions: what comes before explanations must not hint at them. Who has no
    # explanations is not told that others see more.
    if method is None:
        own = asked("counterfactual", "nothing-new", 2, kind=kind)
        introduction: Paragraphs = (say("second-plain", kind=kind),)
    else:
        own = method_question(material, method)
        introduction = (say("second-explained"), *read, say("also-rate", what_to_rate=what_to_rate()))
    questions = (
        asked("counterfactual", "what-to-predict", 3, kind=kind),
        how_often_right(material),
        asked("counterfactual", "how-often-changed", 2, kind=kind),
    )
    return Briefing(said, questions, own, read, introduction)


# The part of the dataset that items are taken from.
PART = "test"


@protocols.register("counterfactual")
class Counterfactual(Protocol):
    """Predict the model on changed inputs, without and then with explanations (Hase and Bansal 2020).

    Attributes:
        test: items, from the test part.
        vectors: a GloVe file in which similar words are found; vectors trained on the training texts unless given.
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
    side_by_side: ClassVar[bool] = True

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
            Phase("about-pre", say("first-predictions"), "instructions"),
            timed(material.spec, "pre", say("first-predictions"), "test"),
            Phase("about-post", say("second-predictions"), "instructions"),
            timed(material.spec, "post", say("second-predictions"), "test"),
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
    return prediction_question(material, say("question", kind=material.kind))


def _without(material: Material, item: Item) -> Screen:
    kind = material.kind
    original = stimulus.input_block(item, title=say("original-title", kind=kind))
    return Screen(
        say("question", kind=kind),
        (
            outputs(item, of_original=True),
            Prose((say("plain-text", kind=kind, even_if_wrong=even_if_wrong()),)),
            stimulus.changes_marked(item, original),
            stimulus.variant_block(item, title=say("changed-title", kind=kind)),
        ),
        (_question(material),),
        button=next_button(),
    )


def _with(material: Material, item: Item, condition: str) -> Screen:
    if material.spec.condition(condition).kind == "none":
        return _without(material, item)
    kind = material.kind
    original = explained_input(material, item, condition, title=say("original-title", kind=kind))
    return Screen(
        say("explained-heading"),
        (
            outputs(item, of_original=True),
            Prose((say("explained-text", kind=kind, even_if_wrong=even_if_wrong()),)),
            *_changes_marked(item, original),
            stimulus.variant_block(item, title=say("changed-title", kind=kind)),
        ),
        # The rating comes first, as in the paper's forms.
        (rating_question(material.spec), _question(material)),
        button=next_button(),
    )


def _changes_marked(item: Item, blocks: tuple[Block, ...]) -> Iterator[Block]:
    """The blocks, in that of the original what will be changed is marked."""
    for block in blocks:
        yield stimulus.changes_marked(item, block) if isinstance(block, Passage | Row) else block


def _pages(material: Material) -> dict[str, Screen]:
    count = len(by_role(material.items, "test"))
    lines = partial(say_lines, "counterfactual", kind=material.kind, test=count)

    def again(method: str | None) -> Screen:
        if method is None:
            return page(say("second-predictions"), *lines("about-second-plain"))
        return page(
            say("second-predictions"),
            *lines("about-second-explained"),
            *wording.reading(material, method, direction=shows_direction(material.spec)),
            what_to_rate(),
        )

    return {
        "about-pre": page(say("first-predictions"), *lines("about-first")),
        **{
            f"about-post:{audience}": again(method)
            for audience, method in method_audiences(material.spec).items()
        },
    }
