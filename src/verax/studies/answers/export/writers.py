"""Writers of one table each, in parts: what was written before is not in memory any more."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from verax.studies.answers.export.csv_cells import to_cells, to_json
from verax.studies.answers.schema import Column

Part = Mapping[str, Sequence[object]]


class CsvWriter:
    """RFC 4180, in UTF-8: a line of names, commas, quotes where needed, CRLF."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._file = path.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow([column.name for column in columns])

    def write(self, part: Part) -> None:
        """Adds some rows."""
        cells = [to_cells(column, part[column.name]) for column in self._columns]
        self._rows.writerows(zip(*cells, strict=True))

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


class JsonLinesWriter:
    """One JSON object a line, in UTF-8; what is missing is null."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._names = [column.name for column in columns]
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, part: Part) -> None:
        """Adds some rows."""
        rows = zip(*(part[name] for name in self._names), strict=True)
        self._file.writelines(to_json(dict(zip(self._names, row, strict=True))) + "\n" for row in rows)

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


class ParquetWriter:
    """Parquet, one row group a part; lists and mappings are their JSON text."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {
            "integer": pa.int64(),
            "number": pa.float64(),
            "boolean": pa.bool_(),
            "text": pa.string(),
            "json": pa.string(),
        }
        self._columns = columns
        self._schema = pa.schema([(column.name, types[column.type]) for column in columns])
        self._file = path.open("wb")
        self._table = pq.ParquetWriter(self._file, self._schema)

    def write(self, part: Part) -> None:
        """Adds some rows."""
        import pyarrow as pa

        values = {column.name: _plain(column, part[column.name]) for column in self._columns}
        self._table.write_table(pa.Table.from_pydict(values, schema=self._schema))

    def close(self) -> None:
        """Ends the file."""
        try:
            self._table.close()
        finally:
            self._file.close()


def _plain(column: Column, values: Sequence[object]) -> Sequence[object]:
    if column.type == "json":
        return [None if value is None else to_json(value) for value in values]
    return values


WRITERS: Mapping[str, type[CsvWriter] | type[JsonLinesWriter] | type[ParquetWriter]] = {
    "csv": CsvWriter,
    "jsonl": JsonLinesWriter,
    "parquet": ParquetWriter,
}
