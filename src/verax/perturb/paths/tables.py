"""Rows of a table: an absent column takes the values of background rows, and the answers are averaged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.models.base import Inputs, Model
from verax.models.tables import TableModel, encode_rows
from verax.perturb.evaluate import Answer, Prepared, Rows, evaluate_packed
from verax.perturb.masks import Variants, distinct_rows
from verax.perturb.paths.encoded_columns import EncodedColumns, encoded_columns
from verax.seeds import stream

# How many background rows stand for "absent" (shap's usual number).
BACKGROUND_ROWS = 100
# Variants are taken in blocks of this many, so that the answers of all background rows are small.
BLOCK_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class TableRow(Prepared):
    """An encoded row, and in which columns each background row agrees with it."""

    values: FloatArray
    same: BoolArray


@dataclass(frozen=True, eq=False)
class TablePath:
    """Perturbs rows of a table by putting background values in."""

    model: Model
    background: FloatArray
    columns: EncodedColumns | None = None
    name: str = "table, background"

    def prepare(self, inputs: Inputs) -> list[TableRow]:
        """Each row, encoded and checked."""
        schema = schema_of(self.model)
        rows = encode_rows(inputs, schema)
        both_missing = np.isnan(rows[:, None, :]) & np.isnan(self.background)
        same = (rows[:, None, :] == self.background) | both_missing
        return [TableRow(schema.names, row, agrees) for row, agrees in zip(rows, same, strict=True)]

    def evaluate(self, prepared: Sequence[TableRow], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per row: probabilities averaged over the background."""
        parts = (self._rows(row, mask) for row, mask in zip(prepared, masks, strict=True))
        return evaluate_packed(parts, self._ask, self._average)

    def _rows(self, row: TableRow, masks: Variants) -> Iterator[Rows[FloatArray]]:
        for block in masks.blocks(BLOCK_ROWS):
            columns = block.columns()
            for background, same in zip(self.background, row.same, strict=True):
                # Where a background row agrees with the input, presence makes no difference: many variants are one.
                present = columns | same[:, None]
                first, inverse = distinct_rows(present)
                rows = np.where(present[:, first].T, row.values, background)
                yield Rows(rows, len(rows), inverse, rows.size)

    def predict(self, rows: FloatArray) -> FloatArray:
        """The model's probabilities of encoded rows, by way of its encoded columns where it has such."""
        answers = None if self.columns is None else self.columns.predict(rows)
        return self.model.predict_proba(rows) if answers is None else answers

    def _ask(self, batches: Sequence[FloatArray]) -> FloatArray:
        return self.predict(np.concatenate(batches))

    def _average(self, answers: list[FloatArray]) -> FloatArray:
        n = len(self.background)
        blocks = [np.mean(answers[first : first + n], axis=0) for first in range(0, len(answers), n)]
        return np.concatenate(blocks)


def schema_of(model: Model) -> Schema:
    """The columns of a model of tables, or a sentence that says how to give them."""
    if model.schema is None:
        raise _needs_reference()
    return model.schema


def reference_rows(model: Model) -> FloatArray:
    """The training rows that a model carries, or a sentence that says how to give them."""
    reference: FloatArray | None = getattr(model, "reference", None)
    if reference is None or model.schema is None:
        raise _needs_reference()
    return reference


def _needs_reference() -> VeraxError:
    return VeraxError(
        "Explaining a model of tables needs some of its training rows for bins and background values; "
        "give them: verax.as_model(..., reference=rows)."
    )


def background_rows(model: Model, count: int = BACKGROUND_ROWS) -> FloatArray:
    """Some of the model's training rows, always the same ones for the same rows."""
    reference = reference_rows(model)
    if len(reference) <= count:
        return reference
    chosen = stream(0, "background", len(reference)).choice(len(reference), count, replace=False)
    return reference[np.sort(chosen)]


def table_path(model: Model) -> TablePath:
    """The path for a model of tables; its own columns are used if they are read one at a time."""
    background = background_rows(model)
    columns = encoded_columns(model, reference_rows(model)) if isinstance(model, TableModel) else None
    return TablePath(model, background, columns)
