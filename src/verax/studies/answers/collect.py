"""Collects a study's answers for analysis, from its database or from an export that is read back and checked."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from verax.codec import check_version
from verax.errors import VeraxError
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.answers.export import CODEBOOK, FORMAT
from verax.studies.answers.export_files import MISSING, unguarded
from verax.studies.answers.flat_records import READERS, view
from verax.studies.answers.response_record import written
from verax.studies.answers.schema import USED, Collected, RecordColumn, dtype_of, shown, to_frame
from verax.studies.definition.screen import Meaning
from verax.studies.definition.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


def parsed(path: Path, column: RecordColumn, values: Sequence[object], first: int) -> list[object]:
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


K = TypeVar("K", str, int)


def check_tables(study: Study, folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Refuses tables that no export of this study could hold."""
    participants, responses, exclusions = (tables[name] for name in USED)
    for name, columns in USED.items():
        for column in columns:
            if column.values is not None:
                _known(folder, name, tables[name], column.name, column.values)
    twice = participants["participant"].duplicated()
    _refuse(folder, "participants", participants, "participant", twice, "is there twice")
    people = set(participants["participant"])
    for name, table in (("responses", responses), ("exclusions", exclusions)):
        _known(folder, name, table, "participant", people, "has no row in the table participants")
    rows = [row.number for row in study.rows]
    conditions = [condition.name for condition in study.spec.conditions]
    for name, table in (("participants", participants), ("responses", responses)):
        _known(folder, name, table, "design_row", rows)
        _known(folder, name, table, "condition", conditions)
        _known(folder, name, table, "phase", study.phases)
    _known(folder, "responses", responses, "item", study.items, "is no item of the study")
    _check_answers(study, folder, responses)


def _known(
    folder: Path, name: str, table: pd.DataFrame, column: str, known: Iterable[K], what: str = ""
) -> None:
    allowed = set(known)
    unknown = table[column].notna() & ~table[column].isin(allowed)
    listed = ", ".join(map(str, sorted(allowed))) if len(allowed) <= 8 else f"any of {len(allowed)}"
    _refuse(folder, name, table, column, unknown, what or f"is not what can stand there ({listed})")


def _check_answers(study: Study, folder: Path, responses: pd.DataFrame) -> None:
    """Every answer is one that its question has, and is worth what it says."""
    options = _options(study)
    _known(folder, "responses", responses, "question", options, "is no question of the study")
    pairs = list(zip(responses["question"], responses["answer"], strict=True))
    no_option = [
        question is not None
        and answer is not None
        and bool(options[question])
        and answer not in options[question]
        for question, answer in pairs
    ]
    _refuse(folder, "responses", responses, "answer", no_option, "is no answer to its question")
    worth = _worth(study, options)
    scored = make_protocol(study.spec.protocol).scored
    rows = zip(pairs, responses["phase_kind"], responses["item"], responses["score"], strict=True)
    wrong = [
        _differs(score, worth(item, answer))
        if question == scored and kind == "test" and item is not None and answer is not None
        else not math.isnan(score)  # where there can be none
        for (question, answer), kind, item, score in rows
    ]
    _refuse(folder, "responses", responses, "score", wrong, "is not what the answer is worth")


def _differs(score: float, worth: float) -> bool:
    return not abs(score - worth) < 1e-9


def _options(study: Study) -> dict[str, dict[str, Meaning]]:
    """By question: what its options mean, by how that is written; none if the answer is not one of them."""
    options: dict[str, dict[str, Meaning]] = {}
    for screen in study.screens.values():
        for question in screen.questions:
            means = options.setdefault(question.name, {})
            if question.one_of_them:
                means |= {str(written(option.means)): option.means for option in question.options}
    return options


def _worth(study: Study, options: Mapping[str, Mapping[str, Meaning]]) -> Callable[[str, str], float]:
    protocol = make_protocol(study.spec.protocol)

    @cache
    def worth(item: str, answer: str) -> float:
        return protocol.score(study.items[item], options[protocol.scored][answer])

    return worth


def _refuse(
    folder: Path,
    name: str,
    table: pd.DataFrame,
    column: str,
    wrong: Sequence[bool] | pd.Series,
    what: str,
) -> None:
    import numpy as np
    import pandas as pd

    places = np.flatnonzero(np.asarray(wrong, dtype=bool))
    if len(places) == 0:
        return
    value = table[column].tolist()[int(places[0])]
    shown = "that is missing" if pd.isna(value) else repr(value)
    more = f" ({len(places) - 1} more such rows)" if len(places) > 1 else ""
    raise VeraxError(
        f"The table {name} of the export {str(folder)!r}, row {int(places[0]) + 1}: {column} {shown} {what}{more}; "
        "put back what was exported."
    )


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
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise VeraxError(
            f"{str(path)!r} is not the codebook of an export ({error}); export the study again."
        ) from error
    check_version(codebook, FORMAT, str(path))
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


def _read(folder: Path, path: Path, columns: tuple[RecordColumn, ...]) -> pd.DataFrame:
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


def collect(store: Store) -> Collected:
    """All that a database holds, after the study's exclusion rules were applied; texts included."""
    apply_exclusions(store)
    with view(store, free_text=True) as seen:
        tables = {
            name: to_frame(READERS[name](seen), shown(columns, identifying=False))
            for name, columns in USED.items()
        }
    return Collected(store.study, **tables, source=f"the database {store.database.name}")


def collect_export(study: Study, folder: str | Path) -> Collected:
    """All that an export of the study holds, whichever format it has; what does not fit the study is one sentence."""
    tables, edited = read_export(study, Path(folder))
    return Collected(study, **tables, source=f"the export {folder}", edited=edited)
