"""The primitive: for a batch of inputs and masks for each, the model's probabilities on every masked variant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.models.base import Inputs
from verax.perturb.masks import MAX_ROWS, PACK_CELLS, Variants

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
