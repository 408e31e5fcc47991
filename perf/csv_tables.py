"""Tables of a Markdown text as CSV files: what simulations print becomes what the results pages link to."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path


def tables_of(markdown: str) -> list[list[list[str]]]:
    """Every table of a text: its rows with the head first, cells as they are written."""
    found: list[list[list[str]]] = []
    before = ""
    for line in markdown.splitlines():
        if line.startswith("|"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            if not before.startswith("|"):
                found.append([])
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                found[-1].append(cells)
        before = line
    return found


def write_table(path: Path, rows: Sequence[Sequence[object]]) -> None:
    """One table as CSV; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def stacked(tables: Sequence[Sequence[Sequence[str]]]) -> list[list[str]]:
    """Tables with the same columns as one, which names each line's table first."""
    head = ["measured", "line", *tables[0][0][1:]]
    return [head, *([table[0][0], *row] for table in tables for row in table[1:])]
