"""Ratings of explanations as Hase and Bansal (2020) counted them: plain means, without a random control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from verax.results.tables import Column, Table, Value
from verax.stats import hase2020
from verax.stats.hase2020 import GridMean, Replicated
from verax.studies.analysis.between.hase2020_tables import defects_of, prefix, titled
from verax.studies.results.options import Options
from verax.text import listed, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

SENTENCE = (
    "The published table: the plain mean of all ratings of a method's explanations: who rated more weighs more. "
    "Our own estimate stands beside it, over participants' means."
)
COUNTED = (
    "Counted as published: every rating of everybody who was not screened out or excluded, also of people who left "
    "early; no random control. CI is half the width between the bootstrap's quantiles, of {} replicates."
)
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
    first = Column("condition", "Method", "text")
    return _table(key, title, first, groups, rows, [COUNTED.format(f"{options.mean_replicates:,}")])


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
    notes = [COUNTED.format(f"{options.mean_replicates:,}"), _difference_note(differences)]
    first = Column("model", "Model correctness", "text")
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
        sentence=SENTENCE,
        notes=tuple(notes),
    )


def _columns(group: str) -> tuple[Column, ...]:
    start = prefix(group)
    return (
        Column(f"{start}n", titled("n", group), "count"),
        Column(f"{start}mean", titled("μ", group), "number"),
        Column(f"{start}ci", titled("CI", group), "number"),
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
        f"{group + ' ' if group else ''}{signed(drawn.estimate, 2)} \N{PLUS-MINUS SIGN} {drawn.half_width:.2f} "
        f"({p_text(drawn.p)})"
        for group, drawn in differences.items()
        if drawn.estimate is not None and drawn.half_width is not None and drawn.p is not None
    ]
    return f"Correct minus incorrect: {listed(said)}." if said else ""
