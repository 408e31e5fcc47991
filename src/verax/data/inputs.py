"""Inputs as people have them: texts or rows in any container, and raw table values as numbers and categories."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd


# A table as people have it: a frame, an array, or a list of rows.
RawRows: TypeAlias = "pd.DataFrame | NDArray[np.generic] | Sequence[Sequence[object]]"
# One column of it: of a frame with its type, of anything else the bare cells.
RawColumn: TypeAlias = "pd.Series | NDArray[np.object_]"

# What a missing value is called among a categorical column's categories.
MISSING = "missing"
# How the UCI tables write it.
UCI_MISSING = "?"
# Spellings of "no value" in a column of numbers. In a categorical column only an empty cell means missing, because
# "None" or "NA" (Namibia) may well be categories.
MISSING_NUMBERS = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})


def raw_columns(rows: RawRows, names: Sequence[str]) -> list[RawColumn]:
    """The columns, in the order of the names, of a DataFrame (by name), a 2D array or a list of rows."""
    if hasattr(rows, "columns") and not isinstance(rows, np.ndarray | Sequence):
        # A frame made of an array calls its columns 0, 1, ...
        places = {str(label): place for place, label in enumerate(rows.columns)}
        absent = [name for name in names if name not in places]
        if absent:
            raise VeraxError(
                f"The table has no column {absent[0]!r}; it has: {', '.join(map(str, rows.columns))}. Add the "
                "column, or rename the one that is meant."
            )
        return [rows.iloc[:, places[name]] for name in names]
    if isinstance(rows, np.ndarray) and rows.ndim != 2:
        raise VeraxError(
            f"The table has shape {rows.shape}; give a list of rows or an array (rows, columns)."
        )
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            shown = row.item() if isinstance(row, np.generic) else row
            raise VeraxError(
                f"Row {number} of the table is {shown!r}; give a list of rows, each a list of values; one row alone "
                "too, such as frame.iloc[[3]] (rows are counted from 0)."
            )
        if len(row) != len(names):
            raise VeraxError(
                f"Row {number} of the table has {len(row)} values but there are {len(names)} columns "
                f"({', '.join(names)}); give one value per column (rows are counted from 0)."
            )
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return [as_objects(column) for column in columns]


def as_objects(values: Sequence[object]) -> NDArray[np.object_]:
    """Cells as an array of objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def cells_of(values: Any) -> NDArray[np.object_]:
    """The cells of a frame's column, each as it is; categories that are whole numbers do not become fractions."""
    if isinstance(values, np.ndarray):
        return values.astype(object)
    array = getattr(values, "array", values)
    if hasattr(array, "codes"):
        known = as_objects([*array.categories.to_numpy(dtype=object), float("nan")])
        taken: NDArray[np.object_] = known[array.codes]
        return taken
    cells: NDArray[np.object_] = array.to_numpy(dtype=object)
    return cells


def is_date(dtype: Any) -> bool:
    """Whether a type of pandas' or numpy's is one of dates or of durations."""
    return getattr(dtype, "kind", "") in ("m", "M") and (isinstance(dtype, np.dtype) or hasattr(dtype, "tz"))


def has_no_value(value: object) -> bool:
    """Whether a cell of a frame is missing: None, NaN, or pandas' NA or NaT."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    # pandas' own missing values are known by name, so that pandas need not be imported here.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NaN, pandas' NA, an empty text or "?"."""
    return value.strip() in ("", UCI_MISSING) if isinstance(value, str) else has_no_value(value)


def cell_key(value: object) -> Hashable:
    """What tells a cell from others: its kind and its value; a text for each kind of missing value."""
    if has_no_value(value):
        return {"NoneType": "None", "NAType": "NA", "NaTType": "NaT"}.get(type(value).__name__, "NaN")
    kind: type = type(value)
    for plain, other in ((bool, np.bool_), (int, np.integer), (float, np.floating), (str, np.str_)):
        if isinstance(value, (plain, other)):
            kind = plain
            break
    try:
        hash(value)
    except TypeError:
        return kind, repr(value)
    return kind, value


def to_category(value: object) -> str:
    """A categorical cell as text: 3.0 and 3 are both "3"."""
    if isinstance(value, str):
        return value.strip() or MISSING
    if has_no_value(value):
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


def numbers_of(cells: NDArray[np.object_], name: str) -> FloatArray:
    """Cells as numbers, NaN where missing; an error names the first that is none."""
    try:
        return cells.astype(np.float64)
    except (TypeError, ValueError):
        pass  # texts, or missing cells among them: one at a time
    numbers = np.empty(len(cells))
    for row, value in enumerate(cells):
        number = to_number(value)
        if number is None:
            raise VeraxError(
                f"Row {row} has {value!r} in the numeric column {name!r}; give a number, or declare the column "
                "categorical (verax.as_model learns what the columns are from the DataFrame in reference=; rows are "
                "counted from 0)."
            )
        numbers[row] = number
    return numbers


