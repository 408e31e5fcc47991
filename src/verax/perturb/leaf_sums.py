"""Sums over the leaves of trees, each a product of presences and absences: what closed forms are made of.

What a leaf of a small tree gives to the features of its path is looked up. A leaf asks about a few features; whatever
the row, its Shapley values depend on nothing but which of these features lead the row to the leaf: at most a few
hundred cases, each computed when a row first asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.perturb.paths.bags import Bag
from verax.perturb.paths.ensembles import LEAF, Ensemble, NodeArray, Trees

# Closed forms are for inputs of up to this many features: the table of weights is its square.
MAX_TREE_FEATURES = 512


@dataclass(frozen=True, eq=False)
class LeafWeights:
    """What a leaf gives, by how many features must be present (k) and absent (l) for it to be reached.

    Attributes:
        kept: [k, l], to each feature that must be present.
        lost: [k, l], taken from each feature that must be absent.
        totals: [number, k, l], to totals that are no feature's own.
    """

    kept: FloatArray
    lost: FloatArray
    totals: FloatArray = field(default_factory=lambda: np.zeros((0, 1, 1)))

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.kept.nbytes + self.lost.nbytes + self.totals.nbytes


class LeafSums(NamedTuple):
    """What all leaves give.

    Attributes:
        shares: (outputs, features).
        totals: (totals, outputs).
    """

    shares: FloatArray
    totals: FloatArray


def leaf_sums(
    ensemble: Ensemble,
    present: FloatArray,
    absent: FloatArray,
    owner: NodeArray,
    n_features: int,
    weights: LeafWeights,
) -> LeafSums:
    """Adds up what the leaves of all trees give.

    Args:
        ensemble: the trees.
        present: the value of each column while its feature is present.
        absent: the value of each column while its feature is absent (NaN is missing).
        owner: which feature each column belongs to; negative for none.
        n_features: how many features there are.
        weights: what a leaf gives.
    """
    from verax.perturb.paths.kernels import sum_leaf_games

    n_outputs = ensemble.trees.values.shape[1]
    sums = LeafSums(np.zeros((n_outputs, n_features)), np.zeros((len(weights.totals), n_outputs)))
    lacked = np.isnan(absent) if ensemble.absent_is_missing else absent == 0.0
    skipped = np.append((owner < 0) & lacked, False)
    sum_leaf_games(
        *ensemble.trees, present, absent, owner, skipped, weights.kept, weights.lost, weights.totals, *sums
    )
    return sums


@dataclass(frozen=True, eq=False)
class TextTrees:
    """Trees on bags of words, where absent words take their columns away; with scratch space that all texts share."""

    ensemble: Ensemble
    present: FloatArray
    absent: FloatArray
    owner: NodeArray

    @classmethod
    def from_ensemble(cls, ensemble: Ensemble, n_columns: int) -> TextTrees:
        """The trees of a model with so many columns."""
        absent = np.full(n_columns, ensemble.absent)
        return cls(ensemble, absent.copy(), absent, np.full(n_columns, -1, dtype=np.int32))

    def outputs_of_nothing(self) -> FloatArray:
        """The summed leaves of a text without words, with the base."""
        # It goes from each root to the next leaf: nodes are in walking order.
        trees = self.ensemble.trees
        leaves = np.flatnonzero(trees.left == LEAF)
        reached = leaves[np.searchsorted(leaves, trees.roots)]
        outputs: FloatArray = trees.values[reached].sum(axis=0) + self.ensemble.base
        return outputs

    def takes(self, text: Bag) -> bool:
        """Whether its leaves are products of words: no two words feed one column, and they are not too many."""
        return text.single and len(text.features) <= MAX_TREE_FEATURES

    def leaf_sums(self, text: Bag, weights: LeafWeights) -> LeafSums:
        """What the leaves give to each word of a text that it takes."""
        self.present[text.columns] = text.values.astype(np.float32)
        self.owner[text.columns] = text.words
        try:
            return leaf_sums(
                self.ensemble, self.present, self.absent, self.owner, len(text.features), weights
            )
        finally:
            self.present[text.columns] = self.absent[text.columns]
            self.owner[text.columns] = -1


# Tables of all trees together have at most so many numbers; memory is taken only for those that are asked for.
MOST_CELLS = 2**23
# A pattern's last bit says that a leaf is reached at all.
MOST_SLOTS = 20


@dataclass(frozen=True, eq=False)
class LeafTables:
    """The layout of the leaves of some trees; see ``verax.perturb.paths.leaf_table_kernels``."""

    trees: Trees
    nodes: NodeArray
    leaves: NodeArray
    number_of: NodeArray
    slot: NodeArray
    slots: IntArray
    offset: IntArray
    features: NodeArray
    first_output: NodeArray
    last_output: NodeArray

    def patterns(self, own: NodeArray) -> NDArray[np.uint32]:
        """For each row and leaf, which features lead there; ``own`` is the child taken at each node."""
        from verax.perturb.paths.leaf_table_kernels import leaf_patterns

        patterns = np.empty((len(own), len(self.leaves)), dtype=np.uint32)
        scratch = np.full(len(self.trees.left), ~np.uint32(0), dtype=np.uint32)
        leaf_patterns(
            self.nodes, self.trees.left, self.trees.right, self.slot, self.number_of, own, scratch, patterns
        )
        return patterns

    def add(self, patterns: NDArray[np.uint32], table: FloatArray, shares: FloatArray) -> None:
        """Adds to (rows, outputs, features) what the leaves give by a table that holds all these patterns."""
        from verax.perturb.paths.leaf_table_kernels import add_cells

        add_cells(
            patterns, self.slots, self.offset, table, self.features, self.trees.values[self.leaves],
            self.first_output, self.last_output, shares,
        )  # fmt: skip

    def empty_table(self) -> tuple[FloatArray, BoolArray]:
        """Room for numbers, and which patterns are known."""
        counts = np.diff(self.slots)
        return np.empty(int((counts << counts).sum())), np.zeros(int((1 << counts).sum()), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class BackgroundTable:
    """Shapley values of leaves against background rows: a table that grows with what is asked."""

    layout: LeafTables
    distinct: NDArray[np.uint32]
    counts: IntArray
    starts: IntArray
    weights: LeafWeights
    table: FloatArray
    filled: BoolArray

    @classmethod
    def from_layout(cls, layout: LeafTables, background: NodeArray, weights: LeafWeights) -> BackgroundTable:
        """An empty table; ``background`` are the children that each background row takes."""
        from verax.perturb.paths.leaf_table_kernels import count_patterns

        patterns = layout.patterns(background)
        distinct = np.empty(patterns.size, dtype=np.uint32)
        counts = np.empty(patterns.size, dtype=np.int64)
        starts = np.empty(patterns.shape[1] + 1, dtype=np.int64)
        count_patterns(patterns, distinct, counts, starts)
        used = int(starts[-1])
        return cls(
            layout, distinct[:used].copy(), counts[:used].copy(), starts, weights, *layout.empty_table()
        )

    def add(self, own: NodeArray, shares: FloatArray) -> None:
        """Adds to (rows, outputs, features), summed over background rows."""
        from verax.perturb.paths.leaf_table_kernels import fill_from_background

        patterns, layout = self.layout.patterns(own), self.layout
        fill_from_background(
            patterns, layout.slots, layout.offset, self.filled, self.table, self.distinct, self.counts,
            self.starts, self.weights.kept, self.weights.lost,
        )  # fmt: skip
        layout.add(patterns, self.table, shares)


def leaf_tables(
    trees: Trees,
    feature_of: NodeArray,
    parent: NodeArray,
    outputs: tuple[NodeArray, NodeArray],
) -> tuple[LeafTables | None, BoolArray]:
    """The layout of the trees that are small enough, and which trees these are.

    Args:
        trees: all of them, parents before children.
        feature_of: the feature that each node asks; negative for none.
        parent: of each node; -1 at roots.
        outputs: of each tree, the first output that it adds to and the one after the last.
    """
    from verax.perturb.paths.leaf_table_kernels import lay_out, leaf_features

    n_nodes = len(trees.left)
    slot, n_slots = np.zeros(n_nodes, dtype=np.int32), np.zeros(n_nodes, dtype=np.int32)
    every = np.arange(n_nodes, dtype=np.int32)
    lay_out(every, trees.left, parent, feature_of, slot, n_slots)
    starts = np.sort(trees.roots)
    is_leaf = trees.left == LEAF
    slots_here = np.minimum(n_slots.astype(np.int64), 40)
    needed = np.add.reduceat(np.where(is_leaf, (slots_here + 1) << slots_here, 0), starts)
    widest = np.maximum.reduceat(slots_here, starts)
    order = np.argsort(needed, kind="stable")
    small = np.zeros(len(starts), dtype=np.bool_)
    small[order] = (np.cumsum(needed[order]) <= MOST_CELLS) & (widest[order] <= MOST_SLOTS)
    of_tree = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n_nodes)))
    place_of = np.empty(len(starts), dtype=np.intp)
    place_of[np.argsort(trees.roots)] = np.arange(len(starts))
    tabled = small[place_of]  # in the order of the roots as they are given
    nodes = every[small[of_tree]]
    if not len(nodes):
        return None, tabled
    leaves = nodes[is_leaf[nodes]]
    number_of = np.full(n_nodes, -1, dtype=np.int32)
    number_of[leaves] = np.arange(len(leaves))
    counts = n_slots[leaves].astype(np.int64)
    slots = np.concatenate([[0], np.cumsum(counts)])
    offset = np.empty(2 * len(leaves), dtype=np.int64)
    offset[::2] = np.cumsum(counts << counts) - (counts << counts)
    offset[1::2] = np.cumsum(1 << counts) - (1 << counts)
    features = np.empty(slots[-1], dtype=np.int32)
    leaf_features(leaves, parent, feature_of, slot, slots, features)
    by_place = np.argsort(trees.roots)
    first, last = (one[by_place][of_tree[leaves]].astype(np.int32) for one in outputs)
    return (
        LeafTables(trees, nodes, leaves, number_of, slot, slots, offset, features, first, last),
        tabled,
    )
