"""What a table's columns were in the DataFrame that they were learned from: their types, and their very cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray
from verax.data.inputs import (
    MISSING,
    UCI_MISSING,
    as_objects,
    cell_key,
    cells_of,
    has_no_value,
    is_date,
    is_missing,
    numbers_of,
    sort_categories,
    to_categories,
    to_category,
    to_number,
)
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionArray, ExtensionDtype

    from verax.data.inputs import RawColumn

# Whole numbers up to this one are floating-point numbers too, each of its own.
MOST_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Original:
    """A column as it stood in the DataFrame that a schema was learned from: what a model was fitted on.

    Attributes:
        label: what the frame calls the column.
        dtype: its type; that of categories holds all of them, in their order.
        cells: the very cells, by their codes. Of numbers, those that ``numbers`` stand for, where the type does not
            tell (numbers as text or as objects); None where it does.
        numbers: what those cells are encoded as, ascending, a missing one last; None for categories.
        exact: whether no two different cells are encoded as one number ("?" and "NA" as missing).
    """

    label: Hashable
    dtype: ExtensionDtype | np.dtype[Any]
    cells: ExtensionArray | None = None
    numbers: FloatArray | None = None
    exact: bool = True

    def restore(self, encoded: FloatArray) -> pd.Series:
        """Encoded values as the column of a frame: the cells that they stand for, of the column's own type."""
        import pandas as pd

        if self.cells is None:
            return _of_type(encoded, self.dtype)
        if self.numbers is None:
            return pd.Series(self.cells.take(encoded.astype(np.intp)), dtype=self.dtype)
        places = np.searchsorted(self.numbers, encoded)
        known = self.known(encoded)
        if known.all():
            return pd.Series(self.cells.take(places), dtype=self.dtype)
        if self.holds_texts:
            raise VeraxError(
                f"The column {self.label!r} holds numbers as text, and none of its texts is for "
                f"{encoded[~known][0]:g}; give one of its own."
            )
        if self.dtype != np.dtype(object):
            return _of_type(encoded, self.dtype)
        cells = as_objects([int(value) if value.is_integer() else value for value in encoded.tolist()])
        cells[known] = self.cells.take(places[known])
        return pd.Series(cells, dtype=object)

    def known(self, encoded: FloatArray) -> BoolArray:
        """Which numbers are those of a cell."""
        if self.numbers is None:
            return np.ones(len(encoded), dtype=np.bool_)
        found = self.numbers.take(np.searchsorted(self.numbers, encoded), mode="clip")
        same: BoolArray = (found == encoded) | (np.isnan(found) & np.isnan(encoded))
        return same

    @cached_property
    def continuous(self) -> bool:
        """Whether a number between two of the column's may stand in it as well as these."""
        return self.cells is None and self.dtype.kind == "f"

    @cached_property
    def is_date(self) -> bool:
        """Whether the numbers count time."""
        return is_date(self.dtype)

    @cached_property
    def holds_texts(self) -> bool:
        """Whether numbers are written as text."""
        return self.cells is not None and any(isinstance(cell, str) for cell in self.cells)

    @cached_property
    def codes(self) -> dict[Hashable, int]:
        """The code of each cell, by what tells it from others."""
        return {cell_key(cell): code for code, cell in enumerate(cells_of(self.cells))}

    @cached_property
    def missing_codes(self) -> tuple[int, ...]:
        """The codes of cells without a value; an object column may have several kinds of them."""
        return tuple(code for key, code in self.codes.items() if isinstance(key, str))


def _of_type(encoded: FloatArray, dtype: Any) -> pd.Series:
    """Numbers as a column of a type; as fractions where there are some among whole numbers."""
    import pandas as pd

    if is_date(dtype):
        unit = dtype.unit if hasattr(dtype, "unit") else np.datetime_data(dtype)[0]
        gone = np.isnan(encoded)
        counted = np.where(gone, 0, encoded).astype(np.int64)
        counted[gone] = np.iinfo(np.int64).min  # how not-a-time is written
        times = pd.Series(counted.view(f"{dtype.kind}8[{unit}]"))
        zone = getattr(dtype, "tz", None)
        return times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
    column = pd.Series(encoded)
    if dtype == column.dtype:
        return column
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        with np.errstate(invalid="ignore"):
            whole = encoded.astype(dtype)
        return pd.Series(whole) if np.array_equal(whole, encoded) else column
    try:
        return column.astype(dtype)
    except (TypeError, ValueError, ArithmeticError):
        return column if isinstance(dtype, np.dtype) else column.astype("Float64")


