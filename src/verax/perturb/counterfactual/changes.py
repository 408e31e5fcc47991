"""Counterfactual inputs: which edits they have, how one is chosen among many, and how rows of a table are found.

Of a row one to three values are replaced, and the prediction stays or flips as wanted. Texts are in `text_changes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.dataset import contents
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.models.base import Inputs, Model
from verax.models.wrappers import encode_rows
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS
from verax.seeds import stream


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
class Goal:
    """What a perturbed input should be.

    Attributes:
        prediction: the class predicted for the original.
        flip: whether another one is wanted, or the same.
        most_edits: how many edits there should be at most.
    """

    prediction: int
    flip: bool
    most_edits: int

    def meeting(self, predicted: IndexArray, edits: IndexArray) -> IndexArray:
        """The places of the samples with the wanted prediction and few edits, or with the fewest if none has few.

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


def column_values(schema: Schema, rows: Inputs) -> tuple[FloatArray, ...]:
    """The values that each column may take: every category; the distinct numbers of some training rows.

    A missing number that occurs in these rows is a value like the others, as a missing category is. Of a column of
    pandas' type category, which may have categories that never occur, it is those of the training rows.
    """
    encoded = encode_rows(rows, schema)
    return tuple(
        np.unique(encoded[:, place])
        if column.categories is None or hasattr(getattr(column.original, "dtype", None), "categories")
        else np.arange(float(len(column.categories)))
        for place, column in enumerate(schema.columns)
    )


def counterfactual_rows(
    model: Model,
    rows: Inputs,
    flips: Sequence[bool],
    schema: Schema,
    values: Sequence[FloatArray],
    *,
    others: Sequence[Model] = (),
    samples: int = 10_000,
    most_edits: int = 3,
    attempts: int = 10,
    seed: int = 0,
) -> list[Counterfactual | None]:
    """For each row a version with some values replaced, whose prediction flips or stays.

    Hase and Bansal (2020, A.2): a sample has one to ``most_edits`` edits, in columns chosen uniformly without
    replacement, each with a new value chosen uniformly among the column's others. Among the samples with the wanted
    prediction one is chosen at random. A result depends on its own row and the seed, never on the other rows.

    Args:
        model: a model of table rows.
        rows: the originals, encoded or raw.
        flips: for each row whether the prediction is to be another class than the original's, or the same.
        schema: the table's columns.
        values: what each column may take; see :func:`column_values`.
        others: models that must predict the same class for a version as ``model`` does.
        samples: how many samples an attempt draws.
        most_edits: how many values are replaced at most.
        attempts: how often to draw before giving up.
        seed: of all draws.

    Returns:
        One result per row, in order; None where every attempt failed.
    """
    encoded = encode_rows(rows, schema)
    numbers = {"samples": samples, "most_edits": most_edits, "attempts": attempts}
    check_request(model, "table", len(encoded), flips, numbers)
    if len(values) != len(schema):
        raise VeraxError(
            f"There are values for {len(values)} columns but the table has {len(schema)}; "
            "give column_values(schema, training_rows)."
        )
    return [
        _find(
            (model, *others), row, values, Goal(prediction, bool(flip), most_edits), samples, attempts, seed
        )
        for row, flip, prediction in zip(encoded, flips, predicted_classes(model, encoded), strict=True)
    ]


def sample_rows(
    row: FloatArray, values: Sequence[FloatArray], most_edits: int, samples: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Draws edited versions of a row, in blocks of bounded size; none if no column has another value to take."""
    others = [_others(column, value) for column, value in zip(values, row.tolist(), strict=True)]
    editable = np.array([place for place, other in enumerate(others) if len(other)], dtype=np.intp)
    n_edits = min(most_edits, len(editable))
    if n_edits == 0:
        return
    step = max(1, min(MAX_ROWS, BLOCK_CELLS // len(row)))
    for first in range(0, samples, step):
        drawn = rng.random((min(step, samples - first), 1 + 2 * len(editable)))
        edits = (drawn[:, 0] * n_edits).astype(np.intp)  # one less than there are
        ranks, shares = drawn[:, 1 : 1 + len(editable)], drawn[:, 1 + len(editable) :]
        highest = np.take_along_axis(np.sort(ranks, axis=1), edits[:, None], axis=1)
        edited = np.repeat(row[None], len(drawn), axis=0)
        for number, place in enumerate(editable.tolist()):
            chosen = np.flatnonzero(ranks[:, number] <= highest[:, 0])
            options = others[place]
            edited[chosen, place] = options[(shares[chosen, number] * len(options)).astype(np.intp)]
        yield edited


def _find(
    models: Sequence[Model],
    row: FloatArray,
    values: Sequence[FloatArray],
    goal: Goal,
    samples: int,
    attempts: int,
    seed: int,
) -> Counterfactual | None:
    """Draws until a sample is as wanted, by all models, and chooses one."""
    content = next(contents(row[None])).hex()
    for attempt in range(attempts):
        rng = stream(seed, "counterfactual", content, attempt)
        meeting, classes = [np.empty((0, len(row)))], [np.empty(0, dtype=np.intp)]
        for block in sample_rows(row, values, goal.most_edits, samples, rng):
            predicted, same = agreed_classes(model.predict_proba(block) for model in models)
            agreed, predicted = block[same], predicted[same]
            right = goal.meeting(predicted, np.zeros(len(agreed), dtype=np.intp))
            meeting.append(agreed[right])
            classes.append(predicted[right])
        edited, predicted = np.concatenate(meeting), np.concatenate(classes)
        if len(edited):
            chosen = int(rng.integers(len(edited)))
            return Counterfactual(
                original=tuple(row.tolist()),
                perturbed=tuple(edited[chosen].tolist()),
                changes=_changes(row, edited[chosen]),
                prediction=goal.prediction,
                perturbed_prediction=int(predicted[chosen]),
                attempts=attempt + 1,
            )
    return None


def _changes(row: FloatArray, edited: FloatArray) -> tuple[ValueChange, ...]:
    differing = np.flatnonzero((row != edited) & ~(np.isnan(row) & np.isnan(edited)))
    return tuple(
        ValueChange(column, float(row[column]), float(edited[column])) for column in differing.tolist()
    )


def _others(values: FloatArray, value: float) -> FloatArray:
    """A column's values without one of them."""
    same = np.isnan(values) if np.isnan(value) else values == value
    return values[~same]
