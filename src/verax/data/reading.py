"""Reading files: how much they may unpack to, text line by line, and the parts that a publisher ships."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from verax.errors import VeraxError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


MOST_COLUMNS = 20_000
MOST_BYTES = 1_000_000_000  # of what a packed file holds
CELL_BYTES, OBJECT_BYTES = 8, 40  # of a cell: in a list, and with an object of its own
BITS = 8  # of a byte: with fewer than one for each cell, a file says little
BRACKET_BYTES = 64  # of a list or an object in JSON, however little is in it
ROWS_AT_ONCE = 10_000


def check_columns(count: int, source: object) -> None:
    """Refuses a table with more columns than any explanation could speak of."""
    if count > MOST_COLUMNS:
        raise VeraxError(
            f"{source} has {count:,} columns, and at most {MOST_COLUMNS:,} are read; leave out those that the model "
            "does not use."
        )


def check_gzip(path: Path) -> None:
    """Refuses a gzip file that unpacks to more than is read; what is damaged is left to whoever reads it."""
    _check_bytes(unpacked_size(path, MOST_BYTES), path)


def unpacked_size(path: Path, most: int) -> int:
    """The size of what is in a gzip file, or a little more than ``most``; 0 for a damaged one."""
    size = 0
    try:
        with gzip.open(path) as file:
            while size <= most and (piece := file.read(1 << 20)):
                size += len(piece)
    except (OSError, EOFError, zlib.error):
        return 0  # which whoever reads it says better
    return size


def check_parquet(path: Path) -> None:
    """Refuses a Parquet file that unpacks to more than is read; a text that is stored once counts whenever it occurs.

    Raises:
        OSError, ValueError: it is no Parquet file.
    """
    import pyarrow.parquet as pq

    about = pq.read_metadata(path)
    check_columns(about.num_columns, path)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    values = [sum(group.column(number).num_values for group in groups) for number in range(about.num_columns)]
    chunks = [group.column(number) for group in groups for number in range(about.num_columns)]
    _check_bytes(sum(chunk.total_uncompressed_size for chunk in chunks), path)
    check_cells(sum(values), path.stat().st_size, path)
    # As they are stored, whatever they stand in: a list, a part of a record, a dictionary.
    stored = [about.schema.column(number) for number in range(about.num_columns)]
    fixed = (max(0, column.length) * count for column, count in zip(stored, values, strict=True))
    _check_bytes(sum(fixed), path)
    texts = [column.path for column in stored if column.physical_type == "BYTE_ARRAY"]
    if texts:
        # As dictionaries, so that a text that occurs a million times takes its memory once.
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            _check_bytes(_text_bytes(file, texts), path)


def _text_bytes(file: pq.ParquetFile, columns: list[str]) -> int:
    size = 0
    for group in range(file.num_row_groups):  # a batch over two groups would have two dictionaries
        for batch in file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=columns):
            size += sum(_decoded(column) for column in batch.columns)
            if size > MOST_BYTES:
                return size
    return size


def _decoded(column: pa.Array) -> int:
    """The bytes of the texts in a column once each stands for itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        return pc.sum(lengths.take(column.indices)).as_py() or 0
    if pa.types.is_map(kind):
        return _decoded(column.keys) + _decoded(column.items)
    if pa.types.is_struct(kind):
        return sum(_decoded(part) for part in column.flatten())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _decoded(column.flatten())
    return int(column.nbytes)


def check_cells(count: int, packed: int, path: Path) -> None:
    """Refuses a table of so many cells in a file of so many bytes, if memory has no room for them."""
    _check_bytes(CELL_BYTES * count, path)
    if count > BITS * packed:
        _check_bytes(OBJECT_BYTES * count, path)


def _check_bytes(size: int, path: Path) -> None:
    if size > MOST_BYTES:
        raise VeraxError(
            f"{path} unpacks to more than {MOST_BYTES / 1e9:g} GB; give a smaller file, or load it yourself and give a "
            "DataFrame."
        )


def open_text(path: Path, encoding: str = "utf-8-sig") -> IO[str]:
    """Opens a file, or the inside of a gzip file; ``newline=""`` keeps line ends inside quoted cells."""
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    if is_gzip:
        check_gzip(path)
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def numbered_lines(path: Path, encoding: str = "utf-8-sig") -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers from 1, without line ends."""
    number = 0
    try:
        with open_text(path, encoding) as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise not_utf8(path, number + 1) from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise VeraxError(
            f"{path} breaks off after line {number}; the gzip file is damaged, get it again."
        ) from error


def not_utf8(path: Path, line: int) -> VeraxError:
    """The error for a file in another encoding."""
    return VeraxError(f"{path} is not UTF-8 near line {line}; save it as UTF-8 and try again.")


def json_objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of a JSON-lines file with their line numbers; empty lines are skipped."""
    size = 0
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        size += BRACKET_BYTES * (line.count("[") + line.count("{")) + CELL_BYTES * line.count(",")
        _check_bytes(size, path)
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise VeraxError(
                f"Line {number} of {path} is not JSON ({error.msg} at character {error.pos + 1}); "
                "write one JSON object per line."
            ) from error
        except (
            RecursionError,
            ValueError,
        ) as error:  # brackets in brackets, or a number of thousands of digits
            raise VeraxError(
                f"Line {number} of {path} is JSON that is too deep, or has a number that is too long, to be read; "
                "write plain values."
            ) from error
        if not isinstance(value, dict):
            raise VeraxError(
                f"Line {number} of {path} is not a JSON object; write one object per line, "
                'such as {"text": "..."}.'
            )
        yield number, value


# What publishers call the parts, in file names.
PARTS = {"train": 0, "dev": 1, "val": 1, "valid": 1, "validation": 1, "trial": 1, "heldout": 2, "test": 2}
PART_WORD = re.compile(r"(?:^|[^a-z])(train|dev|validation|valid|val|trial|heldout|test)(?=[^a-z]|$)")


def part_files(path: Path, pattern: str, format_name: str) -> list[tuple[int, Path]]:
    """The files of a folder that match a glob pattern and name a part, as (part, file).

    A single file is one part, which leaves the split to Verax.
    """
    if path.is_file():
        return [(0, path)]
    file_of: dict[int, Path] = {}
    for file in sorted(path.glob(pattern)):
        word = PART_WORD.search(file.name.lower())
        if word is None:
            continue
        part = PARTS[word.group(1)]
        if part in file_of:
            raise VeraxError(
                f"The folder {str(path)!r} holds two files of one part, {file_of[part].name} and "
                f"{file.name}; keep those of one set in a folder, or name one file."
            )
        file_of[part] = file
    if 0 not in file_of:
        raise VeraxError(
            f"The folder {str(path)!r} holds no file like {pattern} with 'train' in its name, as the format "
            f"{format_name!r} has; check the path."
        )
    return sorted(file_of.items())


def content_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1."""
    return ((number, line) for number, line in numbered_lines(path) if line.strip())


def bad_line(number: int, path: Path, expected: str) -> VeraxError:
    """The error for a line that is not in the format."""
    return VeraxError(f"Line {number} of {path} is not {expected}; check that the file has this format.")