def remember_numbers(values: RawColumn, numbers: FloatArray) -> Original | None:
    """What a numeric column of a frame was; None for bare cells."""
    if isinstance(values, np.ndarray):
        return None
    plain = Original(values.name, values.dtype)
    if values.dtype != np.dtype(object):
        try:
            restored = plain.restore(numbers)
        except (TypeError, ValueError):
            restored = None
        if restored is not None and restored.equals(values.reset_index(drop=True)):
            return plain
    known, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    keys = [cell_key(cell) for cell in cells_of(values)]
    exact = all(keys[first[place]] == key for place, key in zip(inverse.reshape(-1), keys, strict=True))
    return Original(values.name, values.dtype, values.array.take(first), known, exact)


def remember_categories(values: RawColumn) -> tuple[tuple[str, ...], Original | None]:
    """The categories of a column, in the order of their codes, as people read them; and what they were in a frame."""
    if isinstance(values, np.ndarray):
        texts = set(to_categories(values))
        last = (MISSING,) if MISSING in texts else ()
        return sort_categories([text for text in texts if text != MISSING]) + last, None
    dtype: Any = values.dtype
    if hasattr(dtype, "categories"):
        cells = values.array[:0].from_codes(
            [*range(len(dtype.categories)), *([-1] if values.isna().any() else [])], dtype=dtype
        )
        return tuple(_readable(cells_of(cells))), Original(values.name, dtype, cells)
    first: dict[Hashable, int] = {}
    for row, cell in enumerate(cells_of(values)):
        first.setdefault(cell_key(cell), row)
    found = values.array.take(list(first.values()))
    texts_of = _readable(cells_of(found))
    present = [text for text, key in zip(texts_of, first, strict=True) if not isinstance(key, str)]
    gone = [text for text, key in zip(texts_of, first, strict=True) if isinstance(key, str)]
    ordered = (*sort_categories(present), *sorted(gone))
    order = [texts_of.index(text) for text in ordered]
    return ordered, Original(values.name, dtype, found.take(order))


def remember_codes(values: RawColumn, codes: FloatArray, categories: Sequence[str]) -> Original | None:
    """What a column with declared categories was; None for bare cells, or if a category cannot be of its type."""
    if isinstance(values, np.ndarray):
        return None
    import pandas as pd

    dtype: Any = values.dtype
    given = cells_of(values)
    keys = [cell_key(cell) for cell in given]
    first = {int(code): row for row, code in reversed(list(enumerate(codes.tolist())))}
    exact = all(keys[first[int(code)]] == key for code, key in zip(codes.tolist(), keys, strict=True))
    # A category that the frame does not show is taken as it is written.
    written = [to_number(text) if dtype.kind in "iuf" else text for text in categories]
    cells = [given[first[code]] if code in first else written[code] for code in range(len(categories))]
    try:
        made = pd.Series(as_objects(cells), dtype=object).astype(dtype)
    except (TypeError, ValueError):
        return None
    return Original(values.name, dtype, made.array, exact=exact)


def _readable(cells: NDArray[np.object_]) -> list[str]:
    """Cells as texts, each another one: " a" and "a" are told apart by their quotes, two kinds of missing by name."""
    texts = [
        (cell.strip() or repr(cell)) if isinstance(cell, str) else to_category(cell)
        for cell in cells.tolist()
    ]
    often = Counter(texts)
    for place, (text, cell) in enumerate(zip(texts, cells.tolist(), strict=True)):
        if often[text] > 1:
            texts[place] = f"{MISSING} ({cell_key(cell)})" if has_no_value(cell) else repr(cell)
    often = Counter(texts)
    for place, (text, cell) in enumerate(zip(texts, cells.tolist(), strict=True)):
        if often[text] > 1:
            texts[place] = f"{text} ({type(cell).__name__}, {place})"
    return texts


