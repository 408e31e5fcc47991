"""Samples around a row: training rows in which a rule's columns take values of the row's own bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.bins import Bins
from verax.data.dataset import contents
from verax.explain.anchor.pools import BLOCK, Ask, Neighbourhood, Pool
from verax.models.base import Inputs, Model
from verax.models.tables import encode_rows
from verax.perturb.dispatch import path_for
from verax.perturb.masks import MAX_ROWS
from verax.perturb.paths.tables import TablePath, reference_rows, schema_of


@dataclass(frozen=True, eq=False)
class Binned:
    """Training rows and, column by column, the bin of each of their values."""

    bins: Bins
    rows: FloatArray
    places: NDArray[np.int32]


_BINNED: WeakKeyDictionary[Model, Binned] = WeakKeyDictionary()


class TrainingRows(Pool):
    """Training rows, and what each of their values would be if it were of the input's bin."""

    def __init__(self, row: FloatArray, own: IntArray, binned: Binned, seed: int, *about: str | int) -> None:
        super().__init__(seed, *about)
        self.row = row
        self.own = own
        self.binned = binned
        self.rows = np.empty((0, len(row)))
        self.fixed = np.empty((0, len(row)))

    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next rows; a column holds where the row's value is of the input's bin already."""
        drawn = rng.integers(len(self.binned.rows), size=BLOCK)
        shares = rng.random((BLOCK, len(self.row)))
        rows = self.binned.rows[drawn]
        holds: BoolArray = self.own == self.binned.places[:, drawn].T
        fixed = rows.copy()
        for column in range(len(self.row)):
            change = np.flatnonzero(~holds[:, column])
            options = self._options(column)
            fixed[change, column] = options[(shares[change, column] * len(options)).astype(np.intp)]
        self.rows, self.fixed = np.concatenate([self.rows, rows]), np.concatenate([self.fixed, fixed])
        return holds

    def _options(self, column: int) -> FloatArray:
        """What a fixed column may be: the category; numbers of training rows in the bin, or the input's own if none."""
        if not self.binned.bins.schema.columns[column].is_numeric:
            return self.row[column : column + 1]
        inside = self.binned.rows[self.binned.places[column] == self.own[column], column]
        return inside if len(inside) else self.row[column : column + 1]


class TableRows:
    """Rows of the training data with some columns fixed."""

    name = "values of training rows"

    def __init__(self, model: Model, inputs: Inputs, seed: int) -> None:
        schema = schema_of(model)
        path = path_for(model)
        assert isinstance(path, TablePath)
        self.path = path
        rows = encode_rows(inputs, schema)
        self.rows = rows
        if model not in _BINNED:
            reference = reference_rows(model)
            bins = Bins.learn(schema, reference)
            places = np.ascontiguousarray(bins.assign(reference).T, dtype=np.int32)
            _BINNED[model] = Binned(bins, reference, places)
        binned = _BINNED[model]
        self._costs = [(0, 0)] * len(rows)
        self.near = []
        owns = binned.bins.assign(rows)
        for place, (row, own, content) in enumerate(zip(rows, owns, contents(rows), strict=True)):
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
        predicted: IndexArray = self.path.predict(self.rows).argmax(axis=1)
        return predicted

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each row."""
        return self._costs

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""
        rows = np.concatenate([_rows(ask) for ask in asks])
        classes = np.empty(len(rows), dtype=np.intp)
        for first in range(0, len(rows), MAX_ROWS):
            part = slice(first, first + MAX_ROWS)
            classes[part] = self.path.predict(rows[part]).argmax(axis=1)
        ends = np.cumsum([len(ask.samples) for ask in asks])
        for ask, end in zip(asks, ends.tolist(), strict=True):
            first = end - len(ask.samples)
            calls = -(-end // MAX_ROWS) - first // MAX_ROWS if end > first else 0
            before = self._costs[ask.place]
            self._costs[ask.place] = (before[0] + len(ask.samples), before[1] + calls)
        return np.split(classes, ends[:-1])


def _rows(ask: Ask) -> FloatArray:
    """The samples of a question, with the columns of each one's rule fixed."""
    assert isinstance(ask.pool, TrainingRows)
    ask.pool.holds(int(ask.samples.max(initial=-1)) + 1)
    return np.where(ask.stays, ask.pool.fixed[ask.samples], ask.pool.rows[ask.samples])
