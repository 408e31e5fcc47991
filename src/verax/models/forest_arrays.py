"""What the compiled loops of :mod:`verax.models.forest_kernels` read and write, as plain arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from verax.arrays import FloatArray

Ints = NDArray[np.int32]


class Bag(NamedTuple):
    """The training rows, by row and by column; entries of a row and of a column are in ascending order."""

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
    places: Ints  # where a row stands in ``rows``; -1 for a row that is not in the tree
    moved: Ints
    waiting: Ints  # (nodes, 3): first and last place of the rows, and the node
    above: NDArray[np.int64]  # per class
    random: NDArray[np.uint64]  # the state of the random numbers


class Nodes(NamedTuple):
    """A tree in the order of growing; column and children of a leaf are -1."""

    column: Ints
    threshold: FloatArray
    left: Ints
    right: Ints
    weight: Ints  # (nodes, classes)


def make_bag(rows: Any, labels: NDArray[np.int32]) -> Bag:
    """The rows as the kernels read them: by row, by column, and with a cell per column and value."""
    n_entries, n_columns = len(rows.data), rows.shape[1]
    if (rows.data == 1.0).all():
        cells, cell_value = rows.indices, np.ones(n_columns)
        first_cell = np.arange(n_columns + 1)
    else:
        order = np.lexsort((rows.data, rows.indices))
        columns, values = rows.indices[order], rows.data[order]
        is_new = np.ones(n_entries, dtype=np.bool_)
        is_new[1:] = (columns[1:] != columns[:-1]) | (values[1:] != values[:-1])
        cells = np.empty(n_entries, dtype=np.int32)
        cells[order] = np.cumsum(is_new) - 1
        cell_value = values[is_new]
        first_cell = np.searchsorted(columns[is_new], np.arange(n_columns + 1))
    by_column = sparse.csc_array(sparse.csr_array((cells + 1, rows.indices, rows.indptr), shape=rows.shape))
    by_column.sort_indices()
    return Bag(
        row_starts=rows.indptr.astype(np.int32),
        row_columns=rows.indices.astype(np.int32),
        row_cells=cells.astype(np.int32),
        column_starts=by_column.indptr.astype(np.int32),
        column_rows=by_column.indices.astype(np.int32),
        column_cells=(by_column.data - 1).astype(np.int32),
        first_cell=first_cell.astype(np.int32),
        cell_value=cell_value,
        labels=labels,
    )


def make_work(n_rows: int, n_columns: int, n_cells: int, n_classes: int) -> Work:
    """Memory for growing trees on rows of this size."""
    return Work(
        counts=np.zeros((n_cells, n_classes), dtype=np.int32),
        listed=np.zeros(n_columns, dtype=np.uint8),
        columns=np.zeros(n_columns, dtype=np.int32),
        rows=np.zeros(n_rows, dtype=np.int32),
        places=np.zeros(n_rows, dtype=np.int32),
        moved=np.zeros(n_rows, dtype=np.int32),
        waiting=np.zeros((n_rows, 3), dtype=np.int32),
        above=np.zeros(n_classes, dtype=np.int64),
        random=np.zeros(1, dtype=np.uint64),
    )


def make_nodes(capacity: int, n_classes: int) -> Nodes:
    """Memory for one tree."""
    return Nodes(
        column=np.full(capacity, -1, dtype=np.int32),
        threshold=np.zeros(capacity),
        left=np.full(capacity, -1, dtype=np.int32),
        right=np.full(capacity, -1, dtype=np.int32),
        weight=np.zeros((capacity, n_classes), dtype=np.int32),
    )
