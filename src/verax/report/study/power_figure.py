"""The figure of a power analysis: how often a study finds the effect, by how many people take part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verax.report.common.drawing import QUIET, Axes, Frame, Look, hover, looks, panel_svg, with_ends

if TYPE_CHECKING:
    from verax.studies.planning.power import PowerPlan, Row


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
