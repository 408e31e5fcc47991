"""The loops over tree nodes that are worth compiling; plain Python where numba is not installed.

Import this module inside functions only: importing numba takes a while.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.perturb.paths.ensembles import NodeArray

F = TypeVar("F", bound=Callable[..., Any])
Words = NDArray[np.uint64]

if find_spec("numba") is None:

    def compiled(function: F) -> F:
        """Leaves the function as it is: numba is not installed."""
        return function

    compiled_loosely = compiled
else:
    from verax.compiled import compiled as _compiled

    compiled = _compiled

    def compiled_loosely(function: F) -> F:
        """Compiles a function whose sums may be made in any order, several numbers at a time."""
        return _compiled(function, fastmath={"reassoc", "contract", "nsz", "arcp"})


def _lowest_bit_table() -> NDArray[np.int64]:
    table = np.zeros(64, dtype=np.int64)
    for bit in range(64):
        table[((0x03F79D71B4CB0A89 << bit) & (2**64 - 1)) >> 58] = bit
    return table


# A de Bruijn sequence: multiplying it by a single bit brings a different 6-bit number to the top for each place.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
LOWEST_BIT = _lowest_bit_table()


@compiled
def add_to_members(value: float, members: Words, start: int, end: int, output: FloatArray) -> None:
    """Adds a value to the numbers of a set's members, whose bits lie in the words from ``start`` to ``end``."""
    if value == 0.0:
        return
    for word in range(start, end):
        here = members[word]
        while here != np.uint64(0):
            lowest = here & (~here + np.uint64(1))
            output[word * 64 + LOWEST_BIT[(lowest * DE_BRUIJN) >> np.uint64(58)]] += value
            here ^= lowest


@compiled
def walk_sets(
    roots: NodeArray,
    column: NodeArray,
    threshold: FloatArray,
    left: NodeArray,
    right: NodeArray,
    missing_left: BoolArray,
    values: FloatArray,
    absent_is_missing: bool,
    touched: BoolArray,
    slot_of_column: NodeArray,
    first: NodeArray,
    levels: FloatArray,
    reach: Words,
    full: Words,
    outputs: FloatArray,
) -> None:
    """Adds to ``outputs`` (outputs, variants) what each variant's leaf says, tree by tree, depth first.

    The arguments are those of ``Trees`` and ``Levels`` one by one, because numba takes an array faster than a tuple of
    them; ``full`` has a bit for each variant.
    """
    n_words = len(full)
    n_outputs = values.shape[1]
    none = np.uint64(0)
    capacity = 256
    sets = np.empty((capacity, n_words), dtype=np.uint64)
    nodes = np.empty(capacity, dtype=np.int32)
    for root in roots:
        sets[0] = full
        nodes[0] = root
        depth = 1
        whole = True  # no node has split the variants yet
        while depth > 0:
            depth -= 1
            node = nodes[depth]
            while True:
                while not touched[column[node]]:
                    node += 1
                if left[node] < 0:
                    break
                slot = slot_of_column[column[node]]
                low, high = first[slot], first[slot + 1]
                above = low  # the lowest level that goes right by its value
                while above < high and levels[above] <= threshold[node]:
                    above += 1
                if absent_is_missing and above == low:
                    above = low + 1
                if depth + 2 > capacity:
                    capacity *= 2
                    more_sets = np.empty((capacity, n_words), dtype=np.uint64)
                    more_sets[: depth + 1] = sets[: depth + 1]
                    sets = more_sets
                    more_nodes = np.empty(capacity, dtype=np.int32)
                    more_nodes[: depth + 1] = nodes[: depth + 1]
                    nodes = more_nodes
                any_left = none
                any_right = none
                missing_right = absent_is_missing and not missing_left[node]
                for word in range(n_words):
                    here = sets[depth, word]
                    goes_right = reach[above, word] if above < high else none
                    if missing_right:
                        goes_right |= ~reach[low + 1, word]
                    to_right = here & goes_right
                    to_left = here & ~goes_right
                    sets[depth, word] = to_right
                    sets[depth + 1, word] = to_left
                    any_right |= to_right
                    any_left |= to_left
                if any_left == none:
                    node = right[node]
                elif any_right == none:
                    sets[depth] = sets[depth + 1]
                    node = left[node]
                else:
                    whole = False
                    nodes[depth] = right[node]
                    depth += 1
                    node = left[node]
            if whole:
                for output in range(n_outputs):
                    value = values[node, output]
                    for row in range(outputs.shape[1]):
                        outputs[output, row] += value
                continue
            for output in range(n_outputs):
                add_to_members(values[node, output], sets[depth], 0, n_words, outputs[output])


