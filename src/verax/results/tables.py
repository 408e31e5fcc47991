"""A table as data, and how one is made; tables and verdicts for a terminal, a notebook, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Self, TypeVar

from verax.notebook import paragraph_html
from verax.notebook import table_html as cells_html
from verax.phrases import say
from verax.results.units import NONE, Unit
from verax.results.verdict import Verdict, has_intervals
from verax.text import MINUS, NOTHING, minus, p_number, percent

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


# Columns of numbers stand at the right in LaTeX and Markdown.
NUMBERS = ("number", "interval", "p", "count", "percent")
# The best of a column, what does not differ from it, and what is significant.
MARKDOWN_MARKS = {"": "{}", BEST: "**{}**", ALIKE: "<u>{}</u>", CLEAR: "**{}**"}
LATEX_MARKS = {"": "{}", BEST: r"\textbf{{}}", ALIKE: r"\underline{{}}", CLEAR: r"\textbf{{}}"}
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    MINUS: r"$-$",
    NOTHING: "--",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "±": r"$\pm$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "ρ": r"$\rho$",
    "μ": r"$\mu$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": r"\ldots{}",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "\n": " ",
}


def written(value: Value, column: Column) -> str:
    """One value as readers see it, by the kind and the unit of its column; what is missing is a dash."""
    unit = Unit(column.unit)
    match value:
        case None | "":
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case int() | float():
            return _number(value, column.kind, unit)
        case _:
            return unit.ends(value) or NOTHING


def _number(value: float, kind: str, unit: Unit) -> str:
    if kind == "p":
        return p_number(value)
    if kind == "percent":
        return percent(value)
    if kind == "count":
        return minus(f"{value:,.0f}")
    return str(value) if kind == "text" else unit.number(value)


def heading(column: Column) -> str:
    """A column's title with its unit, unless the title says it."""
    title, unit = column.title, column.unit
    return title if not unit or unit.lower() in title.lower() else f"{title} ({unit})"


class Cell(str):
    """A value as readers see it; ``mark`` says how it stands out: "best", "alike", "clear" or not at all."""

    mark: str

    def __new__(cls, text: str, mark: str = "") -> Self:
        """A text with its mark."""
        made = super().__new__(cls, text)
        made.mark = mark
        return made


def words_table(
    key: str, title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1
) -> Table:
    """A table whose values are written already, such as means with their intervals; the first columns are texts.

    A value that is a `Cell` may stand out.
    """
    columns = tuple(
        Column(str(place), heading, "text" if place < texts else "number")
        for place, heading in enumerate(headings)
    )
    keyed = []
    for row in rows:
        marks = {mark_key(str(place)): cell.mark for place, cell in enumerate(row) if isinstance(cell, Cell)}
        keyed.append({str(place): str(cell) for place, cell in enumerate(row)} | marks)
    return Table(key, title, columns, tuple(keyed), "")


def rows_of(table: Table) -> list[list[Cell]]:
    """The table's values as readers see them, row by row."""
    return [
        [
            Cell(written(row.get(column.key), column), str(row.get(mark_key(column.key)) or ""))
            for column in table.columns
        ]
        for row in table.rows
    ]


def verdict_lines(verdict: Verdict) -> list[str]:
    """The verdict for a terminal: the sentence, a line per explainer, what the numbers are, what it rests on."""
    rows = [(verdict.mark(row), row.name, verdict.written(row), row.words) for row in verdict.judged]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (1, 2)]
    lines = [verdict.sentence, ""]
    lines += [
        f"  {mark} {name:<{widths[0]}}  {shown:<{widths[1]}}  {words}".rstrip()
        for mark, name, shown, words in rows
    ]
    if any(row.estimate is not None for row in verdict.judged):
        lines.append(f"  ({_legend(verdict)})")
    return [*lines, *([""] if rows else []), *verdict.rests_on] if verdict.rests_on else lines


def _legend(verdict: Verdict) -> str:
    given = verdict.reference
    return say(
        "findings",
        "legend",
        measure=verdict.measure,
        intervals=has_intervals(verdict.judged),
        reference="none" if given is None else given.name,
        value="" if given is None else minus(f"{given.value:.{verdict.decimals}f}"),
    )


def table_lines(table: Table) -> list[str]:
    """The table for a terminal: its title, a line for each row, its notes; numbers stand at the right."""
    heads = [heading(column) for column in table.columns]
    rows: list[Sequence[str]] = [heads, *rows_of(table)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
    right = [column.kind in NUMBERS for column in table.columns]

    def line(cells: Sequence[str]) -> str:
        set_out = zip(cells, widths, right, strict=True)
        return "  ".join(
            cell.rjust(width) if at_right else cell.ljust(width) for cell, width, at_right in set_out
        ).rstrip()

    return [table.title, *map(line, rows), *table.notes]


def verdict_html(verdict: Verdict) -> str:
    """The verdict for a notebook: the sentence, a row per explainer, what it rests on."""
    rows = [(verdict.mark(row), row.name, verdict.written(row), row.words) for row in verdict.judged]
    body = cells_html(["", "", verdict.measure, ""], rows) if rows else ""
    return paragraph_html(bold=verdict.sentence) + body + paragraph_html(*verdict.rests_on)


def table_html(table: Table) -> str:
    """The table for a notebook, without its title."""
    return cells_html([heading(column) for column in table.columns], rows_of(table))


def to_markdown(table: Table) -> str:
    """The table in Markdown: its title, what it means, the table, its notes."""
    columns = table.columns
    lines = [f"**{_markdown(_ended(table.title))}** {_markdown(table.sentence)}".strip(), ""]
    lines.append(_markdown_row([heading(column) for column in columns]))
    lines.append("|" + "|".join("---:" if column.kind in NUMBERS else "---" for column in columns) + "|")
    lines += [
        "| " + " | ".join(MARKDOWN_MARKS[cell.mark].format(_markdown(cell)) for cell in row) + " |"
        for row in rows_of(table)
    ]
    if table.notes:
        lines += ["", *(f"- {_markdown(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    """The table in LaTeX for the package booktabs: title and meaning as the caption, notes below."""
    columns = table.columns
    sort = "".join("r" if column.kind in NUMBERS else "l" for column in columns)
    head = " & ".join(latex(heading(column)) for column in columns)
    # Rows are ended by \\, and a row that begins with a bracket would be read as its argument.
    body = [
        " & ".join(LATEX_MARKS[cell.mark].replace("{}", _guarded(latex(cell))) for cell in row) + r" \\"
        for row in rows_of(table)
    ]
    notes = [rf"\par\smallskip\footnotesize {latex(note)}" for note in table.notes]
    caption = f"{latex(_ended(table.title))} {latex(table.sentence)}".strip()
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{file_name(table.key)}}}",
        rf"\begin{{tabular}}{{{sort}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *notes,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """A text in which LaTeX sees no commands."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _ended(title: str) -> str:
    """A title that ends as sentences do."""
    return title if title.endswith((".", "?", "!")) else f"{title}."


def _guarded(cell: str) -> str:
    return f"{{{cell}}}" if cell.startswith("[") else cell


def file_name(key: str) -> str:
    """The key of a table or a figure as a name of a file, or of a label in LaTeX."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in key)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_markdown(cell) for cell in cells) + " |"


def _markdown(text: str) -> str:
    """A text in which Markdown sees no table, emphasis or HTML."""
    return "".join(f"\\{letter}" if letter in "\\|*_`<" else letter for letter in text.replace("\n", " "))
