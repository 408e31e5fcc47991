"""Numbers in parts: a table's columns cut at their quartiles, and a column cut into bands that are classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray, IntArray
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.phrases import say

# Added to the spread of every bin, as lime does, so that a bin with one value can still be divided by it.
SMALLEST_STD = 1e-11


@dataclass(frozen=True, eq=False)
class Bins:
    """Numeric columns cut at their quartiles, as ``lime``'s QuartileDiscretizer does; categories as they are.

    Bin ``b`` of a numeric column holds the values with ``edges[b - 1] < value <= edges[b]``; equal quartiles
    are one edge, so there may be fewer than four bins. A missing value has a bin of its own, the last one
    (place ``len(edges) + 1``), which only columns with ``missing=True`` have; quartiles and statistics are
    those of the values present. Every tuple has one entry per column; for categorical columns ``edges`` and
    the statistics are empty arrays.

    Attributes:
        schema: the table's columns.
        edges: the distinct quartiles.
        names: one name per bin ("28.00 < Age <= 37.00"), or per category ("Sex = Male").
        means: mean of the training values per bin, 0 if it is empty, NaN for missing; ``stds`` alike.
        mins: lowest and ``maxs`` highest value of a bin: the edges, and the range of the training values.
        values: the bins or codes seen in training, ascending.
        counts: how often each of ``values`` was seen; ``frequencies`` are their shares.
    """

    schema: Schema
    edges: tuple[FloatArray, ...]
    names: tuple[tuple[str, ...], ...]
    means: tuple[FloatArray, ...]
    stds: tuple[FloatArray, ...]
    mins: tuple[FloatArray, ...]
    maxs: tuple[FloatArray, ...]
    values: tuple[IntArray, ...]
    counts: tuple[IntArray, ...]

    @classmethod
    def learn(cls, schema: Schema, rows: ArrayLike) -> Bins:
        """Quartiles and statistics of encoded training rows."""
        array = schema.check(rows)
        if len(array) == 0:
            raise VeraxError("The quartiles of no rows are not defined; give at least one training row.")
        edges = tuple(
            _quartiles(array[:, place]) if column.is_numeric else np.empty(0)
            for place, column in enumerate(schema.columns)
        )
        assigned = _assign(schema, edges, array)
        statistics = [
            _statistics(array[:, place], assigned[:, place], edges[place], column)
            for place, column in enumerate(schema.columns)
        ]
        means, stds, mins, maxs = (tuple(kind) for kind in zip(*statistics, strict=True))
        seen = [np.unique(assigned[:, place], return_counts=True) for place in range(len(schema))]
        return cls(
            schema=schema,
            edges=edges,
            names=tuple(_bin_names(schema, place, edges[place]) for place in range(len(schema))),
            means=means,
            stds=stds,
            mins=mins,
            maxs=maxs,
            values=tuple(values for values, _ in seen),
            counts=tuple(counts.astype(np.int64) for _, counts in seen),
        )

    @cached_property
    def frequencies(self) -> tuple[FloatArray, ...]:
        """The share of the training rows with each of ``values``."""
        return tuple(counts / counts.sum() for counts in self.counts)

    def assign(self, rows: ArrayLike) -> IntArray:
        """The bin of every number and the code of every category of encoded rows, (n, columns)."""
        return _assign(self.schema, self.edges, self.schema.check(rows))


def _quartiles(values: FloatArray) -> FloatArray:
    present = values[~np.isnan(values)]
    return np.unique(np.percentile(present, [25, 50, 75])) if len(present) else np.empty(0)


def _assign(schema: Schema, edges: tuple[FloatArray, ...], array: FloatArray) -> IntArray:
    bins = np.empty(array.shape, dtype=np.int64)
    for place, column in enumerate(schema.columns):
        values = array[:, place]
        if not column.is_numeric:
            bins[:, place] = values
            continue
        bins[:, place] = np.searchsorted(edges[place], values)
        if column.missing:
            bins[np.isnan(values), place] = len(edges[place]) + 1
    return bins


def _statistics(
    values: FloatArray, bins: IntArray, edges: FloatArray, column: Column
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    if not column.is_numeric:
        nothing = np.empty(0)
        return nothing, nothing, nothing, nothing
    members = [values[bins == place] for place in range(len(edges) + 1)]
    means = [np.mean(member) if len(member) else 0.0 for member in members]
    stds = [(np.std(member) if len(member) else 0.0) + SMALLEST_STD for member in members]
    present = values[~np.isnan(values)]
    lowest, highest = (present.min(), present.max()) if len(present) else (np.nan, np.nan)
    unknown = [np.nan] if column.missing else []
    return (
        np.array(means + unknown),
        np.array(stds + unknown),
        np.array([lowest, *edges, *unknown]),
        np.array([*edges, highest, *unknown]),
    )


def _bin_names(schema: Schema, place: int, edges: FloatArray) -> tuple[str, ...]:
    column = schema.columns[place]
    if column.categories is not None:
        return tuple(schema.describe(place, code) for code in range(len(column.categories)))
    missing = [f"{column.name} is missing"] if column.missing else []
    if len(edges) == 0:
        return (f"{column.name} is known", *missing)
    ends = [column.shown(edge) if column.is_date else f"{edge:.2f}" for edge in edges.tolist()]
    middle = [f"{one} < {column.name} <= {other}" for one, other in pairwise(ends)]
    return (f"{column.name} <= {ends[0]}", *middle, f"{column.name} > {ends[-1]}", *missing)


# Bands that are made by number have edges with so many digits.
DIGITS = 3


@dataclass(frozen=True)
class Bands:
    """Where bands of a number meet, ascending; a number on an edge belongs to the band above it."""

    edges: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the bands are called: "below 10", "10 to 20", "20 or more"."""
        shown = [f"{edge:g}" for edge in self.edges]
        between = [say("common", "band-between", low=low, high=high) for low, high in pairwise(shown)]
        return (
            say("common", "band-below", edge=shown[0]),
            *between,
            say("common", "band-above", edge=shown[-1]),
        )

    def classify(self, numbers: FloatArray) -> IntArray:
        """The number of the band of each."""
        places: IntArray = np.searchsorted(self.edges, numbers, side="right").astype(np.int64)
        return places

    def one_hot(self, numbers: FloatArray) -> FloatArray:
        """Each number as probabilities of bands: 1 for its own, 0 for the others."""
        probabilities: FloatArray = np.eye(len(self.edges) + 1)[self.classify(numbers)]
        return probabilities


