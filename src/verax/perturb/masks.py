"""Masks, and the primitive: for inputs and masks for each, the model's probabilities on every masked variant.

A mask says which features are present in each perturbed variant, one bit a feature and variant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.models.base import Inputs


class Variants(Protocol):
    """Anything that hands out masks in blocks: Masks itself, or something that makes them when needed."""

    @property
    def n_rows(self) -> int:
        """How many variants there are."""

    @property
    def n_features(self) -> int:
        """How many features the variants speak about."""

    def blocks(self, max_rows: int | None = None) -> Iterator[Masks]:
        """The variants in order, in blocks of bounded size."""


# No step unpacks more than this many (variant, feature) cells at a time: 12 MB in double precision.
BLOCK_CELLS = 1_500_000
# No call of a model is given more than this many perturbed rows.
MAX_ROWS = 16_384
# Rows of several inputs go into one call up to this many numbers or characters: more would not fit the cache.
PACK_CELLS = 400_000


@dataclass(frozen=True, eq=False)
class Masks:
    """Variants of one input as bits: row ``f`` of ``words`` holds, for feature ``f``, one bit per variant.

    Stored by feature because every consumer wants it so: trees intersect whole features, linear algebra
    multiplies by them, and a feature of 5,000 variants takes 632 bytes.
    """

    words: NDArray[np.uint64]
    n_rows: int

    @classmethod
    def from_rows(cls, present: BoolArray) -> Masks:
        """Packs a (variants, features) array; True is present."""
        return cls.from_columns(np.ascontiguousarray(present.T))

    @classmethod
    def from_columns(cls, present: BoolArray) -> Masks:
        """Packs a (features, variants) array; True is present."""
        n_features, n_rows = present.shape
        packed = np.zeros((n_features, 8 * -(-n_rows // 64)), dtype=np.uint8)
        packed[:, : -(-n_rows // 8)] = np.packbits(present, axis=1, bitorder="little")
        return cls(packed.view(np.uint64), n_rows)

    @property
    def n_features(self) -> int:
        """How many features the variants speak about."""
        return len(self.words)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.words.nbytes

    def columns(self) -> BoolArray:
        """The (features, variants) array."""
        return np.unpackbits(self.words.view(np.uint8), axis=1, count=self.n_rows, bitorder="little").view(
            np.bool_
        )

    def rows(self) -> BoolArray:
        """The (variants, features) array."""
        return self.columns().T

    def dense(self) -> FloatArray:
        """The (features, variants) array as numbers; the last one asked for is kept."""
        return _dense(self)

    def dense32(self) -> NDArray[np.float32]:
        """The same in single precision."""
        return _dense32(self)

    def select(self, features: IndexArray) -> Masks:
        """The same variants seen through some of the features."""
        return Masks(np.ascontiguousarray(self.words[features]), self.n_rows)

    def blocks(self, max_rows: int | None = None) -> Iterator[Masks]:
        """The variants in order, in blocks of bounded size."""
        rows = max(64, BLOCK_CELLS // max(1, self.n_features))
        if max_rows is not None:
            rows = min(rows, max(64, max_rows))
        step = rows // 64
        if self.n_rows <= step * 64:
            yield self
            return
        for first in range(0, self.words.shape[1], step):
            words = np.ascontiguousarray(self.words[:, first : first + step])
            yield Masks(words, min(step * 64, self.n_rows - first * 64))

    def dot(self, vector: FloatArray) -> FloatArray:
        """For each feature, the sum of ``vector`` over the variants in which it is present."""
        total = np.zeros((self.n_features, *vector.shape[1:]))
        first = 0
        for block in self.blocks():
            total += block.dense() @ vector[first : first + block.n_rows]
            first += block.n_rows
        return total


def full_variants(variants: Variants) -> IndexArray:
    """The places of the variants in which everything is present."""
    found, first = [], 0
    for block in variants.blocks():
        whole = np.bitwise_and.reduce(block.words, axis=0)
        bits = np.unpackbits(whole.view(np.uint8), count=block.n_rows, bitorder="little")
        found.append(first + np.flatnonzero(bits))
        first += block.n_rows
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)


@lru_cache(maxsize=1)
def _dense(masks: Masks) -> FloatArray:
    return masks.columns().astype(np.float64)


@lru_cache(maxsize=1)
def _dense32(masks: Masks) -> NDArray[np.float32]:
    return masks.columns().astype(np.float32)


def distinct_rows(
    columns: BoolArray, numbers: NDArray[np.uint64] | None = None
) -> tuple[IndexArray, IndexArray]:
    """Finds equal variants of a (features, variants) array.

    Args:
        columns: the variants.
        numbers: their :func:`row_numbers`, if they are known already.

    Returns:
        The place of each distinct variant's first occurrence, ascending, and for every variant the number of its
        distinct one.
    """
    if numbers is None and 0 < len(columns) <= 64:  # the bits themselves are the number
        return _first_and_inverse(packed_rows(np.ascontiguousarray(columns.T))[:, 0])
    if numbers is None:
        numbers = row_numbers(columns.astype(np.float64))
    first, inverse = _first_and_inverse(numbers)
    if len(first) == len(numbers):
        return first, inverse
    # Equal variants have equal numbers; that equal numbers mean equal variants is made sure of here.
    again = np.setdiff1d(np.arange(len(numbers)), first, assume_unique=True)
    if np.array_equal(columns[:, again], columns[:, first[inverse[again]]]):
        return first, inverse
    _, exact = np.unique(np.packbits(columns, axis=0), axis=1, return_inverse=True)
    return _first_and_inverse(exact.reshape(-1))


def row_numbers(dense: FloatArray) -> NDArray[np.uint64]:
    """One number per variant of a (features, variants) array of 0 and 1, equal for equal variants, else about never."""
    n_features = len(dense)
    # Sums of 40-bit numbers stay exact in double precision for up to 8,192 features; BLAS adds them up.
    weights = np.random.default_rng(n_features).integers(0, 2**40, (2, n_features)).astype(np.float64)
    numbers = np.zeros((2, dense.shape[1]), dtype=np.uint64)
    for start in range(0, n_features, 4096):
        part = slice(start, start + 4096)
        numbers += (weights[:, part] @ dense[part]).astype(np.uint64)
    return _mixed(numbers)


def packed_rows(by_row: BoolArray) -> NDArray[np.uint64]:
    """The bits of a contiguous (variants, features) array, 64 features a number."""
    n_rows, n_features = by_row.shape
    packed = np.zeros((n_rows, 8 * max(1, -(-n_features // 64))), dtype=np.uint8)
    packed[:, : -(-n_features // 8)] = np.packbits(by_row, axis=1)
    return packed.view(np.uint64)


def packed_numbers(packed: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same as :func:`row_numbers`, of :func:`packed_rows`."""
    return _mixed(np.ascontiguousarray(packed.T))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number per column of a (several, variants) array."""
    mixed = np.zeros(numbers.shape[1], dtype=np.uint64)
    for number in numbers:
        mixed ^= number
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _first_and_inverse(keys: NDArray[np.integer]) -> tuple[IndexArray, IndexArray]:
    """The place of each distinct key's first occurrence, ascending, and the number of each key's distinct one."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(keys)])
    if len(starts) == len(keys):
        each = np.arange(len(keys))
        return each, each
    first = order[starts]
    by_place = np.argsort(first)
    rank = np.empty_like(by_place)
    rank[by_place] = np.arange(len(by_place))
    inverse = np.empty_like(order)
    inverse[order] = np.repeat(rank, np.diff(starts, append=len(keys)))
    return first[by_place], inverse


