"""A page of findings: sentences, tables, and how to run it again; the same form for measures and students."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as TerminalTable
from rich.text import Text

from verax.benchmarks.failure import Failure
from verax.errors import VeraxError
from verax.report.common.page import page_script, page_style
from verax.report.explanations.explanations_page import _environment
from verax.results.render import heading, rows_of
from verax.results.tables import Table


@dataclass(frozen=True)
class Page:
    """A page of findings.

    Attributes:
        title: the question that it answers.
        asked: what the run did, in a sentence.
        sentences: the answer, and what else there is to say.
        tables: the first ones are open.
        how: how the numbers were made.
        spec: as a TOML file.
        command: that runs it again.
        failures: what failed.
        left_out: what could not be used, and why.
        manifest: versions, machine and times, in words.
    """

    title: str
    asked: str
    sentences: Sequence[str]
    tables: Sequence[Table]
    how: str
    spec: str
    command: str
    failures: Sequence[Failure] = ()
    left_out: Sequence[str] = ()
    manifest: dict[str, str] = field(default_factory=dict)


def render_page(page: Page) -> str:
    """The page as HTML, with everything in itself."""
    tables = [(table, [heading(column) for column in table.columns], rows_of(table)) for table in page.tables]
    template = _environment().get_template("findings.html")
    return str(template.render(style=page_style(), script=page_script(), page=page, tables=tables))


def write_page(folder: Path, page: Page) -> Path:
    """Writes ``report.html`` into the folder of a run; where it is."""
    path = folder / "report.html"
    try:
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        path.write_bytes(render_page(page).encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}); choose another folder."
        ) from error
    return path


def terminal_page(page: Page, most: int = 1) -> RenderableType:
    """The sentences and the first tables, for a terminal."""
    parts: list[RenderableType] = [*map(Text, page.sentences), Text()]
    for table in page.tables[:most]:
        shown = TerminalTable(title=table.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for number, column in enumerate(table.columns):
            shown.add_column(
                heading(column), justify="left" if column.kind == "text" else "right", no_wrap=number == 0
            )
        for row in rows_of(table):
            shown.add_row(*map(str, row))
        parts += [shown, Text(table.sentence)]
    return Group(*parts)
