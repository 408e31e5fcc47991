"""Designs: who gets which items under which conditions, in which order.

Everything here is counted in tests: every cell of a design occurs equally often, or as nearly as the numbers allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verax.studies.model.design_row import DesignRow, ItemBlock, OneCondition
from verax.studies.model.item import Item
from verax.studies.model.spec import StudySpec


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
