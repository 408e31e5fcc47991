"""Figures from plain data: intervals, curves, bars, distributions, the flow of people, and the power of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from verax.reporting.drawing import (
    INK,
    QUIET,
    Axes,
    Frame,
    Look,
    hover,
    inlined,
    looks,
    panel_svg,
    shortened,
    spread,
    with_ends,
)
from verax.reporting.score_figures import (
    dependence_frame,
    draw_dependence,
    draw_matrix,
    draw_swarm,
    matrix_frame,
    swarm_frame,
)
from verax.results.figures import (
    Bars,
    Curve,
    Dependence,
    Distribution,
    Figure,
    Flow,
    FlowChart,
    Interval,
    Intervals,
    Matrix,
    Swarm,
    flow_words,
)
from verax.results.units import Unit
from verax.text import NOTHING

if TYPE_CHECKING:
    from verax.studies.planning.power import PowerPlan, Row


LINE = 15.0
GAP = 26.0


def flow_steps(flow: Flow) -> list[tuple[str, list[str]]]:
    """The boxes from top to bottom, each with the lines of the box beside it: who went before the next."""
    before_it = {
        "did-not-decide": flow.undecided,
        "declined": flow.declined,
        "no-place": flow.no_place,
        "screened-out": flow.screened_out,
    }
    in_it = {"left": flow.left, "withdrew": flow.withdrawn, "under-way": flow.under_way}
    return [
        (flow_words("arrived", flow.arrived), _losses(before_it)),
        (flow_words("began", flow.began), _losses(in_it)),
        (flow_words("completed", flow.complete), _excluded(flow)),
        (flow_words("analysed", flow.analysed), []),
    ]


def _losses(cases: Mapping[str, int]) -> list[str]:
    return [flow_words(case, many) for case, many in cases.items() if many]


def _excluded(flow: Flow) -> list[str]:
    lines = _losses({"deleted-in-time": flow.deleted, "excluded": flow.excluded_people})
    lines += _losses({"places-again": flow.offered_again})
    rules = flow.excluded if flow.excluded_people else {}
    return [*lines, *(f"  {many:,} {rule}" for rule, many in rules.items() if many)]


def flow_frame(chart: FlowChart) -> Frame:
    """Room for every box and for what stands beside it."""
    steps = flow_steps(chart.boxes)
    widest = max((len(line) for _, lines in steps for line in lines), default=0)
    height = sum(_height(lines) for _, lines in steps) + GAP * (len(steps) - 1)
    return Frame(
        width=190 + max(60.0, 6.2 * widest + 16), left=4, right=4, top=4, bottom=4, height=height + 8
    )


def draw_flow(axes: Axes, chart: FlowChart) -> None:
    """Boxes down the left, losses at the right, arrows between."""
    frame = flow_frame(chart)
    width, height = frame.width - 8, frame.height - 8
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    steps = flow_steps(chart.boxes)
    top = 0.0
    for place, (words, lines) in enumerate(steps):
        tall = 28.0
        _box(axes, (0.5, top, 140, tall), [words], INK, bold=place == len(steps) - 1)
        following = top + _height(lines) + GAP
        if place < len(steps) - 1:
            _arrow(axes, (70, top + tall), (70, following))
        if lines:
            side = top + tall + 8
            _box(axes, (170, side, width - 171, LINE * len(lines) + 10), lines, QUIET, bold=False)
            _arrow(axes, (70, side + 12), (170, side + 12))
        top = following


def _height(lines: list[str]) -> float:
    return 28.0 + (LINE * len(lines) + 14 if lines else 0)


def _box(
    axes: Axes, place: tuple[float, float, float, float], lines: list[str], edge: str, *, bold: bool
) -> None:
    from matplotlib.patches import Rectangle

    left, top, width, height = place
    axes.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=edge, linewidth=1.0))
    first = top + (height - LINE * len(lines)) / 2
    for number, line in enumerate(lines):
        axes.text(
            left + 8,
            first + LINE * (number + 0.5),
            line.strip(),
            va="center",
            fontsize=10 if line == line.strip() else 9,
            fontweight="bold" if bold else "normal",
        )


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 0.9})


LONGEST_LABEL = 26
LONGEST_LINE = 38
# The markers as letters, for words that explain them.
SIGNS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼"}
# Points for each letter of a label at this size of figures.
LETTER = 5.9


def figure_svg(figure: Figure) -> str:
    """A figure as an SVG file."""
    match figure.data:
        case Intervals() as data:
            return panel_svg(partial(draw_intervals, data=data), interval_frame(data))
        case Curve() as data:
            return panel_svg(partial(draw_curve, data=data), curve_frame(data))
        case Bars() as data:
            return panel_svg(partial(draw_bars, data=data), bar_frame(data))
        case Distribution() as data:
            return panel_svg(partial(draw_distribution, data=data), distribution_frame(data))
        case Swarm() as data:
            return panel_svg(partial(draw_swarm, data=data), swarm_frame(data))
        case Dependence() as data:
            return panel_svg(partial(draw_dependence, data=data), dependence_frame(data))
        case Matrix() as data:
            return panel_svg(partial(draw_matrix, data=data), matrix_frame(data))
        case FlowChart() as chart:
            return panel_svg(partial(draw_flow, chart=chart), flow_frame(chart))


def figure_inline(figure: Figure, place: int) -> str:
    """A figure as an element of a page; ``place`` is different for each figure of the page."""
    label = f"{figure.title}. {figure.sentence}".strip()
    return inlined(figure_svg(figure), f"figure-{place}", f"{label} The numbers are in the tables.")


def interval_frame(data: Intervals) -> Frame:
    """Room for the labels at the left, one line each."""
    widest = max((len(_label(row.label)) for row in data.rows), default=0)
    lines = len(_lines(data.x_label))
    return Frame(
        width=270 + LETTER * widest,
        left=16 + LETTER * widest,
        right=84,
        top=26 if len(_groups(data)) > 1 else 8,
        bottom=26 + 13.0 * lines,
        height=(62 if len(_groups(data)) > 1 else 44) + 13.0 * lines + 27.0 * max(1, len(data.rows)),
    )


def draw_intervals(axes: Axes, data: Intervals) -> None:
    """A dot with its interval for each row, the number beside it, the reference upright."""
    groups = looks(_groups(data))
    rows = beside(data.rows)
    if data.reference is not None:
        axes.axvline(data.reference, color=INK, linewidth=0.8)
    for place, row in enumerate(rows):
        _draw_interval(axes, place, row, groups[row.group], data.unit)
    labels = [_label(row.label) for row in rows]
    once = [label if label not in labels[:place] else "" for place, label in enumerate(labels)]
    axes.set_yticks(range(len(rows)), once)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    if len(groups) > 1:
        signs = [f"{SIGNS.get(look.marker, '')} {group}" for group, look in groups.items()]
        axes.set_title("   ".join(signs), fontsize=9, fontweight="normal")
    _plain_axes(axes, data)
    axes.locator_params(axis="x", nbins=5)


def beside(rows: Sequence[Interval]) -> list[Interval]:
    """Rows with the same label next to each other, in the order in which labels come."""
    order = list(dict.fromkeys(row.label for row in rows))
    return sorted(rows, key=lambda row: order.index(row.label))


def _groups(data: Intervals) -> list[str]:
    return list(dict.fromkeys(row.group for row in data.rows))


def _draw_interval(axes: Axes, place: int, row: Interval, look: Look, unit: Unit) -> None:
    shown = NOTHING
    if row.estimate is not None:
        shown = unit.number(float(row.estimate))
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [place, place], color=look.colour, linewidth=2)
            shown += "\n" + unit.ends((float(row.low), float(row.high)))
        axes.plot([row.estimate], [place], look.marker, color=look.colour, markersize=6)
        group = f", {row.group}" if row.group else ""
        hover(axes, row.estimate, place, f"{row.label}{group}: {shown}".replace("\n", " "))
    move = axes.get_yaxis_transform()
    axes.text(1.03, place, shown, transform=move, va="center", fontsize=8.5, linespacing=1.05)


def curve_frame(data: Curve) -> Frame:
    """Room for the lines' names at the right."""
    widest = max((len(_label(line.label)) for line in data.lines), default=0)
    return Frame(
        width=270 + LETTER * widest,
        right=20 + LETTER * widest,
        left=50,
        top=8,
        bottom=26 + 13.0 * len(_lines(data.x_label)),
        height=max(200.0, 60 + 14.0 * len(data.lines)),
    )


