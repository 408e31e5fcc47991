"""Figures of the scores of many inputs: a point for each (beeswarm), scores over values, agreement of methods."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from verax.reporting.drawing import INK, PALETTE, QUIET, Axes, Frame, Look, hover, looks, shortened
from verax.results.figures import Dependence, Matrix, Swarm
from verax.text import NOTHING, minus

# Points for each letter of a label at this size of figures.
LETTER = 5.9
LONGEST_LABEL = 26
# Low, middle and high values; the two ends can be told apart by people who see no red or green, and in grey.
LOW, MIDDLE, HIGH = PALETTE[5], QUIET, PALETTE[1]
ROW = 30.0
# So many steps across a panel stand for one place: points of one step are put beside each other.
STEPS = 90
# Words are shown at a pointer only where that many places can be hit.
MOST_HOVERS = 300


def swarm_frame(data: Swarm) -> Frame:
    """Room for the features' names at the left, one line each."""
    widest = max((len(_label(row.label)) for row in data.swarms), default=0)
    return Frame(
        width=330 + LETTER * widest,
        left=16 + LETTER * widest,
        right=14,
        top=24,
        bottom=40,
        height=70 + ROW * max(1, len(data.swarms)),
    )


def draw_swarm(axes: Axes, data: Swarm) -> None:
    """A row of points for each feature, coloured by the value that the input has."""
    every = [score for row in data.swarms for score in row.scores]
    low, high = min(every, default=0.0), max(every, default=1.0)
    step = (high - low) / STEPS or 1.0
    axes.axvline(0, color=INK, linewidth=0.8)
    for place, row in enumerate(data.swarms):
        shifts = beside_each_other([round((score - low) / step) for score in row.scores])
        colours = [_colour(where) for where in row.places]
        axes.scatter(
            row.scores,
            [place + shift for shift in shifts],
            s=7,
            c=colours,
            alpha=0.85,
            linewidths=0,
        )
    axes.set_yticks(range(len(data.swarms)), [_label(row.label) for row in data.swarms])
    axes.set_ylim(len(data.swarms) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=QUIET, alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel("\n".join(wrap(data.score_label, 44)[:2]))
    if any(where is not None for row in data.swarms for where in row.places):
        for share, words, colour in (
            (0.0, "● low value", LOW),
            (0.36, "● middle", MIDDLE),
            (0.64, "● high", HIGH),
        ):
            axes.text(share, 1.02, words, transform=axes.transAxes, fontsize=9, color=colour)


def beside_each_other(steps: Sequence[int]) -> list[float]:
    """How far up or down each point stands, so that those of one step do not hide each other; at most 0.4 of a row."""
    seen: dict[int, int] = {}
    ranks = []
    for step in steps:
        ranks.append(seen.get(step, 0))
        seen[step] = ranks[-1] + 1
    apart = min(0.1, 0.8 / max([2, *seen.values()]))
    # First on the line, then below and above it in turn.
    return [apart * ((rank + 1) // 2) * (1 if rank % 2 else -1) for rank in ranks]


def _colour(place: float | None) -> str:
    if place is None:
        return INK
    return LOW if place < 1 / 3 else HIGH if place > 2 / 3 else MIDDLE


def dependence_frame(data: Dependence) -> Frame:
    """Room for the methods' names above."""
    widest = max((len(_label(name, 14)) for name in data.categories), default=0)
    slanted = bool(data.categories) and len(data.categories) * (LETTER * widest + 8) > 280
    return Frame(
        width=360,
        left=52,
        right=14,
        top=24,
        bottom=(26 + 4.6 * widest) if slanted else 40,
        height=230 + (4.6 * widest - 10 if slanted else 0),
    )


def draw_dependence(axes: Axes, data: Dependence) -> None:
    """Scores over values, a sign for each method; of categories the mean is a line."""
    styles = looks([series.label for series in data.points])
    axes.axhline(0, color=INK, linewidth=0.8)
    few = sum(len(series.scores) for series in data.points) <= MOST_HOVERS
    for number, series in enumerate(data.points):
        look = styles[series.label]
        apart = (number - (len(data.points) - 1) / 2) * 0.7 / len(data.points) if data.categories else 0.0
        places = np.asarray(series.values) + apart
        axes.scatter(
            places, series.scores, s=11, marker=look.marker, color=look.colour, alpha=0.55, linewidths=0
        )
        for place, value, score in zip(places, series.values, series.scores, strict=True):
            if few:
                shown = data.categories[int(value)] if data.categories else f"{value:g}"
                hover(axes, float(place), score, f"{series.label}, {shown}: {minus(f'{score:+.3g}')}")
    if data.categories:
        names = [_label(name, 14) for name in data.categories]
        slanted = len(names) * (LETTER * max(map(len, names)) + 8) > 280
        axes.set_xticks(
            range(len(names)),
            names,
            rotation=38 if slanted else 0,
            ha="right" if slanted else "center",
            fontsize=9,
        )
        axes.set_xlim(-0.6, len(names) - 0.4)
    else:
        axes.locator_params(axis="x", nbins=6)
    axes.grid(axis="y", color=QUIET, alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel(_label(data.value_label, 44))
    axes.set_ylabel(_label(data.score_label, 34), labelpad=3)
    if len(data.points) > 1:
        _names_above(axes, [(series.label, styles[series.label]) for series in data.points])


def _names_above(axes: Axes, named: Sequence[tuple[str, Look]]) -> None:
    place = 0.0
    for label, look in named:
        shown = _label(label, 18)
        axes.plot(
            [place + 0.012],
            [1.05],
            look.marker,
            color=look.colour,
            markersize=5,
            transform=axes.transAxes,
            clip_on=False,
        )
        axes.text(place + 0.035, 1.05, shown, transform=axes.transAxes, fontsize=9, va="center")
        place += 0.075 + 0.019 * len(shown)


def matrix_frame(data: Matrix) -> Frame:
    """A square for each two labels."""
    widest = max((len(_label(label, 18)) for label in data.labels), default=0)
    size = 44.0 * max(1, len(data.labels))
    return Frame(
        width=size + 30 + LETTER * widest,
        left=16 + LETTER * widest,
        right=14,
        top=8,
        bottom=18 + 4.6 * widest,
        height=size + 26 + 4.6 * widest,
    )


def draw_matrix(axes: Axes, data: Matrix) -> None:
    """The number in each square; the stronger the tint the nearer to 1, and a dashed edge below 0."""
    from matplotlib.patches import Rectangle

    for row, cells in enumerate(data.cells):
        for column, value in enumerate(cells):
            shown = NOTHING if value is None else minus(f"{value:.2f}")
            tint = 0.0 if value is None or row == column else 0.6 * abs(value)
            axes.add_patch(
                Rectangle(
                    (column - 0.47, row - 0.47),
                    0.94,
                    0.94,
                    facecolor=PALETTE[0] if (value or 0.0) >= 0 else PALETTE[1],
                    alpha=tint,
                    linewidth=0,
                )
            )
            if value is not None and value < 0:
                edge = Rectangle(
                    (column - 0.45, row - 0.45), 0.9, 0.9, fill=False, edgecolor=INK, linestyle=":"
                )
                axes.add_patch(edge)
            quiet = row == column
            axes.text(
                column,
                row,
                "" if quiet else shown,
                ha="center",
                va="center",
                fontsize=10,
                color=QUIET if quiet else INK,
            )
            if not quiet:
                hover(axes, column, row, f"{data.labels[row]} and {data.labels[column]}: {shown}")
    names = [_label(label, 18) for label in data.labels]
    axes.set_xticks(range(len(names)), names, rotation=38, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _label(text: str, longest: int = LONGEST_LABEL) -> str:
    return shortened(text, longest)
