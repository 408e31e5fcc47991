"""What a table's columns are, which of them are one feature together, and how rows are encoded by them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray, IndexArray
from verax.data.inputs import MISSING, is_numeric_column, raw_columns
from verax.data.original import remember_categories, remember_codes, remember_numbers, to_codes, to_numbers
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd

    from verax.data.inputs import RawRows
    from verax.data.original import Original


# Between the name of a category and one of its values.
SEPARATORS = ("_", "=", " ", ":", ".", "-")
Groups = tuple[tuple[str, tuple[str, ...]], ...]


def check_groups(names: Sequence[str], groups: Groups) -> None:
    """Refuses groups with columns that are not there, or in two of them, or a name that a column has."""
    seen: dict[str, str] = {}
    for group, columns in groups:
        if not columns:
            raise VeraxError(f"The group {group!r} has no columns; name some or leave it out.")
        for column in columns:
            if column not in names:
                raise VeraxError(
                    f"The group {group!r} has a column {column!r} that the table lacks; there are: {', '.join(names)}."
                )
            if column in seen:
                raise VeraxError(
                    f"The column {column!r} is in the groups {seen[column]!r} and {group!r}; put it in one of them."
                )
            seen[column] = group
        if group in names and group not in columns:
            raise VeraxError(
                f"A group is called {group!r}, as is a column outside of it; give it another name."
            )


def find_groups(wanted: Any, names: Sequence[str], rows: FloatArray | None) -> Groups:
    """Groups as somebody gives them: by name, or "one-hot" for all one-hot columns that can be told from the rows.

    Args:
        wanted: a dict from a name to columns; "one-hot"; or None.
        names: the table's columns.
        rows: encoded training rows.
    """
    if wanted is None:
        return ()
    if wanted == "one-hot":
        if rows is None:
            raise VeraxError("groups='one-hot' finds groups in training rows; give them: reference=rows.")
        return one_hot_groups(names, rows)
    if not isinstance(wanted, Mapping):
        raise VeraxError("groups= is a dict from a feature's name to its columns, or 'one-hot'.")
    return tuple(
        (str(name), (columns,) if isinstance(columns, str) else tuple(str(column) for column in columns))
        for name, columns in wanted.items()
    )


def one_hot_groups(names: Sequence[str], rows: FloatArray) -> Groups:
    """Columns of 0 and 1 whose names begin alike, of which each row has one that is 1 (or at most one)."""
    flags = [number for number in range(len(names)) if np.isin(np.unique(rows[:, number]), (0.0, 1.0)).all()]
    by_start: dict[str, list[int]] = {}
    for number in flags:
        for separator in SEPARATORS:
            start, found, _ = names[number].partition(separator)
            while found and start:
                by_start.setdefault(start, []).append(number)
                rest = names[number][len(start) + len(separator) :]
                further, found, _ = rest.partition(separator)
                start = f"{start}{separator}{further}" if found else ""
    groups: list[tuple[str, tuple[str, ...]]] = []
    taken: set[int] = set()
    # The longest beginnings first: "marital-status_single" is one of "marital-status", not of "marital".
    for start in sorted(by_start, key=lambda start: (-len(by_start[start]), -len(start))):
        columns = [number for number in dict.fromkeys(by_start[start]) if number not in taken]
        if (
            len(columns) >= 2
            and (rows[:, columns].sum(axis=1) <= 1.0).all()
            and rows[:, columns].any(axis=0).sum() > 1
        ):
            groups.append((start, tuple(names[number] for number in columns)))
            taken.update(columns)
    return tuple(groups)


@dataclass(frozen=True)
class Column:
    """One column: numeric, or categorical with its categories in the order of their codes.

    Attributes:
        name: what people read.
        categories: None for a numeric column. A missing category is a category like the others, "missing".
        missing: whether a numeric column may hold missing values (NaN).
        binned: the categories are ranges, from low to high, that already name the column ("Age <= 28.00").
        original: what the column was in the DataFrame that it was learned from, if it was: its type and its very
            cells, which a model that was fitted on such a frame is asked with.
    """

    name: str
    categories: tuple[str, ...] | None = None
    missing: bool = False
    binned: bool = False
    original: Original | None = field(default=None, repr=False, compare=False)

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.categories is None

    @property
    def is_date(self) -> bool:
        """Whether the numbers are those of dates or durations."""
        return self.categories is None and self.original is not None and self.original.is_date

    def lacks_value(self, value: float) -> bool:
        """Whether an encoded value is a missing one."""
        if self.categories is None:
            return bool(np.isnan(value))
        if self.original is None:
            return self.categories[int(value)] == MISSING
        return int(value) in self.original.missing_codes

    def shown(self, value: float) -> str:
        """An encoded value as people read it."""
        if self.categories is not None:
            return self.categories[int(value)]
        if np.isnan(value):
            return MISSING
        if self.is_date and self.original is not None:
            date = str(self.original.restore(np.array([float(value)])).iloc[0])
            return date.removesuffix(" 00:00:00")
        return _short(float(value))

    def plain(self) -> dict[str, object]:
        """As plain data: all but what it was in a frame."""
        return {
            "name": self.name, "categories": self.categories, "missing": self.missing, "binned": self.binned,
        }  # fmt: skip


@dataclass(frozen=True)
class Schema:
    """A table's columns; an encoded row holds numbers as they are and categories as their places.

    Attributes:
        columns: all of them.
        groups: columns that are one feature together, by the name of that feature; the others are a feature each.
    """

    columns: tuple[Column, ...]
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        check_groups(self.names, self.groups)
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
    def features(self) -> tuple[str, ...]:
        """What explanations speak about: groups of columns, and the columns that are in none, in the table's order."""
        group_of = {column: name for name, columns in self.groups for column in columns}
        return tuple(dict.fromkeys(group_of.get(name, name) for name in self.names))

    @cached_property
    def feature_of(self) -> IndexArray:
        """For each column, the number of the feature that it belongs to."""
        group_of = {column: name for name, columns in self.groups for column in columns}
        place = {name: number for number, name in enumerate(self.features)}
        return np.array([place[group_of.get(name, name)] for name in self.names], dtype=np.intp)

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
        """The schema of raw rows: a column is numeric if every value in it is a number, a date or missing.

        Of a DataFrame it remembers the types and the very cells, missing ones too; see :meth:`decode`.

        Args:
            rows: a DataFrame, a 2D array or a list of rows.
            names: needed unless ``rows`` is a DataFrame.
            categorical: names or places of the categorical columns; all others are then numeric.
        """
        names = _column_names(rows, names)
        columns = []
        declared = _declared(categorical, names)
        for place, values in enumerate(raw_columns(rows, names)):
            name = names[place]
            numeric = place not in declared if declared is not None else is_numeric_column(values)
            if numeric:
                numbers = to_numbers(values, name)
                original = remember_numbers(values, numbers)
                columns.append(Column(name, missing=bool(np.isnan(numbers).any()), original=original))
            else:
                categories, original = remember_categories(values)
                columns.append(Column(name, categories, original=original))
        return cls(tuple(columns))

    def encode(self, rows: RawRows) -> FloatArray:
        """Raw rows as an (n, columns) array; see :meth:`check` for rows that are encoded already.

        Args:
            rows: a DataFrame (columns found by name, others ignored), a 2D array or a list of raw rows.
        """
        raw = raw_columns(rows, self.names)
        encoded = np.empty((len(raw[0]) if raw else 0, len(self)))
        for place, (column, values) in enumerate(zip(self.columns, raw, strict=True)):
            if column.categories is None:
                encoded[:, place] = to_numbers(values, column.name, column.original)
            else:
                encoded[:, place] = to_codes(values, column.name, column.categories, column.original)
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

    def decode(self, rows: ArrayLike, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Encoded rows as a DataFrame of raw values.

        Where the schema was learned from a DataFrame, each column has the type that it had there and its very cells,
        missing ones of the same kind; else numbers are floating-point ones and categories texts.

        Args:
            rows: encoded rows.
            names: the columns, in the order that is wanted; all of them by default.
        """
        import pandas as pd

        array = self.check(rows)
        places = range(len(self)) if names is None else [self.names.index(name) for name in names]
        made = [self._raw(self.columns[place], array[:, place]) for place in places]
        labels = [
            self.names[place] if (own := self.columns[place].original) is None else own.label
            for place in places
        ]
        frame = pd.DataFrame(dict(enumerate(made)), index=range(len(array)))
        frame.columns = pd.Index(labels, dtype=None if labels else object)
        return frame

    def _raw(self, column: Column, encoded: FloatArray) -> pd.Series:
        import pandas as pd

        if column.original is not None:
            return column.original.restore(encoded)
        if column.categories is None:
            return pd.Series(encoded)
        cells = [
            np.nan if column.lacks_value(code) else column.categories[code]
            for code in range(len(column.categories))
        ]
        return pd.Series(np.array(cells, dtype=object)[encoded.astype(np.intp)])

    def remembering(self, frame: pd.DataFrame) -> Schema:
        """The same columns, which remember their types and cells as a frame has them, unless they do already."""
        if all(column.original is not None for column in self.columns):
            return self
        encoded = self.encode(frame)
        columns = []
        for place, values in enumerate(raw_columns(frame, self.names)):
            column = self.columns[place]
            if column.original is not None or column.binned:
                original = column.original
            elif column.categories is None:
                original = remember_numbers(values, encoded[:, place])
            else:
                original = remember_codes(values, encoded[:, place], column.categories)
            columns.append(replace(column, original=original))
        return Schema(tuple(columns), self.groups)

    def describe(self, column: int, value: float) -> str:
        """An encoded value for people: "Education = Bachelors", "Age = 37", "Age is missing"."""
        known = self.columns[column]
        if known.binned:
            return known.shown(value)
        return f"{known.name} {'is' if known.lacks_value(value) else '='} {known.shown(value)}"

    def described(self, row: FloatArray) -> tuple[str, ...]:
        """An encoded row for people, one "column = value" per column."""
        # Numbers are most of what there is, and are written without a detour.
        plain = self._plain_numbers
        return tuple(
            f"{name} = {_short(value)}"
            if name is not None and not isnan(value)
            else self.describe(column, value)
            for column, (name, value) in enumerate(zip(plain, row.tolist(), strict=True))
        )

    @cached_property
    def _plain_numbers(self) -> tuple[str | None, ...]:
        """The names of the columns of numbers that are no dates; None for the others."""
        return tuple(
            column.name if column.is_numeric and not column.is_date else None for column in self.columns
        )

    def _check_finite(self, array: FloatArray) -> None:
        allowed = np.array([column.missing for column in self.columns])
        bad = np.isinf(array) | (np.isnan(array) & ~allowed)
        if not bad.any():
            return
        row, place = (int(index) for index in np.argwhere(bad)[0])
        if np.isinf(array[row, place]):
            raise VeraxError(
                f"Row {row} has an infinite value in column {self.names[place]!r}; "
                "replace it by a number or remove the row (rows are counted from 0)."
            )
        raise VeraxError(
            f"Row {row} has a missing value in column {self.names[place]!r}, where none was seen before; fill it in, "
            "add a row that lacks one to reference=, or declare the column with missing=True (rows are counted from 0)."
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
                f"encoded values are 0 to {count - 1}; call schema.encode(rows) on raw values "
                "(rows are counted from 0)."
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


def _short(value: float) -> str:
    if value.is_integer():
        return str(int(value))
    return f"{value:.2f}" if abs(value) >= 100 else f"{value:.4g}"
