"""The tables of Hase and Bansal (2020) as their published script computes them: a reproduction, labelled as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.results.tables import (
    CLEAR,
    Column,
    Sources,
    Table,
    Value,
    build_table,
    count,
    interval,
    mark_key,
    number,
    p_value,
)
from verax.results.units import NONE, POINTS, Unit
from verax.stats import hase2020
from verax.stats.hase2020 import Change, Changes, Defects, GridMean, Line
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.pairs import complete_pairs
from verax.studies.results.options import Options

if TYPE_CHECKING:
    import pandas as pd

AVERAGE = "User Avg."
DEFECTS = tuple(Defects.__dataclass_fields__)
COUNTED = (
    "Counted as published: every item answered both before and after explanations, also by people who left early; not "
    "people who were screened out or excluded. CI is half the width between the bootstrap's quantiles, as the paper "
    "prints it; bold is p < .05, uncorrected."
)


@dataclass(frozen=True)
class PublishedChange:
    """The published procedure on some answers.

    Attributes:
        change: by method.
        average: accuracy before explanations, over all methods.
    """

    change: Changes
    average: GridMean


def defects_of(options: Options) -> Defects:
    """The script's defects without those that shall be mended."""
    unknown = [name for name in options.mended if name not in DEFECTS]
    if unknown:
        raise VeraxError(
            f"There is no defect {unknown[0]!r} of the published procedure; there are: {', '.join(DEFECTS)}."
        )
    return Defects(**dict.fromkeys(options.mended, False))


def published_change(pairs: pd.DataFrame, options: Options) -> PublishedChange:
    """(B) Change by method, and (C) accuracy before explanations.

    Args:
        pairs: of `verax.studies.analysis.between.pairs.answers_as_published`; items answered once are left out.
        options: how many replicates, and which defects are mended.
    """
    both = complete_pairs(pairs)
    people, items, methods, pre, post = (
        both[name] for name in ("participant", "item", "condition", "pre", "post")
    )
    average = hase2020.user_average(people, items, methods, pre, post, options.mean_replicates, options.seed)
    change = hase2020.change(
        people,
        items,
        methods,
        pre,
        post,
        replicates=options.change_replicates,
        seed=options.seed,
        defects=defects_of(options),
    )
    return PublishedChange(change, average)


def published_table(
    key: str, title: str, groups: Mapping[str, PublishedChange], order: Sequence[str]
) -> Table:
    """The paper's Tables 1 and 2: n, Pre, Change, half the interval's width and p, groups side by side.

    Pre of the methods stays empty, as in the paper: it is estimated for all of them together.

    Args:
        key: of the table.
        title: of the table.
        groups: by the name of the group, which is added to its columns' titles; "" adds nothing.
        order: of the conditions.
    """
    lines: dict[str, dict[str, Value]] = {name: {"condition": name} for name in (AVERAGE, *order)}
    columns = [Column("condition", "Method", "text")]
    notes = []
    for group, found in groups.items():
        columns += _change_columns(group)
        blank = dict.fromkeys((column.key for column in _change_columns(group)), None)
        for name in lines:
            lines[name] |= blank
        start, average, change = prefix(group), found.average, found.change
        lines[AVERAGE] |= {
            f"{start}n": average.n,
            f"{start}pre": average.mean,
            f"{start}ci": POINTS.of(average.boot.half_width),
        }
        for one in change.methods:
            lines[str(one.method)] |= _change_values(start, one)
        notes.append(f"{group}: {_how(found)}" if group else _how(found))
    there = {str(one.method) for found in groups.values() for one in found.change.methods} | {AVERAGE}
    return Table(
        key=key,
        title=title,
        columns=tuple(columns),
        rows=tuple(row for name, row in lines.items() if name in there),
        sentence=hase2020.NOTE,
        notes=(COUNTED, *notes),
    )


def prefix(group: str) -> str:
    """What the keys of a group's columns begin with."""
    return f"{group}_" if group else ""


def titled(title: str, group: str) -> str:
    """A column's title with its group."""
    return f"{title}, {group}" if group else title


def _change_columns(group: str) -> tuple[Column, ...]:
    start = prefix(group)
    return (
        Column(f"{start}n", titled("n", group), "count"),
        Column(f"{start}pre", titled("Pre", group), "percent"),
        Column(f"{start}change", titled("Change", group), "number", POINTS),
        Column(f"{start}ci", titled("CI", group), "number", POINTS),
        Column(f"{start}p", titled("p", group), "p"),
    )


def _change_values(start: str, one: Change) -> dict[str, Value]:
    """A method's numbers; those of p < .05 are marked."""
    drawn = one.change
    ends = POINTS.interval(drawn.low, drawn.high)
    values: dict[str, Value] = {
        f"{start}n": one.n,
        f"{start}change": POINTS.of(drawn.estimate),
        f"{start}ci": POINTS.of(drawn.half_width),
        f"{start}interval": None if ends is None else list(ends),
        f"{start}p": drawn.p,
    }
    if drawn.p is not None and drawn.p < ALPHA:
        values |= {mark_key(f"{start}{what}"): CLEAR for what in ("change", "ci", "p")}
    return values


def _how(found: PublishedChange) -> str:
    """What was drawn, and which defects were kept."""
    kept = [name for name in DEFECTS if getattr(found.change.defects, name)]
    how = "all defects of the script kept" if len(kept) == len(DEFECTS) else _mended(kept)
    return (
        f"{found.change.replicates:,} replicates of Change, {found.average.boot.n_boots:,} of the average before "
        f"explanations; {found.change.singular:,} with a singular fit of Pre; {how}."
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
            "Too few participants have 10 items answered twice and some right before, or all were alike before, or "
            "gained alike: nothing can be said of regression to the mean."
        )
    if high < 0:
        return (
            f"Who scored 10 points higher before explanations gained {10 * abs(slope):.1f} points less. Chance alone "
            "gives such a slope, because Pre is in both numbers: it says nothing about explanations, and touches a "
            "comparison of conditions only if they differed before."
        )
    return "Whether a participant gained does not clearly depend on the accuracy before explanations."
