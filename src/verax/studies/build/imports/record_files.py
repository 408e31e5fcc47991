"""Files of records: CSV, JSON lines, Parquet and Excel workbooks; every record knows its place in its file."""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar
from zipfile import BadZipFile, ZipFile

from verax.data.encoding import is_missing
from verax.data.files import SUFFIXES, Cells, file_suffix, read_cells
from verax.errors import VeraxError
from verax.extras import require

T = TypeVar("T")
WORKBOOKS = (".xlsx", ".xlsm")
# What Excel writes in a cell for a carriage return.
CARRIAGE_RETURN = "_x000D_"
# A study has some hundred items. What is much larger was packed by mistake, or to fill somebody's memory.
MOST_BYTES = 100_000_000  # of a file, unpacked
MOST_CELLS = 2_000_000  # of a sheet, empty ones too


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
        except (BadZipFile, OSError):
            return  # which whoever reads it says better
    elif path.suffix.lower() == ".gz":
        size = _unpacked(path)
    else:
        size = path.stat().st_size
    if size > MOST_BYTES:
        raise VeraxError(
            f"{path} unpacks to more than {MOST_BYTES / 1e6:.0f} MB; give a file with the records of the study alone."
        )


def _unpacked(path: Path) -> int:
    """The size of what is in a gzip file, or a little more than is taken."""
    size = 0
    try:
        with gzip.open(path) as file:
            while size <= MOST_BYTES and (piece := file.read(1 << 20)):
                size += len(piece)
    except (OSError, EOFError, zlib.error):
        return 0  # which whoever reads it says better
    return size


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
