"""Rows of a table in which absent columns take the values of training rows that are like the input in what is present.

Values of other rows at random (the default) make rows that never occur where columns depend on each other. Here each
variant has its own rows: those nearest to the input in the columns that it keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from verax.arrays import FloatArray
from verax.models.base import Inputs, Model
from verax.models.wrappers import encode_rows
from verax.perturb.masks import Answer, Masks, Prepared, Variants, distinct_rows
from verax.perturb.paths.tables import TablePath, background_rows, schema_of, table_path

# Among so many training rows, so many nearest ones stand in.
POOL, NEAREST = 1_000, 20


@dataclass(frozen=True, eq=False)
class ConditionalRow(Prepared):
    """An encoded row.

    Attributes:
        values: the row.
        apart: (features, training rows): how far each of these is from it, by feature.
    """

    values: FloatArray
    apart: FloatArray


@dataclass(frozen=True, eq=False)
class ConditionalPath:
    """Perturbs rows by the values of similar training rows."""

    model: Model
    name: str = "table, conditional"

    @property
    def fallback(self) -> str:
        """Why a model with trees is asked row by row; see :class:`TablePath`."""
        return self._whole.fallback

    @cached_property
    def pool(self) -> FloatArray:
        """The training rows that may stand in."""
        return background_rows(self.model, POOL)

    @cached_property
    def _whole(self) -> TablePath:
        """What answers to whole rows, fast where it can."""
        return table_path(self.model)

    @cached_property
    def _spread(self) -> FloatArray:
        """By what differences in each numeric column are divided; 1 for categories, which differ or do not."""
        spread = np.ones(self.pool.shape[1])
        for place in schema_of(self.model).numeric:
            known = self.pool[~np.isnan(self.pool[:, place]), place]
            spread[place] = float(known.std()) if len(known) and known.std() > 0 else 1.0
        return spread

    def prepare(self, inputs: Inputs) -> list[ConditionalRow]:
        """Each row with its distances."""
        schema = schema_of(self.model)
        return [ConditionalRow(schema.features, row, self._apart(row)) for row in encode_rows(inputs, schema)]

    def evaluate(self, prepared: Sequence[ConditionalRow], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per row: averaged over the nearest rows; the model's own where nothing is absent."""
        for row, variants in zip(prepared, masks, strict=True):
            parts = [self._answer(row, block) for block in variants.blocks(256)]
            probabilities = np.concatenate([part for part, _ in parts])
            yield Answer(probabilities, sum(rows for _, rows in parts), 2 * len(parts))

    def _answer(self, row: ConditionalRow, block: Masks) -> tuple[FloatArray, int]:
        first, inverse = distinct_rows(block.columns())
        present = block.rows()[first]
        count = min(NEAREST, len(self.pool))
        # Equally near rows are taken in their order, so that nothing depends on the machine.
        nearest = np.argsort(present.astype(np.float64) @ row.apart, axis=1, kind="stable")[:, :count]
        kept = present[:, None, schema_of(self.model).feature_of]
        rows = np.where(kept, row.values, self.pool[nearest]).reshape(-1, len(row.values))
        answers = self._whole.predict(rows).reshape(len(present), count, -1).mean(axis=1)
        whole = present.all(axis=1)
        if whole.any():
            answers[whole] = self.model.predict_proba(row.values[None])[0]
        return answers[inverse], len(rows)

    def _apart(self, row: FloatArray) -> FloatArray:
        schema = schema_of(self.model)
        with np.errstate(invalid="ignore"):
            differences = np.abs(self.pool - row) / self._spread
        gone = np.isnan(self.pool), np.isnan(row)
        # A missing number is like another missing one, and a standard deviation from any other.
        differences = np.where(gone[0] | gone[1], np.where(gone[0] & gone[1], 0.0, 1.0), differences)
        categorical = list(schema.categorical)
        differences[:, categorical] = (self.pool != row)[:, categorical]
        apart = np.zeros((len(schema.features), len(self.pool)))
        np.add.at(apart, schema.feature_of, differences.T)
        return apart
