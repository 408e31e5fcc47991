"""A table of an analysis as words, Markdown and LaTeX: the same numbers written the same way everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verax.text import MINUS, NOTHING, minus, p_number, percent

Table = Mapping[str, Any]
Column = Mapping[str, Any]
# Units whose numbers are read with one decimal; other numbers have two.
ONE_DECIMAL = (
    "points",
    "percentage points",
    "per cent",
    "percent",
    "%",
    "seconds",
    "minutes",
    "s",
    "min",
    "ms",
)
# Columns of numbers stand at the right in LaTeX and Markdown.
NUMBERS = ("number", "interval", "p", "count", "percent")
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
    "τ": r"$\tau$",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": r"\ldots{}",
    "\n": " ",
}


def written(value: Any, column: Column) -> str:
    """One value as readers see it, by the kind and the unit of its column; what is missing is a dash."""
    kind, unit = column.get("kind", "text"), str(column.get("unit") or "")
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if kind == "interval":
        low, high = value
        return NOTHING if low is None or high is None else f"[{number(low, unit)}, {number(high, unit)}]"
    if isinstance(value, str):
        return value
    if kind == "p":
        return p_number(value)
    if kind == "percent":
        return percent(value)
    if kind == "count":
        return minus(f"{value:,.0f}")
    return str(value) if kind == "text" else number(value, unit)


def number(value: float, unit: str = "") -> str:
    """A number with as many decimals as its unit is read with, and a true minus sign."""
    if isinstance(value, int) and unit not in ONE_DECIMAL:
        return minus(f"{value:,}")
    decimals = 1 if unit in ONE_DECIMAL else 2
    # What two decimals would show as 0 keeps its sign and size.
    if decimals == 2 and 0 < abs(value) < 0.005:
        return minus(f"{value:.2g}")
    return minus(f"{value:,.{decimals}f}")


def heading(column: Column) -> str:
    """A column's title with its unit, unless the title says it."""
    title, unit = str(column["title"]), str(column.get("unit") or "")
    return title if not unit or unit.lower() in title.lower() else f"{title} ({unit})"


def rows_of(table: Table) -> list[list[str]]:
    """The table's values as readers see them, row by row."""
    return [[written(row.get(column["key"]), column) for column in table["columns"]] for row in table["rows"]]


def to_markdown(table: Table) -> str:
    """The table in Markdown: its title, what it means, the table, its notes."""
    columns = table["columns"]
    lines = [f"**{_markdown(_ended(table['title']))}** {_markdown(table.get('sentence', ''))}".strip(), ""]
    lines.append(_markdown_row([heading(column) for column in columns]))
    lines.append("|" + "|".join("---:" if column["kind"] in NUMBERS else "---" for column in columns) + "|")
    lines += [_markdown_row(row) for row in rows_of(table)]
    if table.get("notes"):
        lines += ["", *(f"- {_markdown(note)}" for note in table["notes"])]
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    """The table in LaTeX for the package booktabs: title and meaning as the caption, notes below."""
    columns = table["columns"]
    sort = "".join("r" if column["kind"] in NUMBERS else "l" for column in columns)
    head = " & ".join(latex(heading(column)) for column in columns)
    # Rows are ended by \\, and a row that begins with a bracket would be read as its argument.
    body = [" & ".join(_guarded(latex(cell)) for cell in row) + r" \\" for row in rows_of(table)]
    notes = [rf"\par\smallskip\footnotesize {latex(note)}" for note in table.get("notes", ())]
    caption = f"{latex(_ended(table['title']))} {latex(str(table.get('sentence', '')))}".strip()
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{_label(table['key'])}}}",
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
    return "".join(_LATEX.get(letter, letter) for letter in str(text))


def _ended(title: str) -> str:
    """A title that ends as sentences do."""
    return str(title) if str(title).endswith((".", "?", "!")) else f"{title}."


def _guarded(cell: str) -> str:
    return f"{{{cell}}}" if cell.startswith("[") else cell


def _label(key: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(key))


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_markdown(cell) for cell in cells) + " |"


def _markdown(text: str) -> str:
    """A text in which Markdown sees no table, emphasis or HTML."""
    return "".join(f"\\{one}" if one in "\\|*_`<" else one for one in str(text).replace("\n", " "))
