"""Files of records, and what their cells say: every record knows its place in its file."""

from __future__ import annotations

import difflib
import json
import math
import re
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeGuard, TypeVar
from zipfile import BadZipFile, ZipFile

from verax.data.files import SUFFIXES, Cells, file_suffix, read_cells
from verax.data.inputs import is_missing, sort_categories, to_category
from verax.data.reading import unpacked_size
from verax.data.words import WORD
from verax.errors import VeraxError
from verax.installed import require

T = TypeVar("T")
WORKBOOKS = (".xlsx", ".xlsm")
# What Excel writes in a cell for a carriage return.
CARRIAGE_RETURN = "_x000D_"
# A study has some hundred items. What is much larger was packed by mistake, or to fill somebody's memory.
MOST_BYTES = 100_000_000  # of a file, unpacked
MOST_CELLS = 2_000_000  # of a sheet, empty ones too
MOST_TAGS = 1_000_000  # of a workbook: what is read of each takes a hundred times its place in the file
LONGEST_NUMBER = 9  # digits of a class or a group


@dataclass(frozen=True, eq=False)
class Record:
    """One row of a file.

    Attributes:
        cells: by column, without the empty ones.
        where: what a sentence calls it: "line 7 of items.csv".
    """

    cells: Mapping[str, object]
    where: str


@dataclass(frozen=True, eq=False)
class Table:
    """A file's rows.

    Attributes:
        path: the file.
        columns: in the file's order, also those that are empty.
        records: the rows that are not empty.
    """

    path: Path
    columns: tuple[str, ...]
    records: tuple[Record, ...]


def read_table(path: str | Path, nested: Sequence[str] = ()) -> Table:
    """The records of a CSV, TSV, JSON-lines, Parquet or xlsx file; of a workbook, those of its only sheet.

    Args:
        path: the file.
        nested: where an object stands for several columns, as {"row": {"Age": 37}} for "row.Age".
    """
    path = Path(path)
    if not path.is_file():
        raise VeraxError(f"There is no file {str(path)!r}; check the path.")
    suffix = file_suffix(path)
    _check_size(path, suffix)
    if suffix in WORKBOOKS:
        cells = _read_workbook(path)
    elif suffix in SUFFIXES:
        cells = read_cells(path)
    else:
        raise VeraxError(
            f"{path} ends in {suffix!r}; give a file that ends in {', '.join(SUFFIXES)} or .xlsx."
        )
    records = []
    for number, place in enumerate(cells.places):
        row = _flat({name: values[number] for name, values in cells.columns.items()}, nested)
        filled = {name: value for name, value in row.items() if not is_empty(value)}
        if filled:
            records.append(Record(filled, f"{place} of {path.name}"))
    if not records:
        raise VeraxError(f"{path} holds no rows; give one with a row for each item.")
    flat = [name for name in cells.columns if name not in nested]
    columns = dict.fromkeys([*flat, *(name for record in records for name in record.cells)])
    return Table(path, tuple(columns), tuple(records))


def _check_size(path: Path, suffix: str) -> None:
    """Refuses a file that is too large, before it is unpacked into memory."""
    if suffix in WORKBOOKS:
        try:
            with ZipFile(path) as archive:
                size = sum(part.file_size for part in archive.infolist())
                if size <= MOST_BYTES:
                    _check_tags(path, archive)
        except (BadZipFile, OSError, EOFError, zlib.error, NotImplementedError, RuntimeError):
            return  # which whoever reads it says better
    elif path.suffix.lower() == ".gz":
        size = unpacked_size(path, MOST_BYTES)
    else:
        size = path.stat().st_size
    if size > MOST_BYTES:
        raise VeraxError(
            f"{path} unpacks to more than {MOST_BYTES / 1e6:.0f} MB; give a file with the records of the study alone."
        )


def _check_tags(path: Path, archive: ZipFile) -> None:
    """Refuses a workbook of very many cells or rows, empty ones too."""
    tags = 0
    for part in archive.infolist():
        with archive.open(part) as file:
            while tags <= MOST_TAGS and (piece := file.read(1 << 20)):
                tags += piece.count(b"<")
    if tags > MOST_TAGS:
        raise VeraxError(
            f"{path} has more cells and rows than a study could have items for, empty ones too; keep only the records, "
            "and save it again."
        )


