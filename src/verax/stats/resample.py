"""Resampled data sets as weights: how often each answer is in each replicate, some replicates at a time.

Nothing is copied: a replicate is a row of whole numbers, one per answer. What a replicate says is then a product of
matrices (`label_counts`), so that tens of thousands of replicates take seconds.

Three schemes, each over two crossed keys (participants, then items):

- `block_weights`: as the script of Hase & Bansal (2020) does it for Change: draw blocks until there are at least as
  many answers as in the data and cut off what is too much; first participants, then items of what that gave.
- `grid_weights`: as that script does it for plain means: as many participants as there are, then as many items as
  that sample has.
- `pigeonhole_weights`: participants and items drawn independently of each other; an answer's weight is the product.

Replicates come in groups of `GROUP`, each with a random stream of its own made from the seed and its number: the first
1,000 of 25,000 replicates are those of a run of 1,000, and memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.responses import check_replicates, indicator, joint

GROUP = 256

Number = TypeVar("Number", np.float64, np.intp)


@dataclass(frozen=True)
class _Draws:
    """Blocks in the order in which they were drawn, one row per replicate.

    Attributes:
        block: Which block.
        kept: How many of its answers, from its first on, are kept: all, less where it was cut, 0 after the end.
        whole: Where all of them are kept.
    """

    block: IndexArray
    kept: IndexArray
    whole: NDArray[np.bool_]

    def times(self, blocks: int) -> IndexArray:
        """How often each block was kept whole: (replicates, blocks)."""
        place = np.arange(len(self.block))[:, None] * blocks + self.block
        counts = np.bincount(place[self.whole], minlength=len(self.block) * blocks)
        return counts.reshape(len(self.block), blocks)

    def cut(self) -> tuple[IndexArray, IndexArray, IndexArray]:
        """The blocks that were cut: replicate, block, answers kept."""
        replicate, draw = np.nonzero((self.kept > 0) & ~self.whole)
        return replicate, self.block[replicate, draw], self.kept[replicate, draw]


@dataclass(frozen=True)
class _Lists:
    """The answers of each block in the order of the data: those of b are order[start[b] : start[b] + size[b]]."""

    order: IndexArray
    start: IndexArray
    size: IndexArray

    @classmethod
    def by(cls, block: IndexArray, blocks: int) -> _Lists:
        size = np.bincount(block, minlength=blocks)
        return cls(np.argsort(block, kind="stable"), np.cumsum(size) - size, size)

    def places(self) -> IndexArray:
        """Each answer's place in its block, from 0."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order)) - np.repeat(self.start, self.size)
        return place

    def heads(self, block: IndexArray, kept: IndexArray) -> tuple[IndexArray, IndexArray]:
        """The first kept answers of each block named: (which of the blocks named, answer)."""
        which = np.repeat(np.arange(len(block)), kept)
        step = np.arange(len(which)) - np.repeat(np.cumsum(kept) - kept, kept)
        return which, self.order[self.start[block][which] + step]


def block_weights(
    first: IndexArray, second: IndexArray, replicates: int, seed: int, within: IndexArray | None = None
) -> Iterator[FloatArray]:
    """Draws blocks of `first` until the data's size is reached, cuts, then does the same with `second` in that.

    A block that is cut keeps its first answers in the order of the data, so that this scheme depends (a little) on
    the order of the answers.

    Args:
        first: Block of each answer in the first draw: its participant.
        second: Block of each answer in the second draw: its item.
        replicates: Number of resampled data sets.
        seed: Same seed, same replicates.
        within: Groups of answers, each resampled for itself in the first draw and filled up to its own size; None is
            all in one.

    Yields:
        Weights (some replicates, answers); each row sums to the number of answers.
    """
    part = np.zeros_like(first) if within is None else within
    first = joint(part, first)
    blocks, items, rows = int(first.max()) + 1, int(second.max()) + 1, len(first)
    people, cells = _Lists.by(first, blocks), _Lists.by(first * items + second, blocks * items)
    place, item_of_answer = people.places(), indicator(second, items)
    part_of_block = np.empty(blocks, dtype=np.intp)
    part_of_block[first] = part

    def group(number: int) -> FloatArray:
        drawn = []
        for group_part in range(int(part.max()) + 1):
            sizes = np.where(part_of_block == group_part, people.size, 0)
            drawn.append(
                _draw_until(
                    _stream(seed, number, 1 + group_part), np.tile(sizes, (GROUP, 1)), int(sizes.sum())
                )
            )
        sample = _Draws(*(np.hstack(columns) for columns in zip(*map(_fields, drawn), strict=True)))
        weights = sample.times(blocks)[:, first].astype(np.float64)
        replicate, block, kept = sample.cut()
        which, answer = people.heads(block, kept)
        weights[replicate[which], answer] += 1

        sizes_now = np.rint(weights @ item_of_answer).astype(np.intp)
        again = _draw_until(_stream(seed, number, 0), sizes_now, rows)
        weights *= again.times(items)[:, second]
        replicate, answer = _heads_of_items(sample, again, cells, place, items)
        np.add.at(weights, (replicate, answer), 1)
        return weights

    return _in_groups(group, replicates)


