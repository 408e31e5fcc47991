"""Counterfactual rows of a table: one to three values replaced, and the prediction stays or flips as wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from verax.arrays import FloatArray
from verax.data.dataset import contents
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.models.base import Inputs, Model
from verax.models.tables import encode_rows
from verax.perturb.counterfactual.changes import (
    Counterfactual,
    ValueChange,
    Wish,
    agreed_classes,
    check_request,
    predicted_classes,
)
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS
from verax.seeds import stream


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
            (model, *others), row, values, Wish(prediction, bool(flip), most_edits), samples, attempts, seed
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
    wish: Wish,
    samples: int,
    attempts: int,
    seed: int,
) -> Counterfactual | None:
    """Draws until a sample is as wished for, by all models, and chooses one."""
    content = next(contents(row[None])).hex()
    for attempt in range(attempts):
        rng = stream(seed, "counterfactual", content, attempt)
        granted, classes = [np.empty((0, len(row)))], [np.empty(0, dtype=np.intp)]
        for block in sample_rows(row, values, wish.most_edits, samples, rng):
            predicted, same = agreed_classes(model.predict_proba(block) for model in models)
            agreed, predicted = block[same], predicted[same]
            right = wish.granted(predicted, np.zeros(len(agreed), dtype=np.intp))
            granted.append(agreed[right])
            classes.append(predicted[right])
        edited, predicted = np.concatenate(granted), np.concatenate(classes)
        if len(edited):
            chosen = int(rng.integers(len(edited)))
            return Counterfactual(
                original=tuple(row.tolist()),
                perturbed=tuple(edited[chosen].tolist()),
                changes=_changes(row, edited[chosen]),
                prediction=wish.prediction,
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