def draw_curve(axes: Axes, data: Curve) -> None:
    """Lines with bands, named where they end."""
    styles = looks([line.label for line in data.lines])
    ends = []
    for line in data.lines:
        look = styles[line.label]
        points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if y is not None]
        bands = [band for band in zip(line.x, line.low, line.high, strict=False) if None not in band]
        if bands:
            xs, lows, highs = zip(*bands, strict=True)
            axes.fill_between(xs, lows, highs, color=look.colour, alpha=0.13, linewidth=0)
        if points:
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, color=look.colour, linestyle=look.dash, marker=look.marker, markersize=4)
            ends_of = dict(zip(line.x, zip(line.low, line.high, strict=False), strict=False))
            for x, y in points:
                hover(axes, x, y, f"{line.label}, {x:g}: {with_ends(y, *ends_of.get(x, (None, None)), 2)}")
            ends.append((ys[-1], line.label, look))
    _plain_axes(axes, data)
    axes.set_ylabel(_short(data.y_label), labelpad=3)
    axes.grid(axis="y", color=QUIET, alpha=0.25, linewidth=0.5)
    _name_ends(axes, ends)


def bar_frame(data: Bars) -> Frame:
    """Room for every bar, its group's name below it, the bars' names at the right."""
    widest = max((len(_label(bar.label)) for bar in data.bars), default=0)
    bars = len(data.groups) * len(data.bars)
    return Frame(
        width=max(230.0, 90 + 26.0 * bars) + LETTER * widest,
        right=14 + LETTER * widest,
        left=50,
        top=8,
        bottom=44,
        height=210,
    )


