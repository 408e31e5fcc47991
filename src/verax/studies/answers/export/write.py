"""Writes a study's answers to a folder, some thousand rows at a time, all of one moment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path

from verax.errors import VeraxError
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.answers.export.codebook import ExportedFile, make_codebook, to_markdown
from verax.studies.answers.export.column_counts import TableCount
from verax.studies.answers.export.whole_folder import replaced
from verax.studies.answers.export.writers import WRITERS, Part
from verax.studies.answers.flat_records import READERS, View, view
from verax.studies.answers.schema import TABLES, Column, shown
from verax.studies.store.clock import from_micros
from verax.studies.store.store import Store

FORMATS = tuple(WRITERS)
AT_ONCE = 10_000  # rows in memory, and in a row group of Parquet
CODEBOOK, READABLE = "codebook.json", "codebook.md"
NAMES = {f"{table}.{format}" for table in TABLES for format in FORMATS} | {CODEBOOK, READABLE}


@dataclass(frozen=True)
class Exported:
    """What was exported.

    Attributes:
        folder: where it is.
        rows: by table.
        files: the data files: name, table, format, rows, bytes and sha256 of each.
        identifying, free_text: whether they hold what could lead to a person, and what people wrote.
    """

    folder: Path
    rows: Mapping[str, int]
    files: tuple[ExportedFile, ...]
    identifying: bool
    free_text: bool


def export_study(
    store: Store,
    folder: str | Path,
    formats: Sequence[str] = ("csv",),
    identifying: bool = False,
    free_text: bool = False,
) -> Exported:
    """Writes participants, responses, events and exclusions with a codebook; an older export there is replaced.

    Args:
        store: whose exclusion rules are applied first.
        folder: to be made; it is there whole or not at all.
        formats: of "csv", "jsonl" and "parquet".
        identifying: with times, completion codes and hashes of persons.
        free_text: with what people wrote.
    """
    formats = _check_formats(formats)
    apply_exclusions(store)
    with replaced(Path(folder), NAMES.__contains__) as unfinished:
        with view(store, identifying=identifying, free_text=free_text) as seen:
            counts = {table: _write_table(unfinished, table, formats, seen) for table in TABLES}
        rows = {table: counted.rows for table, counted in counts.items()}
        files = [
            _about_file(unfinished / f"{table}.{format}", table, format, rows[table])
            for table in TABLES
            for format in formats
        ]
        codebook = make_codebook(
            store.study,
            counts,
            files,
            from_micros(seen.work.now).isoformat(timespec="seconds"),
            identifying=identifying,
            free_text=free_text,
        )
        text = json.dumps(codebook, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        (unfinished / CODEBOOK).write_text(text, encoding="utf-8")
        (unfinished / READABLE).write_text(to_markdown(codebook), encoding="utf-8")
    return Exported(Path(folder), rows, tuple(files), identifying, free_text)


def _check_formats(formats: Sequence[str]) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(formats))
    unknown = [format for format in wanted if format not in FORMATS]
    if unknown or not wanted:
        what = f"{', '.join(map(repr, unknown))} is none of them" if unknown else "none is asked for"
        raise VeraxError(f"An export can be written as {', '.join(FORMATS)}; {what}.")
    return wanted


def _write_table(folder: Path, table: str, formats: Sequence[str], seen: View) -> TableCount:
    columns = shown(TABLES[table], identifying=seen.identifying)
    counted = TableCount(columns)
    with ExitStack() as stack:
        writers = [
            stack.enter_context(closing(WRITERS[format](folder / f"{table}.{format}", columns)))
            for format in formats
        ]
        for part in _parts(READERS[table](seen), columns):
            counted.add(part)
            for writer in writers:
                writer.write(part)
    return counted


def _parts(records: Iterator[Mapping[str, object]], columns: Sequence[Column]) -> Iterator[Part]:
    names = [column.name for column in columns]
    values_of = itemgetter(*names)
    while some := list(islice(records, AT_ONCE)):
        yield dict(zip(names, zip(*map(values_of, some), strict=True), strict=True))


def _about_file(path: Path, table: str, format: str, rows: int) -> ExportedFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "name": path.name,
        "table": table,
        "format": format,
        "rows": rows,
        "bytes": path.stat().st_size,
        "sha256": sha256,
    }
