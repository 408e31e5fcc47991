"""Who got lost on the way, by condition: unequal losses can make a difference of conditions where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.stats.thresholds import ALPHA
from verax.studies.analysis.contract import Analysed, Column, Table
from verax.text import listed, p_text

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.frames import Collected

# Up to so many tables with the same margins are counted one by one.
MOST_TABLES = 200_000


def attrition(collected: Collected, data: Analysed) -> dict[str, Any]:
    """A table (as `Table.to_dict`) of losses by condition, with the test that they are alike: "p" and "test".

    Lost are those who left or withdrew after they got a place; who failed the screening test is counted apart, and
    who is still under way is not counted.
    """
    is_bot = collected.participants["bot"].astype(bool)
    everybody = collected.participants[is_bot == (data.people == "bots")]
    placed = everybody[everybody["design_row"].notna()]
    names, groups = _groups(data, placed)
    rows = [_row(name, placed[groups == name]) for name in names]
    lost = [row["left"] + row["withdrawn"] for row in rows]
    stayed = [row["complete"] for row in rows]
    p, test = equal_losses(lost, stayed)
    table = Table(
        key="attrition",
        title="Participants lost, by condition",
        columns=(
            Column("condition", "Condition", "text"),
            Column("placed", "Got a place", "count"),
            Column("screened_out", "Screened out", "count"),
            Column("left", "Left", "count"),
            Column("withdrawn", "Withdrew", "count"),
            Column("under_way", "Under way", "count"),
            Column("complete", "Complete", "count"),
            Column("excluded", "Excluded", "count"),
            Column("lost", "Lost", "percent"),
        ),
        rows=tuple(rows),
        sentence=_sentence(rows, lost, p, test) + _still(sum(row["under_way"] for row in rows)),
    )
    return {**table.to_dict(), "p": p, "test": test}


def _groups(data: Analysed, placed: pd.DataFrame) -> tuple[list[str], pd.Series]:
    """The names of the groups and each participant's: conditions, or design rows where people see several."""
    if placed["condition"].notna().all():
        return [one.name for one in data.conditions], placed["condition"]
    numbers = placed["design_row"].astype(int)
    return [f"row {row.number}" for row in data.study.rows], "row " + numbers.astype(str)


def _row(name: str, people: pd.DataFrame) -> dict[str, Any]:
    status, left = people["status"], people["left"].astype(bool)
    complete = int((status == "complete").sum())
    gone, withdrawn = int(((status == "active") & left).sum()), int((status == "withdrawn").sum())
    known = complete + gone + withdrawn
    return {
        "condition": name,
        "placed": len(people),
        "screened_out": int((status == "screened-out").sum()),
        "left": gone,
        "withdrawn": withdrawn,
        "under_way": int(((status == "active") & ~left).sum()),
        "complete": complete,
        "excluded": int(((status == "complete") & people["excluded"].astype(bool)).sum()),
        "lost": (gone + withdrawn) / known if known else None,
    }


def equal_losses(lost: Sequence[int], stayed: Sequence[int]) -> tuple[float | None, str]:
    """The p-value of equal losses in all groups, and the name of the test; None where there is nothing to test.

    Fisher's exact test (for more than two groups in Freeman and Halton's form) where the tables can be counted,
    chi-square where they are too many.
    """
    pairs = [(gone, stay) for gone, stay in zip(lost, stayed, strict=True) if gone + stay]
    total = sum(gone for gone, _ in pairs)
    if len(pairs) < 2 or total == 0 or total == sum(gone + stay for gone, stay in pairs):
        return None, "none"
    sizes = tuple(gone + stay for gone, stay in pairs)
    if _tables(sizes, total) <= MOST_TABLES:
        return _fisher(tuple(gone for gone, _ in pairs), sizes), "Fisher's exact test"
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(np.array(pairs), correction=False).pvalue), "chi-square test"


def _tables(sizes: tuple[int, ...], total: int) -> int:
    """How many ways there are to have so many losses in groups of these sizes."""
    ways = [1] + [0] * total
    for size in sizes:
        ways = [sum(ways[max(0, k - size) : k + 1]) for k in range(total + 1)]
    return ways[total]


def _fisher(lost: tuple[int, ...], sizes: tuple[int, ...]) -> float:
    """The probability, with these margins, of tables that are at most as probable as the one observed."""
    limit = sum(_log_choose(size, gone) for size, gone in zip(sizes, lost, strict=True)) + 1e-9
    whole = _log_choose(sum(sizes), sum(lost))

    def add(place: int, left: int, so_far: float) -> float:
        if place == len(sizes) - 1:
            if left > sizes[place]:
                return 0.0
            total = so_far + _log_choose(sizes[place], left)
            return math.exp(total - whole) if total <= limit else 0.0
        most = min(left, sizes[place])
        return sum(
            add(place + 1, left - gone, so_far + _log_choose(sizes[place], gone)) for gone in range(most + 1)
        )

    return min(1.0, add(0, sum(lost), 0.0))


@cache
def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _still(under_way: int) -> str:
    """Those of whom nobody knows yet."""
    return (
        f" {under_way:,} still under way {'is' if under_way == 1 else 'are'} in no share."
        if under_way
        else ""
    )


def _sentence(rows: list[dict[str, Any]], lost: list[int], p: float | None, test: str) -> str:
    total = sum(lost)
    if total == 0:
        return "Nobody who got a place left or withdrew."
    shares = [(row["condition"], row["lost"]) for row in rows if row["lost"] is not None]
    parts = listed([f"{share:.0%} in {name}" for name, share in shares])
    if p is None:
        return f"{total:,} left or withdrew ({parts}); there are no conditions to compare."
    if p <= ALPHA:
        return (
            f"Conditions lost different shares of their participants ({parts}; {test}, {p_text(p)}): those who stayed "
            "may differ between conditions, so compare with the analyses of everybody."
        )
    return f"Losses by condition: {parts}; no sign that they differ ({test}, {p_text(p)})."