def grid_weights(first: IndexArray, second: IndexArray, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Draws as many blocks of `first` as there are, then as many blocks of `second` as that sample has; nothing is cut.

    Yields:
        Weights (some replicates, answers); rows sum to about the number of answers.
    """
    blocks, items = int(first.max()) + 1, int(second.max()) + 1
    item_of_answer = indicator(second, items)

    def group(number: int) -> FloatArray:
        weights = _multinomial(_stream(seed, number, 0), np.zeros(blocks, dtype=np.intp))[:, first].astype(
            np.float64
        )
        present = weights @ item_of_answer > 0
        count = present.sum(axis=1)
        drawn = _uniform_blocks(_stream(seed, number, 1), present, items)
        draws = _Draws(drawn, np.zeros_like(drawn), np.arange(items) < count[:, None])
        weights *= draws.times(items)[:, second]
        return weights

    return _in_groups(group, replicates)


def pigeonhole_weights(
    participant_group: IndexArray, item_group: IndexArray, replicates: int, seed: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Draws participants and, independently, items with replacement; an answer's weight is the product of its two.

    Args:
        participant_group: Group of each participant (not of each answer); as many are drawn from a group as it has.
        item_group: The same for each item.
        replicates: Number of resampled data sets.
        seed: Same seed, same replicates.

    Yields:
        How often each participant and each item was drawn: (some replicates, participants), (the same, items).
    """
    check_replicates(replicates)
    people = _in_groups(lambda number: _multinomial(_stream(seed, number, 0), participant_group), replicates)
    items = _in_groups(lambda number: _multinomial(_stream(seed, number, 1), item_group), replicates)
    for of_participants, of_items in zip(people, items, strict=True):
        yield of_participants.astype(np.float64), of_items.astype(np.float64)


def weighted_sums(weights: Iterable[FloatArray], columns: FloatArray) -> FloatArray:
    """The sum of each column over each replicate's answers: (replicates, columns)."""
    return np.vstack([some @ columns for some in weights])


def label_counts(weights: Iterable[FloatArray], label: IndexArray, labels: int) -> NDArray[np.int64]:
    """How many answers of each label (0 to labels - 1) are in each replicate: (replicates, labels)."""
    return np.rint(weighted_sums(weights, indicator(label, labels))).astype(np.int64)


def _heads_of_items(
    sample: _Draws, again: _Draws, cells: _Lists, place: IndexArray, items: int
) -> tuple[IndexArray, IndexArray]:
    """The answers that remain of items that were cut: the first ones in the order of the resampled participants."""
    replicate, item, kept = again.cut()
    cell = (sample.block[replicate] * items + item[:, None]).reshape(-1)
    which, answer = cells.heads(cell, cells.size[cell])
    case, draw = np.divmod(which, sample.block.shape[1])
    inside = place[answer] < sample.kept[replicate[case], draw]
    case, answer = case[inside], answer[inside]
    rank = np.arange(len(case)) - np.searchsorted(case, np.arange(len(replicate)))[case]
    taken = rank < kept[case]
    return replicate[case[taken]], answer[taken]


def _draw_until(stream: np.random.Generator, sizes: IndexArray, total: int) -> _Draws:
    """Blocks drawn until they hold `total` answers, the last one cut; sizes are (replicates, blocks)."""
    present = sizes > 0
    expected = int(present.sum(axis=1).max())
    block = np.empty((len(sizes), 0), dtype=np.intp)
    reached = np.zeros(len(sizes), dtype=np.intp)
    while (reached < total).any():
        more = _uniform_blocks(stream, present, expected + expected // 4 + 4)
        block = np.hstack([block, more])
        reached += np.take_along_axis(sizes, more, 1).sum(axis=1)
    size = np.take_along_axis(sizes, block, 1)
    kept = np.clip(total - (np.cumsum(size, axis=1) - size), 0, size)
    return _Draws(block, kept, kept == size)


def _uniform_blocks(stream: np.random.Generator, present: NDArray[np.bool_], draws: int) -> IndexArray:
    """Blocks drawn uniformly among those present in each replicate."""
    count = present.sum(axis=1, keepdims=True)
    present_first = np.argsort(~present, axis=1, kind="stable")
    place = (stream.random((len(present), draws)) * count).astype(np.intp)
    return np.take_along_axis(present_first, place, 1)


def _multinomial(stream: np.random.Generator, groups: IndexArray) -> IndexArray:
    """How often each member is drawn when each group draws as many as it has: (GROUP, members)."""
    counts = np.zeros((GROUP, len(groups)), dtype=np.intp)
    for code in np.unique(groups):
        members = np.flatnonzero(groups == code)
        counts[:, members] = stream.multinomial(
            len(members), np.full(len(members), 1 / len(members)), size=GROUP
        )
    return counts


def _in_groups(group: Callable[[int], NDArray[Number]], replicates: int) -> Iterator[NDArray[Number]]:
    """Group after group, the last one shortened."""
    check_replicates(replicates)
    for number in range(-(-replicates // GROUP)):
        yield group(number)[: replicates - number * GROUP]


def _stream(seed: int, group: int, purpose: int) -> np.random.Generator:
    if seed < 0:
        raise VeraxError(f"The seed is {seed}: give a whole number from 0 on.")
    return np.random.default_rng([seed, group, purpose])


def _fields(draws: _Draws) -> tuple[IndexArray, IndexArray, NDArray[np.bool_]]:
    return draws.block, draws.kept, draws.whole
