"""CSV, JSON-lines and Parquet files with the text and label columns named, or tables with a label column."""

from __future__ import annotations

import csv
import logging
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import FloatArray, IntArray
from verax.data.bins import make_bands
from verax.data.fields import Fields
from verax.data.inputs import is_missing, to_category, to_number
from verax.data.reading import check_cells, check_columns, check_parquet, json_objects, not_utf8, open_text
from verax.data.records import Choice, Records, counted, number_labels, text_records
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.installed import require

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
# A categorical column with more categories than this, and than half the rows, whose cells have so many words on average
# (what has no letter, as in a date, is none), is a text. With fewer words it is an identifier, which is warned of.
MANY_CATEGORIES = 100
WORDS_OF_A_TEXT = 2
# A column whose cells have more words than this on average holds texts, not categories.
SEVERAL_WORDS = 4
WORD = re.compile(r"\S*[^\W\d_]\S*")
# Names of columns that number rows.
IDENTIFIER = re.compile(r"(^|[\W_])(id|nr|no|index|key)$|^unnamed", re.IGNORECASE)
# With fewer rows or values than this nothing is odd.
FEW_CATEGORIES = 10
logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Cells:
    """A file's columns by name, and what to call each row in a message ("line 7").

    Attributes:
        path: of the file.
        columns: the cells, as they are written.
        places: of the rows.
        typed: the same as the DataFrame that pandas makes of it: what a model of such a table was fitted on. None where
            there is no other reading.
    """

    path: Path
    columns: dict[str, list[object]]
    places: list[str]
    typed: Callable[[], pd.DataFrame] | None = None


