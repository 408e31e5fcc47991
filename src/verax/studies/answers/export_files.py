"""Files of an export: cells, writers of tables, counts for the codebook, a script for R, a whole folder or none.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula, and what people write may begin so. Such a text is
written with an apostrophe before it, which spreadsheets take as "this is text"; one that has apostrophes before such a
sign gets one more, so that reading can always take one away. Numbers stay as they are. Where the comma is the decimal
sign, spreadsheets begin a new cell after a semicolon, and after a line end whatever the quotes say: a sign there is
guarded in the same way, in JSON by its number.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from verax.errors import VeraxError
from verax.studies.answers.schema import RecordColumn
from verax.studies.definition.study import Study

# The full-width signs are taken for the plain ones in some languages; a tab or line end before a sign is passed over.
RISKY = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
# In the middle of a text, where a cell begins for a program that takes other separators.
BEGINS = re.compile(r"([;\t\r\n][ \t\r\n]*)('*[=+\-@＝＋－＠])")
GUARDED = re.compile(r"([;\t\r\n][ \t\r\n]*)'('*[=+\-@＝＋－＠])")
JSON_BEGINS = re.compile(r"(; *)([=+\-@＝＋－＠])")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
MISSING = ""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def guarded(text: str) -> str:
    """The text, so that no spreadsheet runs it."""
    inside = BEGINS.sub(r"\1'\2", text)
    return "'" + inside if RISKY.match(text) and not NUMBER.fullmatch(text) else inside


def unguarded(cell: str) -> str:
    """The text that was guarded."""
    text = cell[1:] if cell.startswith("'") and RISKY.match(cell) else cell
    return GUARDED.sub(r"\1\2", text)


def to_cells(column: RecordColumn, values: Sequence[object]) -> list[object]:
    """A column's values as cells."""
    match column.type:
        case "boolean":
            return [MISSING if value is None else "true" if value else "false" for value in values]
        case "text":
            cells = {value: MISSING if value is None else guarded(str(value)) for value in set(values)}
            return [cells[value] for value in values]
        case "json":
            return [MISSING if value is None else _guarded_json(to_json(value)) for value in values]
    return [MISSING if value is None else value for value in values]


def _guarded_json(text: str) -> str:
    """The same JSON: after a semicolon, which stands in strings alone, a sign is written as its number."""
    return JSON_BEGINS.sub(lambda found: f"{found[1]}\\u{ord(found[2]):04x}", text)


def to_json(value: object) -> str:
    """JSON in one line."""
    return _encode(value)


Part = Mapping[str, Sequence[object]]


class CsvWriter:
    """RFC 4180, in UTF-8: a line of names, commas, quotes where needed, CRLF."""

    def __init__(self, path: Path, columns: Sequence[RecordColumn]) -> None:
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

    def __init__(self, path: Path, columns: Sequence[RecordColumn]) -> None:
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

    def __init__(self, path: Path, columns: Sequence[RecordColumn]) -> None:
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


def _plain(column: RecordColumn, values: Sequence[object]) -> Sequence[object]:
    if column.type == "json":
        return [None if value is None else to_json(value) for value in values]
    return values


WRITERS: Mapping[str, type[CsvWriter] | type[JsonLinesWriter] | type[ParquetWriter]] = {
    "csv": CsvWriter,
    "jsonl": JsonLinesWriter,
    "parquet": ParquetWriter,
}


MOST_LEVELS = 100


class ColumnCount:
    """Counts what is missing, the levels of texts and booleans, and the range of numbers."""

    def __init__(self, column: RecordColumn) -> None:
        self.column = column
        self.missing = 0
        self.levels: Counter[str | bool] | None = None
        self.range: tuple[float, float] | None = None
        each_differs = column.any_text or column.identifying
        if column.type == "boolean" or (column.type == "text" and not each_differs):
            self.levels = Counter(dict.fromkeys(column.values or (), 0))

    def add(self, values: Sequence[object]) -> None:
        """Counts more values."""
        given = [value for value in values if value is not None]
        self.missing += len(values) - len(given)
        if self.levels is not None:
            self.levels.update(value for value in given if isinstance(value, str | bool))
            if len(self.levels) > MOST_LEVELS:
                self.levels = None
        if self.column.type in ("integer", "number"):
            numbers = [value for value in given if isinstance(value, int | float)]
            if numbers:
                numbers += self.range or ()
                self.range = min(numbers), max(numbers)

    def counts(self) -> dict[str, object]:
        """What was counted, as plain data."""
        counts: dict[str, object] = {"missing": self.missing}
        if self.levels is not None:
            counts["levels"] = dict(sorted((_spelled(level), count) for level, count in self.levels.items()))
        if self.range is not None:
            counts["lowest"], counts["highest"] = self.range
        return counts


class TableCount:
    """Counts the rows and columns of a table, and the answers to each question where it has any."""

    def __init__(self, columns: Sequence[RecordColumn]) -> None:
        self.rows = 0
        self.columns = [ColumnCount(column) for column in columns]
        self.chosen: Counter[tuple[str, str]] = Counter()
        self.written: Counter[str] = Counter()

    def add(self, part: Part) -> None:
        """Counts more rows."""
        for counted in self.columns:
            counted.add(part[counted.column.name])
        self.rows += len(part[self.columns[0].column.name])
        if "position" in part:
            for question, answer, position, state in zip(
                part["question"], part["answer"], part["position"], part["state"], strict=True
            ):
                if position is not None:
                    self.chosen[str(question), str(answer)] += 1
                elif state == "closed":
                    self.written[str(question)] += 1


def _spelled(level: str | bool) -> str:
    return str(level).lower() if isinstance(level, bool) else level


