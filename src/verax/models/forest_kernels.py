"""The compiled loops that grow one tree on sparse rows and walk rows down trees; see :mod:`verax.models.forest`.

Import this module inside functions only: it needs numba, which is optional and slow to import.

How a tree is grown. In a tree on bags of words most splits peel a few rows off a large node. So the rows of a large
node are counted once, per word and class; at a split the smaller child's rows are taken out of the counts, which are
then the larger child's, and the smaller child waits on a stack for its own turn. Such a run from a node down to a leaf,
always to the larger child, is called a chain here. One set of counts is enough: a chain ends before the next begins.

A word that occurs with several values (2 times, 3 times) has several cells, one per value; a word that is only ever
present or absent has one. Counts are per cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from verax.models.base import FloatArray

F = TypeVar("F", bound=Callable[..., Any])
Ints = NDArray[np.int32]
NO_COLUMN = -1


def compiled(function: F) -> F:
    """Compiles on first use and keeps the machine code beside the module."""
    fast: Any = njit(cache=True, nogil=True)(function)
    return cast(F, fast)


class Bag(NamedTuple):
    """The training rows, by row and by column; places in a row and in a column are in ascending order."""

    row_starts: Ints
    row_columns: Ints
    row_cells: Ints
    column_starts: Ints
    column_rows: Ints
    column_cells: Ints
    first_cell: Ints  # the cells of column j are first_cell[j] to first_cell[j + 1] - 1, by ascending value
    cell_value: FloatArray
    labels: Ints


class Work(NamedTuple):
    """Memory that all trees use again; ``counts`` and ``listed`` are zero between chains."""

    counts: Ints  # (cells, classes): the weight of the node's rows in a cell
    listed: NDArray[np.uint8]  # whether a column is in the list below
    columns: (
        Ints  # the chain's columns: first those that may still vary within the node, then the constant ones
    )
    rows: Ints  # the tree's rows; those of a node stand together
    place: Ints  # where a row stands in ``rows``; -1 for a row that is not in the tree
    moved: Ints
    waiting: Ints  # (nodes, 3): first and last place of the rows, and node
    above: NDArray[np.int64]  # per class
    random: NDArray[np.uint64]  # the state of the random numbers


class Nodes(NamedTuple):
    """A tree in the order of growing; children of leaves are -1."""

    column: Ints
    threshold: FloatArray
    left: Ints
    right: Ints
    weight: Ints  # (nodes, classes)


@compiled
def grow(bag: Bag, weights: Ints, max_features: int, seed: int, work: Work, nodes: Nodes) -> int:
    """Grows a tree on the rows of weight above 0 into ``nodes``; returns how many nodes it has."""
    work.random[0] = np.uint64(seed)
    work.waiting[0, 0] = 0
    work.waiting[0, 1] = _take_rows(bag, weights, work, nodes)
    work.waiting[0, 2] = 0
    n_columns = len(bag.first_cell) - 1
    n_nodes = 1
    n_waiting = 0 if _is_pure(nodes.weight[0]) else 1
    while n_waiting > 0:
        n_waiting -= 1
        start, end = work.waiting[n_waiting, 0], work.waiting[n_waiting, 1]
        node = work.waiting[n_waiting, 2]
        n_listed = _count_rows(bag, weights, work, start, end)
        n_active = n_listed
        while True:
            if max_features < n_columns:
                column, cell, n_active = _find_split(bag, work, n_active, nodes.weight[node], max_features)
            else:
                column, cell, n_active = _find_split_in_all(bag, work, n_active, nodes.weight[node])
            if column == NO_COLUMN:
                break
            left, right = n_nodes, n_nodes + 1
            n_nodes += 2
            _record_split(bag, work, nodes, node, column, cell, left)
            right_moves = nodes.weight[right].sum() <= nodes.weight[left].sum()
            n_moved = _move_rows(bag, work, start, end, column, cell, right_moves)
            moved, node = (right, left) if right_moves else (left, right)
            if not _is_pure(nodes.weight[moved]):
                work.waiting[n_waiting, 0] = end - n_moved
                work.waiting[n_waiting, 1] = end
                work.waiting[n_waiting, 2] = moved
                n_waiting += 1
            end -= n_moved
            if _is_pure(nodes.weight[node]):
                break
            _uncount_rows(bag, weights, work, end, end + n_moved)
        _clear_counts(bag, work, n_listed)
    return n_nodes


@compiled
def _take_rows(bag: Bag, weights: Ints, work: Work, nodes: Nodes) -> int:
    _make_leaf(nodes, 0)
    nodes.weight[0] = 0
    count = 0
    for row in range(len(weights)):
        work.place[row] = -1
        if weights[row] > 0:
            work.rows[count] = row
            work.place[row] = count
            nodes.weight[0, bag.labels[row]] += weights[row]
            count += 1
    return count


@compiled
def _make_leaf(nodes: Nodes, node: int) -> None:
    nodes.column[node] = NO_COLUMN
    nodes.threshold[node] = 0.0
    nodes.left[node] = -1
    nodes.right[node] = -1


@compiled
def _is_pure(weight: Ints) -> bool:
    n_present = 0
    for class_weight in weight:
        if class_weight > 0:
            n_present += 1
    return n_present <= 1


@compiled
def _count_rows(bag: Bag, weights: Ints, work: Work, start: int, end: int) -> int:
    """Begins a chain: counts the rows and lists their columns; returns how many columns they have."""
    n_listed = 0
    for place in range(start, end):
        row = work.rows[place]
        label, weight = bag.labels[row], weights[row]
        for entry in range(bag.row_starts[row], bag.row_starts[row + 1]):
            work.counts[bag.row_cells[entry], label] += weight
            column = bag.row_columns[entry]
            if work.listed[column] == 0:
                work.listed[column] = 1
                work.columns[n_listed] = column
                n_listed += 1
    return n_listed


@compiled
def _uncount_rows(bag: Bag, weights: Ints, work: Work, start: int, end: int) -> None:
    for place in range(start, end):
        row = work.rows[place]
        label, weight = bag.labels[row], weights[row]
        for entry in range(bag.row_starts[row], bag.row_starts[row + 1]):
            work.counts[bag.row_cells[entry], label] -= weight


@compiled
def _clear_counts(bag: Bag, work: Work, n_listed: int) -> None:
    for place in range(n_listed):
        column = work.columns[place]
        work.listed[column] = 0
        for cell in range(bag.first_cell[column], bag.first_cell[column + 1]):
            for label in range(work.counts.shape[1]):
                work.counts[cell, label] = 0


@compiled
def _random_below(state: np.uint64, bound: int) -> tuple[np.uint64, int]:
    """The next state of splitmix64, and a number from 0 to ``bound - 1``."""
    state += np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32)
    return state, np.int64((mixed * np.uint64(bound)) >> np.uint64(32))


@compiled
def _find_split(bag: Bag, work: Work, n_active: int, weight: Ints, max_features: int) -> tuple[int, int, int]:
    """The best column to split a node on, the first of its cells that goes right, and how many columns may vary.

    Columns are drawn without replacement from all columns, as scikit-learn does: until ``max_features`` are drawn, and
    on until one of them varies within the node. One that does not is not looked at again in this chain, but goes on
    being drawn: a number above the undrawn active columns stands for any of the constant ones.
    """
    columns, counts, first_cell = work.columns, work.counts, bag.first_cell
    n_columns = len(first_cell) - 1
    state = work.random[0]
    total = np.int64(weight.sum())
    best = -np.inf
    best_column, best_cell = NO_COLUMN, 0
    undrawn, n_drawn = n_active, 0
    while undrawn > 0 and (n_drawn < max_features or best_column == NO_COLUMN):
        # From max_features on only the first column that varies is wanted: the constant ones need no draw.
        pool = n_columns - n_drawn if n_drawn < max_features else undrawn
        state, drawn = _random_below(state, pool)
        n_drawn += 1
        if drawn >= undrawn:
            continue
        column = columns[drawn]
        undrawn -= 1
        columns[drawn] = columns[undrawn]
        first, last = first_cell[column], first_cell[column + 1]
        gain, cell = _best_cell(counts, first, last, weight, total, work.above)
        if cell < 0:
            n_active -= 1
            columns[undrawn] = columns[n_active]
            columns[n_active] = column
            continue
        columns[undrawn] = column
        if gain > best:
            best, best_column, best_cell = gain, column, cell
    work.random[0] = state
    return best_column, best_cell, n_active


@compiled
def _find_split_in_all(bag: Bag, work: Work, n_active: int, weight: Ints) -> tuple[int, int, int]:
    """As ``_find_split`` where every column is looked at; of equally good columns each is as likely."""
    columns, counts, first_cell = work.columns, work.counts, bag.first_cell
    state = work.random[0]
    total = np.int64(weight.sum())
    best = -np.inf
    best_column, best_cell, n_best = NO_COLUMN, 0, 0
    place = 0
    while place < n_active:
        column = columns[place]
        first, last = first_cell[column], first_cell[column + 1]
        gain, cell = _best_cell(counts, first, last, weight, total, work.above)
        if cell < 0:
            n_active -= 1
            columns[place] = columns[n_active]
            columns[n_active] = column
            continue
        place += 1
        if gain > best:
            best, best_column, best_cell, n_best = gain, column, cell, 1
        elif gain == best:
            n_best += 1
            state, drawn = _random_below(state, n_best)
            if drawn == 0:
                best_column, best_cell = column, cell
    work.random[0] = state
    return best_column, best_cell, n_active


@compiled
def _best_cell(
    counts: Ints, first: int, last: int, weight: Ints, total: int, above: NDArray[np.int64]
) -> tuple[float, int]:
    """The best threshold of a column as the first cell above it, and its gain; -1 where the column is constant."""
    if last != first + 1 or len(weight) != 2:
        return _best_of_cells(counts, first, last, weight, total, above)
    one, two = np.int64(counts[first, 0]), np.int64(counts[first, 1])
    right = one + two
    if right == 0 or right == total:  # noqa: PLR1714 (compiled)
        return 0.0, -1
    other_one, other_two = weight[0] - one, weight[1] - two
    left_squares = other_one * other_one + other_two * other_two
    return _gain(left_squares, total - right, one * one + two * two, right), first


@compiled
def _best_of_cells(
    counts: Ints, first: int, last: int, weight: Ints, total: int, above: NDArray[np.int64]
) -> tuple[float, int]:
    """As ``_best_cell``, for any number of cells and classes; the lowest of equally good thresholds."""
    best, best_cell = -np.inf, -1
    above[:] = 0  # the weight of each class from the cell on
    right = np.int64(0)
    for cell in range(last - 1, first - 1, -1):
        here = np.int64(0)
        left_squares, right_squares = np.int64(0), np.int64(0)
        for label in range(len(weight)):
            here += counts[cell, label]
            above[label] += counts[cell, label]
            below = weight[label] - above[label]
            left_squares += below * below
            right_squares += above[label] * above[label]
        right += here
        if here > 0 and right < total:
            gain = _gain(left_squares, total - right, right_squares, right)
            if gain >= best:
                best, best_cell = gain, cell
    return best, best_cell


@compiled
def _gain(left_squares: int, left: int, right_squares: int, right: int) -> float:
    """Minus the Gini impurity of both sides by weight; written as scikit-learn does, so that it rounds alike."""
    wide_left, wide_right = np.float64(left), np.float64(right)
    left_impurity = 1.0 - left_squares / (wide_left * wide_left)
    right_impurity = 1.0 - right_squares / (wide_right * wide_right)
    return -wide_right * right_impurity - wide_left * left_impurity


@compiled
def _record_split(bag: Bag, work: Work, nodes: Nodes, node: int, column: int, cell: int, left: int) -> None:
    right = left + 1
    nodes.column[node] = column
    nodes.left[node] = left
    nodes.right[node] = right
    _make_leaf(nodes, left)
    _make_leaf(nodes, right)
    for label in range(nodes.weight.shape[1]):
        above = 0
        for other in range(cell, bag.first_cell[column + 1]):
            above += work.counts[other, label]
        nodes.weight[right, label] = above
        nodes.weight[left, label] = nodes.weight[node, label] - above
    # Midway to the next smaller value within the node; absent is 0.
    below = cell - 1
    while below >= bag.first_cell[column] and work.counts[below].sum() == 0:
        below -= 1
    smaller = bag.cell_value[below] if below >= bag.first_cell[column] else 0.0
    nodes.threshold[node] = smaller / 2.0 + bag.cell_value[cell] / 2.0


@compiled
def _move_rows(bag: Bag, work: Work, start: int, end: int, column: int, cell: int, right_moves: bool) -> int:
    """Brings the rows of one side to the end of the node's places, in ascending order; returns how many."""
    n_moved = 0
    low, high = bag.column_starts[column], bag.column_starts[column + 1]
    # A step along the column costs about an eighth of looking a column up in a row.
    if right_moves and high - low <= 8 * (end - start):
        for entry in range(low, high):
            row = bag.column_rows[entry]
            if bag.column_cells[entry] >= cell and start <= work.place[row] < end:
                work.moved[n_moved] = row
                n_moved += 1
    else:
        for place in range(start, end):
            row = work.rows[place]
            if _has_cell(bag, row, cell, bag.first_cell[column + 1]) == right_moves:
                work.moved[n_moved] = row
                n_moved += 1
        work.moved[:n_moved].sort()
    for taken in range(n_moved):
        hole, last = work.place[work.moved[taken]], end - 1 - taken
        stays = work.rows[last]
        work.rows[hole] = stays
        work.place[stays] = hole
        work.rows[last] = work.moved[taken]
        work.place[work.moved[taken]] = last
    for taken in range(n_moved):
        work.rows[end - n_moved + taken] = work.moved[taken]
        work.place[work.moved[taken]] = end - n_moved + taken
    return n_moved


