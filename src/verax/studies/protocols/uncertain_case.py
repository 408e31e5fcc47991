"""The uncertain case: do evidence and counter-evidence help people to find the true class where the model is unsure?

Lertvittayakumjorn and Toni (2019), section 3.3 (task 3). The prediction with its probabilities and fragments is shown,
the text is not.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from verax.errors import VeraxError
from verax.studies.definition.screen import (
    Bars,
    Block,
    Evidence,
    Facts,
    Meaning,
    Prose,
    Question,
    Screen,
    class_mark,
)
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import ScreeningQuestion as Asked
from verax.studies.definition.study import DesignRow, Item, Phase, Step, Study
from verax.studies.design import rotated_blocks
from verax.studies.display import stimulus
from verax.studies.display.legends import terms
from verax.studies.display.wording import Paragraphs, class_list, limits, task
from verax.studies.items import pool
from verax.studies.protocol.contract import (
    Briefing,
    Material,
    Planning,
    Protocol,
    ProtocolAnalysis,
    Source,
    protocols,
)
from verax.studies.protocol.graded_answers import graded_meaning, graded_options, graded_score
from verax.studies.protocols.screens import (
    by_role,
    check_blocks,
    how_often_right,
    items_in_blocks,
    largest_block,
    planned_blocks,
    steps_of_block,
    timed,
)
from verax.text import listed


def brief(material: Material, *, per_participant: int, say_half: bool) -> Briefing:
    """The true class of inputs that the model is not sure of."""
    words = terms(material)
    kinds = {condition.kind for condition in material.spec.conditions}
    said: Paragraphs = (
        *task(material),
        f"You get the {words.many} that the model is not sure about. You see its answer and how probable it finds each "
        f"answer. You do not see the {words.one} itself.",
    )
    if kinds != {"none"}:
        often = "For some you" if "none" in kinds else "You"
        said += (
            f"{often} also see fragments of the {words.one}: those that spoke most for the model's answer, and those "
            "that spoke most for the other answers.",
        )
    said += (
        f"Your task is to say what the {words.one} really is: {class_list(material)}. You also say whether you are "
        "certain.",
        f"The {words.many} were chosen so that the model is right on half of them, although it finds its answers more "
        "probable than that."
        if say_half
        else "Sometimes the model is wrong.",
        f"There are {per_participant} {words.many}.",
        *limits(material.spec.timing),
    )
    questions = (
        Asked(
            question=f"What do you say about each {words.one}?",
            answers=["What the model says", "What most people would say", f"What the {words.one} really is"],
            correct=3,
        ),
        Asked(
            question=f"Which {words.many} do you get?",
            answers=[
                "Those that the model is sure about",
                "Those that the model is not sure about",
                "Those that the model gets wrong",
            ],
            correct=2,
        ),
        Asked(
            question=f"Do you see the {words.one} itself?",
            answers=["No", "Yes, always", "Yes, after my answer"],
            correct=1,
        ),
        how_often_right(material)
        if say_half
        else Asked(question="Is the model right?", answers=["Always", "Sometimes", "Never"], correct=2),
    )
    return Briefing(said, questions)


@protocols.register("uncertain-case")
class UncertainCase(Protocol):
    """Find the true class where the model is unsure, without the input (Lertvittayakumjorn and Toni 2019, task 3).

    Attributes:
        test: items, from the test part.
        items_per_participant: how many of them each participant gets.
        threshold: only predictions with a probability below this.
        evidence: how many fragments are shown on either side.
        sizes: how many words a fragment may have: [1], or [2, 3, 4] for n-grams.
        say_half: whether people are told that the model is right on half of the inputs. Its probabilities say more
            than that, since right and wrong answers were chosen in equal numbers. False does not tell, as published:
            the probabilities then mislead.
    """

    asks: ClassVar[str] = "Do explanations help people where the model itself is unsure?"
    explained: ClassVar[tuple[str, ...]] = ("test",)
    shows_fragments: ClassVar[bool] = True
    scored: ClassVar[str] = "class"

    test: int = Field(default=100, ge=2)
    items_per_participant: int = Field(default=20, ge=1)
    threshold: float = Field(default=0.7, gt=0, le=1)
    evidence: int = Field(default=3, ge=1)
    sizes: tuple[int, ...] = Field(default=(1,), min_length=1)
    say_half: bool = True

    @classmethod
    def draft(cls, items: int) -> dict[str, int]:
        """Nobody judges more than twenty of them."""
        return {"test": items, "items_per_participant": min(20, items)}

    def check(self, spec: StudySpec) -> None:  # noqa: ARG002
        """Items must fill the blocks."""
        check_blocks(self.test, self.items_per_participant)

    def check_item(self, item: Item) -> None:
        """How unsure the model is must be known."""
        if not item.probabilities:
            raise VeraxError("the cell 'probabilities' is empty; fill it in")

    def items(self, source: Source) -> list[Item]:
        """Unconfident predictions: half right, half wrong."""
        candidates = pool.unconfident(pool.candidates(source, "test"), self.threshold)
        return items_in_blocks(source, candidates, self.test, self.items_per_participant)

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """One phase."""
        return (timed(material.spec, "cases", "Unsure answers", "test"),)

    def screens(self, material: Material) -> dict[str, Screen]:
        """The prediction of each item, with the fragments of each condition."""
        return {
            f"case:{item.id}:{condition.name}": self._screen(material, item, condition.name)
            for item in by_role(material.items, "test")
            for condition in material.spec.conditions
        }

    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """Blocks of items with rotated conditions; the target is the number of workers for each item."""
        return rotated_blocks(material.spec, by_role(material.items, "test"))

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:  # noqa: ARG002
        """The block in random order."""
        return steps_of_block(row, "cases", "case", seed)

    def briefing(self, material: Material, audience: str) -> Briefing:  # noqa: ARG002
        """What is shown, and that the true class is asked for."""
        return brief(material, per_participant=largest_block(material.items), say_half=self.say_half)

    def score(self, item: Item, meaning: Meaning) -> float:
        """From -1, certain of a wrong class, to 1: the true class counts, not the model's."""
        return graded_score(meaning, item.label)

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Mean scores."""
        from verax.studies.analysis.within.graded import graded_analysis

        return graded_analysis("people find the true class")

    def planning(self, spec: StudySpec) -> Planning:  # noqa: ARG002
        """Mean scores, compared within people; nobody can answer that they cannot say."""
        return planned_blocks(
            self.test, self.items_per_participant, lambda item, worth: graded_meaning(worth, item.label)
        )

    def _screen(self, material: Material, item: Item, condition: str) -> Screen:
        noun = terms(material).one
        heading = f"What is this {noun} really?"
        question = Question(
            "class",
            heading,
            options=graded_options(
                material, "I'm certain that it is: {}.", "I'm not certain, but it is probably: {}."
            ),
        )
        many = terms(material).many
        often = (
            f"It is right on half of the {many} in this study." if self.say_half else "Sometimes it is wrong."
        )
        probabilities = tuple((class_mark(number), share) for number, share in enumerate(item.probabilities))
        blocks: tuple[Block, ...] = (
            Facts((("The model's answer", class_mark(item.prediction)),)),
            Bars(probabilities, "How probable the model finds each answer"),
            Prose((f"The model is not sure. {often}",)),
        )
        if material.spec.condition(condition).kind != "none":
            blocks += self._evidence(material, item, condition)
        return Screen(heading, blocks, (question,), button="Next")

    def _evidence(self, material: Material, item: Item, condition: str) -> tuple[Evidence, ...]:
        """Counter-evidence is called evidence for the others; of two classes, the first one's stands first."""
        others = [number for number in range(len(material.class_names)) if number != item.prediction]
        blocks = stimulus.evidence_blocks(
            material,
            item,
            condition,
            self.evidence,
            self.sizes,
            title=f"Evidence for: {class_mark(item.prediction)}",
            counter_title=f"Evidence for: {listed([class_mark(number) for number in others], 'or')}",
        )
        return blocks[::-1] if len(others) == 1 and others[0] < item.prediction else blocks
