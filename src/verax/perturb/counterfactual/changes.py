"""A counterfactual input: an input with a few edits, which edits these are, and how one is chosen among many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.errors import VeraxError
from verax.models.base import Inputs, Model


@dataclass(frozen=True)
class WordChange:
    """One word of a text replaced by another.

    Attributes:
        place: the number of the word among the text's words, as ``split_words`` counts them.
        start: where the new word starts in the perturbed text; ``end`` is where it ends, exclusive.
        before: the word as the original has it.
        after: the new word.
    """

    place: int
    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True)
class ValueChange:
    """One value of a table row replaced by another, both as the schema encodes them.

    Attributes:
        column: the column's number.
        before: the original's value.
        after: the new value.
    """

    column: int
    before: float
    after: float


@dataclass(frozen=True)
class Counterfactual:
    """An input with some edits, and what the model predicts before and after.

    Attributes:
        original: the text, or the encoded row as a tuple of numbers.
        perturbed: the same with the edits.
        changes: the edits, in the order of the input; :class:`WordChange` or :class:`ValueChange`.
        prediction: the class that the model predicts for the original.
        perturbed_prediction: the class that it predicts for the perturbed input.
        attempts: how many rounds of samples it took to find one.
        likelihood: how well its least likely word reads where it stands, 0 for as well as the original's; None where
            nobody asked.
    """

    original: str | tuple[float, ...]
    perturbed: str | tuple[float, ...]
    changes: tuple[WordChange, ...] | tuple[ValueChange, ...]
    prediction: int
    perturbed_prediction: int
    attempts: int
    likelihood: float | None = None

    @property
    def edits(self) -> int:
        """How many words or values differ."""
        return len(self.changes)

    @property
    def flipped(self) -> bool:
        """Whether the prediction is another one than the original's."""
        return self.perturbed_prediction != self.prediction


@dataclass(frozen=True)
class Wish:
    """What a perturbed input should be.

    Attributes:
        prediction: the class predicted for the original.
        flip: whether another one is wished for, or the same.
        most_edits: how many edits there should be at most.
    """

    prediction: int
    flip: bool
    most_edits: int

    def granted(self, predicted: IndexArray, edits: IndexArray) -> IndexArray:
        """The places of the samples with the wished prediction and few edits, or with the fewest if none has few.

        Args:
            predicted: the class predicted for each sample.
            edits: how many edits each has.
        """
        right = np.flatnonzero((predicted != self.prediction) == self.flip)
        if len(right) == 0:
            return right
        few: IndexArray = right[edits[right] <= max(self.most_edits, edits[right].min())]
        return few


def agreed_classes(answers: Iterable[FloatArray]) -> tuple[IndexArray, BoolArray]:
    """The class that the first of some models predicts for each sample, and whether the others predict it too.

    Args:
        answers: each model's probabilities.
    """
    first, *others = [probabilities.argmax(axis=1) for probabilities in answers]
    same = np.ones(len(first), dtype=np.bool_)
    for predicted in others:
        same &= predicted == first
    return first, same


def predicted_classes(model: Model, inputs: Inputs) -> list[int]:
    """The class that the model predicts for each input."""
    classes: list[int] = model.predict_proba(inputs).argmax(axis=1).tolist() if len(inputs) else []
    return classes


def check_request(
    model: Model, kind: str, n_inputs: int, flips: Sequence[bool], numbers: dict[str, int]
) -> None:
    """One sentence on the first thing that is wrong with what was asked for.

    Args:
        model: what predicts.
        kind: the kind of inputs that the function perturbs.
        n_inputs: how many there are.
        flips: which of them should change their prediction.
        numbers: arguments by name that must be at least 1.
    """
    if model.kind != kind:
        raise VeraxError(
            f"The model reads inputs of the kind {model.kind!r} but was given {kind} inputs to perturb."
        )
    if not isinstance(flips, Sized) or len(flips) != n_inputs:
        given = len(flips) if isinstance(flips, Sized) else repr(flips)
        raise VeraxError(
            f"There are {n_inputs} inputs but flips are {given}; say of each input whether it flips."
        )
    for name, value in numbers.items():
        if value < 1:
            raise VeraxError(f"{name}={value} finds no counterfactual inputs; give 1 or more.")