def is_empty(value: object) -> bool:
    """Whether a cell holds nothing: no value, not a number, or blanks only."""
    return not value.strip() if isinstance(value, str) else is_missing(value)


class Placed(Protocol):
    """Anything that knows its place in a file."""

    @property
    def where(self) -> str:
        """What a sentence calls it."""


P = TypeVar("P", bound=Placed)


def each(things: Sequence[P], read: Callable[[P], T]) -> list[T]:
    """What ``read`` makes of each thing; an error names the place of the first bad one and how many more there are."""
    results: list[T] = []
    wrong: list[tuple[str, VeraxError]] = []
    for thing in things:
        try:
            results.append(read(thing))
        except VeraxError as error:
            wrong.append((thing.where, error))
    if not wrong:
        return results
    (where, first), *others = wrong
    more = f" ({len(others)} more to mend)" if others else ""
    raise VeraxError(f"{where[:1].upper()}{where[1:]}: {str(first).rstrip('.')}{more}.") from first


def _flat(row: Mapping[str, object], nested: Sequence[str]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in row.items():
        if name in nested and isinstance(value, dict):
            flat |= {f"{name}.{inner}": cell for inner, cell in value.items()}
        else:
            flat[name] = value
    return flat


def _read_workbook(path: Path) -> Cells:
    rows = _rows(path)
    header = [] if not rows else [("" if is_empty(cell) else str(cell).strip()) for cell in rows[0]]
    names = [name for name in header if name]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise VeraxError(f"{path} has two columns called {twice[0]!r}; rename one.")
    for number, row in enumerate(rows[1:], start=2):
        nameless = [cell for name, cell in zip(header, row, strict=True) if not name and not is_empty(cell)]
        if nameless:
            raise VeraxError(
                f"Row {number} of {path} has {str(nameless[0])[:40]!r} in a column without a name; name it "
                "in the first row."
            )
    columns = {name: [_cell(row[place]) for row in rows[1:]] for place, name in enumerate(header) if name}
    return Cells(path, columns, [f"row {number}" for number in range(2, len(rows) + 1)])


def _rows(path: Path) -> list[tuple[object, ...]]:
    require(f"Reading {path}", "openpyxl", extra="study")
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            # They are about formats and drop-down lists, which nobody asked for.
            warnings.simplefilter("ignore", UserWarning)
            book = load_workbook(path, data_only=True)
    except Exception as error:  # a damaged file fails in many ways: in the zip, in the XML, in openpyxl
        raise VeraxError(
            f"{path} cannot be read as a workbook ({type(error).__name__}: {error}); save it again as xlsx."
        ) from error
    for sheet in book.worksheets:
        if sheet.max_row * sheet.max_column > MOST_CELLS:
            raise VeraxError(
                f"The sheet {sheet.title!r} of {path} reaches to row {sheet.max_row:,} and column "
                f"{sheet.max_column:,}; delete what is far from the records, and save it again."
            )
    sheets = {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    filled = [
        title for title, rows in sheets.items() if not all(is_empty(cell) for row in rows for cell in row)
    ]
    if len(filled) > 1:
        raise VeraxError(
            f"{path} has {len(filled)} sheets that are not empty ({', '.join(filled)}); keep only the one "
            "with the records."
        )
    return sheets[filled[0]] if filled else []


def _cell(value: object) -> object:
    return value.replace(CARRIAGE_RETURN, "") if isinstance(value, str) else value


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
    numbered = not any(name.isdecimal() for name in names)
    if numbered and said.isdecimal() and len(said) <= LONGEST_NUMBER and int(said) < len(names):
        return int(said)
    raise VeraxError(f"{column} is {said[:60]!r}, which is no class; the classes are {', '.join(names)}")


def whole_number(value: object, column: str) -> int:
    """A number from 0 on."""
    said = as_text(value).strip()
    if not said.isdecimal() or len(said) > LONGEST_NUMBER:
        raise VeraxError(f"{column} is {said[:60]!r}; give a whole number from 0 on")
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
    numbers = (
        [float(max(-1, min(share, 2))) for share in given if _is_number(share)]
        if isinstance(given, list)
        else []
    )
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
    except RecursionError as error:
        raise VeraxError(f"{column} is {value[:60]!r}..., which is too deep to be read") from error
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
