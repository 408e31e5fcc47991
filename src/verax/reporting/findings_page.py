"""Pages of findings: of measures and students, and of any benchmark that gives its findings as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as TerminalTable
from rich.text import Text

from verax.benchmarks.contract import BenchmarkSummary, Failure
from verax.errors import VeraxError
from verax.reporting.explanations import page_environment
from verax.reporting.figures import figure_inline, figure_svg
from verax.reporting.page import failed_jobs, manifest_words, page_script, page_style, spec_toml
from verax.results.tables import Table, file_name, heading, rows_of, to_latex, to_markdown
from verax.run.manifest import Manifest


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
    template = page_environment().get_template("findings.html")
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


def write_benchmark_report(folder: Path, summary: BenchmarkSummary, manifest: Manifest) -> None:
    """Writes ``report.html``, ``figures/*.svg`` and ``tables/*.md`` and ``*.tex`` into a run's folder."""
    page = render_benchmark_report(summary, manifest)
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        (folder / "tables").mkdir(exist_ok=True)
        for figure in summary.figures:
            if not figure.is_empty:
                svg = figure_svg(figure).encode("utf-8", "replace")
                (folder / "figures" / f"{file_name(figure.key)}.svg").write_bytes(svg)
        for table in summary.tables:
            place = folder / "tables" / file_name(table.key)
            place.with_suffix(".md").write_bytes(to_markdown(table).encode("utf-8", "replace"))
            place.with_suffix(".tex").write_bytes(to_latex(table).encode("utf-8", "replace"))
        (folder / "report.html").write_bytes(page.encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}); choose another folder."
        ) from error


def render_benchmark_report(summary: BenchmarkSummary, manifest: Manifest) -> str:
    """The page as HTML."""
    drawn = {
        figure.key: {
            "kind": figure.kind,
            "title": figure.title,
            "sentence": figure.sentence,
            "svg": figure_inline(figure, place),
        }
        for place, figure in enumerate(summary.figures)
        if not figure.is_empty
    }
    tables = [(table, [heading(one) for one in table.columns], rows_of(table)) for table in summary.tables]
    beside = {table.key for table in summary.tables}
    return str(
        page_environment()
        .get_template("benchmark.html")
        .render(
            style=page_style(),
            script=page_script(),
            title=summary.title,
            about=summary.about,
            verdict=summary.verdict,
            problems=failed_jobs(summary.failures, "job"),
            tables=tables,
            figures=drawn,
            others=[figure for key, figure in drawn.items() if key not in beside],
            spec=spec_toml(summary.spec, summary.benchmark),
            benchmark=summary.benchmark,
            words=manifest_words(manifest),
        )
    )
