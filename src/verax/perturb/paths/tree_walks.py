"""Sending all variants of an input, or all rows of a table, down the trees at once, as sets of bits.

A node that tests a word the text lacks moves the whole set in one step; a node that tests one of its words splits the
set with one AND per 64 variants; empty sets are dropped. Compiled with numba where it is installed; without it the
same walk goes breadth first in numpy.

In a table whose columns have few values, what a node asks of a row ("is the marital status 3?") depends on one value
of the table. So each different question is answered once for all rows, as a set of bits, and a tree splits sets of
rows with one AND per 64 of them. scikit-learn and xgboost walk row by row, and take milliseconds to be called.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.perturb.paths.ensembles import LEAF, Ensemble, Levels, NodeArray, Trees

HAS_NUMBA = importlib.util.find_spec("numba") is not None
# The numpy walk turns this many (set, variant) bits into numbers at a time when it adds up leaves.
LEAF_CELLS = 2_000_000


def sum_leaves(ensemble: Ensemble, levels: Levels) -> FloatArray:
    """What the trees add to each output for each variant: an (outputs, variants) array."""
    if HAS_NUMBA:
        return _sum_leaves_compiled(ensemble, levels)
    return _sum_leaves_numpy(ensemble, levels)


def _sum_leaves_compiled(ensemble: Ensemble, levels: Levels) -> FloatArray:
    from verax.perturb.paths.kernels import walk_sets

    outputs = np.zeros((ensemble.trees.values.shape[1], levels.reach.shape[1] * 64))
    walk_sets(*ensemble.trees, ensemble.absent_is_missing, *levels[:-1], full_set(levels.n_rows), outputs)
    return outputs[:, : levels.n_rows]


def full_set(n_rows: int) -> NDArray[np.uint64]:
    """A set of bits that holds every row."""
    full = np.full(-(-n_rows // 64), ~np.uint64(0), dtype=np.uint64)
    if n_rows % 64:
        full[-1] = (np.uint64(1) << np.uint64(n_rows % 64)) - np.uint64(1)
    return full


def _sum_leaves_numpy(ensemble: Ensemble, levels: Levels) -> FloatArray:
    trees = ensemble.trees
    outputs = np.zeros((trees.values.shape[1], levels.n_rows))
    nodes = trees.roots.copy()
    sets = np.broadcast_to(full_set(levels.n_rows), (len(nodes), levels.reach.shape[1])).copy()
    while len(nodes):
        at_leaf = trees.left[nodes] == LEAF
        if at_leaf.any():
            _add_leaves(outputs, trees.values[nodes[at_leaf]], sets[at_leaf], levels.n_rows)
            nodes, sets = nodes[~at_leaf], sets[~at_leaf]
        slots = levels.slot_of_column[trees.column[nodes]]
        split = slots >= 0
        if not split.any():
            nodes = nodes + 1
            continue
        goes_right = _goes_right(ensemble, levels, nodes[split], slots[split])
        lefts, rights = sets[split] & ~goes_right, sets[split] & goes_right
        some_left, some_right = lefts.any(axis=1), rights.any(axis=1)
        whole = ~split
        sets = np.concatenate([sets[whole], lefts[some_left], rights[some_right]])
        at = nodes[split]
        nodes = np.concatenate([nodes[whole] + 1, trees.left[at[some_left]], trees.right[at[some_right]]])
    return outputs


def _goes_right(ensemble: Ensemble, levels: Levels, nodes: NodeArray, slots: NodeArray) -> NDArray[np.uint64]:
    """For each node, the variants that its test sends right."""
    low, high = levels.first[slots], levels.first[slots + 1]
    above = low + int(ensemble.absent_is_missing)
    for step in range(int((high - low).max())):
        level = np.minimum(low + step, high - 1)
        above = np.where(
            (low + step < high) & (levels.levels[level] <= ensemble.trees.threshold[nodes]),
            low + step + 1,
            above,
        )
    goes_right = np.where((above < high)[:, None], levels.reach[np.minimum(above, high - 1)], np.uint64(0))
    if ensemble.absent_is_missing:
        missing_right = ~ensemble.trees.missing_left[nodes]
        goes_right[missing_right] |= ~levels.reach[low[missing_right] + 1]
    return goes_right


def _add_leaves(outputs: FloatArray, values: FloatArray, sets: NDArray[np.uint64], n_rows: int) -> None:
    step = max(1, LEAF_CELLS // max(1, n_rows))
    for first in range(0, len(sets), step):
        bits = np.unpackbits(
            sets[first : first + step].view(np.uint8), axis=1, count=n_rows, bitorder="little"
        )
        outputs += values[first : first + step].T @ bits


# Rows that go down together: their sets stay in the fastest memory.
TOGETHER = 2_048
# Of trees that ask more different questions the answers would take longer than the walk.
MOST_TESTS = 4_096
# Sums of some hundred shares are exact to so many digits.
DIGITS = 12
# Equal rows are found by a number for each row, which has to fit; in small trees all rows are down before that.
LARGEST_NUMBER = 2**62
FEW_NODES = 20_000


@dataclass(frozen=True, eq=False)
class CodedTrees:
    """Trees that are asked in places of values.

    Attributes:
        ensemble: the trees, which read encoded columns.
        test: which question each node asks; 0 at a leaf.
        answers: for each column of the table (questions about it, its values): whether such a row goes right.
        numbering: for each column, by how much a row's number grows with the place of its value; empty if equal
            rows are not looked for.
    """

    ensemble: Ensemble
    test: NodeArray
    answers: tuple[BoolArray, ...]
    numbering: tuple[int, ...]

    def probabilities(self, places: Sequence[IndexArray]) -> FloatArray:
        """Class probabilities (rows, classes) of rows, given column by column as places of their values."""
        first, inverse = self._distinct(places)
        sums = np.concatenate(
            [
                self._sums([place[first[start : start + TOGETHER]] for place in places])
                for start in range(0, len(first), TOGETHER)
            ],
            axis=1,
        )
        # Half of the trees say this and half say that: a tie stays one, however the trees' shares were added up.
        return self.ensemble.probabilities(sums).round(DIGITS)[inverse]

    def _distinct(self, places: Sequence[IndexArray]) -> tuple[IndexArray, IndexArray]:
        """Where each distinct row stands, similar ones side by side, and the number of each row's distinct one."""
        if not self.numbering:
            every = np.arange(len(places[0]))
            return every, every
        numbers = np.zeros(len(places[0]), dtype=np.int64)
        for place, factor in zip(places, self.numbering, strict=True):
            numbers += factor * place
        _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        return first, inverse

    def _sums(self, places: Sequence[IndexArray]) -> FloatArray:
        """What the leaves of some rows add up to: (outputs, rows)."""
        from verax.perturb.paths.kernels import walk_tests

        n_rows = len(places[0])
        full = full_set(n_rows)
        goes_right = np.zeros((sum(map(len, self.answers)), 8 * len(full)), dtype=np.uint8)
        answered = np.concatenate(
            [answers.take(place, axis=1) for answers, place in zip(self.answers, places, strict=True)]
        )
        goes_right[:, : -(-n_rows // 8)] = np.packbits(answered, axis=1, bitorder="little")
        trees = self.ensemble.trees
        sums = np.zeros((trees.values.shape[1], 64 * len(full)))
        walk_tests(
            trees.roots, self.test, trees.left, trees.right, trees.values,
            goes_right.view(np.uint64), full, sums,
        )  # fmt: skip
        return sums[:, :n_rows]


def coded_trees(
    ensemble: Ensemble, feeds: Sequence[IndexArray], encoded: Sequence[FloatArray], constant: FloatArray
) -> CodedTrees | None:
    """Trees in places of values; None if they ask too many different questions.

    Args:
        ensemble: what reads the encoded columns.
        feeds: for each column of the table, the encoded columns that are made of it.
        encoded: for each column of the table (values, feeds): what stands there.
        constant: what stands in encoded columns that are made of none.
    """
    trees = ensemble.trees
    inner = np.flatnonzero(trees.left != LEAF)
    asked = np.stack([trees.column[inner], trees.threshold[inner], trees.missing_left[inner]], axis=1)
    different, inverse = np.unique(asked, axis=0, return_inverse=True)
    if len(different) > MOST_TESTS:
        return None
    owner = np.zeros(len(constant), dtype=np.intp)
    values: list[FloatArray] = [np.full(len(encoded[0]), value) for value in constant]
    for number, (columns, table) in enumerate(zip(feeds, encoded, strict=True)):
        owner[columns] = number
        for column, here in zip(columns.tolist(), table.T, strict=True):
            values[column] = here
    # Questions about the first column of the table come first, then those about the second.
    owners = owner[different[:, 0].astype(np.intp)]
    order = np.argsort(owners, kind="stable")
    number_of = np.empty(len(order), dtype=np.int32)
    number_of[order] = np.arange(len(order))
    test = np.zeros(len(trees.left), dtype=np.int32)
    test[inner] = number_of[inverse.reshape(-1)]
    answers: list[list[BoolArray]] = [[] for _ in feeds]
    for place in order.tolist():
        column, threshold, missing_left = different[place]
        here = values[int(column)]
        answers[owners[place]].append(np.where(np.isnan(here), missing_left == 0.0, here > threshold))
    sizes = [len(table) for table in encoded]
    numbering: tuple[int, ...] = ()
    if len(inner) > FEW_NODES:
        nearness = np.zeros(len(sizes))
        np.add.at(nearness, owner[trees.column[inner]], _nearness(trees)[inner])
        numbering = _numbering(sizes, nearness)
    return CodedTrees(
        ensemble,
        test,
        tuple(
            np.array(rows, dtype=np.bool_).reshape(len(rows), size)
            for rows, size in zip(answers, sizes, strict=True)
        ),
        numbering,
    )


def _nearness(trees: Trees) -> FloatArray:
    """How near to a root each node is: half as much with every step down."""
    nearness = np.zeros(len(trees.left))
    nodes: NDArray[np.int32] = trees.roots
    now = 1.0
    while len(nodes):
        nearness[nodes] = now
        now /= 2.0
        nodes = nodes[trees.left[nodes] != LEAF]
        nodes = np.concatenate([trees.left[nodes], trees.right[nodes]])
    return nearness


def _numbering(sizes: Sequence[int], asked: FloatArray) -> tuple[int, ...]:
    """Numbers that differ for different rows; rows are near to each other that go the same way at first."""
    factors = [0] * len(sizes)
    factor = 1
    for column in np.argsort(asked, kind="stable").tolist():
        factors[column] = factor
        factor *= sizes[column]
    return tuple(factors) if factor <= LARGEST_NUMBER else ()
