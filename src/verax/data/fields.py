"""Records with several texts (premise and hypothesis, question and passage), or with texts beside other columns.

A record is written as one text with a line for each column, "premise: A man sleeps.", and read back from it. So
whatever shows, keeps or counts texts can take records as well; a word knows its column by where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.arrays import FloatArray
from verax.data.inputs import MISSING, as_frame, has_no_value, plain_inputs
from verax.data.original import to_numbers
from verax.data.words import WORD
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd

    from verax.data.table import Schema

# Where something stands: from the first character to the one after the last.
Span = tuple[int, int]


@dataclass(frozen=True)
class Fields:
    """The columns of a record, in the order in which they are written.

    Attributes:
        names: all of them.
        texts: those whose words are features; the others are features as a whole.
        others: what these others are; None if there are none.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    others: Schema | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in self.texts:
            if name not in self.names:
                raise VeraxError(f"There is no column {name!r} of texts; there are: {', '.join(self.names)}.")
        if not self.texts:
            raise VeraxError("texts= names no column; name those whose words are to be explained.")
        if len(set(self.names)) < len(self.names):
            raise VeraxError("Two columns have one name; rename one.")

    def join(self, given: Any) -> list[str]:
        """Records as texts: of a frame or a list of dicts or tuples; texts that are records already stay."""
        plain = plain_inputs(given)
        if isinstance(plain, list) and all(isinstance(one, str) for one in plain):
            for number, one in enumerate(plain):
                self.spans(one, number)
            return plain
        frame = as_frame(plain)
        if frame is None:
            frame = self._frame_of(plain)
        absent = [name for name in self.names if name not in map(str, frame.columns)]
        if absent:
            raise VeraxError(
                f"The records have no column {absent[0]!r}; they have: {', '.join(map(str, frame.columns))}."
            )
        frame = frame.rename(columns=str)
        cells = {
            name: [_text(cell, name, row) for row, cell in enumerate(frame[name])] for name in self.texts
        }
        if self.others is not None:
            encoded = self.others.encode(frame)
            for place, name in enumerate(self.others.names):
                cells[name] = [self._written(place, value) for value in encoded[:, place].tolist()]
        records = [
            "\n".join(f"{name}: {cells[name][row]}" for name in self.names) for row in range(len(frame))
        ]
        for row, record in enumerate(records):
            if list(self.parts(record)) != [cells[name][row] for name in self.names]:
                raise VeraxError(
                    f"A text of row {row} has a line that begins with the name of another column, so that it cannot be "
                    "told where one ends; rename that column (rows are counted from 0)."
                )
        return records

    def spans(self, record: str, number: int | None = None) -> list[Span]:
        """Where what each column holds stands in a record."""
        found: list[Span] = []
        low = record.lower()  # data in lower case are the same records
        place = 0
        for name in self.names:
            head = f"{name}: ".lower()
            start = 0 if not found else low.find(f"\n{head}", place)
            start = start if not found else start + 1
            if (found and start == 0) or not low.startswith(head, start):
                where = "" if number is None else f" {number}"
                raise VeraxError(
                    f"Input{where} is no record of the columns {', '.join(self.names)}; give a DataFrame with these "
                    f"columns, or dicts, or texts with a line for each, such as {self.names[0] + ': ...'!r}."
                )
            if found:
                found[-1] = (found[-1][0], start - 1)
            place = start + len(head)
            found.append((place, len(record)))
        return found

    def parts(self, record: str) -> list[str]:
        """What each column holds, as it is written."""
        return [record[start:end] for start, end in self.spans(record)]

    def encoded(self, records: Sequence[str]) -> FloatArray:
        """The columns that are no texts, as encoded rows."""
        if self.others is None:
            return np.empty((len(records), 0))
        places = [self.names.index(name) for name in self.others.names]
        rows = np.empty((len(records), len(places)))
        for number, record in enumerate(records):
            parts = self.parts(record)
            rows[number] = [self._read(column, parts[place]) for column, place in enumerate(places)]
        return self.others.check(rows)

    def frame(self, texts: Sequence[Sequence[str]], rows: FloatArray) -> pd.DataFrame:
        """Texts, a list for each column of them, and encoded rows of the other columns as a frame."""
        import pandas as pd

        made = dict(zip(self.texts, texts, strict=True))
        if self.others is None:
            return pd.DataFrame({name: list(made[name]) for name in self.names})
        decoded = self.others.decode(rows)
        decoded.columns = pd.Index([str(label) for label in decoded.columns])
        return decoded.assign(**{name: list(cells) for name, cells in made.items()})[list(self.names)]

    def to_frame(self, records: Sequence[str]) -> pd.DataFrame:
        """Records as the frame that they stand for."""
        parts = [self.parts(record) for record in records]
        places = [self.names.index(name) for name in self.texts]
        return self.frame([[one[place] for one in parts] for place in places], self.encoded(records))

    def words(self, record: str) -> tuple[tuple[str, ...], list[list[Span]], list[str]]:
        """The features of a record, where each stands, and the column that each is of.

        A feature is a distinct word of a column of texts, "premise: man", or another column.
        """
        found: dict[str, list[Span]] = {}
        column_of: dict[str, str] = {}
        for name, (start, end) in zip(self.names, self.spans(record), strict=True):
            if name not in self.texts:
                found[name] = [(start, end)]
                column_of[name] = name
                continue
            for match in WORD.finditer(record, start, end):
                feature = word_of(name, match.group())
                found.setdefault(feature, []).append(match.span())
                column_of[feature] = name
        return tuple(found), list(found.values()), [column_of[feature] for feature in found]

    def _frame_of(self, rows: Any) -> pd.DataFrame:
        import pandas as pd

        listed = [list(row) for row in rows]
        if any(len(row) != len(self.names) for row in listed):
            raise VeraxError(
                f"A record has {len(self.names)} columns ({', '.join(self.names)}); give as many values."
            )
        return pd.DataFrame(listed, columns=list(self.names))

    def _written(self, place: int, value: float) -> str:
        assert self.others is not None
        column = self.others.columns[place]
        if column.categories is not None or column.is_date or np.isnan(value):
            return column.shown(value)
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)

    def _read(self, place: int, text: str) -> float:
        assert self.others is not None
        column = self.others.columns[place]
        if column.categories is not None:
            lowered = {
                category.lower(): code for code, category in reversed(list(enumerate(column.categories)))
            }
            if text in column.categories:
                return float(column.categories.index(text))
            if text.lower() in lowered:
                return float(lowered[text.lower()])
        elif text == MISSING:
            return float("nan")
        elif column.is_date:
            cell = np.array([text], dtype=object)
            return float(to_numbers(cell, column.name, column.original)[0])
        else:
            try:
                return float(text)
            except ValueError:
                pass
        raise VeraxError(f"The column {column.name!r} of a record holds {text!r}, which it cannot.")


def word_of(column: str, word: str) -> str:
    """What a word of a column is called as a feature."""
    return f"{column}: {word}"


def _text(cell: object, name: str, row: int) -> str:
    if has_no_value(cell):
        return ""
    if not isinstance(cell, str):
        raise VeraxError(
            f"Row {row} has {cell!r} in the column of texts {name!r}; give a text (rows are counted from 0)."
        )
    return cell
