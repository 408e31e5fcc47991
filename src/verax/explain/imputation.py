"""What a column of a row might be, given the others: multinomial logistic regressions on the training rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.data.bins import Bins
from verax.data.table import Schema
from verax.seeds import stream

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

# As many training rows as a regression learns from; more would make it slow and hardly better.
MOST_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Imputation:
    """For every column the values that it may take, and what tells how likely each is.

    A category may take every category of the training rows; a number the mean of each of its quartiles. A column that
    has one value has no regression, and is never anything else. Without other columns values are as likely as they are
    frequent.
    """

    schema: Schema
    bins: Bins
    values: tuple[FloatArray, ...]
    regressions: tuple[LogisticRegression | None, ...]

    @classmethod
    def learn(cls, schema: Schema, rows: FloatArray) -> Imputation:
        """From encoded training rows: a random choice of them, if there are many."""
        from sklearn.linear_model import LogisticRegression

        if len(rows) > MOST_ROWS:
            rows = rows[stream(0, "imputation", len(rows)).choice(len(rows), MOST_ROWS, replace=False)]
        bins = Bins.learn(schema, rows)
        places = bins.assign(rows)
        parts = _parts(schema, bins, rows)
        values: list[FloatArray] = []
        regressions: list[LogisticRegression | None] = []
        for column in range(len(schema)):
            known = bins.values[column]
            numeric = schema.columns[column].is_numeric
            values.append(bins.means[column][known] if numeric else known.astype(np.float64))
            if len(known) < 2:
                regressions.append(None)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a regression that could be a little better is good enough
                fitted = LogisticRegression(max_iter=200).fit(_others(parts, column), places[:, column])
            regressions.append(fitted)
        return cls(schema, bins, tuple(values), tuple(regressions))

    @property
    def varies(self) -> BoolArray:
        """Whether each column has more than one value."""
        return np.array([regression is not None for regression in self.regressions])

    def variants(self, row: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """For each column the row with every value it may take there, and how likely each value is."""
        parts = _parts(self.schema, self.bins, row[None])
        found = []
        for column, (values, regression) in enumerate(zip(self.values, self.regressions, strict=True)):
            if regression is None:
                found.append((row[None].copy(), np.ones(1)))
                continue
            rows = np.repeat(row[None], len(values), axis=0)
            rows[:, column] = values
            found.append((rows, regression.predict_proba(_others(parts, column))[0]))
        return found


def _parts(schema: Schema, bins: Bins, rows: FloatArray) -> list[FloatArray]:
    """Each column as numbers: an indicator for each bin or category that training rows have."""
    places = bins.assign(rows)
    return [
        (places[:, column, None] == bins.values[column]).astype(np.float64) for column in range(len(schema))
    ]


def _others(parts: Sequence[FloatArray], column: int) -> FloatArray:
    others = [part for place, part in enumerate(parts) if place != column]
    # A column alone is regressed on nothing, and the intercept learns how frequent its values are.
    return np.concatenate(others or [np.zeros((len(parts[column]), 1))], axis=1)
