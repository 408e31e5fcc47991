"""Samples around a row: training rows in which a rule's columns take values of the row's own bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.bins import Bins
from verax.data.dataset import contents
from verax.data.table import Schema
from verax.explain.anchor.samples import BLOCK, Ask, Neighbourhood, SamplePool
from verax.models.base import Inputs, Model
from verax.models.wrappers import encode_rows
from verax.perturb.dispatch import path_for
from verax.perturb.masks import MAX_ROWS
from verax.perturb.paths.tables import TablePath, reference_rows, schema_of
from verax.perturb.paths.tree_walks import HAS_NUMBA
from verax.seeds import stream


@dataclass(frozen=True, eq=False)
class Binned:
    """Training rows, in which a value is given by its place among those of its column.

    Attributes:
        bins: of the columns.
        values: the values of each column, ascending; a missing one last.
        rows: (rows, columns): the place of each value.
        places: (columns, rows): the bin of each value.
        inside: for each number's column, by bin: the values of the rows that are in it.
    """

    bins: Bins
    values: tuple[FloatArray, ...]
    rows: IndexArray
    places: NDArray[np.int32]
    inside: dict[int, dict[int, IndexArray]]

    @classmethod
    def learn(cls, schema: Schema, reference: FloatArray) -> Binned:
        """Of training rows."""
        found = [np.unique(column, return_inverse=True) for column in reference.T]
        bins = Bins.learn(schema, reference)
        places = np.ascontiguousarray(bins.assign(reference).T, dtype=np.int32)
        rows = np.stack([inverse.reshape(-1) for _, inverse in found], axis=1)
        inside = {
            number: {
                bin_: rows[places[number] == bin_, number] for bin_ in np.unique(places[number]).tolist()
            }
            for number, column in enumerate(schema.columns)
            if column.is_numeric
        }
        return cls(bins, tuple(values for values, _ in found), rows, places, inside)


_NONE: IndexArray = np.empty(0, dtype=np.intp)
_NO_SHARES: FloatArray = np.empty((0, 0))
_BINNED: WeakKeyDictionary[Model, Binned] = WeakKeyDictionary()


class TrainingRows(SamplePool):
    """Training rows, and what each of their values would be if it were of the input's bin."""

    def __init__(self, row: IndexArray, own: IntArray, binned: Binned, seed: int, *about: str | int) -> None:
        super().__init__(seed, *about)
        self.row = row
        self.own = own
        self.binned = binned
        self.rows = binned.rows[:0]
        self.fixed = binned.rows[:0]

    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next rows; a column holds where the row's value is of the input's bin already."""
        drawn = rng.integers(len(self.binned.rows), size=BLOCK)
        rows = self.binned.rows.take(drawn, axis=0)
        holds: BoolArray = self.own == self.binned.places.take(drawn, axis=1).T
        fixed = np.where(holds, rows, self.row)
        shares = rng.random((BLOCK, len(self.row))) if self._options else _NO_SHARES
        for column, options in self._options.items():
            change = np.flatnonzero(~holds[:, column])
            fixed[change, column] = options[(shares[change, column] * len(options)).astype(np.intp)]
        self.rows, self.fixed = np.concatenate([self.rows, rows]), np.concatenate([self.fixed, fixed])
        return holds

    def varies(self) -> bool:
        """Whether a training row has other values, be they of the same bins."""
        self.holds(BLOCK)
        return bool((self.rows != self.row).any())

    @cached_property
    def _options(self) -> dict[int, IndexArray]:
        """What a fixed column may be that is not always the input's own: numbers of training rows in its bin."""
        bins = self.binned.inside.items()
        return {number: inside[own] for number, inside in bins if (own := int(self.own[number])) in inside}


