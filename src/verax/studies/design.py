"""Who sees what: the rows of a design, who is given which, and in which order answers stand.

Everything here is counted in tests: every cell of a design occurs equally often, or as nearly as the numbers allow.

Where studies are served together, the one that an arriving participant takes is found by the same rule over the rows
of all of them.

What is stored and analysed is what an answer means, wherever it stood. Answers that name classes change places; a
scale, and any other list of answers, keeps its order and is read from the one end or the other. An order is a number
from 0; `verax.studies.design.choose_order` deals them out evenly within each row of the design.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil
from typing import Any, Generic, TypeVar

from verax.seeds import stream
from verax.studies.definition.screen import (
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
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import DesignRow, Item, ItemBlock, OneCondition, Study

T = TypeVar("T")


def latin_square(size: int) -> list[list[int]]:
    """Rows in which each number stands once, and once in each column."""
    return [[(column + row) % size for column in range(size)] for row in range(size)]


def williams_orders(size: int) -> list[list[int]]:
    """Orders in which each number stands equally often in each place, and equally often next after each other one.

    ``size`` orders if it is even, twice as many if it is odd (Williams 1949): six for three.
    """
    zigzag = [place // 2 if place % 2 == 0 else size - (place + 1) // 2 for place in range(size)]
    orders = [[(number + row) % size for number in zigzag] for row in range(size)]
    if size % 2 == 1 and size > 1:
        orders += [order[::-1] for order in orders]
    return orders


def crossover(size: int) -> list[list[tuple[int, int]]]:
    """Pairs of a condition and an item group, in order: one list per row of the design, 2 x ``size`` rows.

    The conditions follow Williams orders, and a row of a Latin square says which group goes with which condition. They
    are joined so that over all rows each condition meets each group, and each condition and each group stands in each
    place, equally often. (For an even size no ``size`` rows can do this, so that each order comes with two rows of
    the square.)
    """
    square, orders = latin_square(size), williams_orders(size)
    rows = list(enumerate(orders))
    if size % 2 == 0:
        rows += [(number + 1, order) for number, order in rows]
    return [[(condition, square[number % size][condition]) for condition in order] for number, order in rows]


def deal(strata: Sequence[Any], groups: int) -> list[int]:
    """A group for each thing: like cards dealt out one by one after sorting by stratum.

    Groups differ by at most one in size, and by at most one within each stratum.
    """
    dealt = [0] * len(strata)
    for turn, place in enumerate(sorted(range(len(strata)), key=lambda place: strata[place])):
        dealt[place] = turn % groups
    return dealt


def stratum(item: Item) -> tuple[bool, int]:
    """What designs hold even: whether the model is right, and what it says."""
    return item.correct, item.prediction


def one_row_per_condition(spec: StudySpec) -> tuple[DesignRow, ...]:
    """Between people: each participant sees one condition; a condition may want more people than others."""
    return tuple(
        DesignRow(number, condition.participants or spec.participants, OneCondition(condition.name))
        for number, condition in enumerate(spec.conditions)
    )


def rotated_blocks(spec: StudySpec, items: Sequence[Item]) -> tuple[DesignRow, ...]:
    """Blocks of items (their ``group``), each once per rotation of the conditions over its items.

    Each (item, condition) is in exactly one row, and a participant sees an item once. Within a row the conditions
    are as even as the numbers allow, over all items and over right and wrong predictions of each class.
    """
    names = [condition.name for condition in spec.conditions]
    rows: list[DesignRow] = []
    for block in sorted({item.group for item in items}):
        members = [item for item in items if item.group == block]
        first = deal([stratum(item) for item in members], len(names))
        for turn in range(len(names)):
            conditions = {
                item.id: names[(number + turn) % len(names)]
                for item, number in zip(members, first, strict=True)
            }
            rows.append(DesignRow(len(rows), spec.participants, ItemBlock(block, conditions)))
    return tuple(rows)


@dataclass
class Places:
    """The places that are taken, by people who completed a row of the design or are at it and still hold their place.

    Attributes:
        rows: how many by the number of the row.
        orders: how many by the row and the order in which answers stand.
        at_door: people who hold a place, but are not given a row yet.
    """

    rows: Counter[int] = field(default_factory=Counter)
    orders: Counter[tuple[int, int]] = field(default_factory=Counter)
    at_door: int = 0

    def add(self, row: int | None, order: int | None, people: int = 1) -> None:
        """Counts people more; who came before there were orders has none."""
        if row is None:
            self.at_door += people
            return
        self.rows[row] += people
        if order is not None:
            self.orders[row, order] += people


def offered_again(row: DesignRow, excluded: int, share: float) -> int:
    """How many places of a row are offered again of so many excluded people: all, up to this share of its places."""
    return min(excluded, ceil(share * row.target - 1e-9))


def has_room(rows: Sequence[DesignRow], taken: Places) -> bool:
    """Whether a place is left for one more, once all who are at the door have theirs."""
    return sum(max(0, row.target - taken.rows[row.number]) for row in rows) > taken.at_door


def choose_row(
    rows: Sequence[DesignRow], taken: Mapping[int, int], seed: int, arrival: int
) -> DesignRow | None:
    """The row for the next participant, or None if every row has as many people as it shall have.

    Rows are compared by the places taken, whatever their targets, so that arrivals in sequence leave the rows that
    still have room at most one apart.

    Args:
        rows: the design.
        taken: by row number: participants who completed it, or are at it and still hold their place.
        seed: the study's; ties are broken by it and by the arrival.
        arrival: the number of this participant, from 1.
    """
    free = [row for row in rows if taken.get(row.number, 0) < row.target]
    if not free:
        return None
    fewest = min(taken.get(row.number, 0) for row in free)
    least = [row for row in free if taken.get(row.number, 0) == fewest]
    return least[int(stream(seed, "allocation", arrival).integers(len(least)))]


def choose_study(
    designs: Sequence[Sequence[DesignRow]], taken: Sequence[Places], seed: int, arrival: int
) -> int | None:
    """The place in the list of the study for the next participant, or None if all places of all studies are taken.

    It is the study of the row that has the fewest people of all rows with room, once everybody at a door has taken the
    emptiest row there, as `choose_row` will give it to them. So studies have as many people as their rows need, and
    arrivals in sequence leave all rows of all studies that still have room at most one apart.

    Args:
        designs: the rows of each study.
        taken: the places taken in each.
        seed: ties are broken by it and by the arrival; a study with two of the emptiest rows is drawn twice as often as
            one with one.
        arrival: the number of this participant among those of all the studies, from 1.
    """
    room = [
        (people[row.number], place)
        for place, (rows, places) in enumerate(zip(designs, taken, strict=True))
        for people in [_once_placed(rows, places)]
        for row in rows
        if people[row.number] < row.target
    ]
    if not room:
        return None
    fewest = min(room)[0]
    least = [place for people, place in room if people == fewest]
    return least[int(stream(seed, "study", arrival).integers(len(least)))]


def _once_placed(rows: Sequence[DesignRow], taken: Places) -> Counter[int]:
    """How many people each row has when all who are at the door have a row."""
    people = Counter(taken.rows)
    for _ in range(taken.at_door):
        free = [row.number for row in rows if people[row.number] < row.target]
        if not free:
            break
        people[min(free, key=lambda number: people[number])] += 1
    return people


def choose_order(orders: int, row: DesignRow, taken: Places, seed: int, arrival: int) -> int | None:
    """The order of answers for the next participant of a row: the rarest in the row, and of these the rarest in all.

    Arrivals in sequence leave the orders of each row at most one apart.

    Args:
        orders: how many there are; with one, nobody is given any.
        row: of the participant.
        taken: the places that are taken, this one not.
        seed: the study's; ties are broken by it and by the arrival.
        arrival: the number of this participant, from 1.
    """
    if orders == 1:
        return None
    in_all: Counter[int] = Counter()
    for (_, order), people in taken.orders.items():
        in_all[order] += people
    rarity = [(taken.orders[row.number, order], in_all[order]) for order in range(orders)]
    rarest = [order for order in range(orders) if rarity[order] == min(rarity)]
    return rarest[int(stream(seed, "answer order", arrival).integers(len(rarest)))]


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


class Same(Generic[T]):
    """Stands for one object as a key: comparing whole studies and screens would take longer than drawing them."""

    def __init__(self, it: T) -> None:
        self.it = it

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.it is other.it


def shown_screen(study: Study, key: str, order: int | None) -> Screen:
    """A screen as a participant with this order sees it; as it was built where they have none."""
    if order is None or study.spec.answer_order == "fixed":
        return study.screens[key]
    return _in_order(Same(study), key, order)


@lru_cache(maxsize=4096)
def _in_order(of: Same[Study], key: str, order: int) -> Screen:
    study, screen = of.it, of.it.screens[key]
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
