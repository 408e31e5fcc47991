"""The compiled loops that grow one tree on sparse rows and walk rows down trees; see :mod:`verax.models.forest`.

Import this module inside functions only: it needs numba, which is optional and slow to import. Functions that call each
other are in one file, because numba keeps the caller's machine code until the caller's own file changes.

How a tree is grown. In a tree on bags of words most splits peel a few rows off a large node. So the rows of a large
node are counted once, per word and class; at a split the smaller child's rows are taken out of the counts, which are
then the larger child's, and the smaller child waits on a stack for its own turn. Such a run from a node down to a leaf,
always to the larger child, is called a chain here. One set of counts is enough: a chain ends before the next begins.

A word that occurs with several values (2 times, 3 times) has several cells, one per value; a word that is only ever
present or absent has one. Counts are per cell.

The order of a node's rows never matters, and a waiting child's rows are in ascending order, so that a row of weight 2
gives the same tree as two equal rows that follow each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.compiled import compiled
from verax.models.forest_arrays import Bag, Ints, Nodes, Work

NO_COLUMN = -1


@compiled
def grow(bag: Bag, weights: Ints, max_features: int, seed: int, work: Work, nodes: Nodes) -> int:
    """Grows a tree on the rows of weight above 0 into ``nodes``; returns how many nodes it has."""
    # Plain arrays for the inner functions: a tuple of arrays costs compile time and reference counts in each.
    (
        row_starts,
        row_columns,
        row_cells,
        column_starts,
        column_rows,
        column_cells,
        first_cell,
        values,
        labels,
    ) = bag
    counts, listed, columns, rows, places, moved, waiting, above, random = work
    random[0] = np.uint64(seed)
    nodes.left[0] = NO_COLUMN
    n_nodes = 1
    waiting[0, 0], waiting[0, 2] = 0, 0
    waiting[0, 1] = _take_rows(weights, labels, rows, places, nodes.weight[0])
    n_waiting = 0 if _is_pure(nodes.weight[0]) else 1
    while n_waiting > 0:
        n_waiting -= 1
        start, end, node = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]
        n_listed = _count_rows(
            rows[start:end], weights, labels, row_starts, row_columns, row_cells, counts, columns, listed
        )
        n_active = n_listed
        while True:
            weight = nodes.weight[node]
            if max_features < len(first_cell) - 1:
                column, cell, n_active = _find_split(
                    columns, n_active, counts, first_cell, weight, max_features, random, above
                )
            else:
                column, cell, n_active = _find_split_in_all(
                    columns, n_active, counts, first_cell, weight, random, above
                )
            if column == NO_COLUMN:
                break
            left, right = n_nodes, n_nodes + 1
            n_nodes += 2
            first, last = first_cell[column], first_cell[column + 1]
            nodes.column[node], nodes.left[node], nodes.right[node] = column, left, right
            nodes.threshold[node] = _midway(counts, values, first, cell)
            nodes.left[left], nodes.left[right] = NO_COLUMN, NO_COLUMN
            right_moves = _share_out(counts, cell, last, weight, nodes.weight[left], nodes.weight[right])
            # A step along the column costs about an eighth of looking a column up in a row.
            low, high = column_starts[column], column_starts[column + 1]
            if right_moves and high - low <= 8 * (end - start):
                n_moved = _rows_of_column(
                    column_rows[low:high], column_cells[low:high], cell, places, start, end, moved
                )
            else:
                n_moved = _rows_of_node(
                    rows[start:end], row_starts, row_cells, cell, last, right_moves, moved
                )
            _bring_to_end(rows, places, end, moved[:n_moved])
            minor, node = (right, left) if right_moves else (left, right)
            end -= n_moved
            if not _is_pure(nodes.weight[minor]):
                waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2] = (
                    end,
                    end + n_moved,
                    minor,
                )
                n_waiting += 1
            if _is_pure(nodes.weight[node]):
                break
            _uncount_rows(moved[:n_moved], weights, labels, row_starts, row_cells, counts)
        _clear_counts(columns[:n_listed], first_cell, counts, listed)
    return n_nodes


@compiled
def _take_rows(weights: Ints, labels: Ints, rows: Ints, places: Ints, weight: Ints) -> int:
    """Lists the rows of weight above 0 and adds up the weights of the classes; returns how many rows."""
    weight[:] = 0
    count = 0
    for row in range(len(weights)):
        places[row] = -1
        if weights[row] > 0:
            rows[count] = row
            places[row] = count
            weight[labels[row]] += weights[row]
            count += 1
    return count


@compiled
def _is_pure(weight: Ints) -> bool:
    n_present = 0
    for class_weight in weight:
        if class_weight > 0:
            n_present += 1
    return n_present <= 1


@compiled
def _count_rows(
    rows: Ints,
    weights: Ints,
    labels: Ints,
    row_starts: Ints,
    row_columns: Ints,
    row_cells: Ints,
    counts: Ints,
    columns: Ints,
    listed: NDArray[np.uint8],
) -> int:
    """Begins a chain: counts the rows and lists their columns; returns how many columns they have."""
    n_listed = 0
    for row in rows:
        label, weight = labels[row], weights[row]
        for entry in range(row_starts[row], row_starts[row + 1]):
            counts[row_cells[entry], label] += weight
            column = row_columns[entry]
            if listed[column] == 0:
                listed[column] = 1
                columns[n_listed] = column
                n_listed += 1
    return n_listed


@compiled
def _uncount_rows(
    rows: Ints, weights: Ints, labels: Ints, row_starts: Ints, row_cells: Ints, counts: Ints
) -> None:
    for row in rows:
        label, weight = labels[row], weights[row]
        for entry in range(row_starts[row], row_starts[row + 1]):
            counts[row_cells[entry], label] -= weight


@compiled
def _clear_counts(columns: Ints, first_cell: Ints, counts: Ints, listed: NDArray[np.uint8]) -> None:
    for column in columns:
        listed[column] = 0
        for cell in range(first_cell[column], first_cell[column + 1]):
            for label in range(counts.shape[1]):
                counts[cell, label] = 0


@compiled
def _random_below(state: np.uint64, bound: int) -> tuple[np.uint64, int]:
    """The next state of splitmix64, and a number from 0 to ``bound - 1``."""
    state += np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32)
    return state, int((mixed * np.uint64(bound)) >> np.uint64(32))


@compiled
def _find_split(
    columns: Ints,
    n_active: int,
    counts: Ints,
    first_cell: Ints,
    weight: Ints,
    max_features: int,
    random: NDArray[np.uint64],
    above: NDArray[np.int64],
) -> tuple[int, int, int]:
    """The best column to split a node on, the first of its cells that goes right, and how many columns may vary.

    Columns are drawn without replacement from all columns, as scikit-learn does: until ``max_features`` are drawn, and
    on until one of them varies within the node. One that does not is not looked at again in this chain, but goes on
    being drawn: a number above the undrawn active columns stands for any of the constant ones.
    """
    n_columns = len(first_cell) - 1
    state = random[0]
    total = int(weight.sum())
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
        gain, cell = _best_cell(counts, first_cell[column], first_cell[column + 1], weight, total, above)
        if cell < 0:
            n_active -= 1
            columns[undrawn] = columns[n_active]
            columns[n_active] = column
            continue
        columns[undrawn] = column
        if gain > best:
            best, best_column, best_cell = gain, column, cell
    random[0] = state
    return best_column, best_cell, n_active


@compiled
def _find_split_in_all(
    columns: Ints,
    n_active: int,
    counts: Ints,
    first_cell: Ints,
    weight: Ints,
    random: NDArray[np.uint64],
    above: NDArray[np.int64],
) -> tuple[int, int, int]:
    """As ``_find_split`` where every column is looked at; of equally good columns each is as likely."""
    state = random[0]
    total = int(weight.sum())
    best = -np.inf
    best_column, best_cell, n_best = NO_COLUMN, 0, 0
    place = 0
    while place < n_active:
        column = columns[place]
        gain, cell = _best_cell(counts, first_cell[column], first_cell[column + 1], weight, total, above)
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
    random[0] = state
    return best_column, best_cell, n_active


@compiled
def _best_cell(
    counts: Ints, first: int, last: int, weight: Ints, total: int, above: NDArray[np.int64]
) -> tuple[float, int]:
    """The best threshold of a column as the first cell above it, and its gain; -1 where the column is constant."""
    if last != first + 1 or len(weight) != 2:
        return _best_of_cells(counts, first, last, weight, total, above)
    one, two = int(counts[first, 0]), int(counts[first, 1])
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
    right = 0
    for cell in range(last - 1, first - 1, -1):
        here = 0
        left_squares, right_squares = 0, 0
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
    wide_left, wide_right = float(left), float(right)
    left_impurity = 1.0 - left_squares / (wide_left * wide_left)
    right_impurity = 1.0 - right_squares / (wide_right * wide_right)
    return -wide_right * right_impurity - wide_left * left_impurity


@compiled
def _midway(counts: Ints, values: FloatArray, first: int, cell: int) -> float:
    """The threshold below a cell: midway to the next smaller value within the node, where absent is 0."""
    below = cell - 1
    while below >= first and counts[below].sum() == 0:
        below -= 1
    smaller = float(values[below]) if below >= first else 0.0
    return smaller / 2.0 + float(values[cell]) / 2.0


@compiled
def _share_out(counts: Ints, cell: int, last: int, weight: Ints, left: Ints, right: Ints) -> bool:
    """Fills in the children's weights; returns whether the right child is the smaller."""
    surplus = 0
    for label in range(len(weight)):
        above = 0
        for other in range(cell, last):
            above += counts[other, label]
        right[label] = above
        left[label] = weight[label] - above
        surplus += left[label] - right[label]
    return surplus >= 0


