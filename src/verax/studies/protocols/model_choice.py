"""The choice between two models: do explanations show which of two is the worse one?

Lertvittayakumjorn and Toni (2019), section 3.1 (task 1). A text is marked by two models that predict the same class.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from pydantic import Field

from verax.phrases import say as say_phrase
from verax.phrases import say_lines
from verax.seeds import shuffled
from verax.studies.definition.screen import Facts, Meaning, Option, Prose, Question, Screen, class_mark
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import DesignRow, Item, ItemBlock, Phase, Step, Study
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
    timed,
)

say = partial(say_phrase, "model-choice")


def brief(material: Material, *, per_participant: int) -> Briefing:
    """The choice between two models."""
    kind = material.kind
    usual = (say("programs", kind=kind, classes=class_list(material)),)
    said: Paragraphs = (
        *(usual if material.spec.texts.task is None else task(material)),
        *say_lines("model-choice", "task", kind=kind, items=per_participant),
        *limits(material.spec.timing),
    )
    questions = (
        asked("model-choice", "what-to-say", 2, kind=kind),
        asked("model-choice", "what-a-mark-means", 1, kind=kind),
        asked("model-choice", "same-program", 3, kind=kind),
        asked("model-choice", "same-answer", 2, kind=kind),
    )
    return Briefing(said, questions)


# What the answers are worth when Robot S is the better model; read from the end when it is Robot H.
WORTH = (1.0, 0.5, 0.0, -0.5, -1.0)


@protocols.register("model-choice")
class ModelChoice(Protocol):
    """Say which of two models is more reasonable, by their explanations (Lertvittayakumjorn and Toni 2019, task 1).

    Attributes:
        test: items, from the test part.
        items_per_participant: how many of them each participant gets.
        evidence: how many fragments are marked.
        sizes: how many words a fragment may have: [1], or [2, 3, 4] for n-grams.
        equal_marks: whether both robots have the same number of highlights, the smaller of their two; people prefer
            whoever has more. False marks what there is, everywhere, as published.
    """

    asks: ClassVar[str] = "Do explanations show people which of two models is better?"
    explained: ClassVar[tuple[str, ...]] = ("test",)
    needs_explanations: ClassVar[bool] = True
    shows_fragments: ClassVar[bool] = True
    explains_worse: ClassVar[bool] = True
    side_by_side: ClassVar[bool] = True
    scored: ClassVar[str] = "choice"

    test: int = Field(default=100, ge=2)
    items_per_participant: int = Field(default=20, ge=1)
    evidence: int = Field(default=3, ge=1)
    sizes: tuple[int, ...] = Field(default=(1,), min_length=1)
    equal_marks: bool = True

    @classmethod
    def draft(cls, items: int) -> dict[str, int]:
        """Nobody judges more than twenty of them."""
        return {"test": items, "items_per_participant": min(20, items)}

    def check(self, spec: StudySpec) -> None:
        """It needs explanations in every condition."""
        refuse_none(spec)
        refuse_direction(spec, "only evidence for the predicted class is marked")
        check_blocks(self.test, self.items_per_participant)

    def items(self, source: Source) -> list[Item]:
        """Items of which both models predict the same class: half rightly, half wrongly."""
        candidates = pool.agreed(pool.candidates(source, "test"))
        return items_in_blocks(source, candidates, self.test, self.items_per_participant)

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """One phase."""
        return (timed(material.spec, "choice", say("part"), "test"),)

    def screens(self, material: Material) -> dict[str, Screen]:
        """Each item in each condition twice: Robot S is the better model, and Robot S is the worse one."""
        return {
            f"choice:{item.id}:{condition.name}:{better}": self._screen(
                material, item, condition.name, better
            )
            for item in by_role(material.items, "test")
            for condition in material.spec.conditions
            for better in ("S", "H")
        }

    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """Blocks of items with rotated conditions; the target is the number of workers for each item."""
        return rotated_blocks(material.spec, by_role(material.items, "test"))

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:  # noqa: ARG002
        """The block in random order; the better model is Robot S in half of the steps, drawn at random."""
        conditions = row.get(ItemBlock).conditions
        order = shuffled(sorted(conditions), seed, "order")
        sides = shuffled((["S", "H"] * len(order))[: len(order)], seed, "sides")
        return tuple(
            Step("choice", f"choice:{item}:{conditions[item]}:{side}", item, conditions[item])
            for item, side in zip(order, sides, strict=True)
        )

    def briefing(self, material: Material, audience: str) -> Briefing:  # noqa: ARG002
        """Two robots, and what highlights mean."""
        return brief(material, per_participant=largest_block(material.items))

    def score(self, item: Item, meaning: Meaning) -> float:  # noqa: ARG002
        """From -1, the worse model is clearly more reasonable, to 1; that is what answers mean."""
        return float(meaning)

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Mean scores."""
        from verax.studies.analysis.within.graded import graded_analysis

        return graded_analysis("people prefer the better of the two models")

    def planning(self, spec: StudySpec) -> Planning:  # noqa: ARG002
        """Mean scores, compared within people."""
        return planned_blocks(
            self.test, self.items_per_participant, lambda _, worth: worth, undecided=UNDECIDED
        )

    def _screen(self, material: Material, item: Item, condition: str, better: str) -> Screen:
        models = {"S": "model", "H": "worse"} if better == "S" else {"S": "worse", "H": "model"}
        said = say("text", kind=material.kind)
        heading = say("heading")
        answer = Facts(((say("both-answer"), class_mark(item.prediction)),))
        count = self.evidence
        if self.equal_marks:
            count = min(
                stimulus.evidence_count(material, item, condition, model, count, self.sizes)
                for model in models.values()
            )
        blocks = [
            stimulus.marked_evidence(
                material,
                item,
                condition,
                models[robot],
                count,
                self.sizes,
                title=say(f"robot-{robot.lower()}"),
                once=self.equal_marks,
            )
            for robot in ("S", "H")
        ]
        answers = say_lines("model-choice", "answers")
        options = tuple(map(Option, answers, WORTH if better == "S" else WORTH[::-1]))
        question = Question("choice", heading, options=options)
        # The first answers are about the robot on the left, in whichever order a participant has them.
        return Screen(
            heading, (answer, Prose((said,)), *blocks), (question,), button=next_button(), paired=True
        )
