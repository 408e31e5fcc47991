"""The loops that texts of the BiLSTM take: variants that begin alike share states; compiled, in single precision.

Import this module inside functions only: numba takes a while.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from verax.arrays import IndexArray
from verax.compiled import compiled as machine_code

Singles = NDArray[np.float32]
Numbers = NDArray[np.int32]

ONE, HALF = np.float32(1.0), np.float32(0.5)
# tanh(x) is x P(x^2) / Q(x^2) up to 1.1e-8 for |x| <= 8.5, fitted for the least of the largest error; beyond it is 1.
FAR = np.float32(8.5)
P0, P1, P2, P3, P4 = map(
    np.float32, (0.99999994550, 0.13406202802, 0.0035258155622, 2.1121514405e-05, 1.4099175805e-08)
)
Q1, Q2, Q3, Q4 = map(np.float32, (0.46739514182, 0.025991121092, 0.00033356844713, 8.0735890472e-07))


# Sums may be taken in any order, so that eight numbers or more are added at a time.
compiled = partial(machine_code, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


@compiled
def tanh(x: np.float32) -> np.float32:
    """The hyperbolic tangent, without a branch: that of numba takes one number at a time."""
    x = min(max(x, -FAR), FAR)
    square = x * x
    above = (((P4 * square + P3) * square + P2) * square + P1) * square + P0
    below = (((Q4 * square + Q3) * square + Q2) * square + Q1) * square + ONE
    return x * above / below


@compiled
def prefix_tree(
    rows: Numbers, ends: IndexArray, backward: bool
) -> tuple[Numbers, Numbers, Numbers, IndexArray]:
    """The tree of all beginnings of the variants, or of all their ends: each stands for one state.

    Args:
        rows: of the table of words, those of one variant after those of the other.
        ends: where those of each variant end.
        backward: whether variants are read from their end.

    Returns:
        The node of each word of each variant; the parent of each node, and its word; where each level of the tree
        begins, and the last one ends.
    """
    size = 64
    while size < 2 * len(rows):
        size *= 2
    keys, numbers = np.zeros(size, dtype=np.uint64), np.empty(size, dtype=np.int32)
    node_of = np.empty(len(rows), dtype=np.int32)
    parents, words = np.empty(len(rows), dtype=np.int32), np.empty(len(rows), dtype=np.int32)
    levels = np.empty(len(rows), dtype=np.int32)
    widths = np.zeros(len(rows) + 2, dtype=np.int64)
    count = first = deepest = 0
    for variant in range(len(ends)):
        node, length = -1, ends[variant] - first
        for level in range(length):
            place = ends[variant] - 1 - level if backward else first + level
            key = np.uint64(node + 2) << np.uint64(32) | np.uint64(rows[place])
            slot = np.int64(key * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & (size - 1)
            while keys[slot] != key and keys[slot] != 0:
                slot = (slot + 1) & (size - 1)
            if keys[slot] != key:
                keys[slot], numbers[slot] = key, count
                parents[count], words[count], levels[count] = node, rows[place], level
                widths[level + 1] += 1
                count += 1
            node = numbers[slot]
            node_of[place] = node
        deepest = max(deepest, length)
        first = ends[variant]
    starts = np.cumsum(widths[: deepest + 1])
    # Numbered anew level by level: what is computed together lies together.
    moved = np.empty(count, dtype=np.int32)
    upper, read = np.empty_like(moved), np.empty_like(moved)
    free = starts.copy()
    for node in range(count):
        moved[node] = free[levels[node]]
        free[levels[node]] += 1
        upper[moved[node]] = -1 if parents[node] < 0 else moved[parents[node]]
        read[moved[node]] = words[node]
    for place in range(len(rows)):
        node_of[place] = moved[node_of[place]]
    return node_of, upper, read, starts


@compiled
def tree_states(
    parents: Numbers, words: Numbers, starts: IndexArray, table: Singles, recurrent: Singles
) -> Singles:
    """The state of an LSTM at every node, (nodes, units).

    Args:
        parents: of each node.
        words: of each node.
        starts: where each level begins, and the last one ends.
        table: (words, four gates' units): what a word adds to the gates input, forget, output and cell; halved but for
            the last, since a logistic gate is half a tangent of half its argument.
        recurrent: (units, four gates' units): the same of the state before.
    """
    units = len(recurrent)
    states = np.empty((len(parents), units), dtype=np.float32)
    cells = np.empty((len(parents), units), dtype=np.float32)
    gates = np.zeros((1, 4 * units), dtype=np.float32)
    nothing = np.zeros(units, dtype=np.float32)
    opened = np.empty(4 * units, dtype=np.float32)
    above = -1  # where the level above begins; nothing is above the first
    for level in range(len(starts) - 1):
        for node in range(starts[level], starts[level + 1]):
            word, gate = table[words[node]], gates[parents[node] - above]
            for place in range(4 * units):
                opened[place] = tanh(gate[place] + word[place])
            before = cells[parents[node]] if level else nothing
            cell, state = cells[node], states[node]
            for unit in range(units):
                into, keep = HALF * opened[unit] + HALF, HALF * opened[units + unit] + HALF
                cell[unit] = keep * before[unit] + into * opened[3 * units + unit]
                state[unit] = (HALF * opened[2 * units + unit] + HALF) * tanh(cell[unit])
        above = starts[level]
        gates = np.dot(states[above : starts[level + 1]], recurrent)
    return states


@compiled
def attended(
    ends: IndexArray,
    forward_of: Numbers,
    backward_of: Numbers,
    forward: Singles,
    backward: Singles,
    forward_part: Singles,
    backward_part: Singles,
    context: Singles,
) -> Singles:
    """The mean of both directions' states weighted by attention, for each variant: (variants, units of both).

    Args:
        ends: where the words of each variant end.
        forward_of: the node of each word, read from the beginning, and
        backward_of: read from the end.
        forward: the states of the nodes, and
        backward: of the others.
        forward_part: what states add to the argument of attention's tangent, and
        backward_part: the others'.
        context: what its tangents are weighted with.
    """
    units = forward.shape[1]
    texts = np.zeros((len(ends), 2 * units), dtype=np.float32)
    weights = np.empty(len(forward_of), dtype=np.float32)
    first = 0
    for variant in range(len(ends)):
        largest = np.float32(-np.inf)
        for place in range(first, ends[variant]):
            one, other = forward_part[forward_of[place]], backward_part[backward_of[place]]
            fit = np.float32(0.0)
            for unit in range(len(context)):
                fit += context[unit] * tanh(one[unit] + other[unit])
            weights[place] = fit
            largest = max(largest, fit)
        total = np.float32(0.0)
        for place in range(first, ends[variant]):
            weights[place] = np.exp(weights[place] - largest)
            total += weights[place]
        text = texts[variant]
        for place in range(first, ends[variant]):
            weight = weights[place] / total
            one, other = forward[forward_of[place]], backward[backward_of[place]]
            for unit in range(units):
                text[unit] += weight * one[unit]
                text[units + unit] += weight * other[unit]
        first = ends[variant]
    return texts