@compiled
def walk_tests(
    roots: NodeArray,
    test: NodeArray,
    left: NodeArray,
    right: NodeArray,
    values: FloatArray,
    goes_right: Words,
    full: Words,
    outputs: FloatArray,
) -> None:
    """Adds to ``outputs`` (outputs, rows) what each row's leaf says, tree by tree, depth first.

    Args:
        roots, left, right, values: the arrays of ``Trees``.
        test: which question a node asks.
        goes_right: (questions, words): a bit for each row that goes right.
        full: a bit for each row.
        outputs: where leaves are added.
    """
    n_words = len(full)
    n_outputs = values.shape[1]
    none = np.uint64(0)
    capacity = 128
    sets = np.empty((capacity, n_words), dtype=np.uint64)
    nodes = np.empty(capacity, dtype=np.int32)
    # Rows that go the same way at first are neighbours: the words of a set that are not empty lie between these two.
    starts = np.empty(capacity, dtype=np.int32)
    ends = np.empty(capacity, dtype=np.int32)
    for root in roots:
        sets[0] = full
        nodes[0], starts[0], ends[0] = root, 0, n_words
        depth = 1
        while depth > 0:
            depth -= 1
            node, start, end = nodes[depth], starts[depth], ends[depth]
            while left[node] >= 0:
                if depth + 2 > capacity:
                    more = np.empty((2 * capacity, n_words), dtype=np.uint64)
                    more[:capacity] = sets
                    sets = more
                    nodes = np.concatenate((nodes, nodes))
                    starts = np.concatenate((starts, starts))
                    ends = np.concatenate((ends, ends))
                    capacity *= 2
                any_left = none
                any_right = none
                answers = goes_right[test[node]]
                for word in range(start, end):
                    here = sets[depth, word]
                    to_right = here & answers[word]
                    to_left = here & ~answers[word]
                    sets[depth, word] = to_right
                    sets[depth + 1, word] = to_left
                    any_right |= to_right
                    any_left |= to_left
                if any_left == none:
                    node = right[node]
                elif any_right == none:
                    for word in range(start, end):
                        sets[depth, word] = sets[depth + 1, word]
                    node = left[node]
                else:
                    right_start, right_end = start, end
                    while sets[depth, right_start] == none:
                        right_start += 1
                    while sets[depth, right_end - 1] == none:
                        right_end -= 1
                    nodes[depth], starts[depth], ends[depth] = right[node], right_start, right_end
                    depth += 1
                    while sets[depth, start] == none:
                        start += 1
                    while sets[depth, end - 1] == none:
                        end -= 1
                    node = left[node]
            for output in range(n_outputs):
                add_to_members(values[node, output], sets[depth], start, end, outputs[output])


@compiled
def take_children(
    column: NodeArray,
    threshold: FloatArray,
    left: NodeArray,
    right: NodeArray,
    missing_left: BoolArray,
    rows: FloatArray,
    taken: NodeArray,
) -> None:
    """Writes to ``taken`` (rows, nodes) which child each row would take at each node; -1 at leaves."""
    for row in range(len(rows)):
        for node in range(len(left)):
            if left[node] < 0:
                taken[row, node] = -1
                continue
            value = rows[row, column[node]]
            goes_left = missing_left[node] if np.isnan(value) else value <= threshold[node]
            taken[row, node] = left[node] if goes_left else right[node]


@compiled
def sum_leaf_games(
    roots: NodeArray,
    column: NodeArray,
    threshold: FloatArray,
    left: NodeArray,
    right: NodeArray,
    missing_left: BoolArray,
    values: FloatArray,
    present: FloatArray,
    absent: FloatArray,
    owner: NodeArray,
    skipped: BoolArray,
    kept_weight: FloatArray,
    lost_weight: FloatArray,
    total_weights: FloatArray,
    shares: FloatArray,
    totals: FloatArray,
) -> None:
    """Adds up what each leaf gives to each feature, and to totals that are no feature's own.

    A leaf that is reached exactly when the features K are present and the features L are absent is a product of
    presences and absences. What it gives (its Shapley values, its moments under LIME's sampling) depends on |K| and |L|
    alone: ``kept_weight[|K|, |L|]`` to each of K, minus ``lost_weight[|K|, |L|]`` to each of L.

    Args:
        roots, column, threshold, left, right, missing_left, values: the arrays of ``Trees``.
        present: the value of each column while its feature is present.
        absent: the value of each column while its feature is absent.
        owner: which feature each column belongs to; negative for none.
        skipped: columns that the row lacks, with or without any feature: there the next node follows. Its last entry
            is for the leaves' column, -1, and is False.
        kept_weight, lost_weight: by the numbers of features kept and lost.
        total_weights: (totals, kept, lost); what a leaf gives to each total.
        shares: (outputs, features), where what features are given is added.
        totals: (totals, outputs), where the rest is added.
    """
    n_outputs = values.shape[1]
    n_features = shares.shape[1]
    state = np.zeros(n_features + 1, dtype=np.int8)  # 1 kept, 2 lost, 0 not asked yet
    path = np.empty(n_features + 1, dtype=np.int32)
    later_node = np.empty(n_features + 1, dtype=np.int32)
    later_length = np.empty(n_features + 1, dtype=np.int32)
    for root in roots:
        waiting = 0
        length = 0
        n_kept = 0
        node = root
        while True:
            while True:
                while skipped[column[node]]:
                    node += 1
                if left[node] < 0:
                    break
                test = column[node]
                feature = owner[test]
                value = absent[test]
                if np.isnan(value):
                    without = left[node] if missing_left[node] else right[node]
                else:
                    without = left[node] if value <= threshold[node] else right[node]
                if feature < 0 or state[feature] == 2:
                    node = without
                    continue
                value = present[test]
                if np.isnan(value):
                    within = left[node] if missing_left[node] else right[node]
                else:
                    within = left[node] if value <= threshold[node] else right[node]
                if state[feature] == 0 and within != without:
                    later_node[waiting] = without
                    later_length[waiting] = length
                    waiting += 1
                    state[feature] = 1
                    path[length] = feature
                    length += 1
                    n_kept += 1
                    node = within
                elif state[feature] == 1:
                    node = within
                else:
                    node = without
            n_lost = length - n_kept
            for step in range(length):
                feature = path[step]
                weight = kept_weight[n_kept, n_lost] if state[feature] == 1 else -lost_weight[n_kept, n_lost]
                for output in range(n_outputs):
                    shares[output, feature] += weight * values[node, output]
            for number in range(len(total_weights)):
                for output in range(n_outputs):
                    totals[number, output] += total_weights[number, n_kept, n_lost] * values[node, output]
            if waiting == 0:
                break
            # Back to the last feature taken as kept; now it is lost.
            waiting -= 1
            while length > later_length[waiting] + 1:
                length -= 1
                if state[path[length]] == 1:
                    n_kept -= 1
                state[path[length]] = 0
            state[path[length - 1]] = 2
            n_kept -= 1
            node = later_node[waiting]
        while length > 0:
            length -= 1
            state[path[length]] = 0


