"""Sending all variants of an input down the trees at once, as sets of bits.

A node that tests a word the text lacks moves the whole set in one step; a node that tests one of its words splits the
set with one AND per 64 variants; empty sets are dropped. Compiled with numba where it is installed; without it the
same walk goes breadth first in numpy.
"""

from __future__ import annotations

import importlib.util

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.perturb.paths.ensembles import LEAF, Ensemble, Levels, NodeArray

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
