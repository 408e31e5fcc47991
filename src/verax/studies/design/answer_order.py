"""In which order answers stand on a participant's pages: the same on all of them, and others for other participants.

What is stored and analysed is what an answer means, wherever it stood. Answers that name classes change places; a
scale, and any other list of answers, keeps its order and is read from the one end or the other. An order is a number
from 0; `verax.studies.design.allocation.choose_order` deals them out evenly within each row of the design.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verax.studies.design.rows import williams_orders
from verax.studies.model.screen import (
    Bars,
    Block,
    Evidence,
    Option,
    Passage,
    Question,
    Row,
    Screen,
    marked_classes,
)
from verax.studies.model.study import Study


def order_count(study: Study) -> int:
    """How many orders a study deals out: an even number, or 1 where all see the same.

    With two classes each stands first as often; with more each stands in each place, and after each other, as often.
    """
    match study.spec.answer_order:
        case "fixed":
            return 1
        case "direction":
            return 2
    return max(2, len(williams_orders(len(study.class_names))))


def shown_screen(study: Study, key: str, order: int | None) -> Screen:
    """A screen as a participant with this order sees it; as it was built where they have none."""
    screen = study.screens[key]
    if order is None or study.spec.answer_order == "fixed":
        return screen
    classes = list(range(len(study.class_names)))
    if study.spec.answer_order == "counterbalanced":
        orders = williams_orders(len(classes))
        classes = orders[order % len(orders)]
    elif order % 2:
        classes.reverse()
    turned = order % 2 == 1
    blocks = _evidence_by_class([_block(block, classes) for block in screen.blocks], classes)
    return replace(
        screen,
        blocks=_turned_inputs(blocks) if screen.paired and turned else blocks,
        questions=tuple(_question(question, classes, turned=turned) for question in screen.questions),
    )


def _turned_inputs(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Inputs side by side in the opposite order; what stands above them stays."""
    inputs = [block for block in blocks if isinstance(block, Passage | Row)]
    return tuple(inputs.pop() if isinstance(block, Passage | Row) else block for block in blocks)


def _question(question: Question, classes: Sequence[int], *, turned: bool) -> Question:
    if question.fixed_order or len(question.options) < 2:
        return question
    if question.kind == "choice" and any(_class_of(option.label) is not None for option in question.options):
        return replace(question, options=_by_class(question.options, classes))
    if not turned:
        return question
    return replace(question, options=question.options[::-1], low=question.high, high=question.low)


def _by_class(options: Sequence[Option], classes: Sequence[int]) -> tuple[Option, ...]:
    """Answers of each degree of sureness among themselves; what names no class stays where it is."""
    placed: list[Option] = []
    alike: dict[int, Option] = {}

    def put_down() -> None:
        placed.extend(alike[number] for number in classes if number in alike)
        alike.clear()

    for option in options:
        number = _class_of(option.label)
        if number is None or number in alike:
            put_down()
        if number is None:
            placed.append(option)
        else:
            alike[number] = option
    put_down()
    return tuple(placed)


def _block(block: Block, classes: Sequence[int]) -> Block:
    """Bars of class probabilities stand as the answers do."""
    if not isinstance(block, Bars):
        return block
    named = {_class_of(name): (name, share) for name, share in block.pairs}
    if set(named) != set(classes) or len(block.pairs) != len(classes):
        return block
    return replace(block, pairs=tuple(named[number] for number in classes))


def _evidence_by_class(blocks: Sequence[Block], classes: Sequence[int]) -> tuple[Block, ...]:
    """Fragments for one class each stand as the answers do, in the places that they had; other blocks as they were."""
    places = [
        place
        for place, block in enumerate(blocks)
        if isinstance(block, Evidence) and _class_of(block.title) is not None
    ]
    ordered = sorted((blocks[place] for place in places), key=lambda one: classes.index(_named(one.title)))
    placed = dict(zip(places, ordered, strict=True))
    return tuple(placed.get(place, block) for place, block in enumerate(blocks))


def _named(title: str) -> int:
    number = _class_of(title)
    assert number is not None
    return number


def _class_of(label: str) -> int | None:
    """The only class that an answer names; None if it names none or several."""
    numbers = marked_classes(label)
    return numbers.pop() if len(numbers) == 1 else None
