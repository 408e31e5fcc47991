"""The tables of Hase and Bansal (2020) as their published script computes them: a reproduction, labelled as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.stats import hase2020
from verax.stats.hase2020 import Changes, Defects, GridMean, Line, Replicated
from verax.studies.analysis.between.pairs import complete_pairs
from verax.studies.results.options import Options
from verax.studies.results.tables import (
    Sources,
    Table,
    build_table,
    count,
    interval,
    number,
    p_value,
    share,
    text,
)
from verax.studies.results.units import NONE, POINTS, Unit

if TYPE_CHECKING:
    import pandas as pd

AVERAGE = "User Avg."
DEFECTS = tuple(Defects.__dataclass_fields__)


def defects_of(options: Options) -> Defects:
    """The script's defects without those that shall be mended."""
    unknown = [name for name in options.mended if name not in DEFECTS]
    if unknown:
        raise VeraxError(
            f"There is no defect {unknown[0]!r} of the published procedure; there are: {', '.join(DEFECTS)}."
        )
    return Defects(**dict.fromkeys(options.mended, False))


def published_change(pairs: pd.DataFrame, options: Options) -> tuple[Changes, GridMean]:
    """(B) Change by method, and (C) accuracy before explanations."""
    people, items, methods = (pairs[name] for name in ("participant", "item", "condition"))
    average = hase2020.user_average(
        people, items, methods, pairs["pre"], pairs["post"], options.replicates, options.seed
    )
    change = hase2020.change(
        people,
        items,
        methods,
        pairs["pre"],
        pairs["post"],
        replicates=options.replicates,
        seed=options.seed,
        defects=defects_of(options),
    )
    return change, average


@dataclass(frozen=True)
class _Line:
    """A row of the paper's tables; the average over users has no change."""

    condition: str
    n: int
    pre: float | None
    drawn: Replicated
    has_change: bool = True


def published_table(change: Changes, average: GridMean, order: tuple[str, ...], where: str) -> Table:
    """The paper's Tables 1 and 2: n, Pre, Change, half the interval's width, p."""
    by_name = {str(line.method): line for line in change.methods}
    lines = [
        _Line(AVERAGE, average.n, average.mean, average.boot, has_change=False),
        *(
            _Line(name, by_name[name].n, by_name[name].pre, by_name[name].change)
            for name in order
            if name in by_name
        ),
    ]
    sources: Sources[_Line] = (
        text("condition", "Method", lambda line: line.condition),
        count("n", "n", lambda line: line.n),
        share("pre", "Pre", lambda line: line.pre),
        number(
            "change",
            "Change",
            lambda line: POINTS.of(line.drawn.estimate) if line.has_change else None,
            POINTS,
        ),
        number("ci", "CI", lambda line: POINTS.of(line.drawn.half_width), POINTS),
        interval(
            "interval", "95% quantiles", lambda line: POINTS.interval(line.drawn.low, line.drawn.high), POINTS
        ),
        p_value("p", "p", lambda line: line.drawn.p if line.has_change else None),
    )
    kept = [name for name in DEFECTS if getattr(change.defects, name)]
    how = "all defects of the script kept" if len(kept) == len(DEFECTS) else _mended(kept)
    return build_table(
        "change-hase2020",
        f"Change of accuracy as Hase and Bansal (2020) computed it, {where}",
        lines,
        sources,
        hase2020.NOTE,
        [
            f"{change.replicates:,} replicates, {change.singular:,} of them with a singular fit of Pre; {how}. "
            "CI is half the width between the quantiles, as printed in the paper.",
        ],
    )


def _mended(kept: list[str]) -> str:
    return f"defects kept: {', '.join(kept)}" if kept else "all defects mended"


def slope_table(
    key: str, title: str, line: Line, unit: Unit, per: str, sentence: str, left_out: str
) -> Table:
    """A regression line over participants as a table of one row.

    Args:
        key: of the table.
        title: of the table.
        line: the fitted line.
        unit: of the slope's interval.
        per: the unit of the slope in words.
        sentence: what it means.
        left_out: who is left out.
    """
    sources: Sources[Line] = (
        count("n", "Participants", lambda line: line.n),
        number("slope", "Slope", lambda line: unit.of(line.slope), per),
        interval("interval", "95% interval", lambda line: unit.interval(line.low, line.high), unit),
        p_value("p", "p", lambda line: line.p),
        count("left_out", "Left out", lambda line: line.left_out),
    )
    return build_table(key, title, [line], sources, sentence, [f"Left out are participants {left_out}."])


def regression_table(pairs: pd.DataFrame, test: str) -> Table:
    """(F) Change against Pre, one point per participant: would low scores have risen anyway?"""
    both = complete_pairs(pairs)
    line = hase2020.regression_to_mean(
        both["participant"], both["item"], both["condition"], [test] * len(both), both["pre"], both["post"]
    )
    return slope_table(
        "regression-to-mean",
        "Regression to the mean: Change against Pre",
        line,
        NONE,
        "points per point of Pre",
        _regression_sentence(line.slope, line.high),
        "with fewer than 10 items answered twice, or none right before",
    )


def _regression_sentence(slope: float | None, high: float | None) -> str:
    if slope is None or high is None:
        return (
            "Too few participants have 10 items answered twice and some right before, or all were alike before: "
            "nothing can be said of regression to the mean."
        )
    if high < 0:
        return (
            f"Who scored 10 points higher before explanations gained {10 * abs(slope):.1f} points less. Chance alone "
            "gives such a slope, because Pre is in both numbers: it says nothing about explanations, and touches a "
            "comparison of conditions only if they differed before."
        )
    return "Whether a participant gained does not clearly depend on the accuracy before explanations."
