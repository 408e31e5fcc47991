"""Pages of findings: of measures and students, of a benchmark that gives them as data, of many explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from verax.benchmarks.contract import BenchmarkSummary, Failure, Found
from verax.notebook import image_html, paragraph_html
from verax.reporting.explanations import page_environment
from verax.reporting.figures import figure_inline, figure_svg
from verax.reporting.page import (
    FittedTable,
    View,
    failed_jobs,
    manifest_words,
    page_script,
    page_style,
    spec_toml,
    write_report,
)
from verax.results.figures import Figure
from verax.results.tables import Table, file_name, verdict_html, verdict_lines
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
    template = page_environment().get_template("findings.html")
    return str(template.render(style=page_style(), script=page_script(), page=page, tables=page.tables))


def terminal_page(page: Page, most: int = 1) -> RenderableType:
    """The sentences and the first tables, for a terminal."""
    parts: list[RenderableType] = [*map(Text, page.sentences), Text()]
    for table in page.tables[:most]:
        parts += [FittedTable(table), Text(table.sentence)]
    return Group(*parts)


def write_benchmark_report(folder: Path, summary: BenchmarkSummary, manifest: Manifest) -> None:
    """Writes ``report.html``, ``figures/*.svg`` and ``tables/*.md`` and ``*.tex`` into a run's folder."""
    drawn = {file_name(one.key): figure_svg(one) for one in summary.figures if not one.is_empty}
    write_report(folder, render_benchmark_report(summary, manifest), drawn, summary.tables)


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
            tables=summary.tables,
            figures=drawn,
            others=[figure for key, figure in drawn.items() if key not in beside],
            spec=spec_toml(summary.spec, summary.benchmark),
            benchmark=summary.benchmark,
            words=manifest_words(manifest),
        )
    )


# The parts of a page of global views, by the kind of their figures.
GLOBAL_PARTS = {
    "intervals": ("importance", "Which features matter"),
    "swarm": ("scores", "Every score"),
    "dependence": ("dependence", "Scores over values"),
    "matrix": ("agreement", "Do the methods agree?"),
}


def render_global_page(
    title: str,
    sentence: str,
    notes: Sequence[str],
    figures: Sequence[Figure],
    tables: Sequence[Table],
    made_by: str = "",
) -> str:
    """What many explanations say together, as HTML with everything in itself."""
    drawn = [
        {
            "part": GLOBAL_PARTS[figure.kind][0],
            "kind": figure.kind,
            "title": figure.title,
            "sentence": figure.sentence,
            "svg": figure_inline(figure, place),
        }
        for place, figure in enumerate(figures)
        if not figure.is_empty
    ]
    parts = [one for one in GLOBAL_PARTS.values() if any(figure["part"] == one[0] for figure in drawn)]
    template = page_environment().get_template("global.html")
    return str(
        template.render(
            style=page_style(),
            script=page_script(),
            title=title,
            sentence=sentence,
            notes=notes,
            parts=[*parts, ("numbers", "The numbers")],
            figures=drawn,
            tables=tables,
            made_by=made_by,
        )
    )


def global_fragment(sentence: str, notes: Sequence[str], figures: Sequence[Figure]) -> str:
    """The same for a notebook: the sentence and the pictures, as images that need no style sheet."""
    drawn = "".join(
        f"<h4>{escape(figure.title)}</h4>{image_html(figure_svg(figure), figure.title)}"
        f"{paragraph_html(figure.sentence)}"
        for figure in figures
        if not figure.is_empty
    )
    return paragraph_html(*notes, bold=sentence) + drawn


def _write(folder: Path, found: Found[BenchmarkSummary], manifest: Manifest) -> None:
    write_benchmark_report(folder, found.summary, manifest)


OUTSIDE = View(
    _write,
    lambda summary: Group(*map(Text, verdict_lines(summary.verdict))),
    lambda summary: verdict_html(summary.verdict),
)
