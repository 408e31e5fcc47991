"""Tables and ratings of Hase and Bansal (2020) as their published script computes them: a reproduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
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
from verax.stats.hase2020 import Change, Changes, Defects, GridMean, RegressionLine, Replicated
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.effects import complete_pairs
from verax.studies.results.study_summary import Options
from verax.text import p_text, signed

if TYPE_CHECKING:
    import pandas as pd


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
PAPER = "Hase and Bansal (2020)"
AVERAGE = "User Avg."
DEFECTS = tuple(Defects.__dataclass_fields__)


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
        pairs: of `verax.studies.analysis.between.effects.answers_as_published`; items answered once are left out.
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
    columns = [Column("condition", say_table("column-method"), "text")]
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
        notes=(say_table("change-counted"), *notes),
    )


def prefix(group: str) -> str:
    """What the keys of a group's columns begin with."""
    return f"{group}_" if group else ""


def titled(title: str, group: str) -> str:
    """A column's title with its group."""
    return say_table("column-of-group", title=title, group=group) if group else title


def _change_columns(group: str) -> tuple[Column, ...]:
    start = prefix(group)
    return (
        Column(f"{start}n", titled("n", group), "count"),
        Column(f"{start}pre", titled(say_table("column-pre"), group), "percent"),
        Column(f"{start}change", titled(say_table("column-change"), group), "number", POINTS),
        Column(f"{start}ci", titled(say_table("column-ci"), group), "number", POINTS),
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
    return say_table(
        "change-how",
        replicates=found.change.replicates,
        of_average=found.average.boot.n_boots,
        singular=found.change.singular,
        kept=kept,
        case="all" if len(kept) == len(DEFECTS) else "some" if kept else "none",
    )


def slope_table(
    key: str, title: str, line: RegressionLine, unit: Unit, per: str, sentence: str, fewest: int
) -> Table:
    """A regression line over participants as a table of one row.

    Args:
        key: of the table.
        title: of the table.
        line: the fitted line.
        unit: of the slope's interval.
        per: the unit of the slope in words.
        sentence: what it means.
        fewest: items that somebody must have answered twice to be in it.
    """
    sources: Sources[RegressionLine] = (
        count("n", say_table("column-participants"), lambda line: line.n),
        number("slope", say_table("column-slope"), lambda line: unit.of(line.slope), per),
        interval(
            "interval", say_table("column-interval"), lambda line: unit.interval(line.low, line.high), unit
        ),
        p_value("p", "p", lambda line: line.p),
        count("left_out", say_table("column-left-out"), lambda line: line.left_out),
    )
    return build_table(key, title, [line], sources, sentence, [say_table("slope-left-out", fewest=fewest)])


def regression_table(pairs: pd.DataFrame, test: str) -> Table:
    """(F) Change against Pre, one point per participant: would low scores have risen anyway?"""
    both = complete_pairs(pairs)
    line = hase2020.regression_to_mean(
        both["participant"], both["item"], both["condition"], [test] * len(both), both["pre"], both["post"]
    )
    table = slope_table(
        "regression-to-mean",
        say_table("regression"),
        line,
        NONE,
        "points per point of Pre",
        _regression_sentence(line.slope, line.high),
        fewest=10,
    )
    compared = before_of_highest(both)
    return table if compared is None else replace(table, notes=(*table.notes, compared))


def before_of_highest(both: pd.DataFrame) -> str | None:
    """As the paper argues (section 5.1): was the condition with the highest Change low before explanations?

    Args:
        both: items answered in both rounds, with the condition.

    Returns:
        A sentence; None where there is only one condition.
    """
    means = (
        both.assign(pre=both["pre"].astype(float), post=both["post"].astype(float))
        .groupby("condition")[["pre", "post"]]
        .mean()
    )
    if len(means) < 2:
        return None
    highest = str((means["post"] - means["pre"]).idxmax())
    own, overall = 100 * float(means.loc[highest, "pre"]), 100 * float(both["pre"].astype(float).mean())
    return say(
        "before-of-highest",
        condition=highest,
        own=f"{own:.2f}",
        overall=f"{overall:.2f}",
        away=f"{abs(own - overall):.2f}",
        case="below" if own < overall else "not-below",
    )


def _regression_sentence(slope: float | None, high: float | None) -> str:
    if slope is None or high is None:
        return say("regression-none")
    return say("regression", size=f"{10 * abs(slope):.1f}") if high < 0 else say("regression-unclear")


RIGHT, WRONG = "Correct", "Incorrect"


def published_ratings(
    key: str, title: str, groups: Mapping[str, pd.DataFrame], order: Sequence[str], options: Options
) -> Table:
    """The paper's Table 3: n, mean, CI and standard deviation of each method's ratings, groups side by side.

    Args:
        key: of the table.
        title: of the table.
        groups: ratings by the name of the group, which is added to its columns' titles; "" adds nothing.
        order: of the methods; ratings of other conditions are left out.
        options: how many replicates.
    """
    lines: dict[str, dict[str, Value]] = {name: {"condition": name} for name in order}
    for group, every in groups.items():
        rated = every[every["condition"].isin(order)]
        found = hase2020.rating_table(
            rated["participant"],
            rated["item"],
            rated["condition"],
            rated["rating"],
            replicates=options.mean_replicates,
            seed=options.seed,
        )
        by_name = {str(row.method): row.rating for row in found}
        for name in order:
            lines[name] |= _values(group, by_name.get(name))
    rows = tuple(row for row in lines.values() if any(row[f"{prefix(group)}n"] for group in groups))
    first = Column("condition", say_table("column-method"), "text")
    return _table(
        key, title, first, groups, rows, [say_table("ratings-counted", replicates=options.mean_replicates)]
    )


def published_sides(
    key: str, title: str, groups: Mapping[str, pd.DataFrame], order: Sequence[str], options: Options
) -> Table:
    """The paper's Table 5: the same by whether the model was right; arguments as in `published_ratings`."""
    lines: dict[str, dict[str, Value]] = {side: {"model": side} for side in (RIGHT, WRONG)}
    differences: dict[str, Replicated] = {}
    for group, every in groups.items():
        rated = every[every["condition"].isin(order)]
        found = hase2020.rating_by_correctness(
            rated["participant"],
            rated["item"],
            rated["condition"],
            rated["rating"],
            rated["model_correct"],
            replicates=options.mean_replicates,
            seed=options.seed,
            defects=defects_of(options),
        )
        lines[RIGHT] |= _values(group, found.right)
        lines[WRONG] |= _values(group, found.wrong)
        differences[group] = found.difference
    notes = [say_table("ratings-counted", replicates=options.mean_replicates), _difference_note(differences)]
    first = Column("model", say_table("column-model-correctness"), "text")
    return _table(key, title, first, groups, tuple(lines.values()), [note for note in notes if note])


def _table(
    key: str,
    title: str,
    first: Column,
    groups: Mapping[str, object],
    rows: Sequence[dict[str, Value]],
    notes: Sequence[str],
) -> Table:
    return Table(
        key=key,
        title=title,
        columns=(first, *(column for group in groups for column in _columns(group))),
        rows=tuple(rows),
        sentence=say_table("published-ratings"),
        notes=tuple(notes),
    )


def _columns(group: str) -> tuple[Column, ...]:
    start = prefix(group)
    return (
        Column(f"{start}n", titled("n", group), "count"),
        Column(f"{start}mean", titled("μ", group), "number"),
        Column(f"{start}ci", titled(say_table("column-ci"), group), "number"),
        Column(f"{start}spread", titled("σ", group), "number"),
    )


def _values(group: str, mean: GridMean | None) -> dict[str, Value]:
    start = prefix(group)
    return {
        f"{start}n": 0 if mean is None else mean.n,
        f"{start}mean": None if mean is None else mean.mean,
        f"{start}ci": None if mean is None else mean.boot.half_width,
        f"{start}spread": None if mean is None else mean.spread,
    }


def _difference_note(differences: Mapping[str, Replicated]) -> str:
    """The test of the difference, which the paper's caption says in words."""
    said = [
        say_table(
            "right-minus-wrong-part",
            group=group or "none",
            size=signed(drawn.estimate, 2),
            half=f"{drawn.half_width:.2f}",
            p=p_text(drawn.p),
        )
        for group, drawn in differences.items()
        if drawn.estimate is not None and drawn.half_width is not None and drawn.p is not None
    ]
    return say_table("right-minus-wrong", parts=said) if said else ""
