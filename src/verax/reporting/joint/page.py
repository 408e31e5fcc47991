"""One page for benchmarks and studies: every explainer in each, and whether benchmarks predict what helps people."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from verax.codec import encoded
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.reporting.drawing import (
    INK,
    QUIET,
    Axes,
    Frame,
    Look,
    grid_svg,
    hover,
    inlined,
    looks,
    panel_svg,
    shortened,
    spread,
    with_ends,
)
from verax.reporting.explanations import page_environment
from verax.reporting.joint.evaluations import Evaluation, Standing, joint_verdict, read_evaluations
from verax.reporting.joint.order import (
    COUNTED,
    MORE_STUDIES,
    NORMAL_95,
    POWER,
    WORTH,
    MeasureOrders,
    OrderAgreement,
    OrderComparison,
    agreements,
    coefficient,
    comparisons,
    measure_orders,
)
from verax.reporting.page import page_script, page_style
from verax.results.findings import FLOOR
from verax.results.units import Unit
from verax.run import library_versions, write_json
from verax.run.manifest import verify
from verax.stats.rank_correlations import Needed
from verax.stats.thresholds import FEWEST_METHODS
from verax.text import NOTHING, p_number

say = partial(say_phrase, "joint")
LETTER = 6.0
LONGEST = 18


def explainer_looks(evaluations: Sequence[Evaluation]) -> dict[str, Look]:
    """One look per explainer on all figures; random is grey."""
    names = list(
        dict.fromkeys(standing.explainer for evaluation in evaluations for standing in evaluation.standings)
    )
    return looks([name for name in names if name != FLOOR]) | {FLOOR: Look(QUIET, (0, (1, 1.5)), "o")}


def evaluation_panels(evaluations: Sequence[Evaluation], order: Sequence[str]) -> list[str]:
    """One inline SVG per evaluation, the explainers in the same rows in each."""
    styles = explainer_looks(evaluations)
    return [
        inlined(
            panel_svg(
                partial(draw_evaluation, evaluation=evaluation, order=order, styles=styles),
                evaluation_frame(order),
            ),
            f"evaluation-{place}",
            say("panel", evaluation=evaluation.name, measure=evaluation.measure),
        )
        for place, evaluation in enumerate(evaluations)
    ]


def evaluations_figure(evaluations: Sequence[Evaluation], order: Sequence[str]) -> str:
    """All evaluations beside each other as one SVG file."""
    styles = explainer_looks(evaluations)
    draws = [
        partial(draw_evaluation, evaluation=evaluation, order=order, styles=styles)
        for evaluation in evaluations
    ]
    return grid_svg([draws], evaluation_frame(order))


def evaluation_frame(order: Sequence[str]) -> Frame:
    """Room for the names at the left, one row each."""
    widest = max((len(shortened(name, LONGEST)) for name in order), default=0)
    return Frame(
        width=270 + LETTER * widest, left=14 + LETTER * widest, right=14, height=70 + 26.0 * len(order)
    )


def draw_evaluation(
    axes: Axes, evaluation: Evaluation, order: Sequence[str], styles: Mapping[str, Look]
) -> None:
    """A dot with its interval for each explainer; small dots are its parts, the dotted line is random."""
    by_name = {standing.explainer: standing for standing in evaluation.standings}
    axes.set_title(shortened(evaluation.name, 44))
    floor = by_name.get(FLOOR)
    if floor is not None:
        axes.axvline(floor.estimate, color=QUIET, linewidth=1, linestyle=(0, (1, 1.5)))
    if evaluation.kind == "study" and evaluation.unit == "points":
        axes.axvline(0, color=INK, linewidth=0.7)
    for place, name in enumerate(order):
        if name in by_name:
            _draw_standing(axes, place, by_name[name], styles[name], Unit(evaluation.unit).decimals)
        else:
            move = axes.get_yaxis_transform()
            axes.text(0.02, place, say("panel-absent"), transform=move, va="center", color=QUIET, fontsize=9)
    axes.set_yticks(range(len(order)), [shortened(name, LONGEST) for name in order])
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlabel(
        shortened(say("panel-axis", measure=evaluation.measure, unit=evaluation.unit or "none"), 58)
    )
    if evaluation.unit == "per cent":
        axes.set_xlim(-1, 101)
    axes.grid(axis="x", color=QUIET, alpha=0.25, linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)
    axes.locator_params(axis="x", nbins=6)


def _draw_standing(axes: Axes, place: int, standing: Standing, look: Look, decimals: int) -> None:
    for part in standing.parts.values() if len(standing.parts) > 1 else ():
        axes.plot([part], [place + 0.24], "o", markersize=2.5, color=look.colour, alpha=0.7)
    if standing.low is not None and standing.high is not None:
        axes.plot([standing.low, standing.high], [place, place], color=look.colour, linewidth=2)
    axes.plot([standing.estimate], [place], look.marker, markersize=6.5, color=look.colour)
    said = with_ends(standing.estimate, standing.low, standing.high, decimals)
    hover(axes, standing.estimate, place, f"{standing.explainer}: {said}")


def scatter_panel(comparison: OrderComparison, evaluations: Sequence[Evaluation], number: int) -> str:
    """One inline SVG: the benchmark across, people up, a dot with both intervals for each method."""
    label = say(
        "panel-pair",
        benchmark=comparison.benchmark,
        study=comparison.study,
        sentence=comparison.sentence,
    )
    return inlined(scatter_figure(comparison, evaluations), f"against-{number}", label)


def scatter_figure(comparison: OrderComparison, evaluations: Sequence[Evaluation]) -> str:
    """The same as an SVG file."""
    frame = Frame(width=390, height=270, left=58, right=100, top=10, bottom=44)
    return panel_svg(partial(draw_scatter, comparison=comparison, styles=explainer_looks(evaluations)), frame)


def draw_scatter(axes: Axes, comparison: OrderComparison, styles: Mapping[str, Look]) -> None:
    """Crosses of intervals with a marker each, named at the right."""
    for place, name in enumerate(comparison.methods):
        look, x, y = styles[name], comparison.first[place], comparison.second[place]
        if comparison.first_error is not None:
            margin = NORMAL_95 * comparison.first_error[place]
            axes.plot([x - margin, x + margin], [y, y], color=look.colour, linewidth=1.2)
        if comparison.second_error is not None:
            margin = NORMAL_95 * comparison.second_error[place]
            axes.plot([x, x], [y - margin, y + margin], color=look.colour, linewidth=1.2)
        axes.plot([x], [y], look.marker, color=look.colour, markersize=7)
        hover(axes, x, y, say("panel-point", name=name, x=f"{x:.2f}", y=f"{y:.2f}"))
    axes.grid(color=QUIET, alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel(shortened(say("panel-across", benchmark=comparison.benchmark), 48))
    axes.set_ylabel(shortened(say("panel-up", bots=comparison.simulated), 40), labelpad=3)
    axes.locator_params(nbins=6)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    right = axes.get_xlim()[1]
    axes.set_xlim(axes.get_xlim()[0], right)
    move = axes.get_yaxis_transform()
    places = spread(list(comparison.second), 0.075 * (high - low), low, high)
    for name, y, x, height in zip(
        comparison.methods, comparison.second, comparison.first, places, strict=True
    ):
        look = styles[name]
        axes.plot([x, right], [y, y], color=QUIET, linewidth=0.4, linestyle=(0, (1, 2)))
        axes.plot(
            [1.03], [height], look.marker, color=look.colour, markersize=5, transform=move, clip_on=False
        )
        axes.text(1.06, height, shortened(name, 14), transform=move, va="center_baseline", fontsize=10)


@dataclass(frozen=True)
class JointReport:
    """Every number of the page.

    Attributes:
        folders: what was compared.
        answer: whether benchmarks predict what helps people, in a sentence.
        needs: how many methods it would take.
        explainers: in the order of the page.
        evaluations: each with everybody in it.
        comparisons: of benchmarks with studies, what says most first.
        agreements: of benchmarks with each other.
        measures: automatic measures beside all evaluations; None where none was given.
        measured: explainers by each automatic measure, which claims nothing.
        notes: what was left out.
        versions: of the libraries.
    """

    folders: tuple[str, ...]
    answer: str
    needs: str
    explainers: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    comparisons: tuple[OrderComparison, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str | None]
    agreements: tuple[OrderAgreement, ...] = ()
    measures: MeasureOrders | None = None
    measured: tuple[Evaluation, ...] = ()
    format: int = 1
    kind: Literal["report"] = "report"


def compare_evaluations(folders: Sequence[Path]) -> JointReport:
    """Every number of the page."""
    given, notes = read_evaluations(folders)
    evaluations = [one for one in given if one.kind != "measure"]
    notes = [*_edited(folders), *notes]
    compared = comparisons(evaluations)
    return JointReport(
        folders=tuple(str(folder) for folder in folders),
        answer=answer(evaluations, compared),
        needs=compared[0].needs if compared else "",
        explainers=tuple(explainer_order(evaluations)),
        evaluations=tuple(evaluations),
        comparisons=tuple(compared),
        notes=tuple(notes),
        versions=library_versions(),
        agreements=tuple(agreements(evaluations)),
        measures=measure_orders(given),
        measured=tuple(one for one in given if one.kind == "measure"),
    )


def _edited(folders: Sequence[Path]) -> Iterator[str]:
    """A sentence for each folder of which a file was changed after it was written."""
    for folder in folders:
        try:
            found = verify(folder, jobs=False)
        except VeraxError:
            continue  # without a manifest nothing is known
        if found.problems:
            yield say("note-changed", folder=str(folder), problems=found.problems)


def write_joint_report(folders: Sequence[Path], out: Path) -> JointReport:
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
    both = compare_evaluations(folders)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        page.write_bytes(render_joint_report(both, page).encode("utf-8", "replace"))
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


def figure_files(both: JointReport) -> dict[str, str]:
    """The figures as SVG files, by name."""
    files = {"evaluations": evaluations_figure(both.evaluations, both.explainers)} if both.evaluations else {}
    for place, comparison in enumerate(both.comparisons, start=1):
        if comparison.correlation is not None:
            files[f"against-{place}"] = scatter_figure(comparison, both.evaluations)
    return files


def render_joint_report(both: JointReport, page: Path) -> str:
    """The page as HTML; it will lie at ``page``, from where it points to the evaluations' own reports."""
    evaluations, order = both.evaluations, both.explainers
    correlated = [comparison for comparison in both.comparisons if comparison.correlation is not None]
    everybody = [*order, *(name for name in explainer_order(both.measured) if name not in order)]
    return str(
        page_environment()
        .get_template("joint.html")
        .render(
            style=page_style(),
            script=page_script(),
            verdict=joint_verdict(evaluations, order, _answered(both), both.needs),
            asked=asked(evaluations),
            simulated=any(evaluation.simulated for evaluation in evaluations),
            only_simulated=all(
                evaluation.simulated for evaluation in evaluations if evaluation.kind == "study"
            ),
            notes=both.notes,
            panels=evaluation_panels(evaluations, order),
            floor=FLOOR in order,
            headings=[say("column-evaluation"), say("column-better"), *everybody],
            rows=[
                [
                    one.name,
                    say("better", higher=one.higher_is_better),
                    *(_stood(name, one) for name in everybody),
                ]
                for one in (*evaluations, *both.measured)
            ],
            evaluations=[(evaluation, _own_report(evaluation, page)) for evaluation in evaluations],
            folders=both.folders,
            against=[
                (comparison, scatter_panel(comparison, evaluations, place) if comparison.correlation else "")
                for place, comparison in enumerate(both.comparisons)
            ],
            agreements=both.agreements,
            measures=both.measures,
            measure_headings=[] if both.measures is None else _measure_headings(both.measures),
            measure_rows=[] if both.measures is None else _measure_rows(both.measures),
            correlation_headings=[
                *map(
                    say, ("column-pair", "column-methods", "column-rho", "column-p", "column-tau", "column-p")
                ),
                say("column-needed"),
                say("column-needed-more", studies=MORE_STUDIES),
                say("column-needed-best"),
            ],
            correlation_rows=[_correlation_row(comparison) for comparison in correlated],
            worth=WORTH,
            power=f"{POWER:.0%}",
            versions=", ".join(f"{name} {version}" for name, version in both.versions.items() if version),
        )
    )


