"""What each leaf of small trees gives to the features of its path, looked up by which of them lead a row to it.

A leaf asks about a few features. Whatever the row, its Shapley values depend on nothing but which of these features
lead the row to the leaf: at most a few hundred cases, each computed when a row first asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.perturb.leaf_sums import LeafWeights
from verax.perturb.paths.ensembles import LEAF, NodeArray, Trees

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
    def of(cls, layout: LeafTables, background: NodeArray, weights: LeafWeights) -> BackgroundTable:
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
