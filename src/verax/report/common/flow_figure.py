"""The flow of participants as a figure: who came, who went on the way and why, who is analysed."""

from __future__ import annotations

from collections.abc import Mapping

from verax.report.common.drawing import INK, QUIET, Axes, Frame
from verax.results.figures import FlowChart
from verax.results.flow import Flow

LINE = 15.0
GAP = 26.0


def flow_steps(flow: Flow) -> list[tuple[str, list[str]]]:
    """The boxes from top to bottom, each with the lines of the box beside it: who went before the next."""
    at_the_door = {
        "did not decide": flow.undecided,
        "declined": flow.declined,
        "found no place": flow.no_place,
        "screened out": flow.screened_out,
    }
    on_the_way = {"left": flow.left, "withdrew": flow.withdrawn, "still under way": flow.under_way}
    return [
        (f"{flow.arrived:,} arrived", _losses(at_the_door)),
        (f"{flow.began:,} began the study", _losses(on_the_way)),
        (f"{flow.complete:,} completed it", _excluded(flow)),
        (f"{flow.analysed:,} analysed", []),
    ]


def _losses(reasons: Mapping[str, int]) -> list[str]:
    return [f"{many:,} {words}" for words, many in reasons.items() if many]


def _excluded(flow: Flow) -> list[str]:
    lines = _losses({"deleted in time": flow.deleted, "excluded": flow.excluded_people})
    if flow.offered_again:
        lines.append(f"{flow.offered_again:,} places offered again")
    rules = flow.excluded if flow.excluded_people else {}
    return [*lines, *(f"  {many:,} {rule}" for rule, many in rules.items())]


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
