"""The report of a benchmark from its data: the verdict, what was found, and how it was computed, on one page."""

from __future__ import annotations

from pathlib import Path

from verax.benchmarks.benchmark_run import Summary
from verax.errors import VeraxError
from verax.report.common.failures import failed_jobs
from verax.report.common.figures import figure_inline, figure_svg
from verax.report.common.page import page_script, page_style
from verax.report.common.run_facts import manifest_words, spec_toml
from verax.report.explanations.explanations_page import _environment
from verax.results.render import file_name, heading, rows_of, to_latex, to_markdown
from verax.run.manifest import Manifest


def write_benchmark_report(folder: Path, summary: Summary, manifest: Manifest) -> None:
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


def render_benchmark_report(summary: Summary, manifest: Manifest) -> str:
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
        _environment()
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
