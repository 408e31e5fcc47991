"""Reads an export back, whichever format it has, and refuses in one sentence what does not fit the study."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.studies.answers.export.consistency import check_tables
from verax.studies.answers.export.parse import parsed
from verax.studies.answers.export.write import CODEBOOK
from verax.studies.answers.frames import USED, dtype_of, to_frame
from verax.studies.answers.schema import Column, shown
from verax.studies.model.study import Study

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 10_000  # rows in memory besides those that are read
PREFERRED = ("parquet", "jsonl", "csv")  # by how little can get lost on the way

Part = Mapping[str, Sequence[object]]


def read_export(study: Study, folder: Path) -> tuple[dict[str, pd.DataFrame], tuple[str, ...]]:
    """The tables participants, responses and exclusions of an export, and the names of files changed since."""
    hashes = _exported_hashes(study, folder)
    paths = {name: _path(folder, name, hashes) for name in USED}
    tables = {name: _read(folder, paths[name], columns) for name, columns in USED.items()}
    check_tables(study, folder, tables)
    return tables, tuple(path.name for path in paths.values() if _changed(path, hashes))


def _exported_hashes(study: Study, folder: Path) -> Mapping[str, str]:
    """The SHA-256 of each file as it was exported, after a check that it was from this study."""
    path = folder / CODEBOOK
    try:
        codebook = json.loads(path.read_text(encoding="utf-8"))
        exported, title = codebook["hash"], codebook["title"]
        hashes = {file["name"]: file["sha256"] for file in codebook["files"]}
    except FileNotFoundError as error:
        raise VeraxError(
            f"The folder {str(folder)!r} has no {CODEBOOK}; name one that `verax study export` wrote."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VeraxError(
            f"{str(path)!r} is not the codebook of an export ({error}); export the study again."
        ) from error
    if exported != study.hash:
        raise VeraxError(
            f"The export {str(folder)!r} is of another study, {title!r} ({str(exported)[:12]}, not {study.hash[:12]}); "
            "name the folder of the study that it was exported from."
        )
    return hashes


def _path(folder: Path, table: str, hashes: Mapping[str, str]) -> Path:
    there = [folder / f"{table}.{format}" for format in PREFERRED if (folder / f"{table}.{format}").exists()]
    if not there:
        names = ", ".join(f"{table}.{format}" for format in reversed(PREFERRED))
        raise VeraxError(f"The export {str(folder)!r} has none of {names}; export the study again.")
    if len(there) > 1:
        _check_same(there, hashes)
    return there[0]


def _check_same(paths: Sequence[Path], hashes: Mapping[str, str]) -> None:
    """Where a table is there in several formats, none may have been edited: it would not be the one that is read."""
    for path in paths:
        if _changed(path, hashes):
            raise VeraxError(
                f"{str(path)!r} was changed after the export, and the same table is there in "
                f"{len(paths)} formats; delete the others, or export again."
            )


def _changed(path: Path, hashes: Mapping[str, str]) -> bool:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() != hashes.get(path.name)


def _read(folder: Path, path: Path, columns: tuple[Column, ...]) -> pd.DataFrame:
    import pandas as pd

    wanted = shown(columns, identifying=False)
    parts, first = [], 1
    for part in _parts(path):
        missing = [column.name for column in wanted if column.name not in part and not column.later]
        if missing:
            raise VeraxError(
                f"{path.name} of the export {str(folder)!r} lacks {len(missing)} of its columns "
                f"({', '.join(missing[:3])}); put them back, or export again."
            )
        rows = len(next(iter(part.values()), []))
        values = {
            column.name: pd.Series(
                parsed(path, column, part[column.name], first) if column.name in part else [None] * rows,
                dtype=dtype_of(column),
            )
            for column in wanted
        }
        parts.append(pd.DataFrame(values))
        first += len(parts[-1])
    return pd.concat(parts, ignore_index=True) if parts else to_frame(iter(()), wanted)


def _parts(path: Path) -> Iterator[Part]:
    """The file's rows by column, some thousand at a time."""
    try:
        match path.suffix:
            case ".csv":
                yield from _csv(path)
            case ".jsonl":
                yield from _json_lines(path)
            case _:
                yield from _parquet(path)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())
        raise VeraxError(f"{str(path)!r} cannot be read ({why}); export the study again.") from error


def _csv(path: Path) -> Iterator[Part]:
    import pandas as pd

    # Editors put a mark before the first name, which is not part of it.
    options = {"dtype": str, "keep_default_na": False, "encoding": "utf-8-sig"}
    with pd.read_csv(path, chunksize=AT_ONCE, **options) as chunks:
        for chunk in chunks:
            yield {str(name): chunk[name].tolist() for name in chunk.columns}


def _json_lines(path: Path) -> Iterator[Part]:
    rows: list[Mapping[str, object]] = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"line {number}: {error}") from error
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is no JSON object")
            rows.append(row)
            if len(rows) == AT_ONCE:
                yield _by_column(rows)
                rows = []
    if rows:
        yield _by_column(rows)


def _by_column(rows: Sequence[Mapping[str, object]]) -> Part:
    names = set.intersection(*(set(row) for row in rows))
    return {name: [row[name] for row in rows] for name in names}


def _parquet(path: Path) -> Iterator[Part]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        for batch in file.iter_batches(AT_ONCE):
            yield {name: batch.column(name).to_pylist() for name in names}
