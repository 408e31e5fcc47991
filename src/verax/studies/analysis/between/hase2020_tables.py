"""The tables of Hase and Bansal (2020) as their published script computes them: a reproduction, labelled as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verax.errors import VeraxError
from verax.stats import hase2020
from verax.stats.hase2020 import Changes, Defects, GridMean, Replicated
from verax.studies.analysis.between.effects import interval, points
from verax.studies.analysis.between.pairs import complete_pairs
from verax.studies.analysis.contract import Column, Options, Table

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


def published_table(change: Changes, average: GridMean, order: tuple[str, ...], where: str) -> Table:
    """The paper's Tables 1 and 2: n, Pre, Change, half the interval's width, p."""
    by_name = {str(one.method): one for one in change.methods}
    rows = [
        {
            "condition": AVERAGE,
            "n": average.n,
            "pre": average.mean,
            "change": None,
            "ci": points(average.boot.half_width),
            "interval": interval(average.boot.low, average.boot.high),
            "p": None,
        }
    ]
    for name in order:
        if name in by_name:
            one = by_name[name]
            rows.append({"condition": name, "n": one.n, "pre": one.pre, **_replicated(one.change)})
    kept = [name for name in DEFECTS if getattr(change.defects, name)]
    how = "all defects of the script kept" if len(kept) == len(DEFECTS) else _mended(kept)
    return Table(
        key="change-hase2020",
        title=f"Change of accuracy as Hase and Bansal (2020) computed it, {where}",
        columns=(
            Column("condition", "Method", "text"),
            Column("n", "n", "count"),
            Column("pre", "Pre", "percent"),
            Column("change", "Change", "number", "points"),
            Column("ci", "CI", "number", "points"),
            Column("interval", "95% quantiles", "interval", "points"),
            Column("p", "p", "p"),
        ),
        rows=tuple(rows),
        sentence=hase2020.NOTE,
        notes=(
            f"{change.replicates:,} replicates, {change.singular:,} of them with a singular fit of Pre; {how}. "
            "CI is half the width between the quantiles, as printed in the paper.",
        ),
    )


def _mended(kept: list[str]) -> str:
    return f"defects kept: {', '.join(kept)}" if kept else "all defects mended"


def _replicated(one: Replicated) -> dict[str, Any]:
    return {
        "change": points(one.estimate),
        "ci": points(one.half_width),
        "interval": interval(one.low, one.high),
        "p": one.p,
    }


def regression_table(pairs: pd.DataFrame, test: str) -> Table:
    """(F) Change against Pre, one point per participant: would low scores have risen anyway?"""
    both = complete_pairs(pairs)
    line = hase2020.regression_to_mean(
        both["participant"], both["item"], both["condition"], [test] * len(both), both["pre"], both["post"]
    )
    row = {
        "n": line.n,
        "slope": line.slope,
        "interval": None if line.low is None else [line.low, line.high],
        "p": line.p,
        "left_out": line.left_out,
    }
    return Table(
        key="regression-to-mean",
        title="Regression to the mean: Change against Pre",
        columns=(
            Column("n", "Participants", "count"),
            Column("slope", "Slope", "number", "points per point of Pre"),
            Column("interval", "95% interval", "interval"),
            Column("p", "p", "p"),
            Column("left_out", "Left out", "count"),
        ),
        rows=(row,),
        sentence=_regression_sentence(line.slope, line.high),
        notes=("Left out are participants with fewer than 10 items answered twice, or none right before.",),
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
