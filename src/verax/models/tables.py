"""Classifiers of table rows, called with what they were fitted on: an array or a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from verax.arrays import FloatArray
from verax.data.inputs import as_frame, plain_inputs
from verax.models.base import Answer, Inputs, Model, ask

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionArray
    from sklearn.base import BaseEstimator

    from verax.data.table import Schema

    # Rows as people have them: encoded or not, an array, a list of rows or a frame.
    RawRows: TypeAlias = Inputs | pd.DataFrame


@dataclass(frozen=True, eq=False)
class TableModel(Model):
    """A fitted classifier on the rows of a table.

    Attributes:
        estimator: anything fitted with ``predict_proba``.
        schema: the columns, in the estimator's order.
        class_names: one name per class, in the estimator's order.
        reference: encoded training rows, for explainers that need bins or a background; None if not given.
        frames: the estimator was fitted on DataFrames, so rows are decoded to one before it is called.
        originals: for such an estimator, each categorical column's values as the training frame spells them
            (their type, spaces, missing values), by code; a column not in it is decoded to plain texts.
    """

    estimator: BaseEstimator
    schema: Schema = field(repr=False)
    class_names: tuple[str, ...]
    reference: FloatArray | None = field(default=None, repr=False)
    frames: bool = False
    originals: dict[str, ExtensionArray] | None = field(default=None, repr=False)

    kind = "table"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per input, checked.

        Args:
            inputs: encoded rows (a float array), a DataFrame, or a list of rows.
        """
        rows = encode_rows(inputs, self.schema)
        if len(rows) == 0:
            return np.empty((0, len(self.class_names)))
        return ask(self._probabilities, rows, len(rows), len(self.class_names))

    def _probabilities(self, rows: FloatArray) -> Answer:
        return self.estimator.predict_proba(self.as_read(rows))

    def as_read(self, rows: FloatArray) -> FloatArray | pd.DataFrame:
        """Encoded rows as the estimator reads them: as they are, or as the DataFrame that they stand for."""
        if not self.frames:
            return rows
        frame = self.schema.decode(rows)
        for name, values in (self.originals or {}).items():
            frame[name] = values.take(rows[:, self.schema.names.index(name)].astype(np.intp))
        return frame


def encode_rows(rows: RawRows, schema: Schema) -> FloatArray:
    """Rows in any form as a checked float64 array: numbers as they are, categories as their codes.

    Arrays of numbers (and lists of them, one per row) are taken as encoded already; anything else is encoded.
    """
    rows = plain_inputs(rows)
    if isinstance(rows, list):
        if not rows:
            return np.empty((0, len(schema)))
        if all(_is_encoded(row) for row in rows):
            rows = np.stack(rows)
    if (frame := as_frame(rows)) is not None:
        rows = frame.rename(columns=str)  # a frame made of an array calls its columns 0, 1, ...
    return schema.check(rows) if _is_encoded(rows) else schema.encode(rows)


def original_values(frame: pd.DataFrame, encoded: FloatArray, schema: Schema) -> dict[str, ExtensionArray]:
    """Each categorical column's values as a frame spells them, by code: what a model fitted on it knows.

    A column with a category that the frame does not show is left out.
    """
    values = {}
    for place in schema.categorical:
        column = schema.columns[place]
        codes, rows = np.unique(encoded[:, place], return_index=True)
        if len(codes) == len(column.categories or ()):
            values[column.name] = frame[column.name].iloc[rows].array
    return values


def _is_encoded(rows: object) -> bool:
    return isinstance(rows, np.ndarray) and rows.dtype.kind in "fiub"
