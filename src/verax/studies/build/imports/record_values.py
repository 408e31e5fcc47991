"""What the cells of a record say: classes, probabilities, groups, changed versions. Errors do not name the record."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from verax.data.encoding import sort_categories, to_category
from verax.data.words import WORD
from verax.errors import VeraxError
from verax.studies.build.imports.record_files import Record

Span = tuple[int, int]
# Changed words are written **so** in the published forms.
STARRED = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
# Probabilities are often written with two or three digits.
ROUNDING = 0.02


def as_text(value: object) -> str:
    """A cell as people read it: 37.0 is "37"."""
    return value if isinstance(value, str) else to_category(value)


def needed(record: Record, column: str) -> object:
    """The cell in a column that must not be empty."""
    if column not in record.cells:
        raise VeraxError(f"the cell {column!r} is empty; fill it in")
    return record.cells[column]


def class_names_of(records: Sequence[Record], columns: Sequence[str]) -> tuple[str, ...]:
    """All classes that are named in some columns, in a fixed order."""
    return sort_categories(
        [
            as_text(record.cells[column]).strip()
            for record in records
            for column in columns
            if column in record.cells
        ]
    )


def class_number(value: object, names: Sequence[str], column: str) -> int:
    """The number of a class that is given by its name, or, where no class is named by a number, by its number."""
    said = as_text(value).strip()
    if said in names:
        return list(names).index(said)
    if not any(name.isdecimal() for name in names) and said.isdecimal() and int(said) < len(names):
        return int(said)
    raise VeraxError(f"{column} is {said!r}, which is no class; the classes are {', '.join(names)}")


def whole_number(value: object, column: str) -> int:
    """A number from 0 on."""
    said = as_text(value).strip()
    if not said.isdecimal():
        raise VeraxError(f"{column} is {said!r}; give a whole number from 0 on")
    return int(said)


def probabilities(value: object, names: Sequence[str], column: str) -> tuple[float, ...]:
    """One probability for each class: a JSON list in the order of the classes, or an object with their names."""
    given = from_json(value, column)
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown or len(given) != len(names):
            raise VeraxError(
                f"{column} names {', '.join(given) or 'no class'}; the classes are {', '.join(names)}"
            )
        given = [given[name] for name in names]
    numbers = [float(share) for share in given if _is_number(share)] if isinstance(given, list) else []
    if not isinstance(given, list) or not len(numbers) == len(given) == len(names):
        raise VeraxError(f"{column} is {str(value)[:60]!r}; give {len(names)} numbers, one for each class")
    if not all(0 <= share <= 1 for share in numbers) or abs(math.fsum(numbers) - 1) > ROUNDING:
        raise VeraxError(f"{column} is {str(value)[:60]!r}; probabilities are from 0 to 1 and add up to 1")
    return tuple(numbers)


def from_json(value: object, column: str) -> object:
    """What a cell holds as JSON; cells of a JSON-lines file hold it already."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise VeraxError(f"{column} is {value[:60]!r}, which is not JSON ({error})") from error


def changed_text(text: str, given: str) -> tuple[str, tuple[Span, ...]]:
    """A changed version without its stars, and where it was changed: at the stars, or wherever words differ."""
    if STARRED.search(given) and not STARRED.search(text):
        plain, spans = unstarred(given)
    else:
        plain, spans = given, _different(text, given)
    if plain == text:
        raise VeraxError("variant is the same as text; change it, or leave it out")
    return plain, spans


def unstarred(text: str) -> tuple[str, tuple[Span, ...]]:
    """A text without the stars around changed words, and where these words stand in it."""
    pieces: list[str] = []
    spans: list[Span] = []
    end = length = 0
    for match in STARRED.finditer(text):
        pieces += [text[end : match.start()], match.group(1)]
        length += match.start() - end
        spans.append((length, length + len(match.group(1))))
        length, end = spans[-1][1], match.end()
    return "".join([*pieces, text[end:]]), tuple(spans)


def _different(text: str, given: str) -> tuple[Span, ...]:
    """The words of a changed version that are not the original's."""
    places = [match.span() for match in WORD.finditer(given)]
    matcher = difflib.SequenceMatcher(
        None, WORD.findall(text), [given[start:end] for start, end in places], autojunk=False
    )
    return tuple(
        place
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag != "equal"
        for place in places[first:last]
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
