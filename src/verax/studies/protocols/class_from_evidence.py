"""The class from the evidence: do the fragments that an explanation picks tell the predicted class?

Lertvittayakumjorn and Toni (2019), section 3.2 (task 2). The strongest evidence of confident predictions is shown.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal

from pydantic import Field

from verax.phrases import say as say_phrase
from verax.phrases import say_lines
from verax.studies.definition.screen import Meaning, Prose, Question, Screen
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
    UNDECIDED,
    by_role,
    check_blocks,
    items_in_blocks,
    largest_block,
    next_button,
    planned_blocks,
    refuse_direction,
    refuse_none,
    steps_of_block,
    timed,
)

say = partial(say_phrase, "class-from-evidence")


def brief(material: Material, *, per_participant: int, ask_for: str) -> Briefing:
    """What the model answered, or what the fragments come from, as published."""
    slots = {"kind": material.kind, "asked": ask_for}
    task_of = say_lines(
        "class-from-evidence", "task", items=per_participant, classes=class_list(material), **slots
    )
    said: Paragraphs = (*task(material), *task_of, *limits(material.spec.timing))
    questions = (
        asked("class-from-evidence", "what-is-shown", 2, **slots),
        asked("class-from-evidence", "how-chosen", 1, **slots),
        asked("class-from-evidence", "tell-nothing", 3, **slots),
        asked("class-from-evidence", "your-task", 1, **slots),
    )
    return Briefing(said, questions)


@protocols.register("class-from-evidence")
class ClassFromEvidence(Protocol):
    """Guess the class from the strongest evidence alone (Lertvittayakumjorn and Toni 2019, task 2).

    Attributes:
        test: items, from the test part.
        items_per_participant: how many of them each participant gets.
        threshold: only predictions with a probability above this.
        noun: what an input is called in the answers, such as "review": as published, "... from a positive review".
        evidence: how many fragments are shown.
        sizes: how many words a fragment may have: [1], or [2, 3, 4] for n-grams.
        ask_for: what people are asked for: the "model"'s answer, which is what is scored, or what the "input" is that
            the fragments come from, as published. Half of the items are predicted wrongly, so that is another question.
    """

    asks: ClassVar[str] = "Can people tell the model's answer from the evidence that an explanation shows?"
    explained: ClassVar[tuple[str, ...]] = ("test",)
    needs_explanations: ClassVar[bool] = True
    shows_fragments: ClassVar[bool] = True
    scored: ClassVar[str] = "class"

    test: int = Field(default=100, ge=2)
    items_per_participant: int = Field(default=20, ge=1)
    threshold: float = Field(default=0.9, ge=0, lt=1)
    noun: str = ""
    evidence: int = Field(default=3, ge=1)
    sizes: tuple[int, ...] = Field(default=(1,), min_length=1)
    ask_for: Literal["model", "input"] = "model"

    @classmethod
    def draft(cls, items: int) -> dict[str, int]:
        """Nobody judges more than twenty of them."""
        return {"test": items, "items_per_participant": min(20, items)}

    def check(self, spec: StudySpec) -> None:
        """It needs explanations in every condition."""
        refuse_none(spec)
        refuse_direction(spec, "people could read the model's answer off it")
        check_blocks(self.test, self.items_per_participant)

    def items(self, source: Source) -> list[Item]:
        """Confident predictions: half right, half wrong."""
        candidates = pool.confident(pool.candidates(source, "test"), self.threshold)
        return items_in_blocks(source, candidates, self.test, self.items_per_participant)

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """One phase."""
        return (timed(material.spec, "evidence", say("part"), "test"),)

    def screens(self, material: Material) -> dict[str, Screen]:
        """The evidence of each item in each condition."""
        return {
            f"evidence:{item.id}:{condition.name}": self._screen(material, item, condition.name)
            for item in by_role(material.items, "test")
            for condition in material.spec.conditions
        }

    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """Blocks of items with rotated conditions; the target is the number of workers for each item."""
        return rotated_blocks(material.spec, by_role(material.items, "test"))

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:  # noqa: ARG002
        """The block in random order."""
        return steps_of_block(row, "evidence", "evidence", seed)

    def briefing(self, material: Material, audience: str) -> Briefing:  # noqa: ARG002
        """What fragments are, and that one may not know."""
        return brief(material, per_participant=largest_block(material.items), ask_for=self.ask_for)

    def score(self, item: Item, meaning: Meaning) -> float:
        """From -1, certain of another class than the model predicts, to 1."""
        return graded_score(meaning, item.prediction)

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Mean scores."""
        from verax.studies.analysis.within.graded import graded_analysis

        return graded_analysis("people guess the class that the model predicts")

    def planning(self, spec: StudySpec) -> Planning:  # noqa: ARG002
        """Mean scores, compared within people."""
        return planned_blocks(
            self.test,
            self.items_per_participant,
            lambda item, worth: graded_meaning(worth, item.prediction),
            undecided=UNDECIDED,
        )

    def _screen(self, material: Material, item: Item, condition: str) -> Screen:
        kind, asked_for = material.kind, self.ask_for
        evidence, _ = stimulus.evidence_blocks(
            material, item, condition, self.evidence, self.sizes, title=say("part")
        )
        heading = say("question", kind=kind, asked=asked_for)
        about = {"asked": asked_for} if not self.noun else {"asked": "noun", "noun": self.noun}
        certain, likely = (partial(say, case, **about) for case in ("certain", "likely"))
        options = graded_options(material, certain, likely, say("cannot-say"))
        return Screen(
            heading,
            (Prose((say("text", kind=kind),)), evidence),
            (Question("class", heading, options=options),),
            button=next_button(),
        )
