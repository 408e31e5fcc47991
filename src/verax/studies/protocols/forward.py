"""Forward simulation: do explanations of some inputs help people to predict the model on others?

Hase and Bansal (2020), section 4.3. People learn from inputs with labels and model outputs, predict the model on new
ones (Pre), see the first again with explanations, and predict again on the same new ones (Post).
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from pydantic import Field

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.phrases import say_lines
from verax.seeds import shuffled
from verax.studies.definition.screen import Meaning, Prose, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import DesignRow, Item, OneCondition, Phase, Step, Study
from verax.studies.design import one_row_per_condition
from verax.studies.display import wording
from verax.studies.display.legends import asked, method_question
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
    titled_input,
    what_to_predict,
    what_to_rate,
)

say = partial(say_phrase, "forward")


def brief(material: Material, *, learning: int, test: int, method: str | None, direction: bool) -> Briefing:
    """Forward simulation, for people with the explanations of a condition, or without any."""
    kind = material.kind
    said: Paragraphs = (
        *task(material),
        say("task"),
        half_right(material),
        *say_lines("forward", "parts", kind=kind, learning=learning, test=test),
        *limits(material.spec.timing),
    )
    read = () if method is None else reading(material, method, direction=direction)
    # The instructions are the same in all conditions: what comes before explanations must not hint at them. Who has no
    # explanations is not told that others see more.
    if method is None:
        own = asked("forward", "nothing-new", 2, kind=kind)
        introduction: Paragraphs = (say("second-look-plain"),)
    else:
        own = method_question(material, method)
        introduction = (say("second-look-explained"), *read, what_to_rate())
    questions = (
        what_to_predict(material),
        how_often_right(material),
        asked("forward", "may-look-back", 3, kind=kind),
    )
    return Briefing(said, questions, own, read, introduction)


@protocols.register("forward")
class Forward(Protocol):
    """Learn, predict the model, learn with explanations, predict again (Hase and Bansal 2020).

    Attributes:
        learning: items to learn from, from the validation part.
        test: items to predict, from the test part.
        leaf: whether people may go back to earlier pages of a look until it is over, as through the paper's
            spreadsheets; which pages they looked at again, and when, is among the events.
        partial: of bands of a number: an answer is worth less the further its band is from the model's, and not nothing
            unless it is the furthest that there is.
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
    partial: bool = False

    @classmethod
    def draft(cls, items: int) -> dict[str, int]:
        """About half as many to learn from, a multiple of 4."""
        return {"test": items, "learning": max(4, items // 8 * 4)}

    def items(self, source: Source) -> list[Item]:
        """Both sets hold true and false positives and negatives in equal numbers."""
        if self.partial and source.dataset.bands is None:
            raise VeraxError(
                f"protocol.partial is for bands of a number, and {source.dataset.name!r} has classes without an order; "
                "leave it out, or load a column of numbers in bands (source.bands)."
            )
        chosen: list[Item] = []
        for part, role, count in (("validation", "learning", self.learning), ("test", "test", self.test)):
            candidates = pool.candidates(source, part)
            numbers = pool.balanced(candidates, count, source.spec.seed, role)
            chosen += made_items(source, candidates, numbers, role, first=len(chosen) + 1)
        return chosen

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """Two looks and two rounds of predictions, each after a page that says what comes."""
        return (
            Phase("about-learning", say("first-look"), "instructions"),
            Phase("learning", say("first-look"), "learning", leaf=self.leaf),
            Phase("about-pre", say("first-predictions"), "instructions"),
            timed(material.spec, "pre", say("first-predictions"), "test"),
            Phase("about-explained", say("second-look"), "instructions"),
            Phase("explained", say("second-look"), "learning", leaf=self.leaf),
            Phase("about-post", say("second-predictions"), "instructions"),
            timed(material.spec, "post", say("second-predictions"), "test"),
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
        """1 for the model's output, 0 for another class; with `partial`, by how many bands the answer is away."""
        if not self.partial:
            return float(meaning == item.prediction)
        return 1.0 - abs(int(meaning) - item.prediction) / max(1, len(item.probabilities) - 1)

    def is_right(self, item: Item, meaning: Meaning) -> bool:
        """The model's own class or band, and no other."""
        return meaning == item.prediction

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
    return Screen(
        say("look-heading"),
        (outputs(item), Prose((say("look-text"),)), titled_input(item, material.kind)),
        button=next_button(),
    )


def _second_look(material: Material, item: Item, condition: str) -> Screen:
    if material.spec.condition(condition).kind == "none":
        return _first_look(material, item)
    title = say("input-title", kind=material.kind)
    return Screen(
        say("explained-heading"),
        (
            outputs(item),
            Prose((say("explained-text"),)),
            *explained_input(material, item, condition, title=title),
        ),
        (rating_question(material.spec),),
        button=next_button(),
    )


def _predict(material: Material, item: Item) -> Screen:
    question = say("predict-question", kind=material.kind)
    return Screen(
        question,
        (Prose((even_if_wrong(),)), titled_input(item, material.kind)),
        (prediction_question(material, question),),
        button=next_button(),
    )


def _pages(material: Material, leaf: bool) -> dict[str, Screen]:
    learning, test = (len(by_role(material.items, role)) for role in ("learning", "test"))
    lines = partial(say_lines, "forward", kind=material.kind, learning=learning, test=test)

    def again(method: str | None) -> Screen:
        if method is None:
            return page(say("second-look"), *lines("about-second-look-plain"))
        return page(
            say("second-look"),
            *lines("about-second-look-explained"),
            *wording.reading(material, method, direction=shows_direction(material.spec)),
            what_to_rate(),
        )

    return {
        "about-learning": page(
            say("first-look"), *lines("about-first-look"), say("way-back" if leaf else "no-way-back")
        ),
        "about-pre": page(say("first-predictions"), *lines("about-first-predictions")),
        **{
            f"about-explained:{audience}": again(method)
            for audience, method in method_audiences(material.spec).items()
        },
        "about-post": page(say("second-predictions"), *lines("about-second-predictions")),
    }
