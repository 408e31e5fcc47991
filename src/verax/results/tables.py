"""A table as data, and how one is made: a column says once what it is and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from verax.results.units import NONE

L = TypeVar("L")
# What stands in one place of a table; an interval is a pair.
Value = str | float | bool | Sequence[float | None] | None
Row = Mapping[str, Value]
ColumnKind = Literal["text", "number", "interval", "p", "count", "percent"]


# How a value may stand out: the best of its column, what does not differ from it, and what is significant as published.
BEST, ALIKE, CLEAR = "best", "alike", "clear"


def mark_key(column: str) -> str:
    """Under which key a row says how its value in a column stands out, if it does."""
    return f"{column}_mark"


@dataclass(frozen=True)
class Column:
    """A column of a table; how it is written depends on its kind.

    Attributes:
        key: its key in the rows.
        title: what readers see.
        kind: an "interval" is a pair [low, high]; a "percent" is a share from 0 to 1; "number" is written as it is.
        unit: what it is counted in, such as "points" or "seconds"; empty for nothing.
    """

    key: str
    title: str
    kind: ColumnKind = "number"
    unit: str = NONE


@dataclass(frozen=True)
class Table:
    """A table with the sentence that says what it means.

    Attributes:
        key: its name; a plan that has an entry of this name makes it planned.
        title: what readers see.
        columns: its columns.
        rows: a value (or None) for every column's key. A row may have a "key" too, such as "lime-vs-shap": a plan that
            has an entry of this name makes the row planned.
        sentence: what it means, in plain words.
        notes: what else a reader must know.
        planned: whether the plan of a study names it; set by `analyse`, never by an analysis.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sentence: str
    notes: tuple[str, ...] = ()
    planned: bool = False


@dataclass(frozen=True)
class Source(Generic[L]):
    """A column, and how its value is had from what a row is about.

    Attributes:
        key: in the rows.
        value: from what a row is about.
        column: None for what stands in the rows of summary.json and is not shown.
    """

    key: str
    value: Callable[[L], Value]
    column: Column | None = None


Sources = Sequence[Source[L]]


def text(key: str, title: str, value: Callable[[L], Value]) -> Source[L]:
    """A column of words."""
    return Source(key, value, Column(key, title, "text"))


def number(key: str, title: str, value: Callable[[L], Value], unit: str = NONE) -> Source[L]:
    """A column of numbers in a unit."""
    return Source(key, value, Column(key, title, "number", unit))


def interval(key: str, title: str, value: Callable[[L], Value], unit: str = NONE) -> Source[L]:
    """A column of pairs of numbers in a unit."""
    return Source(key, value, Column(key, title, "interval", unit))


def p_value(key: str, title: str, value: Callable[[L], Value]) -> Source[L]:
    """A column of p-values."""
    return Source(key, value, Column(key, title, "p"))


def count(key: str, title: str, value: Callable[[L], Value]) -> Source[L]:
    """A column of whole numbers."""
    return Source(key, value, Column(key, title, "count"))


def share(key: str, title: str, value: Callable[[L], Value]) -> Source[L]:
    """A column of shares from 0 to 1, shown in per cent."""
    return Source(key, value, Column(key, title, "percent"))


def yes_or_no(answer: bool) -> str:
    """As tables say it."""
    return "yes" if answer else "no"


def build_table(
    key: str, title: str, lines: Iterable[L], sources: Sources[L], sentence: str, notes: Iterable[str] = ()
) -> Table:
    """A table with a row for each line; a row whose "key" is None has none."""
    rows = ({source.key: source.value(line) for source in sources} for line in lines)
    return Table(
        key=key,
        title=title,
        columns=tuple(source.column for source in sources if source.column is not None),
        rows=tuple(
            {name: value for name, value in row.items() if name != "key" or value is not None} for row in rows
        ),
        sentence=sentence,
        notes=tuple(notes),
    )