@compiled
def answer_bits(rows: FloatArray, cuts: FloatArray, first: NodeArray, goes_right: Words) -> None:
    """Writes which rows lie above each cut: two sets of bits a cut, without the missing ones and with them.

    Args:
        rows: as the nodes compare them.
        cuts: of each column, ascending, one column after the other.
        first: where the cuts of each column begin; one more at the end.
        goes_right: (2 * cuts, words).
    """
    most = 0
    for column in range(len(first) - 1):
        most = max(most, first[column + 1] - first[column])
    reached = np.zeros(most + 1, dtype=np.uint64)
    for word in range(goes_right.shape[1]):
        start = 64 * word
        end = min(start + 64, len(rows))
        for column in range(len(first) - 1):
            low, n_cuts = first[column], first[column + 1] - first[column]
            if n_cuts == 0:
                continue
            missing = np.uint64(0)
            for row in range(start, end):
                value = rows[row, column]
                bit = np.uint64(1) << np.uint64(row - start)
                if np.isnan(value):
                    missing |= bit
                    continue
                # How many cuts lie below the value.
                below, above = 0, n_cuts
                while below < above:
                    middle = (below + above) >> 1
                    if cuts[low + middle] < value:
                        below = middle + 1
                    else:
                        above = middle
                reached[below] |= bit
            higher = np.uint64(0)
            for cut in range(n_cuts, 0, -1):
                higher |= reached[cut]
                reached[cut] = np.uint64(0)
                goes_right[2 * (low + cut - 1), word] = higher
                goes_right[2 * (low + cut - 1) + 1, word] = higher | missing
            reached[0] = np.uint64(0)


@compiled
def place_bits(
    places: IndexArray, below: NodeArray, first: NodeArray, counts: NodeArray, goes_right: Words
) -> None:
    """The same as :func:`answer_bits` for the columns that come from one column of a table, whose values are known.

    Args:
        places: of each row, which of the known values it has.
        below: (columns, values): how many cuts lie below it; -1 if it is missing.
        first: where the cuts of each column begin.
        counts: how many cuts each has.
        goes_right: (2 * cuts, words).
    """
    most = 0
    for column in range(len(counts)):
        most = max(most, counts[column])
    n_values = below.shape[1]
    none = np.uint64(0)
    reached = np.zeros(most + 1, dtype=np.uint64)
    rows_of = np.zeros(n_values, dtype=np.uint64)
    here = np.empty(64, dtype=np.intp)
    for word in range(goes_right.shape[1]):
        start = 64 * word
        end = min(start + 64, len(places))
        n_here = 0
        for row in range(start, end):
            value = places[row]
            if rows_of[value] == none:
                here[n_here] = value
                n_here += 1
            rows_of[value] |= np.uint64(1) << np.uint64(row - start)
        for column in range(len(counts)):
            missing = none
            for number in range(n_here):
                value = here[number]
                if below[column, value] < 0:
                    missing |= rows_of[value]
                else:
                    reached[below[column, value]] |= rows_of[value]
            higher = none
            for cut in range(counts[column], 0, -1):
                higher |= reached[cut]
                reached[cut] = none
                goes_right[2 * (first[column] + cut - 1), word] = higher
                goes_right[2 * (first[column] + cut - 1) + 1, word] = higher | missing
            reached[0] = none
        for number in range(n_here):
            rows_of[here[number]] = none
