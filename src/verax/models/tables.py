"""Classifiers and regressors of table rows, called with what they were fitted on: an array or a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from verax.arrays import FloatArray
from verax.data.inputs import as_frame, plain_inputs
from verax.models.base import Answer, Inputs, Model, ask

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator

    from verax.data.table import Schema

    # Rows as people have them: encoded or not, an array, a list of rows or a frame.
    RawRows: TypeAlias = Inputs | pd.DataFrame


@dataclass(frozen=True, eq=False)
class TableModel(Model):
    """A fitted classifier or regressor on the rows of a table.

    Attributes:
        estimator: anything fitted with ``predict_proba``, or with ``predict`` if it predicts a number.
        schema: the table's columns.
        class_names: one name per class, in the estimator's order; of a regressor the name of the number.
        reference: encoded training rows, for explainers that need bins or a background; None if not given.
        columns: of an estimator that was fitted on DataFrames, their columns in that order: rows become such a frame
            before it is called. Empty for one that reads encoded rows.
        output: what it predicts, "classes" or a "number".
    """

    estimator: BaseEstimator
    schema: Schema = field(repr=False)
    class_names: tuple[str, ...]
    reference: FloatArray | None = field(default=None, repr=False)
    columns: tuple[str, ...] = field(default=(), repr=False)
    output: str = "classes"

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
        if self.output == "number":
            return self.estimator.predict(self.as_read(rows))
        return self.estimator.predict_proba(self.as_read(rows))

    @property
    def frames(self) -> bool:
        """Whether the estimator reads DataFrames."""
        return bool(self.columns)

    def as_read(self, rows: FloatArray) -> FloatArray | pd.DataFrame:
        """Encoded rows as the estimator reads them: as they are, or as the DataFrame that they stand for."""
        return self.schema.decode(rows, self.columns) if self.columns else rows

    def in_order(self, rows: FloatArray) -> FloatArray:
        """Encoded rows with the columns that the estimator reads, in its order."""
        return rows[:, [self.schema.names.index(name) for name in self.columns]] if self.columns else rows


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
        rows = frame
    return schema.check(rows) if _is_encoded(rows) else schema.encode(rows)


def _is_encoded(rows: object) -> bool:
    return isinstance(rows, np.ndarray) and rows.dtype.kind in "fiub"
