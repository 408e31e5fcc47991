"""Values as cells of a CSV file, and back.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula, and what people write may begin so. Such a text is
written with an apostrophe before it, which spreadsheets take as "this is text"; one that has apostrophes before such a
sign gets one more, so that reading can always take one away. Numbers stay as they are. Where the comma is the decimal
sign, spreadsheets begin a new cell after a semicolon, and after a line end whatever the quotes say: a sign there is
guarded in the same way, in JSON by its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from verax.studies.answers.schema import Column

# The full-width signs are taken for the plain ones in some languages; a tab or line end before a sign is passed over.
RISKY = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
# In the middle of a text, where a cell begins for a program that takes other separators.
BEGINS = re.compile(r"([;\t\r\n][ \t\r\n]*)('*[=+\-@＝＋－＠])")
GUARDED = re.compile(r"([;\t\r\n][ \t\r\n]*)'('*[=+\-@＝＋－＠])")
JSON_BEGINS = re.compile(r"(; *)([=+\-@＝＋－＠])")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
MISSING = ""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def guarded(text: str) -> str:
    """The text, so that no spreadsheet runs it."""
    inside = BEGINS.sub(r"\1'\2", text)
    return "'" + inside if RISKY.match(text) and not NUMBER.fullmatch(text) else inside


def unguarded(cell: str) -> str:
    """The text that was guarded."""
    text = cell[1:] if cell.startswith("'") and RISKY.match(cell) else cell
    return GUARDED.sub(r"\1\2", text)


def to_cells(column: Column, values: Sequence[object]) -> list[object]:
    """A column's values as cells."""
    match column.type:
        case "boolean":
            return [MISSING if value is None else "true" if value else "false" for value in values]
        case "text":
            cells = {value: MISSING if value is None else guarded(str(value)) for value in set(values)}
            return [cells[value] for value in values]
        case "json":
            return [MISSING if value is None else _guarded_json(to_json(value)) for value in values]
    return [MISSING if value is None else value for value in values]


def _guarded_json(text: str) -> str:
    """The same JSON: after a semicolon, which stands in strings alone, a sign is written as its number."""
    return JSON_BEGINS.sub(lambda found: f"{found[1]}\\u{ord(found[2]):04x}", text)


def to_json(value: object) -> str:
    """JSON in one line."""
    return _encode(value)
