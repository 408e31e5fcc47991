"""Raw table values to numbers and back: one column at a time, with errors that name the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd

    # A table as people have it: a frame, an array, or a list of rows.
    RawRows: TypeAlias = pd.DataFrame | NDArray[np.generic] | Sequence[Sequence[object]]

# What a missing value is called among a categorical column's categories, as in the UCI tables.
MISSING = "?"
# Spellings of "no value" in a column of numbers. In a categorical column only an empty cell and "?" mean
# missing, because "None" or "NA" (Namibia) may well be categories.
MISSING_NUMBERS = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})


def raw_columns(rows: RawRows, names: Sequence[str]) -> list[NDArray[np.object_]]:
    """The columns, in the order of the names, of a DataFrame (by name), a 2D array or a list of rows."""
    if hasattr(rows, "columns") and not isinstance(rows, np.ndarray | Sequence):
        absent = [name for name in names if name not in set(rows.columns)]
        if absent:
            raise VeraxError(
                f"The table has no column {absent[0]!r}; it has: {', '.join(map(str, rows.columns))}."
            )
        return [rows[name].to_numpy(dtype=object) for name in names]
    if isinstance(rows, np.ndarray) and rows.ndim != 2:
        raise VeraxError(
            f"The table has shape {rows.shape}; give a list of rows or an array (rows, columns)."
        )
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise VeraxError(
                f"Row {number} of the table is {row!r}; give a list of rows, each a list of values."
            )
        if len(row) != len(names):
            raise VeraxError(
                f"Row {number} of the table has {len(row)} values but there are {len(names)} columns "
                f"({', '.join(names)}); give one value per column."
            )
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return [_objects(column) for column in columns]


def _objects(values: Sequence[object]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NaN, pandas' NA, an empty text or "?"."""
    if isinstance(value, str):
        return value.strip() in ("", MISSING)
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    # pandas' own missing values are known by name, so that pandas need not be imported here.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def to_category(value: object) -> str:
    """A categorical cell as text: 3.0 and 3 are both "3", missing is "?"."""
    if isinstance(value, str):
        return value.strip() or MISSING
    if is_missing(value):
        return MISSING
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def to_categories(values: NDArray[np.object_]) -> list[str]:
    """A categorical column as texts."""
    if set(map(type, values)) == {str}:
        # Few distinct texts, many cells: each text is looked at once.
        known = {text: to_category(text) for text in set(values)}
        return [known[text] for text in values]
    return [to_category(value) for value in values]


def to_number(value: Any) -> float | None:
    """A numeric cell as a number, NaN if it is missing, None if it is neither."""
    if isinstance(value, str):
        value = value.strip()
        if value.lower() in MISSING_NUMBERS:
            return float("nan")
    elif is_missing(value):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def to_numbers(values: NDArray[np.object_], name: str) -> FloatArray:
    """A numeric column as numbers, NaN where missing; an error names the first cell that is not a number."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        pass  # texts, or missing cells among them: one at a time
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        number = to_number(value)
        if number is None:
            raise VeraxError(
                f"Row {row} has {value!r} in the numeric column {name!r}; give a number, "
                "or declare the column categorical."
            )
        numbers[row] = number
    return numbers


def is_numeric_column(values: NDArray[np.object_]) -> bool:
    """Whether every cell is a number or missing; true/false columns are categories."""
    if any(isinstance(value, (bool, np.bool_)) for value in values):
        return False
    try:
        to_numbers(values, "")
    except VeraxError:
        return False
    return True


def sort_categories(values: list[str]) -> tuple[str, ...]:
    """The distinct categories in a fixed order: as numbers if all are numbers, else as text."""
    distinct = sorted(set(values))
    numbers = {value: to_number(value) for value in distinct if value != MISSING}
    if all(number is not None and np.isfinite(number) for number in numbers.values()):
        return tuple(sorted(distinct, key=lambda value: (numbers.get(value) or 0.0, value)))
    return tuple(distinct)