@compiled
def _rows_of_column(
    column_rows: Ints, column_cells: Ints, cell: int, places: Ints, start: int, end: int, moved: Ints
) -> int:
    """Lists the rows of a node that go right, by way of the column; returns how many."""
    n_moved = 0
    for row, row_cell in zip(column_rows, column_cells):  # noqa: B905 (compiled)
        if row_cell >= cell and start <= places[row] < end:
            moved[n_moved] = row
            n_moved += 1
    return n_moved


@compiled
def _rows_of_node(
    rows: Ints, row_starts: Ints, row_cells: Ints, first: int, last: int, right_moves: bool, moved: Ints
) -> int:
    """Lists the rows of a node that go to one side, row by row; returns how many."""
    n_moved = 0
    for row in rows:
        low, high = row_starts[row], row_starts[row + 1]
        while low < high:
            middle = (low + high) // 2
            if row_cells[middle] < first:
                low = middle + 1
            else:
                high = middle
        goes_right = low < row_starts[row + 1] and row_cells[low] < last
        if goes_right == right_moves:
            moved[n_moved] = row
            n_moved += 1
    _sort(moved, n_moved)
    return n_moved


@compiled
def _sort(values: Ints, n_values: int) -> None:
    """Shell's sort; numba's own takes two seconds to compile."""
    gap = n_values // 2
    while gap > 0:
        for place in range(gap, n_values):
            value, hole = values[place], place
            while hole >= gap and values[hole - gap] > value:
                values[hole] = values[hole - gap]
                hole -= gap
            values[hole] = value
        gap = 1 if gap == 2 else gap * 5 // 11


