"""Numbers as classes: a column of numbers cut into bands, each of which is a class with a name, from low to high."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from verax.arrays import FloatArray, IntArray
from verax.errors import VeraxError
from verax.phrases import say

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
