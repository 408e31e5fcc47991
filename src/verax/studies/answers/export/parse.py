"""Values of an export's columns, from the cells of a CSV file or the values of the other formats."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from verax.errors import VeraxError
from verax.studies.answers.export.csv_cells import MISSING, unguarded
from verax.studies.answers.schema import Column


def parsed(path: Path, column: Column, values: Sequence[object], first: int) -> list[object]:
    """The values, each of the column's type or None; others are one sentence.

    Args:
        path: of the file.
        column: that they stand in.
        values: cells of a CSV file, which are texts, or what JSON or Parquet hold.
        first: the number of the first row among them.
    """
    parse = PARSERS[column.type]
    is_csv = path.suffix == ".csv"
    read: list[object] = []
    wrong: list[tuple[int, object]] = []
    for row, value in enumerate(values, first):
        if value is None or (is_csv and value == MISSING):
            read.append(None)
            if column.always:
                wrong.append((row, value))
            continue
        try:
            read.append(parse(unguarded(str(value)) if is_csv and column.type == "text" else value))
        except (ValueError, TypeError):
            wrong.append((row, value))
    if wrong:
        row, value = wrong[0]
        what = "nothing" if value in (None, MISSING) else repr(value)
        more = f" (and {len(wrong) - 1} more such cells)" if len(wrong) > 1 else ""
        raise VeraxError(
            f"{str(path)!r}, row {row}, column {column.name!r}: {what} stands where {NAMES[column.type]} is needed"
            f"{more}; put back what was exported."
        )
    return read


def _integer(value: object) -> int:
    number = _number(value)  # spreadsheets write 3 as 3.0
    if not number.is_integer():
        raise ValueError
    return int(number)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _boolean(value: object) -> bool:
    spelled = str(value).lower()  # spreadsheets write TRUE
    if spelled not in ("true", "false"):
        raise ValueError
    return spelled == "true"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _json(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


PARSERS: Mapping[str, Callable[[object], object]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "text": _text,
    "json": _json,
}
NAMES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "text": "a text",
    "json": "a list or mapping in JSON",
}