def make_bands(wanted: int | str | Sequence[float], numbers: FloatArray) -> Bands:
    """Bands of some numbers.

    Args:
        wanted: how many, each with about equally many of the numbers; or where they meet: [10, 20] or "10,20".
        numbers: the numbers.
    """
    if isinstance(wanted, str):
        parts = [_edge(part) for part in wanted.split(",")]
        wanted = parts if "," in wanted else int(parts[0])
    if isinstance(wanted, int):
        if not 2 <= wanted <= 20:
            raise VeraxError(
                f"bands={wanted} is not from 2 to 20; give a number of bands, or where they meet."
            )
        cut = np.quantile(numbers, np.arange(1, wanted) / wanted)
        edges = tuple(dict.fromkeys(float(f"{edge:.{DIGITS}g}") for edge in cut))
    else:
        edges = tuple(float(edge) for edge in wanted)
    if not edges or not np.isfinite(edges).all() or any(np.diff(edges) <= 0):
        raise VeraxError(
            f"bands={wanted!r} are no ascending numbers; give where bands meet, such as [10, 20]."
        )
    made = Bands(edges)
    empty = [
        name
        for name, count in zip(
            made.names, np.bincount(made.classify(numbers), minlength=len(edges) + 1), strict=True
        )
        if not count
    ]
    if empty:
        raise VeraxError(
            f"No number lies in the band {empty[0]!r}; they go from {numbers.min():g} to {numbers.max():g}: choose "
            "other bands."
        )
    return made


def _edge(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise VeraxError(
            f"bands: {text!r} is no number; write '10,20', or how many bands there are."
        ) from error
