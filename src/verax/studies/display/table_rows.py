"""Rows of a table as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verax.arrays import FloatArray
from verax.data.table import Column, Schema

# "Age <= 28.00", "28.00 < Age <= 37.00", "Age > 48.00", wherever it stands in a line.
RANGE = re.compile(r"(?:-?[\d.]+ < )?([^\W\d][^|<>=]*?) (?:<=|>) -?\d[\d.]*")


def readable_row(schema: Schema, row: Sequence[float] | FloatArray) -> tuple[tuple[str, str], ...]:
    """An encoded row as pairs of a column and its value as people read it."""
    return tuple(
        (column.name, _readable(schema, place, column, float(row[place])))
        for place, column in enumerate(schema.columns)
    )


def _readable(schema: Schema, place: int, column: Column, value: float) -> str:
    if column.categories is not None and column.binned:
        return _readable_range(column.name, column.categories[int(value)])
    text = schema.describe(place, value)
    return text.removeprefix(f"{column.name} = ") if " = " in text else "missing"


def ranges_in_words(line: str) -> str:
    """A line of an explanation with its ranges in words: "Age above 28, up to 37"."""
    return RANGE.sub(lambda found: f"{found[1]} {_readable_range(found[1], found[0])}", line)


def row_in_words(row: Sequence[str]) -> tuple[str, ...]:
    """A row of a table of an explanation; ranges of the column that it is named after go without the name."""
    name, *rest = row
    return tuple(map(ranges_in_words, (name, *(_readable_range(name, cell) for cell in rest))))


def _readable_range(name: str, category: str) -> str:
    """The range in "28.00 < Age <= 37.00" in words, without the column's name, which stands beside it."""
    low, name_found, high = category.partition(name)
    if not name_found:
        return category
    if low.endswith(" < ") and high.startswith(" <= "):
        return f"above {_trimmed(low[:-3])}, up to {_trimmed(high[4:])}"
    if not low and high.startswith(" <= "):
        return f"up to {_trimmed(high[4:])}"
    if not low and high.startswith(" > "):
        return f"above {_trimmed(high[3:])}"
    return category


def _trimmed(number: str) -> str:
    return number.removesuffix(".00")
