"""Forward simulation: do explanations of some inputs help people to predict the model on others?

Hase and Bansal (2020), section 4.3. People learn from inputs with labels and model outputs, predict the model on new
ones (Pre), see the first again with explanations, and predict again on the same new ones (Post).
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from verax.seeds import shuffled
from verax.studies.definition.screen import Meaning, Prose, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import ScreeningQuestion as Asked
from verax.studies.definition.study import DesignRow, Item, OneCondition, Phase, Step, Study
from verax.studies.design import one_row_per_condition
from verax.studies.display import stimulus, wording
from verax.studies.display.legends import method_question, terms
from verax.studies.display.wording import Paragraphs, limits, reading, task
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
    what_to_predict,
)


def brief(material: Material, *, learning: int, test: int, method: str | None, direction: bool) -> Briefing:
    """Forward simulation, for people with the explanations of a condition, or without any."""
    many = terms(material).many
    said: Paragraphs = (
        *task(material),
        "Your task is to predict what the model says, even if you think it is wrong. The model makes mistakes.",
        half_right(material),
        "You will do four things:",
        f"- First look: {learning} {many} with the right answer and the model's answer.",
        f"- First predictions: {test} new {many}. You predict the model's answer. You cannot look back at the others.",
        f"- Second look: the first {learning} {many} again.",
        f"- Second predictions: the {test} {many} of the first predictions again, in another order.",
        *limits(material.spec.timing),
    )
    read = () if method is None else reading(material, method, direction=direction)
    # The instructions are the same in all conditions: what comes before explanations must not hint at them.
    if method is None:
        own = _nothing_new(many)
        introduction: Paragraphs = (
            "The second look shows the same as the first: the right answer and the model's answer.",
        )
    else:
        own = method_question(material, method)
        introduction = (
            "In the second look the model's answers are explained, and you rate each explanation.",
            *read,
            RATE_THE_REASONS,
        )
    questions = (
        what_to_predict(material),
        how_often_right(material),
        Asked(
            question=f"May you look back at the {many} of the first look while you predict?",
            answers=["Yes, at any time", "Yes, but only once", "No"],
            correct=3,
        ),
    )
    return Briefing(said, questions, own, read, introduction)


def _nothing_new(many: str) -> Asked:
    """What people without explanations see in the second look; they are not told that others see more."""
    return Asked(
        question="What do you see in the second look?",
        answers=[
            "Other people's answers",
            f"The same {many} again, with the right answer and the model's answer",
            f"Only the {many}, without answers",
        ],
        correct=2,
    )


LEAF_BACK = "Try to learn how the model decides. You can go back to earlier pages until this part is over."


@protocols.register("forward")
class Forward(Protocol):
    """Learn, predict the model, learn with explanations, predict again (Hase and Bansal 2020).

    Attributes:
        learning: items to learn from, from the validation part.
        test: items to predict, from the test part.
        leaf: whether people may leaf back through the pages of a look until it is over, as through the paper's
            spreadsheets; which pages they looked at again, and when, is among the events.
    """

    asks: ClassVar[str] = (
        "Do explanations of some inputs help people to predict what the model says of others?"
    )
    explained: ClassVar[tuple[str, ...]] = ("learning",)
    own_models: ClassVar[bool] = True
    shows_weights: ClassVar[bool] = True
    introduces: ClassVar[str] = "about-explained"

    learning: int = Field(default=16, ge=1)
    test: int = Field(default=32, ge=1)
    leaf: bool = False

    @classmethod
    def draft(cls, items: int) -> dict[str, int]:
        """About half as many to learn from, a multiple of 4."""
        return {"test": items, "learning": max(4, items // 8 * 4)}

    def items(self, source: Source) -> list[Item]:
        """Both sets hold true and false positives and negatives in equal numbers."""
        chosen: list[Item] = []
        for part, role, count in (("validation", "learning", self.learning), ("test", "test", self.test)):
            candidates = pool.candidates(source, part)
            numbers = pool.balanced(candidates, count, source.spec.seed, role)
            chosen += made_items(source, candidates, numbers, role, first=len(chosen) + 1)
        return chosen

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """Two looks and two rounds of predictions, each after a page that says what comes."""
        return (
            Phase("about-learning", "First look", "instructions"),
            Phase("learning", "First look", "learning", leaf=self.leaf),
            Phase("about-pre", "First predictions", "instructions"),
            timed(material.spec, "pre", "First predictions", "test"),
            Phase("about-explained", "Second look", "instructions"),
            Phase("explained", "Second look", "learning", leaf=self.leaf),
            Phase("about-post", "Second predictions", "instructions"),
            timed(material.spec, "post", "Second predictions", "test"),
        )

    def screens(self, material: Material) -> dict[str, Screen]:
        """Pre and Post share their screens."""
        screens = _pages(material, self.leaf)
        for item in by_role(material.items, "learning"):
            screens[f"learning:{item.id}"] = _first_look(material, item)
            for condition in material.spec.conditions:
                screens[f"explained:{item.id}:{condition.name}"] = _second_look(
                    material, item, condition.name
                )
        for item in by_role(material.items, "test"):
            screens[f"predict:{item.id}"] = _predict(material, item)
        return screens

    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """One row per condition: everybody sees the same items."""
        return one_row_per_condition(material.spec)

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:
        """The four rounds; both rounds of predictions are shuffled, each in its own way."""
        condition = row.get(OneCondition).condition
        learning = [item.id for item in by_role(study.items.values(), "learning")]
        test = [item.id for item in by_role(study.items.values(), "test")]
        audience = self.audience(study.spec, row)
        return (
            Step("about-learning", "about-learning"),
            *(Step("learning", f"learning:{item}", item, condition) for item in learning),
            Step("about-pre", "about-pre"),
            *(Step("pre", f"predict:{item}", item, condition) for item in shuffled(test, seed, "pre")),
            Step("about-explained", f"about-explained:{audience}"),
            *(Step("explained", f"explained:{item}:{condition}", item, condition) for item in learning),
            Step("about-post", "about-post"),
            *(Step("post", f"predict:{item}", item, condition) for item in shuffled(test, seed, "post")),
        )

    def audience(self, spec: StudySpec, row: DesignRow) -> str:
        """Everybody is told about their own method, or about none."""
        return method_audience(spec, row.get(OneCondition).condition)

    def briefing(self, material: Material, audience: str) -> Briefing:
        """What the four parts are, and the balance of the items."""
        return brief(
            material,
            learning=len(by_role(material.items, "learning")),
            test=len(by_role(material.items, "test")),
            method=method_audiences(material.spec)[audience],
            direction=shows_direction(material.spec),
        )

    def score(self, item: Item, meaning: Meaning) -> float:
        """1 for the model's output, 0 for another class."""
        return float(meaning == item.prediction)

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Accuracy after explanations against accuracy before."""
        from verax.studies.analysis.between.simulation import SIMULATION

        return SIMULATION

    def planning(self, spec: StudySpec) -> Planning:  # noqa: ARG002
        """Change from first to second predictions, compared between people."""
        return Planning(
            items="test",
            roles=(Role("learning", self.learning), Role("test", self.test)),
            answer=lambda item, worth: item.prediction if worth else 1 - item.prediction,
            compared="between",
            accuracy=BEFORE_EXPLANATIONS,
        )


def _first_look(material: Material, item: Item) -> Screen:
    noun = terms(material).one
    return Screen(
        "How does the model answer?",
        (
            outputs(item),
            Prose(("Compare the two answers, and try to learn how the model decides.",)),
            stimulus.input_block(item, title=noun.capitalize()),
        ),
        button="Next",
    )


def _second_look(material: Material, item: Item, condition: str) -> Screen:
    if material.spec.condition(condition).kind == "none":
        return _first_look(material, item)
    title = terms(material).one.capitalize()
    said = "Read the explanation and rate it. Try to learn how the model decides."
    return Screen(
        "Why did the model give this answer?",
        (outputs(item), Prose((said,)), *explained_input(material, item, condition, title=title)),
        (rating_question(material.spec),),
        button="Next",
    )


def _predict(material: Material, item: Item) -> Screen:
    noun = terms(material).one
    asked = f"What does the model say about this {noun}?"
    return Screen(
        asked,
        (Prose((EVEN_IF_WRONG,)), stimulus.input_block(item, title=noun.capitalize())),
        (prediction_question(material, asked),),
        button="Next",
    )


def _pages(material: Material, leaf: bool) -> dict[str, Screen]:
    many = terms(material).many
    learning, test = (len(by_role(material.items, role)) for role in ("learning", "test"))
    predict = "Predict the model's answer for each, even if you think it is wrong. You cannot look back."
    looks_again = f"You will now see the {learning} {many} of the first look again"

    def again(method: str | None) -> Screen:
        if method is None:
            return page(
                "Second look",
                f"{looks_again}, with the right answer and the model's answer as before.",
                "Try to learn more about how the model decides.",
            )
        return page(
            "Second look",
            f"{looks_again}, with explanations. You rate each explanation.",
            *wording.reading(material, method, direction=shows_direction(material.spec)),
            RATE_THE_REASONS,
        )

    return {
        "about-learning": page(
            "First look",
            f"You will now see {learning} {many}, one at a time, with the right answer and the model's answer.",
            LEAF_BACK if leaf else "Try to learn how the model decides. Take your time: you cannot go back.",
        ),
        "about-pre": page("First predictions", f"You will now see {test} new {many}. {predict}"),
        **{
            f"about-explained:{audience}": again(method)
            for audience, method in method_audiences(material.spec).items()
        },
        "about-post": page(
            "Second predictions",
            f"You will now see the {test} {many} of the first predictions again, in another order. {predict}",
            "Your answers may be the same as before, or different.",
        ),
    }
