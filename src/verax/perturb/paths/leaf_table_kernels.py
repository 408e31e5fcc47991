"""Compiled loops for tables of what each leaf gives, by which of its features lead a row to it.

Import this module inside functions only: importing numba takes a while.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.perturb.paths.ensembles import NodeArray
from verax.perturb.paths.kernels import compiled

Patterns = NDArray[np.uint32]


@compiled
def leaf_patterns(
    nodes: NodeArray,
    left: NodeArray,
    right: NodeArray,
    slot: NodeArray,
    number_of: NodeArray,
    own: NodeArray,
    scratch: Patterns,
    patterns: Patterns,
) -> None:
    """Writes to ``patterns`` (rows, leaves) a bit for each feature of a leaf's path that leads each row to the leaf.

    Args:
        nodes: of all trees, parents before children.
        left, right: as in ``Trees``.
        slot: which bit a node's feature has on the paths through it; 31 for a column that belongs to none.
        number_of: the number of each leaf; -1 for other nodes.
        own: (rows, nodes), the child that each row takes; -1 at leaves.
        scratch: one for each node.
        patterns: the bits; bit 31 is gone where no variant of the row comes to the leaf.
    """
    for row in range(len(own)):
        taken = own[row]
        for node in nodes:
            if number_of[node] >= 0:
                patterns[row, number_of[node]] = scratch[node]
                continue
            here = scratch[node]
            missed = here & ~(np.uint32(1) << np.uint32(slot[node]))
            goes_left = taken[node] == left[node]
            scratch[left[node]] = here if goes_left else missed
            scratch[right[node]] = missed if goes_left else here


@compiled
def count_patterns(patterns: Patterns, distinct: Patterns, counts: IntArray, starts: IntArray) -> None:
    """Writes, leaf after leaf, the different patterns of rows (rows, leaves) and how often each is."""
    place = 0
    for leaf in range(patterns.shape[1]):
        starts[leaf] = place
        ordered = np.sort(patterns[:, leaf])
        for row in range(len(ordered)):
            if row > 0 and ordered[row] == ordered[row - 1]:
                counts[place - 1] += 1
            else:
                distinct[place] = ordered[row]
                counts[place] = 1
                place += 1
    starts[patterns.shape[1]] = place


@compiled
def fill_from_background(
    patterns: Patterns,
    slots: IntArray,
    offset: IntArray,
    filled: BoolArray,
    table: FloatArray,
    distinct: Patterns,
    counts: IntArray,
    starts: IntArray,
    kept_weight: FloatArray,
    lost_weight: FloatArray,
) -> None:
    """Fills the cells that rows with these patterns ask for: Shapley values of a leaf against all background rows.

    Args:
        patterns: (rows, leaves).
        slots: where each leaf's features stand in a list of all leaves'; one more at the end.
        offset: where each leaf's cells begin, in patterns.
        filled: which patterns of which leaves are known.
        table: one number for each feature of each pattern of each leaf.
        distinct, counts, starts: the background rows' patterns of each leaf, and how often each is.
        kept_weight, lost_weight: by how many features have to be the row's own and the background's.
    """
    alive = np.uint32(1) << np.uint32(31)
    for leaf in range(patterns.shape[1]):
        n_slots = slots[leaf + 1] - slots[leaf]
        full = (np.uint32(1) << np.uint32(n_slots)) - np.uint32(1)
        cells = table[offset[2 * leaf] : offset[2 * leaf] + n_slots * (np.int64(full) + 1)]
        for row in range(len(patterns)):
            if patterns[row, leaf] & alive == np.uint32(0):
                continue
            here = patterns[row, leaf] & full
            if filled[offset[2 * leaf + 1] + here]:
                continue
            filled[offset[2 * leaf + 1] + here] = True
            start = np.int64(here) * n_slots
            for slot in range(n_slots):
                cells[start + slot] = 0.0
            for place in range(starts[leaf], starts[leaf + 1]):
                other = distinct[place] & full
                if (here | other) != full or distinct[place] & alive == np.uint32(0):
                    continue
                kept, lost = here & ~other, other & ~here
                n_kept, n_lost = np.int64(0), np.int64(0)
                for slot in range(n_slots):
                    n_kept += np.int64((kept >> np.uint32(slot)) & np.uint32(1))
                    n_lost += np.int64((lost >> np.uint32(slot)) & np.uint32(1))
                gain = counts[place] * kept_weight[n_kept, n_lost]
                loss = counts[place] * lost_weight[n_kept, n_lost]
                for slot in range(n_slots):
                    if (kept >> np.uint32(slot)) & np.uint32(1):
                        cells[start + slot] += gain
                    elif (lost >> np.uint32(slot)) & np.uint32(1):
                        cells[start + slot] -= loss


@compiled
def add_cells(
    patterns: Patterns,
    slots: IntArray,
    offset: IntArray,
    table: FloatArray,
    features: NodeArray,
    values: FloatArray,
    first_output: NodeArray,
    last_output: NodeArray,
    shares: FloatArray,
) -> None:
    """Adds to ``shares`` (rows, outputs, features) what all leaves give to rows with these patterns.

    Args:
        features: which one each of a leaf's features is.
        values: (leaves, outputs).
        first_output, last_output: of each leaf, which outputs it adds to. For the others see above.
    """
    alive = np.uint32(1) << np.uint32(31)
    for row in range(len(patterns)):
        for leaf in range(patterns.shape[1]):
            low, high = slots[leaf], slots[leaf + 1]
            n_slots = high - low
            if n_slots == 0 or patterns[row, leaf] & alive == np.uint32(0):
                continue
            here = patterns[row, leaf] & ((np.uint32(1) << np.uint32(n_slots)) - np.uint32(1))
            start = offset[2 * leaf] + np.int64(here) * n_slots
            for output in range(first_output[leaf], last_output[leaf]):
                value = values[leaf, output]
                for slot in range(n_slots):
                    shares[row, output, features[low + slot]] += value * table[start + slot]


@compiled
def lay_out(
    nodes: NodeArray,
    left: NodeArray,
    parent: NodeArray,
    feature_of: NodeArray,
    slot: NodeArray,
    n_slots: NodeArray,
) -> None:
    """Numbers the features on each path from its root on: ``slot`` of each node, ``n_slots`` after each node."""
    for node in nodes:
        above = parent[node]
        if above < 0:
            n_slots[node] = 0
        else:
            new = feature_of[above] >= 0 and slot[above] == n_slots[above]
            n_slots[node] = n_slots[above] + (1 if new else 0)
        if left[node] < 0:
            continue
        slot[node] = n_slots[node]
        if feature_of[node] < 0:
            slot[node] = 31
            continue
        while above >= 0:
            if feature_of[above] == feature_of[node]:
                slot[node] = slot[above]
            above = parent[above]


@compiled
def leaf_features(
    leaves: NodeArray,
    parent: NodeArray,
    feature_of: NodeArray,
    slot: NodeArray,
    slots: IntArray,
    features: NodeArray,
) -> None:
    """Writes each leaf's features, in the order of their bits."""
    for leaf in range(len(leaves)):
        node = leaves[leaf]
        while parent[node] >= 0:
            node = parent[node]
            if feature_of[node] >= 0:
                features[slots[leaf] + slot[node]] = feature_of[node]