def is_numeric_column(values: RawColumn) -> bool:
    """Whether every cell is a number, a date or missing; true/false columns and the type category are categories."""
    dtype: Any = getattr(values, "dtype", None)
    if hasattr(dtype, "categories") or getattr(dtype, "kind", "") == "b":
        return False
    if getattr(dtype, "kind", "") in ("i", "u", "f") or is_date(dtype):
        return True
    cells = cells_of(values)
    if any(isinstance(value, (bool, np.bool_)) for value in cells):
        return False
    try:
        numbers_of(cells, "")
    except VeraxError:
        return False
    return True


def sort_categories(values: list[str]) -> tuple[str, ...]:
    """The distinct categories in a fixed order: as numbers if all are numbers, else as text."""
    distinct = sorted(set(values))
    numbers = {value: to_number(value) for value in distinct if value != UCI_MISSING}
    if all(number is not None and np.isfinite(number) for number in numbers.values()):
        return tuple(sorted(distinct, key=lambda value: (numbers.get(value) or 0.0, value)))
    return tuple(distinct)


# The column of texts in a table that has others besides.
TEXT_COLUMN = "text"


def plain_inputs(given: Any) -> list[Any] | NDArray[Any] | pd.DataFrame:
    """A batch of inputs without what else its container knows (an index, chunks, a library's own types).

    Args:
        given: a list, tuple or other iterable, an array, a pandas or polars Series or DataFrame, a pyarrow array or
            table, a Hugging Face column or Dataset, or a list of dicts.
    """
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()  # one thing, and no batch of them: told as if it stood there without its array
    if isinstance(given, (str, bytes)):
        raise VeraxError("The model was given one text instead of a list of texts; put it in a list: [text].")
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        import pandas as pd

        return pd.DataFrame.from_records(given)  # a structured array is a table with names
    if isinstance(given, np.ndarray):
        # An array of texts has elements of a class of numpy's own; one of rows is left as it is.
        return given.tolist() if given.ndim == 1 and given.dtype.kind in "UO" else given
    if isinstance(given, list):
        return _frame_of_dicts(given) if given and isinstance(given[0], Mapping) else given
    if isinstance(given, Mapping):
        raise VeraxError(
            f"The inputs are a dict with the keys {', '.join(map(str, given))}; give one of its values, a DataFrame "
            "made of it, or, if it is one row, a list: [row]."
        )
    if (frame := as_frame(given)) is not None:
        return frame
    if hasattr(given, "toarray") and hasattr(given, "nnz"):
        raise VeraxError(
            f"The rows are a sparse matrix ({type(given).__name__}); give them as rows.toarray(), or, if they were "
            "made of texts, the texts and a pipeline that starts with the vectoriser."
        )
    # A pandas index counts for nothing: inputs are in the order in which they stand.
    for method in ("to_pylist", "to_list"):
        if callable(getattr(given, method, None)):
            return list(getattr(given, method)())
    if isinstance(given, Iterable):
        return list(given)
    raise VeraxError(
        f"The inputs are a {type(given).__name__}; give a list of texts, or rows of a table as a DataFrame or array."
    )


def as_frame(given: Any) -> pd.DataFrame | None:
    """A table of any library (pandas, polars, pyarrow, Hugging Face) as a pandas DataFrame; None for anything else."""
    if hasattr(given, "iloc"):
        return given if hasattr(given, "columns") else None
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        import pandas as pd

        return pd.DataFrame.from_records(given)
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):  # polars puts off what it is asked
        given = given.collect()
    if hasattr(given, "to_pandas") and (hasattr(given, "column_names") or hasattr(given, "columns")):
        frame: pd.DataFrame = given.to_pandas()
        return frame
    return None


def texts_in(given: Any) -> list[Any]:
    """The texts of a batch: of a table those of its only column, or of the one called ``text``."""
    inputs = plain_inputs(given)
    if (frame := as_frame(inputs)) is not None:
        names = [str(name) for name in frame.columns]
        if len(names) != 1 and TEXT_COLUMN not in names:
            raise VeraxError(
                f"The model reads texts and was given a table with the columns {', '.join(names)}; give the column "
                "of the texts alone, such as frame['review']."
            )
        place = names.index(TEXT_COLUMN) if TEXT_COLUMN in names else 0
        return list(frame.iloc[:, place].tolist())
    return inputs if isinstance(inputs, list) else list(inputs)


def plain_targets(targets: Any) -> Any:
    """Classes to explain, one per input, as a plain list; what is no batch of them is left for others to refuse."""
    if isinstance(targets, np.ndarray) and targets.ndim == 0:
        return targets.item()
    if targets is None or isinstance(targets, (str, bytes, int, list)) or not isinstance(targets, Iterable):
        return targets
    values = plain_inputs(targets)
    return values.tolist() if isinstance(values, np.ndarray) else values


def _frame_of_dicts(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows))
