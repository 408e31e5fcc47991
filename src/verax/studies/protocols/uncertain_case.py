"""The uncertain case: do evidence and counter-evidence help people to find the true class where the model is unsure?

Lertvittayakumjorn and Toni (2019), section 3.3 (task 3). The prediction with its probabilities and fragments is shown,
the text is not.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from pydantic import Field

from verax.errors import VeraxError
from verax.phrases import either
from verax.phrases import say as say_phrase
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
from verax.studies.definition.study import DesignRow, Item, Phase, Step, Study
from verax.studies.design import rotated_blocks
from verax.studies.display import stimulus
from verax.studies.display.legends import asked
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
    next_button,
    planned_blocks,
    steps_of_block,
    timed,
)

say = partial(say_phrase, "uncertain-case")


def brief(material: Material, *, per_participant: int, say_half: bool) -> Briefing:
    """The true class of inputs that the model is not sure of."""
    kind = material.kind
    kinds = {condition.kind for condition in material.spec.conditions}
    often = "sometimes" if "none" in kinds else "always"
    said: Paragraphs = (
        *task(material),
        say("shown", kind=kind),
        *((say("fragments", kind=kind, often=often),) if kinds != {"none"} else ()),
        say("task", kind=kind, classes=class_list(material)),
        say("right-on-half" if say_half else "sometimes-wrong", kind=kind),
        say("count", kind=kind, items=per_participant),
        *limits(material.spec.timing),
    )
    questions = (
        asked("uncertain-case", "what-to-say", 3, kind=kind),
        asked("uncertain-case", "which-inputs", 2, kind=kind),
        asked("uncertain-case", "is-input-shown", 1, kind=kind),
        how_often_right(material) if say_half else asked("uncertain-case", "is-model-right", 2),
    )
    return Briefing(said, questions)


@protocols.register("uncertain-case")
class UncertainCase(Protocol):
    """Find the true class where the model is unsure, without the input (Lertvittayakumjorn and Toni 2019, task 3).

    Attributes:
        test: items, from the test part.
        items_per_participant: how many of them each participant gets.
        threshold: only predictions with a probability below this.
        noun: what an input is called in the answers, such as "review": as published, "... it is a positive review".
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
    noun: str = ""
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
        return (timed(material.spec, "cases", say("part"), "test"),)

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
        kind = material.kind
        heading = say("question", kind=kind)
        question = Question(
            "class",
            heading,
            options=graded_options(
                material,
                partial(say, "certain", noun=self.noun or "none"),
                partial(say, "likely", noun=self.noun or "none"),
            ),
        )
        often = say("unsure-half" if self.say_half else "unsure-sometimes", kind=kind)
        probabilities = tuple((class_mark(number), share) for number, share in enumerate(item.probabilities))
        blocks: tuple[Block, ...] = (
            Facts(((say_phrase("participant", "model-answer", which="only"), class_mark(item.prediction)),)),
            Bars(probabilities, say("probabilities-title")),
            Prose((often,)),
        )
        if material.spec.condition(condition).kind != "none":
            blocks += self._evidence(material, item, condition)
        return Screen(heading, blocks, (question,), button=next_button())

    def _evidence(self, material: Material, item: Item, condition: str) -> tuple[Evidence, ...]:
        """Counter-evidence is called evidence for the others; of two classes, the first one's stands first."""
        others = [number for number in range(len(material.class_names)) if number != item.prediction]
        blocks = stimulus.evidence_blocks(
            material,
            item,
            condition,
            self.evidence,
            self.sizes,
            title=say("evidence-title", name=class_mark(item.prediction)),
            counter_title=say("evidence-title", name=either([class_mark(number) for number in others])),
        )
        return blocks[::-1] if len(others) == 1 and others[0] < item.prediction else blocks