def _answered(both: JointReport) -> str:
    """The answer after its question, where the evaluations could be compared."""
    return say("question", answer=both.answer) if both.comparisons else both.answer


def answer(evaluations: Sequence[Evaluation], compared: Sequence[OrderComparison]) -> str:
    """The answer to the question whether benchmarks predict what helps people."""
    if compared:
        return compared[0].sentence
    lacking = next(
        (kind for kind in ("study", "benchmark") if all(one.kind != kind for one in evaluations)), ""
    )
    return say("one-kind-only", lacking=lacking, needed=FEWEST_METHODS)


def asked(evaluations: Sequence[Evaluation]) -> str:
    """Which evaluations there are, in a sentence."""
    there = {
        "asked-benchmarks": sum(evaluation.kind == "benchmark" for evaluation in evaluations),
        "asked-people": sum(
            evaluation.kind == "study" and not evaluation.simulated for evaluation in evaluations
        ),
        "asked-bots": sum(evaluation.simulated for evaluation in evaluations),
    }
    kinds = [say(kind, many=many) for kind, many in there.items() if many]
    return say("asked", evaluations=kinds or "none", explainers=len(explainer_order(evaluations)))


def explainer_order(evaluations: Sequence[Evaluation]) -> list[str]:
    """Explainers by their mean place over the evaluations that they are in, the best first; random is last."""
    places: dict[str, list[float]] = {}
    for evaluation in evaluations:
        sign = -1 if evaluation.higher_is_better else 1
        ranked = sorted(evaluation.standings, key=lambda standing: sign * standing.estimate)
        for place, standing in enumerate(ranked):
            places.setdefault(standing.explainer, []).append((place + 0.5) / len(ranked))
    return sorted(places, key=lambda name: (name == FLOOR, sum(places[name]) / len(places[name]), name))