@compiled
def _has_cell(bag: Bag, row: int, first: int, last: int) -> bool:
    low, high = bag.row_starts[row], bag.row_starts[row + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if bag.row_cells[middle] < first:
            low = middle + 1
        else:
            high = middle
    return low < end and bag.row_cells[low] < last


@compiled
def number_nodes(nodes: Nodes, n_nodes: int, first: int, order: Ints, number: Ints) -> None:
    """The order of the nodes in which a left child follows its parent, and each node's number from ``first`` on."""
    stack = np.empty(n_nodes, dtype=np.int32)
    depth = 0
    node = 0
    for place in range(n_nodes):
        order[place] = node
        number[node] = first + place
        if nodes.left[node] >= 0:
            stack[depth] = nodes.right[node]
            depth += 1
            node = nodes.left[node]
        elif depth > 0:
            depth -= 1
            node = stack[depth]


@compiled
def walk(
    row_starts: Ints,
    row_columns: Ints,
    row_values: FloatArray,
    roots: Ints,
    column: Ints,
    threshold: FloatArray,
    right: Ints,
    shares: FloatArray,
    n_columns: int,
    sums: FloatArray,
) -> None:
    """Adds to ``sums`` (rows, classes) the shares of each row's leaf, tree by tree."""
    values = np.zeros(n_columns)
    for row in range(len(row_starts) - 1):
        for entry in range(row_starts[row], row_starts[row + 1]):
            values[row_columns[entry]] = row_values[entry]
        for root in roots:
            node = root
            while column[node] >= 0:
                node = node + 1 if values[column[node]] <= threshold[node] else right[node]
            for label in range(shares.shape[1]):
                sums[row, label] += shares[node, label]
        for entry in range(row_starts[row], row_starts[row + 1]):
            values[row_columns[entry]] = 0.0
