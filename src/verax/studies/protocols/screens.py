"""What several protocols share: items, questions, screens, timed phases, blocks, and parts of instructions.

A screening test asks about the method and the procedure (Hase and Bansal, section 4.2). Its questions for people with
and without explanations have their right answers in the same places, so that one key judges both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from verax.errors import VeraxError
from verax.phrases import say
from verax.seeds import shuffled
from verax.studies.definition.screen import (
    Block,
    Facts,
    Meaning,
    Option,
    Passage,
    Prose,
    Question,
    Row,
    Screen,
    class_mark,
)
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import ScreeningQuestion as Asked
from verax.studies.definition.study import DesignRow, Item, ItemBlock, Phase, Step, Variant
from verax.studies.design import deal
from verax.studies.display import stimulus, wording
from verax.studies.display.legends import asked, question_on, weights_block
from verax.studies.display.stimulus import forms, written_block
from verax.studies.items import pool
from verax.studies.protocol.contract import Material, Planning, Role, Source

EXPLAINED, PLAIN = "explained", "plain"
# The share of right predictions before explanations that Hase and Bansal (2020) found on average.
BEFORE_EXPLANATIONS = 0.66


def made_items(
    source: Source,
    candidates: pool.Candidates,
    numbers: Sequence[int],
    role: str,
    *,
    first: int = 1,
    groups: Sequence[int] | None = None,
    variants: Sequence[Variant] | None = None,
) -> list[Item]:
    """Drawn candidates as items, numbered from ``first`` in the order of the draw, which is random."""
    return [
        pool.to_item(
            source,
            candidates,
            number,
            id=f"i{first + place:03d}",
            role=role,
            group=0 if groups is None else groups[place],
            variant=None if variants is None else variants[place],
        )
        for place, number in enumerate(numbers)
    ]


def strata(candidates: pool.Candidates, numbers: Sequence[int]) -> list[tuple[bool, int]]:
    """Whether the model is right, and what it says, for candidates that were drawn."""
    return [(bool(candidates.correct[number]), int(candidates.predictions[number])) for number in numbers]


def shows_direction(spec: StudySpec) -> bool:
    """Whether marks say what a feature speaks for, in a task in which that gives nothing away."""
    return spec.display.direction is not False


def refuse_direction(spec: StudySpec, why: str) -> None:
    """For tasks in which the answer could be read off the direction."""
    if spec.display.direction:
        raise VeraxError(
            f"display.direction = true is not possible in the protocol {spec.protocol['name']!r}: {why}; leave it out."
        )


def refuse_none(spec: StudySpec) -> None:
    """For tasks in which there is nothing to judge without an explanation."""
    plain = [condition.name for condition in spec.conditions if condition.kind == "none"]
    if plain:
        raise VeraxError(
            f"The protocol {spec.protocol['name']!r} has nothing to show in a condition without explanations, "
            f"{plain[0]!r}; take it out (a random control is the floor here)."
        )


def audience_of(spec: StudySpec, condition: str) -> str:
    """Controls are told what methods are told; only those without explanations are told something else."""
    return PLAIN if spec.condition(condition).kind == "none" else EXPLAINED


def method_audience(spec: StudySpec, condition: str) -> str:
    """For tasks in which nobody meets two conditions: everybody is told about their own method; controls as methods."""
    audience = audience_of(spec, condition)
    return audience if audience == PLAIN else f"{EXPLAINED}:{spec.method_of(condition).name}"


def method_audiences(spec: StudySpec) -> dict[str, str | None]:
    """Those audiences, each with the condition whose explanations it is told about."""
    told = {method_audience(spec, condition.name): condition for condition in spec.conditions}
    return {
        audience: None if audience == PLAIN else spec.method_of(condition.name).name
        for audience, condition in told.items()
    }


def audiences(spec: StudySpec) -> list[str]:
    """All audiences that the conditions make."""
    return sorted({audience_of(spec, condition.name) for condition in spec.conditions})


def timed(spec: StudySpec, key: str, title: str, kind: Literal["training", "test"]) -> Phase:
    """A phase with the limits that the spec sets."""
    minutes = spec.timing.session_minutes
    return Phase(
        key,
        title,
        kind,
        session_seconds=None if minutes is None else 60 * minutes,
        item_seconds=spec.timing.item_seconds,
        late=spec.timing.late,
    )


def page(heading: str, *paragraphs: str) -> Screen:
    """A screen that only says something: the beginning of a part."""
    return Screen(heading, (Prose(paragraphs),), button=say("participant", "begin"))


def next_button() -> str:
    """The button of a screen after which the next follows."""
    return say("participant", "next")


def class_options(material: Material) -> tuple[Option, ...]:
    """One answer for each class; what is stored is its number."""
    return tuple(Option(class_mark(number), number) for number in range(len(material.class_names)))


def prediction_question(material: Material, prompt: str) -> Question:
    """Which class?"""
    return Question("prediction", prompt, options=class_options(material))


def rating_question(spec: StudySpec) -> Question:
    """The question on an explanation (Hase and Bansal, section 4.4)."""
    points = tuple(Option(str(point), point) for point in range(1, spec.rating.points + 1))
    return Question(
        "rating", spec.rating.question, "scale", points, low=spec.rating.low, high=spec.rating.high
    )


def marked_input(
    material: Material, item: Item, condition: str, *, direction: bool, title: str
) -> Passage | Row:
    """The input as a condition shows it, with a line on what marks mean where there are any."""
    block = stimulus.explained_block(material, item, condition, direction=direction, title=title)
    if material.spec.condition(condition).kind == "none":
        return block
    return replace(block, legend=wording.legend(material, direction=direction))


def explained_input(material: Material, item: Item, condition: str, *, title: str) -> tuple[Block, ...]:
    """The input and its explanation: marks, and bars with directions, or weights, or what is written."""
    said = written_block(material, item, condition) or weights_block(material, item, condition)
    if said is not None:
        return stimulus.input_block(item, title=title), said
    direction = shows_direction(material.spec)
    marked = marked_input(material, item, condition, direction=direction, title=title)
    bars = (
        stimulus.bars_block(material, item, condition, say("participant", "bars-title"))
        if direction
        else None
    )
    if bars is None:
        return (marked,)
    # The bars leave room, below which the input, often a long table, has none.
    return replace(marked, legend=""), replace(bars, legend=marked.legend)


def titled_input(item: Item, kind: str) -> Passage | Row:
    """The input as it is, called what participants call it."""
    return stimulus.input_block(item, title=say("common", "input-title", kind=kind))


def outputs(item: Item, *, of_original: bool = False) -> Facts:
    """The true label and the model's output; of the original, where a changed input stands beside it."""
    which = "original" if of_original else "only"
    return Facts(
        (
            (say("participant", "right-answer", which=which), class_mark(item.label)),
            (say("participant", "model-answer", which=which), class_mark(item.prediction)),
        )
    )