@contextmanager
def replaced(folder: Path, ours: Callable[[str], bool]) -> Iterator[Path]:
    """A folder to write to; at the end of the block it takes the place of the old one, if there is one.

    Args:
        folder: where it shall be.
        ours: whether a file of that name may be replaced; a folder with others is left alone.

    Raises:
        VeraxError: the folder holds something else, or a file cannot be written; the old folder is as it was.
    """
    folder = folder.resolve()
    unfinished, old = (folder.parent / f".{folder.name}.{what}" for what in ("unfinished", "old"))
    try:
        if old.exists() and not folder.exists():
            old.rename(folder)  # a process was killed between the two renames below
        _check(folder, ours)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        yield unfinished
        for path in unfinished.iterdir():
            _sync(path)
        _put(unfinished, folder, old)
    except OSError as error:
        raise VeraxError(
            f"The export to {str(folder)!r} could not be written ({error.strerror or error}); make room or choose "
            "another folder and export again: what was there before is as it was."
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _check(folder: Path, ours: Callable[[str], bool]) -> None:
    if not folder.name:
        raise VeraxError(
            f"An export replaces the whole of its folder, and {str(folder)!r} cannot be replaced."
        )
    if not folder.exists():
        return
    if not folder.is_dir():
        raise VeraxError(f"{str(folder)!r} is a file; name a folder for the export.")
    others = sorted(path.name for path in folder.iterdir() if not ours(path.name))
    if others:
        raise VeraxError(
            f"The folder {str(folder)!r} holds what no export wrote ({len(others)}: {', '.join(others[:3])}); choose "
            "another folder, since an export replaces the whole of it."
        )


def _sync(path: Path) -> None:
    """Or a crash of the machine may leave the new name with empty content."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _put(new: Path, folder: Path, old: Path) -> None:
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        with suppress(OSError):
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


# ---- The script that comes with an export in CSV: reads it in R, sets factors and fits the primary model

SCRIPT = "analysis.R"

_TEMPLATE = """\
# Reads this export in R, sets the factors and fits the primary model.
#   Rscript analysis.R            in the folder of the export
# Needs lme4 for random effects (install.packages("lme4")); without it a plain regression is fitted, whose standard
# errors take all answers as independent, which they are not.

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
if (is.na(folder)) folder <- "."
read <- function(name) {
  read.csv(file.path(folder, name), na.strings = "", stringsAsFactors = FALSE, encoding = "UTF-8")
}
# Whether R has read a column as logical values or as texts.
is_true <- function(column) !is.na(column) & tolower(as.character(column)) == "true"

participants <- read("participants.csv")
responses <- read("responses.csv")

# Who is analysed: people (bots where there are no people) who completed the study and are not excluded.
people <- participants[!is_true(participants$bot), ]
if (nrow(people) == 0) people <- participants
people <- people[people$status == "complete" & !is_true(people$excluded), ]
answers <- responses[
  responses$participant %in% people$participant & responses$phase_kind == "test" & !is.na(responses$score),
]
# Between people, the condition is the participant's, also before anything is explained.
between <- nrow(people) > 0 && all(!is.na(people$condition))
if (between) answers$condition <- people$condition[match(answers$participant, people$participant)]

# The first condition is the one that others are compared with.
answers$condition <- droplevels(factor(answers$condition, levels = c(@CONDITIONS@)))
answers$phase <- droplevels(factor(answers$phase, levels = c(@PHASES@)))
answers$participant <- factor(answers$participant)
answers$item <- factor(answers$item)
answers$language <- factor(people$language[match(answers$participant, people$participant)])

cat(nrow(answers), "scored answers of", nlevels(answers$participant), "participants\\n")
print(aggregate(score ~ condition + phase, answers, mean))

terms <- c(
  if (nlevels(answers$condition) > 1) "condition",
  if (between && nlevels(answers$phase) > 1) "phase",
  if (between && nlevels(answers$condition) > 1 && nlevels(answers$phase) > 1) "condition:phase"
)
fixed <- if (length(terms)) paste(terms, collapse = " + ") else "1"
random <- c(
  if (nlevels(answers$participant) > 1) "(1 | participant)",
  if (nlevels(answers$item) > 1) "(1 | item)"
)
binary <- all(answers$score %in% c(0, 1))
if (requireNamespace("lme4", quietly = TRUE) && length(random)) {
  formula <- as.formula(paste("score ~", fixed, "+", paste(random, collapse = " + ")))
  model <- if (binary) lme4::glmer(formula, answers, family = binomial) else lme4::lmer(formula, answers)
} else {
  formula <- as.formula(paste("score ~", fixed))
  model <- if (binary) glm(formula, binomial, answers) else lm(formula, answers)
}
print(summary(model))
coefficients <- coef(summary(model))
write.csv(
  data.frame(term = rownames(coefficients), coefficients, check.names = FALSE),
  file.path(folder, "model.csv"),
  row.names = FALSE
)
"""


def r_script(study: Study) -> str:
    """The script for a study's export."""
    order = {"none": 0, "control": 1, "method": 2}
    conditions = sorted(study.spec.conditions, key=lambda condition: order[condition.kind])
    # Before comes first; other protocols have parts in any order.
    tests = sorted((phase.key for phase in study.phases.values() if phase.kind == "test"), key=_first_pre)
    return _TEMPLATE.replace("@CONDITIONS@", _vector([condition.name for condition in conditions])).replace(
        "@PHASES@", _vector(tests)
    )


def _first_pre(key: str) -> tuple[bool, str]:
    return (not key.startswith("pre"), key)


def _vector(names: list[str]) -> str:
    escaped = [name.replace("\\", "\\\\").replace('"', '\\"') for name in names]
    return ", ".join(f'"{name}"' for name in escaped)