def to_numbers(values: RawColumn, name: str, original: Original | None = None) -> FloatArray:
    """A numeric column as numbers, NaN where missing; an error names the first cell that is not a number.

    Args:
        values: the cells.
        name: of the column.
        original: what the column was where it was learned: which type dates have, and which texts it knows.
    """
    dtype = getattr(values, "dtype", np.dtype(object))
    if original is not None and original.is_date:
        numbers = _times(values, name, original.dtype)
    elif is_date(dtype):
        numbers = _times(values, name, dtype)
    elif dtype.kind in "iuf":
        numbers = np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))  # type: ignore[union-attr]
    else:
        numbers = numbers_of(cells_of(values), name)
    if original is not None:
        _check_exact(values, numbers, name, original)
    return numbers


def _times(values: RawColumn, name: str, dtype: Any) -> FloatArray:
    """Dates, or durations, as what has passed in units of their type."""
    import pandas as pd

    try:
        times = pd.Series(values).reset_index(drop=True).astype(dtype)
    except (TypeError, ValueError) as error:
        raise VeraxError(f"The column {name!r} holds dates, and some value is none ({error}).") from error
    if getattr(dtype, "tz", None) is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    counted = times.to_numpy()
    return np.where(np.isnat(counted), np.nan, counted.view(np.int64).astype(np.float64))


def _check_exact(values: RawColumn, numbers: FloatArray, name: str, original: Original) -> None:
    """Refuses what would come back as another cell: a text that was never seen, a number with too many digits."""
    bad = ~original.known(numbers) if original.holds_texts else np.zeros(len(numbers), dtype=np.bool_)
    large = np.abs(numbers) > MOST_EXACT
    if large.any() and original.dtype.kind in "iuMm" and getattr(values, "dtype", None) == original.dtype:
        same = original.restore(numbers).array == values.array  # type: ignore[union-attr]
        bad |= large & ~np.asarray(same, dtype=np.bool_)
    if bad.any():
        row = int(np.argmax(bad))
        what = (
            "a text that no training row has" if original.holds_texts else "with too many digits to be exact"
        )
        raise VeraxError(
            f"Row {row} has {cells_of(values)[row]!r} in column {name!r}, {what}; add it to the rows of reference=, "
            "or turn the column into plain numbers."
        )


def to_codes(
    values: RawColumn, name: str, categories: Sequence[str], original: Original | None
) -> NDArray[np.intp]:
    """The code of each cell of a categorical column; an error names the first that is none of the categories.

    A column of the type that was learned must hold the very same cells. Of any other the texts decide.
    """
    same_type = original is not None and getattr(values, "dtype", None) == original.dtype
    by_text = {text: code for code, text in reversed(list(enumerate(categories)))}
    missing = original.missing_codes if original is not None else ()
    known = original.codes if original is not None else {}

    def code_of(key: Hashable, cell: object) -> int | None:
        if key in known:
            return known[key]
        empty = has_no_value(cell) or (isinstance(values, np.ndarray) and is_missing(cell))
        if same_type and (original is None or original.dtype == np.dtype(object) or not empty):
            return None
        if empty and len(missing) == 1:
            return missing[0]
        texts = (to_category(cell), *((MISSING, UCI_MISSING) if empty else ()))
        return next((by_text[text] for text in texts if text in by_text), None)

    found: dict[Hashable, int] = {}
    codes = np.empty(len(values), dtype=np.intp)
    for row, cell in enumerate(cells_of(values)):
        key = cell_key(cell)
        code = found.get(key)
        if code is None:
            code = code_of(key, cell)
            if code is None:
                raise _unseen(row, cell, name, categories)
            found[key] = code
        codes[row] = code
    return codes


def _unseen(row: int, cell: object, name: str, categories: Sequence[str]) -> VeraxError:
    some = ", ".join(categories[:8]) + (", ..." if len(categories) > 8 else "")
    what = f"the unseen category {to_category(cell)!r}"
    if has_no_value(cell):
        kinds = [text for text in categories if text.startswith(MISSING)]
        what = f"{cell_key(cell)}, another kind of missing value than was seen," if kinds else "no value"
    return VeraxError(
        f"Row {row} has {what} in column {name!r}; use one of: {some}. If the model knows it, give training rows that "
        "have it: reference=."
    )