def by_role(items: Iterable[Item], role: str, group: int | None = None) -> list[Item]:
    """The items of one role, and of one group if it is given, in the study's order."""
    return [item for item in items if item.role == role and group in (None, item.group)]


# The share of people's graded answers that cannot say, where that may be said.
UNDECIDED = 0.1


def items_in_blocks(source: Source, candidates: pool.Candidates, count: int, size: int) -> list[Item]:
    """Test items, half of them rightly and half wrongly predicted, dealt evenly into blocks for one participant."""
    check_blocks(count, size)
    numbers = pool.halves(candidates, count, source.spec.seed, "test")
    return made_items(
        source, candidates, numbers, "test", groups=deal(strata(candidates, numbers), count // size)
    )


def check_blocks(count: int, size: int) -> None:
    """Items must fill the blocks."""
    if count % size:
        raise VeraxError(
            f"{count} items (test) are not blocks of {size} (items_per_participant); make one a multiple of the other."
        )


def planned_blocks(
    count: int, size: int, answer: Callable[[Item, float], Meaning], undecided: float = 0.0
) -> Planning:
    """What planning must know of a task with graded answers to items in blocks."""
    return Planning("test", (Role("test", count, count // size),), answer, graded=True, undecided=undecided)


def largest_block(items: Sequence[Item]) -> int:
    """How many items a participant gets."""
    groups = [item.group for item in items]
    return max(map(groups.count, set(groups)), default=0)


def steps_of_block(row: DesignRow, phase: str, screen: str, seed: int) -> tuple[Step, ...]:
    """A block's items in random order, each in the condition that the row gives it, on ``screen:item:condition``."""
    conditions = row.get(ItemBlock).conditions
    return tuple(
        Step(phase, f"{screen}:{item}:{conditions[item]}", item, conditions[item])
        for item in shuffled(sorted(conditions), seed, "order")
    )


def even_if_wrong() -> str:
    """That the model's answer is asked for, right or wrong."""
    return say("participant", "even-if-wrong")


def what_to_rate() -> str:
    """What a high rating is for."""
    return say("participant", "what-to-rate")


def half_right(material: Material) -> str:
    """That the model is right in half of the items."""
    return say("participant", "right-on-half", kind=material.kind)


def what_to_predict(material: Material, other: str = "") -> Asked:
    """Whose answer is asked for: the model's, and not the ``other``, which is what is right if nothing is given."""
    other = other or say("participant", "what-is-right")
    return asked("participant", "what-to-predict", 1, kind=material.kind, other=other)


def how_often_right(material: Material) -> Asked:
    """In how many of the items the model is right."""
    return asked("participant", "how-often-right", 2, kind=material.kind)


def what_a_mark_means(material: Material) -> Asked:
    """What explanations show, for people who meet all conditions."""
    return question_on("written" if "words" in forms(material) else "marks", material.kind)
