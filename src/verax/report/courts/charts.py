"""The figures of the report for both courts: every explainer in every court, and one court against the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from verax.report.common.drawing import (
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
from verax.report.courts.courts import Court, Standing
from verax.report.courts.order import NORMAL_95, Comparison
from verax.results.findings import FLOOR
from verax.results.units import Unit

LETTER = 6.0
LONGEST = 18


def explainer_looks(courts: Sequence[Court]) -> dict[str, Look]:
    """One look per explainer on all figures; random is grey."""
    names = list(dict.fromkeys(standing.explainer for court in courts for standing in court.standings))
    return looks([name for name in names if name != FLOOR]) | {FLOOR: Look(QUIET, (0, (1, 1.5)), "o")}


def court_panels(courts: Sequence[Court], order: Sequence[str]) -> list[str]:
    """One inline SVG per court, the explainers in the same rows in each."""
    styles = explainer_looks(courts)
    return [
        inlined(
            panel_svg(partial(draw_court, court=court, order=order, styles=styles), court_frame(order)),
            f"court-{place}",
            f"{court.name}: {court.measure} of each explainer with 95% intervals; the numbers are in the table.",
        )
        for place, court in enumerate(courts)
    ]


def courts_figure(courts: Sequence[Court], order: Sequence[str]) -> str:
    """All courts beside each other as one SVG file."""
    styles = explainer_looks(courts)
    draws = [partial(draw_court, court=court, order=order, styles=styles) for court in courts]
    return grid_svg([draws], court_frame(order))


def court_frame(order: Sequence[str]) -> Frame:
    """Room for the names at the left, one row each."""
    widest = max((len(shortened(name, LONGEST)) for name in order), default=0)
    return Frame(
        width=270 + LETTER * widest, left=14 + LETTER * widest, right=14, height=70 + 26.0 * len(order)
    )


def draw_court(axes: Axes, court: Court, order: Sequence[str], styles: Mapping[str, Look]) -> None:
    """A dot with its interval for each explainer; small dots are its parts, the dotted line is random."""
    by_name = {standing.explainer: standing for standing in court.standings}
    axes.set_title(shortened(court.name, 44))
    floor = by_name.get(FLOOR)
    if floor is not None:
        axes.axvline(floor.estimate, color=QUIET, linewidth=1, linestyle=(0, (1, 1.5)))
    if court.kind == "study" and court.unit == "points":
        axes.axvline(0, color=INK, linewidth=0.7)
    for place, name in enumerate(order):
        if name in by_name:
            _draw_standing(axes, place, by_name[name], styles[name], Unit(court.unit).decimals)
        else:
            move = axes.get_yaxis_transform()
            axes.text(0.02, place, "did not stand here", transform=move, va="center", color=QUIET, fontsize=9)
    axes.set_yticks(range(len(order)), [shortened(name, LONGEST) for name in order])
    axes.set_ylim(len(order) - 0.4, -0.6)
    unit = f" ({court.unit})" if court.unit else ""
    axes.set_xlabel(shortened(f"{court.measure}{unit}", 58))
    if court.unit == "per cent":
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


def scatter_panel(comparison: Comparison, courts: Sequence[Court], number: int) -> str:
    """One inline SVG: the benchmark across, people up, a dot with both intervals for each method."""
    label = f"{comparison.benchmark} against {comparison.study}. {comparison.sentence}"
    return inlined(scatter_figure(comparison, courts), f"against-{number}", label)


def scatter_figure(comparison: Comparison, courts: Sequence[Court]) -> str:
    """The same as an SVG file."""
    frame = Frame(width=390, height=270, left=58, right=100, top=10, bottom=44)
    return panel_svg(partial(draw_scatter, comparison=comparison, styles=explainer_looks(courts)), frame)


def draw_scatter(axes: Axes, comparison: Comparison, styles: Mapping[str, Look]) -> None:
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
        hover(axes, x, y, f"{name}: benchmark {x:.2f}, people {y:.2f}")
    axes.grid(color=QUIET, alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel(shortened(f"{comparison.benchmark} →", 48))
    axes.set_ylabel(shortened(f"{'bots' if comparison.simulated else 'people'} helped →", 40), labelpad=3)
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