def all_masks(n_features: int) -> Masks:
    """Every one of the 2**n variants; the first has nothing present, the last everything."""
    numbers = np.arange(2**n_features, dtype=np.uint64)
    return Masks.from_columns(
        (numbers >> np.arange(n_features, dtype=np.uint64)[:, None]) & np.uint64(1) == 1
    )


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Variants of a variant, made when they are needed: itself first, then it without each candidate in turn.

    Stands where Masks stand; a text of 100,000 words would not fit as bits.
    """

    present: BoolArray
    candidates: IndexArray

    @property
    def n_rows(self) -> int:
        """How many variants there are."""
        return 1 + len(self.candidates)

    @property
    def n_features(self) -> int:
        """How many features the variants speak about."""
        return len(self.present)

    def blocks(self, max_rows: int | None = None) -> Iterator[Masks]:
        """The variants in order, in blocks of bounded size."""
        step = max(64, BLOCK_CELLS // max(1, self.n_features))
        if max_rows is not None:
            step = min(step, max_rows)
        for first in range(0, self.n_rows, step):
            last = min(first + step, self.n_rows)
            columns = np.repeat(self.present[:, None], last - first, axis=1)
            removed = np.arange(max(first, 1), last)
            columns[self.candidates[removed - 1], removed - first] = False
            yield Masks.from_columns(columns)


# What stands where a word is absent: nothing, so that the words around it become neighbours, or a mask.
Absent = Literal["dropped", "masked"]
ABSENT: tuple[Absent, ...] = get_args(Absent)


@dataclass(frozen=True, eq=False)
class Prepared:
    """An input ready to be perturbed; each path adds what it needs."""

    features: tuple[str, ...]


class Answer(NamedTuple):
    """What the model says to the variants of one input.

    Attributes:
        probabilities: one row per variant, in the order of the masks.
        rows: how many distinct rows the model was asked for.
        calls: in how many calls.
    """

    probabilities: FloatArray
    rows: int
    calls: int


P = TypeVar("P", bound=Prepared)


class Path(Protocol[P]):
    """A way to build and evaluate the perturbed rows of one sort of model."""

    @property
    def name(self) -> str:
        """For people: which route the perturbed rows take."""

    def prepare(self, inputs: Inputs) -> list[P]:
        """Finds the features of each input and where they lie in the model's own space."""

    def evaluate(self, prepared: Sequence[P], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per input, in order, never holding more than a bounded number of rows."""


R = TypeVar("R")


class Rows(NamedTuple, Generic[R]):
    """Distinct perturbed rows of one input (or a part of them), and which one each variant is."""

    rows: R
    n_rows: int
    inverse: slice | IndexArray
    size: int = 0  # numbers or characters held; rows are packed up to a bound of these as well


def evaluate_packed(
    parts: Iterable[Iterable[Rows[R]]],
    ask: Callable[[Sequence[R]], FloatArray],
    combine: Callable[[list[FloatArray]], FloatArray] = np.concatenate,
) -> Iterator[Answer]:
    """Packs the rows of many inputs into few model calls of at most ``MAX_ROWS`` rows and ``PACK_CELLS`` cells.

    Args:
        parts: for each input, its perturbed rows in parts, none of them longer than ``MAX_ROWS``.
        ask: calls the model on a list of rows objects and returns the probabilities, stacked.
        combine: makes one array of the parts' probabilities.
    """
    waiting: list[tuple[int, Rows[R]]] = []
    answers: dict[int, list[FloatArray]] = {}
    rows: dict[int, int] = {}
    calls: dict[int, int] = {}
    unfinished = 0

    def flush() -> None:
        if not waiting:
            return
        probabilities = ask([part.rows for _, part in waiting])
        first = 0
        for number, part in waiting:
            answers[number].append(probabilities[first : first + part.n_rows][part.inverse])
            rows[number] += part.n_rows
            first += part.n_rows
        for number in {number for number, _ in waiting}:
            calls[number] += 1
        waiting.clear()

    def finished(last: int) -> Iterator[Answer]:
        nonlocal unfinished
        for number in range(unfinished, last):
            yield Answer(combine(answers.pop(number)), rows.pop(number), calls.pop(number))
        unfinished = last

    held = size = 0
    number = -1
    for number, input_parts in enumerate(parts):
        answers[number], rows[number], calls[number] = [], 0, 0
        for part in input_parts:
            if held + part.n_rows > MAX_ROWS or size + part.size > PACK_CELLS:
                flush()
                yield from finished(number)
                held = size = 0
            waiting.append((number, part))
            held += part.n_rows
            size += part.size
    flush()
    yield from finished(number + 1)