def _own_report(evaluation: Evaluation, page: Path) -> str:
    """Where the evaluation's own report lies, seen from the page; nothing if it has none."""
    own = Path(evaluation.folder) / "report.html"
    if not own.exists():
        return ""
    try:
        return quote(Path(os.path.relpath(own.resolve(), page.parent.resolve())).as_posix())
    except ValueError:  # on another drive
        return own.resolve().as_uri()


def _stood(name: str, evaluation: Evaluation) -> str:
    """How an explainer did in an evaluation, with its interval; a dash if it is not in it."""
    standing = next((standing for standing in evaluation.standings if standing.explainer == name), None)
    if standing is None:
        return NOTHING
    shown, low, high = evaluation.unit.number(float(standing.estimate)), standing.low, standing.high
    return (
        shown if low is None or high is None else f"{shown} {evaluation.unit.ends((float(low), float(high)))}"
    )


def _measure_headings(found: MeasureOrders) -> list[str]:
    return [say("column-measure"), say("column-known"), *found.others]


def _measure_rows(found: MeasureOrders) -> list[list[str]]:
    """A row for each measure: its order of what is known, and its correlation with each evaluation's order."""
    rows = []
    for name, known, compared in zip(found.measures, found.known, found.compared, strict=True):
        cells = [
            NOTHING
            if one.correlation is None or one.correlation.spearman is None
            else say(
                "measure-cell",
                rho=_with_ends(
                    one.correlation.spearman, one.correlation.spearman_low, one.correlation.spearman_high
                ),
                methods=len(one.methods),
            )
            for one in compared
        ]
        rows.append([name, NOTHING if known is None else _with_ends(*known), *cells])
    return rows


def _correlation_row(comparison: OrderComparison) -> list[str]:
    case = "pair-bots" if comparison.simulated else "pair"
    against = say(case, benchmark=comparison.benchmark, study=comparison.study)
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
    if needed is None:
        return NOTHING
    return f"> {COUNTED}" if needed.methods is None else str(needed.methods)
