"""One page for both courts: every explainer in every court, and whether benchmarks predict what helps people."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from verax.codec import encoded
from verax.errors import VeraxError
from verax.report.common.page import page_script, page_style
from verax.report.courts.charts import court_panels, courts_figure, scatter_figure, scatter_panel
from verax.report.courts.courts import Court, read_courts
from verax.report.courts.courts_verdict import courts_verdict
from verax.report.courts.order import (
    MORE_STUDIES,
    POWER,
    WORTH,
    Agreement,
    Comparison,
    agreements,
    coefficient,
    comparisons,
)
from verax.report.explanations.explanations_page import _environment
from verax.results.findings import FLOOR
from verax.run import library_versions, write_json
from verax.run.checksums import verify
from verax.stats.ranks.methods_needed import Needed
from verax.stats.thresholds import FEWEST_METHODS
from verax.text import NOTHING, counted, listed, p_number


@dataclass(frozen=True)
class BothCourts:
    """Every number of the page.

    Attributes:
        folders: what was compared.
        answer: whether benchmarks predict what helps people, in a sentence.
        needs: how many methods it would take.
        explainers: in the order of the page.
        courts: every court with everybody who stood in it.
        comparisons: of benchmarks with studies, what says most first.
        agreements: of benchmarks with each other.
        notes: what was left out.
        versions: of the libraries.
    """

    folders: tuple[str, ...]
    answer: str
    needs: str
    explainers: tuple[str, ...]
    courts: tuple[Court, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str | None]
    agreements: tuple[Agreement, ...] = ()
    format: int = 1
    kind: Literal["report"] = "report"


def compare_courts(folders: Sequence[Path]) -> BothCourts:
    """Every number of the page."""
    courts, notes = read_courts(folders)
    notes = [*_edited(folders), *notes]
    compared = comparisons(courts)
    return BothCourts(
        folders=tuple(str(folder) for folder in folders),
        answer=answer(courts, compared),
        needs=compared[0].needs if compared else "",
        explainers=tuple(explainer_order(courts)),
        courts=tuple(courts),
        comparisons=tuple(compared),
        notes=tuple(notes),
        versions=library_versions(),
        agreements=tuple(agreements(courts)),
    )


def _edited(folders: Sequence[Path]) -> Iterator[str]:
    """A sentence for each folder of which a file was changed after it was written."""
    for folder in folders:
        try:
            found = verify(folder, jobs=False)
        except VeraxError:
            continue  # without a manifest nothing is known
        if found.problems:
            yield f"The numbers of {folder} are not those that were computed: {listed(found.problems)}."


def write_courts_report(folders: Sequence[Path], out: Path) -> BothCourts:
    """Writes the page and its numbers, and gives the numbers.

    Args:
        folders: of benchmark runs and of analysed studies.
        out: a file that ends in .html, beside which the numbers get the ending .json; or a folder for report.html,
            summary.json and figures/.
    """
    page, numbers, figures = places(out)
    taken = [folder for folder in folders if folder.resolve() == page.parent.resolve()]
    if taken:
        raise VeraxError(
            f"{str(page)!r} would lie among the files of {str(taken[0])!r}, which has a report of its own; choose "
            "another --out."
        )
    both = compare_courts(folders)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        page.write_bytes(render_courts(both, page).encode("utf-8", "replace"))
        write_json(numbers, encoded(both))
        if figures is not None:
            figures.mkdir(exist_ok=True)
            for name, svg in figure_files(both).items():
                (figures / f"{name}.svg").write_bytes(svg.encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(page)!r} ({error.strerror}); choose another --out."
        ) from error
    return both


def places(out: Path) -> tuple[Path, Path, Path | None]:
    """Where the page, its numbers and (in a folder) its figures go."""
    if out.suffix.lower() in (".html", ".htm"):
        return out, out.with_suffix(".json"), None
    return out / "report.html", out / "summary.json", out / "figures"


def figure_files(both: BothCourts) -> dict[str, str]:
    """The figures as SVG files, by name."""
    files = {"courts": courts_figure(both.courts, both.explainers)} if both.courts else {}
    for place, comparison in enumerate(both.comparisons, start=1):
        if comparison.correlation is not None:
            files[f"against-{place}"] = scatter_figure(comparison, both.courts)
    return files


def render_courts(both: BothCourts, page: Path) -> str:
    """The page as HTML; it will lie at ``page``, from where it points to the courts' own reports."""
    courts, order = both.courts, both.explainers
    correlated = [comparison for comparison in both.comparisons if comparison.correlation is not None]
    return str(
        _environment()
        .get_template("courts.html")
        .render(
            style=page_style(),
            script=page_script(),
            verdict=courts_verdict(courts, order, _answered(both), both.needs),
            asked=asked(courts),
            simulated=any(court.simulated for court in courts),
            only_simulated=all(court.simulated for court in courts if court.kind == "study"),
            notes=both.notes,
            panels=court_panels(courts, order),
            floor=FLOOR in order,
            headings=["Explainer", *(court.name for court in courts)],
            rows=[[name, *(_stood(name, court) for court in courts)] for name in order],
            courts=[(court, _own_report(court, page)) for court in courts],
            folders=both.folders,
            against=[
                (comparison, scatter_panel(comparison, courts, place) if comparison.correlation else "")
                for place, comparison in enumerate(both.comparisons)
            ],
            agreements=both.agreements,
            correlation_rows=[_correlation_row(comparison) for comparison in correlated],
            more=MORE_STUDIES,
            worth=WORTH,
            power=f"{POWER:.0%}",
            versions=", ".join(f"{name} {version}" for name, version in both.versions.items() if version),
        )
    )