@compiled
def _bring_to_end(rows: Ints, places: Ints, end: int, moved: Ints) -> None:
    """Puts the moved rows, in their order, on the last places before ``end``."""
    start = end - len(moved)
    last = end - 1
    for row in moved:
        hole, stays = places[row], rows[last]
        rows[hole], places[stays] = stays, hole
        rows[last], places[row] = row, last
        last -= 1
    for taken in range(len(moved)):
        rows[start + taken] = moved[taken]
        places[moved[taken]] = start + taken


@compiled
def number_nodes(left: Ints, right: Ints, order: Ints, number: Ints) -> None:
    """The order of a tree's nodes in which a left child follows its parent, and each node's number in it."""
    stack = np.empty(len(order), dtype=np.int32)
    depth = 0
    node = 0
    for place in range(len(order)):
        order[place] = node
        number[node] = place
        if left[node] >= 0:
            stack[depth] = right[node]
            depth += 1
            node = left[node]
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
    present = np.zeros(n_columns + 1, dtype=np.bool_)
    present[NO_COLUMN] = True  # the last entry: a leaf
    for row in range(len(row_starts) - 1):
        for entry in range(row_starts[row], row_starts[row + 1]):
            values[row_columns[entry]] = row_values[entry]
            present[row_columns[entry]] = True
        for root in roots:
            node = root
            while True:
                # A row lacks nearly all of the columns that it is asked for.
                while not present[column[node]]:
                    node += 1
                if column[node] < 0:
                    break
                node = node + 1 if values[column[node]] <= threshold[node] else right[node]
            for label in range(shares.shape[1]):
                sums[row, label] += shares[node, label]
        for entry in range(row_starts[row], row_starts[row + 1]):
            present[row_columns[entry]] = False
