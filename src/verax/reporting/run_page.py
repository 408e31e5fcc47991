"""What every benchmark shows of a run, as data: its page in parts, and what a terminal and a notebook need of it.

A benchmark says with a `View` how its runs are shown. Writing `report.html`, its tables and its figures, and printing
the same, is done here for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal

from rich.console import Group, RenderableType
from rich.text import Text

from verax.benchmarks.contract import BenchmarkSummary, Failure, Found, Summary
from verax.notebook import image_html, paragraph_html
from verax.phrases import say
from verax.reporting.explanations import page_environment
from verax.reporting.figures import figure_inline, figure_svg
from verax.reporting.page import (
    FittedTable,
    failed_jobs,
    is_kept,
    manifest_words,
    marked,
    page_key,
    page_script,
    page_style,
    spec_toml,
    terminal_table,
    write_report,
)
from verax.results.figures import Figure
from verax.results.tables import Table, file_name, table_html, verdict_html, verdict_lines
from verax.results.verdict import Verdict
from verax.run.manifest import PAGE, Manifest


class Block:
    """A piece of a part of a page; its kind says how `run.html` shows it."""

    KIND: ClassVar[str]


@dataclass(frozen=True)
class Paragraph(Block):
    """Sentences; how something was computed is set small."""

    KIND = "paragraph"
    text: str
    style: Literal["", "small how", "notice"] = ""


@dataclass(frozen=True)
class Heading(Block):
    """A heading inside a part."""

    KIND = "heading"
    text: str


@dataclass(frozen=True)
class Numbers(Block):
    """A table, its title above it unless a heading has said it."""

    KIND = "numbers"
    table: Table
    titled: bool = True


@dataclass(frozen=True)
class Panels(Block):
    """Drawings beside each other as elements of the page, and what they show."""

    KIND = "panels"
    panels: Sequence[str]
    caption: str


@dataclass(frozen=True)
class Drawing(Block):
    """A figure as an element of the page."""

    KIND = "drawing"
    svg: str
    sort: str
    sentence: str


@dataclass(frozen=True)
class Questions(Block):
    """Questions with their answers."""

    KIND = "questions"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Listed(Block):
    """Sentences as a list."""

    KIND = "listed"
    sentences: Sequence[str]


@dataclass(frozen=True)
class Failures(Block):
    """Jobs that failed, so many of them by name."""

    KIND = "failures"
    failures: Sequence[Failure]
    most: int = 20


@dataclass(frozen=True)
class Folded(Block):
    """What can be unfolded."""

    KIND = "folded"
    summary: str
    blocks: Sequence[Block]
    opened: bool = False


@dataclass(frozen=True)
class Drawn(Block):
    """Something that only this benchmark has, as HTML that its own template made."""

    KIND = "drawn"
    html: str


@dataclass(frozen=True)
class Part:
    """A part of a page behind its heading.

    Attributes:
        key: its anchor.
        heading: what readers see.
        blocks: what stands in it.
        short: its name in the list of contents; the heading if that is short.
        opened: whether it stands open.
    """

    key: str
    heading: str
    blocks: Sequence[Block]
    short: str = ""
    opened: bool = False


@dataclass(frozen=True)
class RunPage:
    """The page of a run.

    Attributes:
        title: the question that it answers.
        verdict: the answer.
        parts: of the page, in their order.
        window: the title of the window, if it is another.
        asked: what the run did, in a sentence.
        notices: what a reader must know before reading any number.
        failures: jobs that failed, where no part has them.
        again: more sentences on how to run it again.
        results: the file with the numbers, beside summary.json.
        source: where the method comes from.
        made_by: the command that made it.
        tables: as files to paste.
        figures: as SVG files, by name.
    """

    title: str
    verdict: Verdict
    parts: Sequence[Part]
    window: str = ""
    asked: str = ""
    notices: Sequence[str] = ()
    failures: Sequence[Failure] = ()
    again: Sequence[str] = ()
    results: str = ""
    source: str = ""
    made_by: str = ""
    tables: Sequence[Table] = ()
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Brief:
    """What a terminal and a notebook show of a run.

    Attributes:
        verdict: the answer.
        tables: of the report, the first ones.
        sentences: below the tables.
        broken: whether a table that is too wide is broken into lines, instead of leaving columns to the report.
    """

    verdict: Verdict
    tables: Sequence[Table] = ()
    sentences: Sequence[str] = ()
    broken: bool = False


@dataclass(frozen=True)
class View:
    """How runs of one benchmark are shown.

    Attributes:
        page: the report.
        brief: what a terminal and a notebook show.
        failed: sentences on what failed.
        printed: more of them, which stand in `brief` already.
    """

    page: Callable[[Found[Any]], RunPage]
    brief: Callable[[Any], Brief]
    failed: Callable[[Any], list[str]] = lambda summary: failed_jobs(summary.failures, "job")
    printed: Callable[[Any], list[str]] = lambda _: []


# The parts of a page of global views, by the kind of their figures.
GLOBAL_PARTS = {
    "intervals": "importance",
    "swarm": "scores",
    "dependence": "dependence",
    "matrix": "agreement",
}


# Where the view of each benchmark of Verax's own is; only that of the run at hand is loaded.
VIEWS = {
    "StainSummary": "verax.reporting.staining.page:STAINING",
    "RationaleSummary": "verax.reporting.rationale.page:RATIONALE",
    "MeasuresSummary": "verax.reporting.measures_and_students:MEASURES",
    "StudentsSummary": "verax.reporting.measures_and_students:STUDENTS",
}


def view_of(summary: Summary) -> View:
    """How a run is shown, by what it found."""
    place = VIEWS.get(type(summary).__name__)
    if place is None:
        return OUTSIDE
    module, _, name = place.partition(":")
    view = getattr(import_module(module), name)
    assert isinstance(view, View)
    return view


def write_run(folder: Path, found: Found[Any], manifest: Manifest) -> None:
    """Writes ``report.html``, ``figures/*.svg`` and ``tables/*.md`` and ``*.tex`` into the folder of a run.

    What lies there already and was made of the same is kept.
    """
    known = {name: value for name, value in manifest.items() if name not in ("finished", PAGE)}
    shown = [list(map(asdict, found.examples)), list(map(asdict, found.timings))]
    results = None if found.results is None else len(found.results)
    key = page_key(found.summary.to_dict(), results, shown, known)
    written = manifest.get(PAGE) or {}
    if (
        is_kept(folder / "report.html", key)
        and written
        and all((folder / name).is_file() for name in written)
    ):
        return
    page = view_of(found.summary).page(found)
    html = render_run(page, found.summary, manifest)
    write_report(folder, marked(html, key), page.figures, page.tables)


def render_run(page: RunPage, summary: Any, manifest: Manifest) -> str:
    """The page as HTML, with everything in itself."""
    spec = summary.spec if isinstance(summary.spec, Mapping) else summary.spec.model_dump()
    return render_page(
        page,
        again={
            "benchmark": summary.benchmark,
            "spec": spec_toml(spec, summary.benchmark),
            "manifest": manifest_words(manifest),
        },
    )


def render_page(page: RunPage, again: Mapping[str, object] | None = None) -> str:
    """The same of something that is no run of a benchmark: without how to run it again."""
    template = page_environment().get_template("run.html")
    return str(template.render(style=page_style(), script=page_script(), page=page, again=again))


def own_html(template: str, macro: str, *given: object, **more: object) -> str:
    """A macro of a benchmark's own template with these arguments, as markup that is not escaped again."""
    module = page_environment().get_template(template).module
    made: str = getattr(module, macro)(*given, **more)
    return made


def in_terminal(brief: Brief) -> RenderableType:
    """The verdict, the first tables, and what there is to say of them."""
    parts: list[RenderableType] = [*map(Text, verdict_lines(brief.verdict))]
    if brief.tables:
        parts.append(Text())
    for table in brief.tables:
        shown = terminal_table(table, range(2, len(table.columns))) if brief.broken else FittedTable(table)
        parts += [shown, Text(table.sentence)]
    return Group(*parts, *map(Text, brief.sentences))


def in_notebook(brief: Brief) -> str:
    """The same as HTML."""
    tables = [paragraph_html(table.title) + table_html(table) for table in brief.tables]
    sentences = paragraph_html(*brief.sentences) if brief.sentences else ""
    return "".join([verdict_html(brief.verdict), *tables, sentences])


def told(table: Table, drawing: Drawing | None = None) -> list[Block]:
    """A table below its own heading, with what it means and what else a reader must know."""
    blocks: list[Block] = [Heading(table.title)]
    if table.sentence:
        blocks.append(Paragraph(table.sentence))
    if drawing is not None:
        blocks.append(drawing)
    blocks.append(Numbers(table, titled=False))
    return [*blocks, *(Paragraph(note, "small how") for note in table.notes)]


def findings_page(
    *,
    title: str,
    asked: str,
    sentences: Sequence[str],
    tables: Sequence[Table],
    how: str,
    failures: Sequence[Failure] = (),
    left_out: Sequence[str] = (),
) -> RunPage:
    """The page of a run that is said in sentences and tables.

    Args:
        title: the question that it answers.
        asked: what the run did, in a sentence.
        sentences: the answer, and what else there is to say.
        tables: the first two are open.
        how: how the numbers were made.
        failures: what failed.
        left_out: what could not be used, and why.
    """
    blocks: list[Block] = []
    for place, table in enumerate(tables):
        about = [Paragraph(table.sentence), Numbers(table, titled=False)]
        notes = [Paragraph(note, "small how") for note in table.notes]
        blocks.append(Folded(table.title, [*about, *notes], opened=place < 2))
    blocks.append(Paragraph(how, "small how"))
    parts = [Part("numbers", say("common", "part-numbers"), blocks, opened=True)]
    if left_out:
        parts.append(Part("left-out", say("common", "part-left-out"), [Listed(left_out)]))
    verdict = Verdict(sentences[0], (), "", tuple(sentences[1:]))
    return RunPage(title, verdict, parts, asked=asked, failures=failures, tables=tables)


def global_page(
    title: str,
    sentence: str,
    notes: Sequence[str],
    figures: Sequence[Figure],
    tables: Sequence[Table],
    made_by: str = "",
) -> RunPage:
    """What many explanations say together: a part for each sort of figure, and the numbers."""
    drawn = drawings(figures)
    parts = []
    for kind, key in GLOBAL_PARTS.items():
        own = [figure for figure in figures if figure.kind == kind and figure.key in drawn]
        blocks: list[Block] = []
        for figure in own:
            blocks += [Heading(figure.title), drawn[figure.key]]
        if blocks:
            parts.append(Part(key, say("global-view", f"part-{key}"), blocks, opened=True))
    numbers = [block for table in tables for block in told(table)]
    parts.append(Part("numbers", say("common", "part-numbers"), numbers))
    return RunPage(title, Verdict(sentence, (), ""), parts, notices=notes, made_by=made_by)


def drawings(figures: Sequence[Figure]) -> dict[str, Drawing]:
    """Figures as elements of one page, by their keys; one with nothing in it is left out."""
    return {
        figure.key: Drawing(figure_inline(figure, place), figure.kind, figure.sentence)
        for place, figure in enumerate(figures)
        if not figure.is_empty
    }


def global_fragment(sentence: str, notes: Sequence[str], figures: Sequence[Figure]) -> str:
    """The same for a notebook: the sentence and the pictures, as images that need no style sheet."""
    drawn = "".join(
        f"<h4>{escape(figure.title)}</h4>{image_html(figure_svg(figure), figure.title)}"
        f"{paragraph_html(figure.sentence)}"
        for figure in figures
        if not figure.is_empty
    )
    return paragraph_html(*notes, bold=sentence) + drawn


def _outside_page(found: Found[BenchmarkSummary]) -> RunPage:
    """The page of a benchmark that gives its findings as data."""
    summary = found.summary
    drawn = drawings(summary.figures)
    beside = {table.key for table in summary.tables}
    blocks = [block for table in summary.tables for block in told(table, drawn.get(table.key))]
    for figure in summary.figures:
        if figure.key in drawn and figure.key not in beside:
            blocks += [Heading(figure.title), drawn[figure.key]]
    return RunPage(
        title=summary.title,
        window=say("common", "page-found", title=summary.title),
        asked=summary.about,
        verdict=summary.verdict,
        notices=failed_jobs(summary.failures, "job"),
        parts=[Part("found", say("common", "part-found"), blocks, opened=True)],
        results="findings.csv",
        tables=summary.tables,
        figures={file_name(one.key): figure_svg(one) for one in summary.figures if one.key in drawn},
    )


OUTSIDE = View(_outside_page, lambda summary: Brief(summary.verdict))