def _answered(both: BothCourts) -> str:
    """The answer after its question, where the courts could be compared."""
    return f"Do benchmarks predict what helps people? {both.answer}" if both.comparisons else both.answer


def answer(courts: Sequence[Court], compared: Sequence[Comparison]) -> str:
    """The answer to the question whether benchmarks predict what helps people."""
    if compared:
        return compared[0].sentence
    kinds = {court.kind for court in courts}
    lacking = "study with people" if "study" not in kinds else "benchmark"
    return (
        f"Whether benchmarks predict what helps people cannot be said from one court: there is no {lacking} here. It "
        f"takes a benchmark and a study with at least {FEWEST_METHODS} explainers in both."
    )


def asked(courts: Sequence[Court]) -> str:
    """Which courts there are, in a sentence."""
    benchmarks = [court for court in courts if court.kind == "benchmark"]
    people = [court for court in courts if court.kind == "study" and not court.simulated]
    bots = [court for court in courts if court.simulated]
    parts = [
        counted(len(benchmarks), "benchmark") if benchmarks else "",
        counted(len(people), "study with people", "studies with people") if people else "",
        counted(len(bots), "study with simulated people", "studies with simulated people") if bots else "",
    ]
    there = listed([part for part in parts if part]) or "no court"
    return f"{there}; {counted(len(explainer_order(courts)), 'explainer')} stood in at least one."


def explainer_order(courts: Sequence[Court]) -> list[str]:
    """Explainers by their mean place over the courts where they stood, the best first; random is last."""
    places: dict[str, list[float]] = {}
    for court in courts:
        sign = -1 if court.higher_is_better else 1
        ranked = sorted(court.standings, key=lambda standing: sign * standing.estimate)
        for place, standing in enumerate(ranked):
            places.setdefault(standing.explainer, []).append((place + 0.5) / len(ranked))
    return sorted(places, key=lambda name: (name == FLOOR, sum(places[name]) / len(places[name]), name))


def _own_report(court: Court, page: Path) -> str:
    """Where the court's own report lies, seen from the page; nothing if it has none."""
    own = Path(court.folder) / "report.html"
    if not own.exists():
        return ""
    try:
        return quote(Path(os.path.relpath(own.resolve(), page.parent.resolve())).as_posix())
    except ValueError:  # on another drive
        return own.resolve().as_uri()


def _stood(name: str, court: Court) -> str:
    """How an explainer did in a court, with its interval; a dash if it did not stand there."""
    standing = next((standing for standing in court.standings if standing.explainer == name), None)
    if standing is None:
        return NOTHING
    shown, low, high = court.unit.number(float(standing.estimate)), standing.low, standing.high
    return shown if low is None or high is None else f"{shown} {court.unit.ends((float(low), float(high)))}"


def _correlation_row(comparison: Comparison) -> list[str]:
    against = f"{comparison.benchmark} against {comparison.study}"
    against += " (simulated people)" if comparison.simulated else ""
    ranks = comparison.correlation
    if ranks is None or ranks.spearman is None or ranks.p_spearman is None or ranks.p_kendall is None:
        return [against, str(len(comparison.methods)), *[NOTHING] * 7]
    return [
        against,
        str(ranks.n),
        _with_ends(ranks.spearman, ranks.spearman_low, ranks.spearman_high),
        p_number(ranks.p_spearman),
        _with_ends(ranks.kendall, ranks.kendall_low, ranks.kendall_high),
        p_number(ranks.p_kendall),
        _needed(comparison.needed),
        _needed(comparison.needed_with_more),
        _needed(comparison.needed_at_best),
    ]


def _with_ends(value: float | None, low: float | None, high: float | None) -> str:
    return coefficient(value) + ("" if low is None else f" [{coefficient(low)}, {coefficient(high)}]")


def _needed(needed: Needed | None) -> str:
    return NOTHING if needed is None else "> 500" if needed.methods is None else str(needed.methods)
