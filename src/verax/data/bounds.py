"""How much a file may unpack to: a small one that would fill the memory is refused before it is read."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from verax.errors import VeraxError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MOST_COLUMNS = 20_000
MOST_BYTES = 1_000_000_000  # of what a packed file holds
CELL_BYTES = 8
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
    size = 0
    try:
        with gzip.open(path) as file:
            while size <= MOST_BYTES and (piece := file.read(1 << 20)):
                size += len(piece)
    except (OSError, EOFError, zlib.error):
        return
    _check_bytes(size, path)


def check_parquet(path: Path) -> None:
    """Refuses a Parquet file that unpacks to more than is read; a text that is stored once counts whenever it occurs.

    Raises:
        OSError, ValueError: it is no Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    about = pq.read_metadata(path)
    check_columns(about.num_columns, path)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(about.num_columns)]
    _check_bytes(sum(chunk.total_uncompressed_size for chunk in chunks), path)
    _check_bytes(CELL_BYTES * sum(chunk.num_values for chunk in chunks), path)
    texts = [
        field.name
        for field in pq.read_schema(path)
        if pa.types.is_string(field.type)
        or pa.types.is_binary(field.type)
        or pa.types.is_large_string(field.type)
        or pa.types.is_large_binary(field.type)
    ]
    if texts:
        # As dictionaries, so that a text that occurs a million times takes its memory once.
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            _check_bytes(_text_bytes(file, texts), path)


def _text_bytes(file: pq.ParquetFile, columns: list[str]) -> int:
    size = 0
    for batch in file.iter_batches(ROWS_AT_ONCE, columns=columns):
        size += sum(_decoded(column) for column in batch.columns)
        if size > MOST_BYTES:
            break
    return size


def _decoded(column: pa.Array) -> int:
    """The bytes of a column of texts once each stands for itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return pc.sum(lengths.take(column.indices)).as_py() or 0


def _check_bytes(size: int, path: Path) -> None:
    if size > MOST_BYTES:
        raise VeraxError(
            f"{path} unpacks to more than {MOST_BYTES / 1e9:g} GB; give a smaller file, or load it yourself and give a "
            "DataFrame."
        )
