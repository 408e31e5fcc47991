"""Trees on rows of a table whose columns have few values: all rows go down each tree together.

What a node asks of a row ("is the marital status 3?") depends on one value of the table. So each different question is
answered once for all rows, as a set of bits, and a tree splits sets of rows with one AND per 64 of them. scikit-learn
and xgboost walk row by row, and take milliseconds to be called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.perturb.paths.ensembles import LEAF, Ensemble, NodeArray, Trees
from verax.perturb.paths.tree_walks import full_set

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
