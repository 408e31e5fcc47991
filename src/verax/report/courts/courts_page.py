"""One page for both courts: every explainer in every court, and whether benchmarks predict what helps people."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from verax.errors import VeraxError
from verax.report.courts.charts import court_panels, courts_figure, scatter_figure, scatter_panel
from verax.report.courts.courts import FLOOR, Court, Standing, read_courts
from verax.report.courts.order import MORE_STUDIES, POWER, WORTH, Comparison, coefficient, comparisons
from verax.report.explanations.explanations_page import _environment
from verax.report.study.study_page import page_style
from verax.run import library_versions, write_json
from verax.stats.thresholds import FEWEST_METHODS
from verax.studies.results.units import Unit
from verax.text import NOTHING, counted, listed, p_number

FORMAT = 1


def courts_summary(folders: Sequence[Path]) -> tuple[dict[str, Any], list[Court], list[Comparison]]:
    """Every number of the page as plain values, and what they were made from."""
    courts, notes = read_courts(folders)
    found = comparisons(courts)
    summary = {
        "format": FORMAT,
        "kind": "report",
        "folders": [str(folder) for folder in folders],
        "answer": answer(courts, found),
        "needs": found[0].needs if found else "",
        "explainers": explainer_order(courts),
        "courts": [court.to_dict() for court in courts],
        "comparisons": [one.to_dict() for one in found],
        "notes": notes,
        "versions": library_versions(),
    }
    return summary, courts, found


def write_courts_report(folders: Sequence[Path], out: Path) -> dict[str, Any]:
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
    summary, courts, found = courts_summary(folders)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        page.write_bytes(render_courts(summary, courts, found, page).encode("utf-8", "replace"))
        write_json(numbers, summary)
        if figures is not None:
            figures.mkdir(exist_ok=True)
            for name, svg in figure_files(courts, found).items():
                (figures / f"{name}.svg").write_bytes(svg.encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(page)!r} ({error.strerror}); choose another --out."
        ) from error
    return summary


def places(out: Path) -> tuple[Path, Path, Path | None]:
    """Where the page, its numbers and (in a folder) its figures go."""
    if out.suffix.lower() in (".html", ".htm"):
        return out, out.with_suffix(".json"), None
    return out / "report.html", out / "summary.json", out / "figures"


def figure_files(courts: Sequence[Court], found: Sequence[Comparison]) -> dict[str, str]:
    """The figures as SVG files, by name."""
    files = {"courts": courts_figure(courts, explainer_order(courts))} if courts else {}
    for place, one in enumerate(found):
        if one.correlation is not None:
            files[f"against-{place + 1}"] = scatter_figure(one, courts)
    return files


def render_courts(
    summary: dict[str, Any], courts: Sequence[Court], found: Sequence[Comparison], page: Path
) -> str:
    """The page as HTML; it will lie at ``page``, from where it points to the courts' own reports."""
    order = explainer_order(courts)
    return str(
        _environment()
        .get_template("courts.html")
        .render(
            style=page_style(),
            answer=summary["answer"],
            needs=summary["needs"],
            asked=asked(courts),
            simulated=any(court.simulated for court in courts),
            only_simulated=all(court.simulated for court in courts if court.kind == "study"),
            notes=summary["notes"],
            panels=court_panels(courts, order),
            floor=any(one.explainer == FLOOR for court in courts for one in court.standings),
            headings=["Explainer", *(court.name for court in courts)],
            rows=[[name, *(_cell(name, court) for court in courts)] for name in order],
            courts=[(court, _own_report(court, page)) for court in courts],
            folders=summary["folders"],
            against=[
                (one, scatter_panel(one, courts, place) if one.correlation is not None else "")
                for place, one in enumerate(found)
            ],
            correlation_rows=[_correlation_row(one) for one in found if one.correlation is not None],
            more=MORE_STUDIES,
            worth=WORTH,
            power=f"{POWER:.0%}",
            versions=", ".join(f"{name} {one}" for name, one in summary["versions"].items() if one),
        )
    )


def answer(courts: Sequence[Court], found: Sequence[Comparison]) -> str:
    """The answer to the question whether benchmarks predict what helps people."""
    if found:
        return found[0].sentence
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
        ranked = sorted(court.standings, key=lambda one: sign * one.estimate)
        for place, one in enumerate(ranked):
            places.setdefault(one.explainer, []).append((place + 0.5) / len(ranked))
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


def _cell(name: str, court: Court) -> str:
    one = next((one for one in court.standings if one.explainer == name), None)
    return NOTHING if one is None else _in_words(one, court.unit)


def _in_words(standing: Standing, unit: Unit) -> str:
    shown = unit.number(float(standing.estimate))
    if standing.low is None or standing.high is None:
        return shown
    return f"{shown} {unit.ends((float(standing.low), float(standing.high)))}"


def _correlation_row(found: Comparison) -> list[str]:
    one = found.correlation
    against = f"{found.benchmark} against {found.study}{' (simulated people)' if found.simulated else ''}"
    if one is None or one.spearman is None or one.p_spearman is None or one.p_kendall is None:
        return [against, str(len(found.methods)), *[NOTHING] * 7]
    return [
        against,
        str(one.n),
        f"{coefficient(one.spearman)} [{coefficient(one.spearman_low)}, {coefficient(one.spearman_high)}]",
        p_number(one.p_spearman),
        f"{coefficient(one.kendall)} [{coefficient(one.kendall_low)}, {coefficient(one.kendall_high)}]",
        p_number(one.p_kendall),
        _needed(found.needed),
        _needed(found.needed_with_more),
        _needed(found.needed_at_best),
    ]


def _needed(needed: Any) -> str:
    return NOTHING if needed is None else "> 500" if needed.methods is None else str(needed.methods)
