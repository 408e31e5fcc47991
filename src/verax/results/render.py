"""Tables and verdicts for a terminal, a notebook, Markdown and LaTeX: the same numbers written the same way everywhere.

Pages set them with the macros of `report/templates`: ``verdict_block`` and ``number_table``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from verax.notebook import paragraph_html
from verax.notebook import table_html as cells_html
from verax.results.tables import ALIKE, BEST, CLEAR, Column, Table, Value, mark_key
from verax.results.units import Unit
from verax.results.verdict import Verdict, has_intervals
from verax.text import MINUS, NOTHING, minus, p_number, percent

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
    if rows:
        lines.append(f"  ({_legend(verdict)})")
    return [*lines, "", *verdict.rests_on] if verdict.rests_on else lines


def _legend(verdict: Verdict) -> str:
    intervals = ", with 95% intervals" if has_intervals(verdict.judged) else ""
    against = (
        f"; {verdict.reference.name}: {minus(f'{verdict.reference.value:.{verdict.decimals}f}')}"
        if verdict.reference
        else ""
    )
    return f"{verdict.measure}{intervals}{against}"


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
