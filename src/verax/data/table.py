"""What a table's columns are, and how rows are encoded by them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verax.arrays import FloatArray
from verax.data import encoding
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd

    from verax.data.encoding import RawRows


@dataclass(frozen=True)
class Column:
    """One column: numeric, or categorical with its categories in the order of their codes.

    Attributes:
        name: what people read.
        categories: None for a numeric column. A missing category is a category like the others, "?".
        missing: whether a numeric column may hold missing values (NaN).
        binned: the categories are ranges, from low to high, that already name the column ("Age <= 28.00").
    """

    name: str
    categories: tuple[str, ...] | None = None
    missing: bool = False
    binned: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.categories is None


@dataclass(frozen=True)
class Schema:
    """A table's columns; an encoded row holds numbers as they are and categories as their places."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        twice = {name for name in self.names if self.names.count(name) > 1}
        if twice:
            raise VeraxError(f"The table has two columns called {sorted(twice)[0]!r}; rename one.")

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """The places of the numeric columns."""
        return tuple(place for place, column in enumerate(self.columns) if column.is_numeric)

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """The places of the categorical columns."""
        return tuple(place for place, column in enumerate(self.columns) if not column.is_numeric)

    @cached_property
    def category_counts(self) -> tuple[int, ...]:
        """How many categories each of the categorical columns has."""
        return tuple(len(self.columns[place].categories or ()) for place in self.categorical)

    @classmethod
    def learn(
        cls,
        rows: RawRows,
        names: Sequence[str] | None = None,
        categorical: Collection[str | int] | None = None,
    ) -> Schema:
        """The schema of raw rows: a column is numeric if every value in it is a number or missing.

        Args:
            rows: a DataFrame, a 2D array or a list of rows.
            names: needed unless ``rows`` is a DataFrame.
            categorical: names or places of the categorical columns; all others are then numeric.
        """
        names = _column_names(rows, names)
        columns = []
        declared = _declared(categorical, names)
        for place, values in enumerate(encoding.raw_columns(rows, names)):
            name = names[place]
            numeric = place not in declared if declared is not None else encoding.is_numeric_column(values)
            if numeric:
                missing = bool(np.isnan(encoding.to_numbers(values, name)).any())
                columns.append(Column(name, missing=missing))
            else:
                columns.append(Column(name, encoding.sort_categories(encoding.to_categories(values))))
        return cls(tuple(columns))

    def encode(self, rows: RawRows) -> FloatArray:
        """Raw rows as an (n, columns) array; see :meth:`check` for rows that are encoded already.

        Args:
            rows: a DataFrame (columns found by name, others ignored), a 2D array or a list of raw rows.
        """
        raw = encoding.raw_columns(rows, self.names)
        encoded = np.empty((len(raw[0]) if raw else 0, len(self)))
        for place, (column, values) in enumerate(zip(self.columns, raw, strict=True)):
            if column.categories is None:
                encoded[:, place] = encoding.to_numbers(values, column.name)
            else:
                encoded[:, place] = _codes(values, column.name, column.categories)
        return self.check(encoded)

    def check(self, rows: ArrayLike) -> FloatArray:
        """Encoded rows as a float array, or one sentence on the first value that cannot be."""
        try:
            array = np.asarray(rows, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise VeraxError("These rows are not encoded; call schema.encode(rows) on raw values.") from error
        if array.ndim != 2 or array.shape[1] != len(self):
            raise VeraxError(
                f"The rows have shape {array.shape} but the table has {len(self)} columns; "
                f"give an array of shape (rows, {len(self)})."
            )
        # One sum finds what is rare (NaN, infinity) without a pass per column.
        with np.errstate(all="ignore"):
            suspicious = not np.isfinite(array.sum())
        if suspicious:
            self._check_finite(array)
        self._check_codes(array)
        return array

    def decode(self, rows: ArrayLike) -> pd.DataFrame:
        """Encoded rows as a DataFrame of raw values: numbers, and categories as texts."""
        import pandas as pd

        array = self.check(rows)
        frame: dict[str, NDArray[np.generic]] = {}
        for place, column in enumerate(self.columns):
            values = array[:, place]
            if column.categories is None:
                frame[column.name] = values
            else:
                frame[column.name] = np.array(column.categories, dtype=object)[values.astype(int)]
        return pd.DataFrame(frame)

    def describe(self, column: int, value: float) -> str:
        """An encoded value for people: "Education = Bachelors", "Age = 37", "Age is missing"."""
        name, categories = self.columns[column].name, self.columns[column].categories
        if categories is not None:
            category = categories[int(value)]
            return category if self.columns[column].binned else f"{name} = {category}"
        return f"{name} is missing" if np.isnan(value) else f"{name} = {_short(float(value))}"

    def described(self, row: FloatArray) -> tuple[str, ...]:
        """An encoded row for people, one "column = value" per column."""
        return tuple(self.describe(column, value) for column, value in enumerate(row))

    def _check_finite(self, array: FloatArray) -> None:
        allowed = np.array([column.missing for column in self.columns])
        bad = np.isinf(array) | (np.isnan(array) & ~allowed)
        if not bad.any():
            return
        row, place = (int(index) for index in np.argwhere(bad)[0])
        if np.isinf(array[row, place]):
            raise VeraxError(
                f"Row {row} has an infinite value in column {self.names[place]!r}; "
                "replace it by a number or remove the row."
            )
        raise VeraxError(
            f"Row {row} has a missing value in column {self.names[place]!r}, where none was seen before; "
            "fill it in, or declare the column with missing=True."
        )

    def _check_codes(self, array: FloatArray) -> None:
        codes = array[:, list(self.categorical)]
        good = (codes >= 0) & (codes < np.array(self.category_counts)) & (codes == np.floor(codes))
        if not good.all():
            column = int(np.argmin(good.all(axis=0)))
            row = int(np.argmin(good[:, column]))
            name, count = self.names[self.categorical[column]], self.category_counts[column]
            raise VeraxError(
                f"Row {row} has {codes[row, column]:g} in the categorical column {name!r}, whose "
                f"encoded values are 0 to {count - 1}; call schema.encode(rows) on raw values."
            )


def _column_names(rows: RawRows, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        if not hasattr(rows, "columns"):
            raise VeraxError("A table without column names was given; pass names=[...] or a DataFrame.")
        names = [str(name) for name in rows.columns]
    return tuple(names)


def _declared(categorical: Collection[str | int] | None, names: Sequence[str]) -> set[int] | None:
    if categorical is None:
        return None
    for column in categorical:
        if column not in names and column not in range(len(names)):
            raise VeraxError(
                f"There is no column {column!r} to be categorical; there are: {', '.join(names)}."
            )
    return {names.index(column) if isinstance(column, str) else int(column) for column in categorical}


def _codes(values: NDArray[np.object_], name: str, categories: tuple[str, ...]) -> list[int]:
    code_of = {category: code for code, category in enumerate(categories)}
    texts = encoding.to_categories(values)
    try:
        return [code_of[text] for text in texts]
    except KeyError:
        row = next(row for row, text in enumerate(texts) if text not in code_of)
    some = ", ".join(categories[:8]) + (", ..." if len(categories) > 8 else "")
    what = "no value" if texts[row] == encoding.MISSING else f"the unseen category {texts[row]!r}"
    raise VeraxError(f"Row {row} has {what} in column {name!r}; use one of: {some}.")


def _short(value: float) -> str:
    if value.is_integer():
        return str(int(value))
    return f"{value:.2f}" if abs(value) >= 100 else f"{value:.4g}"