def draw_bars(axes: Axes, data: Bars) -> None:
    """Dots with intervals beside each other in each group: a bar's foot would hide the interval's lower half."""
    styles = looks([bar.label for bar in data.bars])
    step = 0.7 / max(1, len(data.bars))
    ends = []
    for place, bar in enumerate(data.bars):
        look = styles[bar.label]
        shift = (place - (len(data.bars) - 1) / 2) * step
        last = None
        for group, (value, low, high) in enumerate(zip_longest(bar.values, bar.low, bar.high)):
            if value is None:
                continue
            if low is not None and high is not None:
                axes.plot([group + shift] * 2, [low, high], color=look.colour, linewidth=2)
            axes.plot([group + shift], [value], look.marker, color=look.colour, markersize=6)
            hover(
                axes,
                group + shift,
                value,
                f"{data.groups[group]}, {bar.label}: {with_ends(value, low, high)}",
            )
            last = value
        if last is not None:
            ends.append((last, bar.label, look))
    names = ["\n".join(wrap(group, 16)) for group in data.groups]
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylabel(_short(data.y_label), labelpad=3)
    axes.grid(axis="y", color=QUIET, alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    _name_ends(axes, ends)


def distribution_frame(data: Distribution) -> Frame:
    """One strip a row; the levels' names above the first."""
    widest = max((len(_label(row.label)) for row in data.rows), default=0)
    return Frame(
        width=330 + LETTER * widest,
        left=16 + LETTER * widest,
        right=14,
        top=34,
        height=78 + 26.0 * max(1, len(data.rows)),
    )


def draw_distribution(axes: Axes, data: Distribution) -> None:
    """Shares of the levels as strips of one hue from faint to strong, so that order shows without colours."""
    levels, rows = data.levels, data.rows
    for place, row in enumerate(rows):
        start = 0.0
        for level, share in enumerate(row.shares):
            if not share:
                continue
            axes.barh(
                place,
                share,
                left=start,
                height=0.7,
                color=QUIET,
                alpha=0.12 + 0.6 * level / max(1, len(levels) - 1),
                edgecolor=INK,
                linewidth=0.4,
            )
            hover(axes, start + share / 2, place, f"{row.label}, {levels[level]}: {100 * share:.1f} %")
            if share >= 0.09:
                axes.text(
                    start + share / 2, place, f"{100 * share:.0f}", ha="center", va="center", fontsize=8.5
                )
            start += share
    axes.set_yticks(range(len(rows)), [_label(row.label) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100%"])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_short(data.x_label))
    if levels:
        steps = f"faint to strong: {levels[0]} to {levels[-1]}"
        axes.set_title(shortened(steps, 60), fontsize=9, fontweight="normal", color=QUIET)


def _name_ends(axes: Axes, ends: Sequence[tuple[float, str, Look]]) -> None:
    """Names at the right, each with its marker, as near as can be to where its line ends."""
    low, high = axes.get_ylim()
    gap = 13.0 / 150 * (high - low)
    wanted = [min(max(end, low), high) for end, _, _ in ends]
    for place, (_, label, look) in zip(spread(wanted, gap, low, high), ends, strict=True):
        move = axes.get_yaxis_transform()
        axes.plot(
            [1.03], [place], look.marker, color=look.colour, markersize=5, transform=move, clip_on=False
        )
        axes.text(1.055, place, _label(label), transform=move, va="center_baseline", fontsize=10)
    axes.set_ylim(low, high)


def _plain_axes(axes: Axes, data: Intervals | Curve) -> None:
    axes.set_xlabel("\n".join(_lines(data.x_label)))
    axes.grid(axis="x", color=QUIET, alpha=0.25, linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)


def _lines(label: str) -> list[str]:
    """A label of an axis in lines that fit below it."""
    return wrap(label, LONGEST_LINE)[:3] or [""]


def _short(label: str) -> str:
    return shortened(label, 40)


def _label(text: str) -> str:
    return shortened(text, LONGEST_LABEL)


def power_svg(plan: PowerPlan) -> str:
    """Curves of power over the number of people, one for each number of items; bands are the chance of simulating."""
    counts = sorted({row.items for row in plan.rows})
    names = [f"{count} items" for count in counts]

    def draw(axes: Axes) -> None:
        for name, count in zip(names, counts, strict=True):
            _curve(axes, [row for row in plan.rows if row.items == count], looks(names)[name], name)
        axes.axhline(100 * plan.wanted, color=QUIET, linewidth=0.8, linestyle=":")
        axes.set_ylim(0, 102)
        axes.set_xlim(left=0)
        axes.set_xlabel("people")
        axes.set_ylabel("studies that find it (%)")
        axes.set_title(f"{plan.question.sized(plan.effect)}: {plan.question.to_words()}", fontsize=9)
        axes.legend(frameon=False, loc="lower right", fontsize=9)

    return panel_svg(draw, Frame(width=420, height=260, left=46, right=16, top=26, bottom=40))


def _curve(axes: Axes, rows: Sequence[Row], look: Look, name: str) -> None:
    ordered = sorted(rows, key=lambda row: row.people)
    people = [row.people for row in ordered]
    axes.fill_between(
        people,
        [100 * row.low for row in ordered],
        [100 * row.high for row in ordered],
        color=look.colour,
        alpha=0.15,
        linewidth=0,
    )
    axes.plot(
        people,
        [100 * row.power for row in ordered],
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markersize=4,
        label=name,
    )
    for row in ordered:
        shown = with_ends(100 * row.power, 100 * row.low, 100 * row.high, 0)
        hover(axes, row.people, 100 * row.power, f"{row.people} people, {name}: {shown} %")