def file_suffix(path: Path) -> str:
    """The ending that tells the kind of file: ``.jsonl`` for ``reviews.jsonl.gz``."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()


def file_records(path: Path, choice: Choice, schema: Schema | None) -> Records:
    """The texts or the table in a file."""
    return cell_records(read_cells(path), choice, schema)


def frame_records(
    frame: pd.DataFrame,
    choice: Choice,
    schema: Schema | None,
    class_names: tuple[str, ...] | None = None,
) -> Records:
    """The texts or the table in a DataFrame; its labels may be numbers of named classes."""
    names = [str(name) for name in frame.columns]
    check_columns(len(names), "The DataFrame")
    if twice := _repeated(names):
        raise VeraxError(f"The DataFrame has several columns {twice[0]!r}; give each a name of its own.")
    columns = {name: frame.iloc[:, place].astype(object).tolist() for place, name in enumerate(names)}
    if not len(frame):
        raise VeraxError("The DataFrame holds no rows; give one with at least 3 inputs.")
    places = [f"row {number} (counted from 0)" for number in range(len(frame))]
    cells = Cells(Path("the DataFrame"), columns, places, lambda: frame)
    return cell_records(cells, choice, schema, class_names)


def cell_records(
    cells: Cells, choice: Choice, schema: Schema | None, named: tuple[str, ...] | None = None
) -> Records:
    """The texts or the table in columns.

    Args:
        cells: the columns.
        choice: which of them are the texts and the labels.
        schema: of a table, if it is known.
        named: the classes whose numbers the labels are, if they are numbers of classes.
    """
    label = _column(cells, choice.label or "label", "label")
    bands = None
    if choice.bands is not None:
        numbers = _label_numbers(cells, label)
        bands = make_bands(choice.bands, numbers)
        labels, class_names = bands.classify(numbers), bands.names
    elif named is None:
        labels, class_names = number_labels(_class_names(cells, label))
    else:
        labels, class_names = _numbered(cells, label, named), named
    if schema is None and (several := _several_texts(cells, choice.text)):
        return replace(_text_fields(cells, several, labels, class_names), bands=bands)
    if schema is None and (choice.text or "text" in cells.columns):
        text = _column(cells, choice.text or "text", "text")
        texts = ("" if _absent(cell) else str(cell) for cell in cells.columns[text])
        # No model reads the other columns; a study's worse model may be trained on some of their values only.
        others = {
            name: [to_category(cell) for cell in column]
            for name, column in cells.columns.items()
            if name not in (text, label)
        }
        return replace(text_records(texts, labels, class_names), columns=others, bands=bands)
    if schema is None and choice.label is None and _holds_texts(cells, label):
        raise VeraxError(
            f"{cells.path} has no column 'text' (it has: {', '.join(cells.columns)}); name the text column with "
            "text=..., or, if all columns but one form a table, name that one with label=..."
        )
    if choice.text:
        raise VeraxError("Texts have no schema; leave out either text or schema.")
    return replace(_table_records(cells, label, labels, class_names, schema), bands=bands)


def _several_texts(cells: Cells, text: str | None) -> list[str]:
    """The columns of texts, where several are named; none where it is one."""
    if text is None or text in cells.columns or "," not in text:
        return []
    return [_column(cells, name.strip(), "text") for name in text.split(",")]


def _text_fields(cells: Cells, texts: list[str], labels: IntArray, class_names: tuple[str, ...]) -> Records:
    """Records of several texts; those without any word are dropped as empty texts are."""
    import pandas as pd

    fields = Fields(tuple(texts), tuple(texts))
    written = {name: ["" if _absent(cell) else str(cell) for cell in cells.columns[name]] for name in texts}
    joined = fields.join(pd.DataFrame(written))
    empty = [not any(part.strip() for part in parts) for parts in zip(*written.values(), strict=True)]
    records = ["" if nothing else record for record, nothing in zip(joined, empty, strict=True)]
    return replace(text_records(records, labels, class_names), fields=fields)


def _table_records(
    cells: Cells, label: str, labels: IntArray, class_names: tuple[str, ...], schema: Schema | None
) -> Records:
    import pandas as pd

    rows = pd.DataFrame(cells.columns) if cells.typed is None else cells.typed()
    if len(rows) != len(cells.places) or [str(name) for name in rows.columns] != list(cells.columns):
        rows = pd.DataFrame(cells.columns)  # read otherwise than here
    rows = rows.drop(columns=[name for name in rows.columns if str(name) == label])
    if schema is None:
        schema = Schema.learn(rows)
        _refuse_texts(schema, cells.path, rows)
    else:
        schema = schema.remembering(rows)
    unused = len(set(map(str, rows.columns)) - set(schema.names))
    records = Records(schema.encode(rows), labels, class_names, schema=schema)
    named = rows.rename(columns=str)
    odd = [note for column in schema.columns if (note := _odd(column, named[column.name]))]
    for note in odd:
        logger.warning("%s: %s", cells.path, note)
    return records.noted(counted(unused, "column", "not in the schema left out"), *odd)


def _odd(column: Column, values: pd.Series) -> str:
    """What is odd about a column that says another thing of every row: an identifier, or a date taken as a category."""
    distinct, n_rows = values.nunique(), len(values)
    if column.categories is not None:
        if distinct > max(FEW_CATEGORIES, n_rows / 2):
            return (
                f"the column {column.name!r} has {distinct:,} different values in {n_rows:,} rows; a model learns "
                "nothing from an identifier or from a date that is no number, so remove it, or turn it into numbers"
            )
        return ""
    if column.is_date:
        return ""
    numbers = values.map(to_number).to_numpy(dtype=np.float64)
    whole = distinct == n_rows > FEW_CATEGORIES and np.isfinite(numbers).all() and (numbers % 1 == 0).all()
    if not whole:
        return ""
    counting = numbers.min() in (0, 1) and np.diff(np.sort(numbers)).max() == 1
    if counting or IDENTIFIER.search(column.name):
        return (
            f"the column {column.name!r} numbers the rows ({numbers.min():.0f} to {numbers.max():.0f}); if it is an "
            "identifier, remove it: a model can know every input by it"
        )
    return ""


def _refuse_texts(schema: Schema, path: Path, rows: pd.DataFrame) -> None:
    for column in schema.columns:
        if not column.categories or len(column.categories) <= max(MANY_CATEGORIES, len(rows) / 2):
            continue
        words = sum(len(WORD.findall(category)) for category in column.categories)
        if words >= WORDS_OF_A_TEXT * len(column.categories):
            raise VeraxError(
                f"The column {column.name!r} of {path} has {len(column.categories):,} different values in "
                f"{len(rows):,} rows; if it is the text, say text={column.name!r}, else remove it."
            )


def read_cells(path: Path) -> Cells:
    """The columns of a CSV, TSV, JSON-lines or Parquet file."""
    suffix = file_suffix(path)
    if suffix == ".parquet":
        cells = _read_parquet(path)
    elif suffix in (".csv", ".tsv"):
        cells = _read_csv(path, "\t" if suffix == ".tsv" else ",")
    else:
        cells = _read_json_lines(path)
    if not cells.places:
        raise VeraxError(f"{path} holds no rows; give a file with at least 3 inputs.")
    return cells


def read_rows(path: str | Path, numbers: Sequence[int] | int | None = None) -> pd.DataFrame:
    """The rows of CSV, TSV, JSON-lines or Parquet files as a DataFrame: inputs to explain, without labels.

    Args:
        path: of the file; or a pattern such as "parts/*.csv" for several files with the same columns, whose rows follow
            each other in the order of the files' names.
        numbers: of the rows that are wanted, counted from 0; all by default.
    """
    import pandas as pd

    if any(sign in str(path) for sign in "*?[") and not Path(path).exists():
        return _rows_by_number(_read_matching(str(path)), path, numbers)
    if not Path(path).exists():
        raise VeraxError(f"There is no file {str(path)!r}; check the path (looked in {Path.cwd()}).")
    if file_suffix(Path(path)) not in SUFFIXES:
        raise VeraxError(f"{str(path)!r} is no table; give a file that ends in {', '.join(SUFFIXES)}.")
    cells = read_cells(Path(path))
    frame = pd.DataFrame(cells.columns) if cells.typed is None else cells.typed()
    return _rows_by_number(frame, path, numbers)


def _read_matching(pattern: str) -> pd.DataFrame:
    """The rows of all files that match a pattern; they have to have the same columns."""
    from glob import glob

    import pandas as pd

    paths = sorted(glob(pattern, recursive=True))
    if not paths:
        raise VeraxError(f"No file matches {pattern!r}; check the pattern (looked in {Path.cwd()}).")
    frames = [read_rows(path) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if sorted(frame.columns) != sorted(frames[0].columns):
            raise VeraxError(
                f"{path!r} has the columns {', '.join(frame.columns)}, and {paths[0]!r} has "
                f"{', '.join(frames[0].columns)}; files that are read together have the same columns."
            )
    return pd.concat(frames, ignore_index=True)


def _rows_by_number(
    frame: pd.DataFrame, path: str | Path, numbers: Sequence[int] | int | None
) -> pd.DataFrame:
    if numbers is None:
        return frame
    wanted = [numbers] if isinstance(numbers, int) else list(numbers)
    for number in wanted:
        if not 0 <= number < len(frame):
            raise VeraxError(
                f"There is no row {number}; {str(path)!r} has the rows 0 to {len(frame) - 1}, counted from 0."
            )
    return frame.iloc[wanted]


def _read_csv(path: Path, delimiter: str) -> Cells:
    rows: list[list[str]] = []
    starts: list[int] = []
    header: list[str] | None = None
    # The module's own limit of 131,072 characters is less than a long document.
    csv.field_size_limit(2**31 - 1)
    line = 0
    packed = path.stat().st_size
    try:
        with open_text(path) as file:
            _refuse_semicolons(path, file.readline())
            file.seek(0)
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for row in reader:
                start, line = line + 1, reader.line_num
                if not row:
                    continue
                if header is None:
                    check_columns(len(row), path)
                    header = row
                elif len(row) != len(header):
                    raise VeraxError(
                        f"Line {start} of {path} has {len(row)} cells but the first line names "
                        f"{len(header)} columns; put quotes around cells that contain the separator."
                    )
                else:
                    rows.append(row)
                    starts.append(start)
                    check_cells(len(header) * len(rows), packed, path)
    except csv.Error as error:
        raise VeraxError(
            f"{path} cannot be read from line {line + 1} on ({error}); check the quotes there."
        ) from error
    except UnicodeDecodeError as error:
        raise not_utf8(path, line + 1) from error
    names = [name or f"Unnamed: {place}" for place, name in enumerate(header or [])]  # as pandas calls it
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    places = [f"line {start}" for start in starts]
    return Cells(path, _named(path, names, columns), places, lambda: _typed_csv(path, delimiter))


def _typed_csv(path: Path, delimiter: str) -> pd.DataFrame:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # mixed types are what the user has, too
        return pd.read_csv(path, sep=delimiter)


def _refuse_semicolons(path: Path, first_line: str) -> None:
    """Where commas are decimal, spreadsheets write semicolons; taken as they are, such numbers would be categories."""
    if ";" in first_line and not any(separator in first_line for separator in ",\t"):
        raise VeraxError(
            f"The cells of {path} are separated by semicolons; save it with commas, or give it as a DataFrame: "
            "pandas.read_csv(path, sep=';', decimal=',')."
        )


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _named(path: Path, names: list[str], columns: Iterable[Iterable[object]]) -> dict[str, list[object]]:
    if twice := _repeated(names):
        raise VeraxError(f"{path} has two columns called {twice[0]!r}; rename one.")
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def _read_json_lines(path: Path) -> Cells:
    numbered = list(json_objects(path))
    names = list(dict.fromkeys(name for _, row in numbered for name in row))
    check_columns(len(names), path)
    check_cells(len(names) * len(numbered), path.stat().st_size, path)
    columns = {name: [row.get(name) for _, row in numbered] for name in names}
    return Cells(
        path, columns, [f"line {number}" for number, _ in numbered], lambda: _typed_json(path, columns)
    )


def _typed_json(path: Path, columns: dict[str, list[object]]) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_json(path, lines=True)
    except ValueError:
        return pd.DataFrame(columns)


def _read_parquet(path: Path) -> Cells:
    require(f"Reading {path}", "pyarrow", extra="bench")
    import pandas as pd

    try:
        check_parquet(path)
        frame = pd.read_parquet(path)
    except VeraxError:
        raise
    except (OSError, ValueError, NotImplementedError) as error:
        raise VeraxError(
            f"{path} cannot be read as Parquet ({error}); check that the file is whole."
        ) from error
    columns = {str(name): frame[name].to_numpy(dtype=object).tolist() for name in frame.columns}
    places = [f"row {number} (counted from 0)" for number in range(len(frame))]
    return Cells(path, columns, places, lambda: frame)


def _column(cells: Cells, name: str, role: str) -> str:
    if name not in cells.columns:
        raise VeraxError(
            f"{cells.path} has no column {name!r}; it has: {', '.join(cells.columns)}. "
            f"Name the right one with {role}=..."
        )
    return name


def _holds_texts(cells: Cells, label: str) -> bool:
    """Whether a column is likely to hold texts: one of words beside the labels, or one of several words a cell."""
    others = [column for name, column in cells.columns.items() if name != label]
    words = [
        [value for value in column if isinstance(value, str) and to_number(value) is None]
        for column in others
    ]
    if len(others) == 1:
        return bool(words[0])
    return any(
        len(set(found)) > len(found) / 2
        and sum(len(text.split()) for text in found) > SEVERAL_WORDS * len(found)
        for found in words
    )


def _numbered(cells: Cells, label: str, named: tuple[str, ...]) -> IntArray:
    """Labels that are numbers of named classes, or their names."""
    by_name = {name: number for number, name in enumerate(named)}
    by_number = {str(number): number for number in range(len(named))}
    numbers = []
    for place, value in zip(cells.places, _class_names(cells, label), strict=True):
        number = by_name.get(value, by_number.get(value))
        if number is None:
            raise VeraxError(
                f"The label in {place} of {cells.path} is {value}, which is none of the classes {', '.join(named)}; "
                "remove the rows without a label."
            )
        numbers.append(number)
    return np.array(numbers, dtype=np.int64)


def _label_numbers(cells: Cells, label: str) -> FloatArray:
    numbers = [to_number(value) for value in cells.columns[label]]
    for place, value, number in zip(cells.places, cells.columns[label], numbers, strict=True):
        if number is None or not np.isfinite(number):
            raise VeraxError(
                f"The label in {place} of {cells.path} is {value!r}, and bands are of numbers; fill in a number or "
                "remove the row."
            )
    return np.array(numbers, dtype=np.float64)


def _class_names(cells: Cells, label: str) -> list[str]:
    for place, value in zip(cells.places, cells.columns[label], strict=True):
        if is_missing(value):
            raise VeraxError(
                f"The label in {place} of {cells.path} is missing; fill in the column {label!r} "
                "or remove the row."
            )
        if isinstance(value, (float, np.floating)) and not float(value).is_integer():
            raise VeraxError(
                f"The label in {place} of {cells.path} is the number {value}, not a class; "
                f"turn the column {label!r} into classes first, as bands=4 of verax.load_dataset does."
            )
    return [to_category(value) for value in cells.columns[label]]


def _absent(value: object) -> bool:
    return not isinstance(value, str) and is_missing(value)
