"""Who got lost on the way, by condition: unequal losses can make a difference of conditions where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from verax.results.tables import Sources, build_table, count, share, text
from verax.stats.thresholds import ALPHA
from verax.studies.protocol.findings import Analysed
from verax.studies.results.participation import Attrition
from verax.text import listed, p_text

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.frames import Collected

# Up to so many tables with the same margins are counted one by one.
MOST_TABLES = 200_000


@dataclass(frozen=True)
class _Losses:
    """Who of a condition (or of a row of the design) is where."""

    condition: str
    placed: int
    screened_out: int
    left: int
    withdrawn: int
    under_way: int
    complete: int
    excluded: int

    @property
    def lost(self) -> int:
        """Those who left or withdrew after they got a place."""
        return self.left + self.withdrawn

    @property
    def share(self) -> float | None:
        """Lost of those of whom it is known."""
        known = self.complete + self.lost
        return self.lost / known if known else None


def attrition(collected: Collected, data: Analysed) -> Attrition:
    """Losses by condition, with the test that they are alike.

    Lost are those who left or withdrew after they got a place; who failed the screening test is counted apart, and
    who is still under way is not counted.
    """
    is_bot = collected.participants["bot"].astype(bool)
    everybody = collected.participants[is_bot == (data.people == "bots")]
    placed = everybody[everybody["design_row"].notna()]
    names, groups = _groups(data, placed)
    losses = [_losses(name, placed[groups == name]) for name in names]
    p, test = equal_losses([row.lost for row in losses], [row.complete for row in losses])
    sources: Sources[_Losses] = (
        text("condition", "Condition", lambda row: row.condition),
        count("placed", "Got a place", lambda row: row.placed),
        count("screened_out", "Screened out", lambda row: row.screened_out),
        count("left", "Left", lambda row: row.left),
        count("withdrawn", "Withdrew", lambda row: row.withdrawn),
        count("under_way", "Under way", lambda row: row.under_way),
        count("complete", "Complete", lambda row: row.complete),
        count("excluded", "Excluded", lambda row: row.excluded),
        share("lost", "Lost", lambda row: row.share),
    )
    sentence = _sentence(losses, p, test) + _still(sum(row.under_way for row in losses))
    table = build_table("attrition", "Participants lost, by condition", losses, sources, sentence)
    return Attrition(**vars(table), p=p, test=test)


def _groups(data: Analysed, placed: pd.DataFrame) -> tuple[list[str], pd.Series]:
    """The names of the groups and each participant's: conditions, or design rows where people see several."""
    if placed["condition"].notna().all():
        return [condition.name for condition in data.conditions], placed["condition"]
    numbers = placed["design_row"].astype(int)
    return [f"row {row.number}" for row in data.study.rows], "row " + numbers.astype(str)


def _losses(name: str, people: pd.DataFrame) -> _Losses:
    status, left = people["status"], people["left"].astype(bool)
    return _Losses(
        name,
        placed=len(people),
        screened_out=int((status == "screened-out").sum()),
        left=int(((status == "active") & left).sum()),
        withdrawn=int((status == "withdrawn").sum()),
        under_way=int(((status == "active") & ~left).sum()),
        complete=int((status == "complete").sum()),
        excluded=int(((status == "complete") & people["excluded"].astype(bool)).sum()),
    )


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


def _sentence(losses: list[_Losses], p: float | None, test: str) -> str:
    total = sum(row.lost for row in losses)
    if total == 0:
        return "Nobody who got a place left or withdrew."
    parts = listed([f"{row.share:.0%} in {row.condition}" for row in losses if row.share is not None])
    if p is None:
        return f"{total:,} left or withdrew ({parts}); there are no conditions to compare."
    if p <= ALPHA:
        return (
            f"Conditions lost different shares of their participants ({parts}; {test}, {p_text(p)}): those who stayed "
            "may differ between conditions, so compare with the analyses of everybody."
        )
    return f"Losses by condition: {parts}; no sign that they differ ({test}, {p_text(p)})."