class TableRows:
    """Rows of the training data with some columns fixed."""

    name = "values of training rows"

    def __init__(self, model: Model, inputs: Inputs, seed: int) -> None:
        schema = schema_of(model)
        path = path_for(model)
        assert isinstance(path, TablePath)
        self.path = path
        rows = encode_rows(inputs, schema)
        if model not in _BINNED:
            _BINNED[model] = Binned.learn(schema, reference_rows(model))
        binned = _BINNED[model]
        # An input may have values that no training row has: they come after those.
        self.values, self.cells = _cells_of(rows, binned.values)
        self.looked_up = path.columns is not None and all(map(_same_length, self.values, binned.values))
        linear = path.columns is not None and path.columns.linear is not None
        # A linear model answers as fast as what is known is found.
        self.known = Known(len(schema)) if HAS_NUMBA and not linear else None
        self._costs = [(0, 0)] * len(rows)
        self.near = []
        owns = binned.bins.assign(rows)
        for place, (row, own, content) in enumerate(zip(self.cells, owns, contents(rows), strict=True)):
            search, fresh = (
                TrainingRows(row, own, binned, seed, "anchor", "rows", about, content.hex())
                for about in ("search", "fresh")
            )
            named = tuple(binned.bins.names[column][bin_] for column, bin_ in enumerate(own.tolist()))
            covered = binned.places == own[:, None]
            self.near.append(Neighbourhood(place, schema.names, named, search, fresh, covered))

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each row."""
        return self.near

    def classes(self) -> IndexArray:
        """The predicted class of each row itself."""
        return self._ask(self.cells)

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each row."""
        return self._costs

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""
        if self.known is None:
            rows = [len(ask.samples) for ask in asks]
            classes = np.split(self._ask(np.concatenate([_cells(ask) for ask in asks])), np.cumsum(rows)[:-1])
        else:
            found = [self.known.find(ask) for ask in asks]
            rows = [len(new) for _, new in found]
            self.known.learn(self._ask(np.concatenate([new for _, new in found])))
            classes = [self.known.classes[numbers] for numbers, _ in found]
        calls = -(-sum(rows) // MAX_ROWS)
        for ask, more in zip(asks, rows, strict=True):
            so_far = self._costs[ask.place]
            self._costs[ask.place] = (so_far[0] + more, so_far[1] + (calls if more else 0))
        return classes

    def _ask(self, cells: IndexArray) -> IndexArray:
        parts = [cells[first : first + MAX_ROWS] for first in range(0, len(cells), MAX_ROWS)]
        answers = [self._probabilities(np.ascontiguousarray(part.T)) for part in parts]
        return np.concatenate([answer.argmax(axis=1) for answer in answers]) if answers else _NONE

    def _probabilities(self, columns: IndexArray) -> FloatArray:
        if self.looked_up and self.path.columns is not None:
            return self.path.columns.predict_places(list(columns))
        rows = [values[places] for values, places in zip(self.values, columns, strict=True)]
        return self.path.predict(np.stack(rows, axis=1))


class Known:
    """The classes of rows that were asked for: under rules many samples are the same row."""

    def __init__(self, n_columns: int) -> None:
        self.classes = _NONE
        # Sums modulo 2^64 of values times odd numbers: two of a million different rows get the same one about never.
        self._factors = stream(0, "anchor", "rows").integers(2**63, size=n_columns, dtype=np.uint64) * 2 + 1
        self._count = 0
        # Most batches ask for less than half of this, and then it need not grow; what is not used takes no memory.
        self._keys = np.zeros(2**18, dtype=np.uint64)
        self._numbers = np.zeros(2**18, dtype=np.int32)

    def find(self, ask: Ask) -> tuple[IndexArray, IndexArray]:
        """The number of each sample's row, and the rows that are new, of which ``learn`` has to be told next."""
        from verax.explain.anchor.row_kernel import number_rows

        assert isinstance(ask.pool, TrainingRows)
        ask.pool.holds(int(ask.samples.max(initial=-1)) + 1)
        self._make_room(self._count + len(ask.samples))
        found, new = np.empty_like(ask.samples), np.empty_like(ask.samples)
        n_new = number_rows(
            ask.pool.rows, ask.pool.fixed, ask.samples, ask.stays, self._factors,
            self._keys, self._numbers, self._count, found, new,
        )  # fmt: skip
        self._count += n_new
        asked = new[:n_new]
        return found, _cells(Ask(ask.place, ask.pool, ask.samples[asked], ask.stays[asked]))

    def learn(self, classes: IndexArray) -> None:
        """Takes in the classes of the rows that were new."""
        self.classes = np.concatenate([self.classes, classes])

    def _make_room(self, count: int) -> None:
        """A table is at most half full; what is in it is put into a larger one."""
        size = len(self._keys)
        if 2 * count <= size:
            return
        while size < 2 * count:
            size *= 2
        kept = np.flatnonzero(self._keys)
        keys, numbers = self._keys[kept], self._numbers[kept]
        self._keys, self._numbers = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int32)
        for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
            slot = (key >> 32) & (size - 1)
            while self._keys[slot]:
                slot = (slot + 1) & (size - 1)
            self._keys[slot], self._numbers[slot] = key, number


def _cells_of(rows: FloatArray, known: Sequence[FloatArray]) -> tuple[list[FloatArray], IndexArray]:
    """Each column's values, those that only these rows have at the end; and each row as places of them."""
    values, cells = [], np.empty(rows.shape, dtype=np.intp)
    for column, (given, seen) in enumerate(zip(rows.T, known, strict=True)):
        places = np.searchsorted(seen, given)
        found = seen.take(places, mode="clip")
        new = (found != given) & ~(np.isnan(found) & np.isnan(given))
        values.append(seen)
        if new.any():
            more, inverse = np.unique(given[new], return_inverse=True)
            places[new] = len(seen) + inverse.reshape(-1)
            values[-1] = np.concatenate([seen, more])
        cells[:, column] = places
    return values, cells


def _same_length(values: FloatArray, others: FloatArray) -> bool:
    return len(values) == len(others)


def _cells(ask: Ask) -> IndexArray:
    """The samples of a question, with the columns of each one's rule fixed."""
    assert isinstance(ask.pool, TrainingRows)
    ask.pool.holds(int(ask.samples.max(initial=-1)) + 1)
    return np.where(ask.stays, ask.pool.fixed[ask.samples], ask.pool.rows[ask.samples])
