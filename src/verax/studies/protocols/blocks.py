"""What the three tasks of Lertvittayakumjorn and Toni (2019) share: items in blocks, several workers for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verax.errors import VeraxError
from verax.seeds import shuffled
from verax.studies.design.rows import deal
from verax.studies.items import pool
from verax.studies.model.design_row import DesignRow, ItemBlock
from verax.studies.model.item import Item
from verax.studies.model.screen import Meaning
from verax.studies.model.steps import Step
from verax.studies.protocol.contract import Source
from verax.studies.protocol.planning import Planning, Role
from verax.studies.protocols.screens import made_items, strata

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
