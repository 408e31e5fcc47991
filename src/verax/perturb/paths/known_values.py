"""Which way the values of a table's columns go at the nodes of trees, found once for each value.

What trees read comes from one column of the table at a time, but libraries take milliseconds to prepare a row: a frame
is made of it, categories become numbers, sets of categories are looked through. Perturbed rows are made of values that
were met before, in training rows or in the input, so all of this is done once for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.perturb.masks import Masks
from verax.perturb.paths.ensembles import NodeArray

# Values of a column that are kept at most, and those that may be new in rows that are given together.
MOST_VALUES, MOST_NEW = 50_000, 256
# So many rows are prepared at a time.
TOGETHER = 1_024
# So many rows have to be read as they are without this, to the last question.
CHECKED = 256
NOWHERE, NONE = np.empty(0, dtype=np.intp), np.empty(0)


@dataclass(eq=False)
class _Column:
    """A column of the table.

    Attributes:
        read: the columns of the trees that come from it.
        values: those that were met, ascending; a missing one last.
        below: (read, values): how many cuts lie below what is read of a value; -1 if that is missing.
    """

    read: IndexArray
    values: FloatArray
    below: NodeArray

    def places(self, given: FloatArray) -> tuple[IndexArray, FloatArray]:
        """The place of each value, and those that were never met."""
        if not len(self.read):
            return NOWHERE, NONE
        if not len(self.values):
            return NOWHERE, np.unique(given)
        places = self.values.searchsorted(given)
        found = self.values.take(places, mode="clip")
        same = found == given
        if not same.all():
            same |= np.isnan(found) & np.isnan(given)
            if not same.all():
                return places, np.unique(given[~same])
        return places, NONE

    def take_in(self, values: FloatArray, below: NodeArray) -> None:
        """Adds new values."""
        order = np.argsort(np.concatenate([self.values, values]), kind="stable")
        self.values = np.concatenate([self.values, values])[order]
        self.below = np.ascontiguousarray(np.concatenate([self.below, below], axis=1)[:, order])


class KnownValues:
    """Rows of a table as answers to the questions of trees.

    Args:
        read: from rows to what lies below each value that the trees read of them: (rows, columns), -1 if it is missing.
        owner: the column of the table that each column of the trees comes from; -1 for a constant.
        first: where the cuts of each column of the trees begin; one more at the end.
        template: a row in which single values are put.
    """

    def __init__(
        self,
        read: Callable[[FloatArray], IndexArray],
        owner: NodeArray,
        first: NodeArray,
        template: FloatArray,
    ) -> None:
        self._read, self._first, self._template = read, first, template
        self._own = read(template[None])[0]
        self._lock = Lock()  # places are of the values that were met when they were looked for
        asked = np.diff(first) > 0
        self._columns = [
            _Column(which, np.empty(0), np.empty((len(which), 0), dtype=np.int32))
            for which in (np.flatnonzero(asked & (owner == column)) for column in range(len(template)))
        ]
        self._constant = np.flatnonzero(asked & (owner < 0))

    def learn(self, reference: FloatArray) -> bool:
        """Takes in the values of training rows; whether rows that mix them are read as they are without this."""
        distinct = [np.unique(values) if len(column.read) else np.empty(0)
                    for column, values in zip(self._columns, reference.T, strict=True)]  # fmt: skip
        if max(map(len, distinct)) > MOST_VALUES or not self._take_in(distinct):
            return False
        drawn = np.random.default_rng(0).integers(len(reference), size=(CHECKED, reference.shape[1]))
        rows = np.take_along_axis(reference, drawn, axis=0)
        own = self._read(rows)
        return self._are_constant(own) and all(
            np.array_equal(column.below[:, column.places(values)[0]].T, own[:, column.read])
            for column, values in zip(self._columns, rows.T, strict=True)
            if len(column.read)
        )

    def answers(self, rows: FloatArray) -> Masks | None:
        """For each cut two sets of rows, without the missing ones and with them: those that lie above.

        None where many values are new.
        """
        with self._lock:
            return self._answers(rows)

    def _answers(self, rows: FloatArray) -> Masks | None:
        from verax.perturb.paths.kernels import place_bits

        found = [column.places(values) for column, values in zip(self._columns, rows.T, strict=True)]
        strange = [new for _, new in found]
        most = max(map(len, strange))
        if most > MOST_NEW or most + max(len(column.values) for column in self._columns) > MOST_VALUES:
            return None
        if most:
            if not self._take_in(strange):
                return None
            found = [column.places(values) for column, values in zip(self._columns, rows.T, strict=True)]
        goes_right = np.zeros((2 * int(self._first[-1]), -(-len(rows) // 64)), dtype=np.uint64)
        for column, (places, _) in zip(self._columns, found, strict=True):
            if len(column.read):
                place_bits(
                    places, column.below, self._first[column.read], self._counts(column.read), goes_right
                )
        if len(self._constant):
            below = self._own[self._constant, None].astype(np.int32)
            none = np.zeros(len(rows), dtype=np.intp)
            place_bits(none, below, self._first[self._constant], self._counts(self._constant), goes_right)
        return Masks(goes_right, len(rows))

    def _counts(self, read: IndexArray) -> NodeArray:
        return self._first[read + 1] - self._first[read]

    def _are_constant(self, read: IndexArray) -> bool:
        """Whether what no column is known to change is the same in some rows."""
        return bool((read[:, self._constant] == self._own[self._constant]).all())

    def _take_in(self, new: Sequence[FloatArray]) -> bool:
        """Values for each column, each of which becomes part of a row; False if they are read in another way."""
        longest = max(map(len, new))
        below = [np.empty((len(column.read), len(values)), dtype=np.int32)
                 for column, values in zip(self._columns, new, strict=True)]  # fmt: skip
        for start, end in pairwise([*range(0, longest, TOGETHER), longest]):
            rows = np.repeat(self._template[None], end - start, axis=0)
            for place, values in enumerate(new):
                some = values[start:end]
                rows[: len(some), place] = some
            read = self._read(rows)
            if not self._are_constant(read):
                return False
            for column, made, values in zip(self._columns, below, new, strict=True):
                count = len(values[start:end])
                made[:, start : start + count] = read[:count, column.read].T
        for column, made, values in zip(self._columns, below, new, strict=True):
            column.take_in(values, made)
        return True
