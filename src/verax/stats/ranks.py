"""Ranks: average ranks of methods, and Mann-Whitney's test of two samples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from verax.arrays import FloatArray, tied_ranks
from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.estimate import ROUNDING, check_level, check_table, finite_vector

Cell = TypeVar("Cell", bound=Hashable)


@dataclass(frozen=True)
class Ranking(Record):
    """Mean ranks over the cells that all methods have.

    Attributes:
        ranks: Mean rank by name, in the order given; 1 is best. None where there is no common cell.
        cells: Cells that all methods have.
        left_out: Cells that some method lacks.
    """

    ranks: Mapping[str, float | None]
    cells: int
    left_out: int


def average_ranks(table: Mapping[str, Mapping[Cell, float]]) -> Ranking:
    """Ranks the methods in each cell (highest value is 1, ties share the mean rank) and averages over cells.

    There is no p of all ranks: Friedman's test takes cells as independent, and the models of one dataset share their
    stains. Whether two methods differ is what `joint_differences` tests.

    Args:
        table: Per method one value per cell; higher is better.
    """
    check_table(table)
    cells = list(dict.fromkeys(cell for row in table.values() for cell in row))
    common = [cell for cell in cells if all(cell in row for row in table.values())]
    left_out = len(cells) - len(common)
    if not common:
        return Ranking(dict.fromkeys(table), 0, left_out)
    ranks = _ranks(np.array([[row[cell] for row in table.values()] for cell in common], dtype=np.float64))
    means = ranks.mean(axis=0).tolist()
    return Ranking(dict(zip(table, means, strict=True)), len(common), left_out)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of a (cells, methods) array: (k + 1 + number better - number worse) / 2 of k methods."""
    rounding = ROUNDING * np.abs(values).max(axis=1)[:, None, None]
    ahead = values[:, None, :] - values[:, :, None]
    better, worse = (ahead > rounding).sum(axis=2), (ahead < -rounding).sum(axis=2)
    return np.asarray((values.shape[1] + 1 + better - worse) / 2, dtype=np.float64)


# Up to so many pairs of values p is exact, with or without ties: 50 x 50 takes some 50 ms.
EXACT_PAIRS = 2_500


@dataclass(frozen=True)
class RankTest(Record):
    """How the first sample lies to the second.

    Attributes:
        n_first: Values in the first sample.
        n_second: Values in the second.
        u: Pairs in which the first is higher; a tie counts one half.
        p: Two-sided: twice the smaller tail, at most 1.
        exact: Whether p counts all ways to split the values; otherwise it is the normal approximation with the
            corrections for ties and continuity.
        superiority: u over the number of pairs: the chance that a value of the first is higher (ties one half).
        superiority_low: Lower end of its interval (Newcombe 2006, method 5).
        superiority_high: Upper end.
        cliffs_delta: 2 · superiority - 1: share of pairs in which the first is higher minus share in which it is lower.
        delta_low: Lower end, from that of superiority.
        delta_high: Upper end.
        level: Coverage of the intervals.
    """

    n_first: int
    n_second: int
    u: float
    p: float
    exact: bool
    superiority: float
    superiority_low: float
    superiority_high: float
    cliffs_delta: float
    delta_low: float
    delta_high: float
    level: float = 0.95


def mann_whitney(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> RankTest:
    """Mann-Whitney's U of two independent samples, one value per unit (average a participant's answers first).

    Args:
        first: Values of the first sample.
        second: Values of the second.
        level: Coverage of the intervals.
    """
    check_level(level)
    x, y = finite_vector(first), finite_vector(second)
    for name, sample in (("first", x), ("second", y)):
        if not len(sample):
            raise VeraxError(f"The {name} sample is empty: give at least one value.")
    m, n = len(x), len(y)
    ranks = tied_ranks(np.concatenate([x, y]))
    u = float(ranks[:m].sum() - m * (m + 1) / 2)
    exact = m * n <= EXACT_PAIRS
    superiority = u / (m * n)
    low, high = superiority_interval(superiority, m, n, level)
    return RankTest(
        n_first=m,
        n_second=n,
        u=u,
        p=_exact_p(ranks, m) if exact else _normal_p(ranks, m),
        exact=exact,
        superiority=superiority,
        superiority_low=low,
        superiority_high=high,
        cliffs_delta=2 * superiority - 1,
        delta_low=2 * low - 1,
        delta_high=2 * high - 1,
        level=level,
    )


def superiority_interval(superiority: float, m: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Newcombe's (2006) method 5: the values that are not z standard errors away from what was found.

    The standard error is Hanley and McNeil's at the value that is asked about, with (m + n) / 2 - 1 for both sizes, so
    that the interval stays within 0 and 1 and has a width even where no pair contradicts the others. Simulated with
    normal samples of 5 to 30 values, shifted by 0, 1 and 2, a 95% interval holds the truth in 94 to 97%.
    """
    z = float(ndtri((1 + level) / 2))

    def away(value: float) -> float:
        spread = 1 + ((m + n) / 2 - 1) * ((1 - value) / (2 - value) + value / (1 + value))
        return abs(superiority - value) - z * math.sqrt(value * (1 - value) * spread / (m * n))

    # At 0 and 1 the standard error is 0, so that an end of the scale would pass for an end of the interval.
    edge = 1e-12
    low = 0.0 if superiority == 0 else float(brentq(away, 0.0, min(superiority, 1 - edge), xtol=edge))
    high = 1.0 if superiority == 1 else float(brentq(away, max(superiority, edge), 1.0, xtol=edge))
    return low, high


def rank_sum_counts(ranks: FloatArray, m: int) -> FloatArray:
    """How many of all choices of m among the values have each sum of twice their ranks: entry s is for the sum s.

    Counted value by value: the choices of k with sum s are those without the new value, and those of k - 1 without its
    rank. Twice the ranks are whole numbers even with ties.
    """
    twice = np.rint(2 * ranks).astype(np.intp)
    most = int(np.sort(twice)[::-1][:m].sum())
    counts = np.zeros((m + 1, most + 1))
    counts[0, 0] = 1
    for rank in twice.tolist():
        for k in range(m, 0, -1):
            counts[k, rank:] += counts[k - 1, : most + 1 - rank]
    return np.asarray(counts[m])


def _exact_p(ranks: FloatArray, m: int) -> float:
    """Twice the smaller tail over all choices of m of the values; the smaller sample is the one chosen."""
    if 2 * m <= len(ranks):
        chosen, size = ranks[:m], m
    else:
        chosen, size = ranks[m:], len(ranks) - m
    counts = rank_sum_counts(ranks, size)
    place = round(2 * chosen.sum())
    whole = math.comb(len(ranks), size)
    tail = min(counts[: place + 1].sum(), counts[place:].sum())
    return float(min(1.0, 2 * tail / whole))


def _normal_p(ranks: FloatArray, m: int) -> float:
    """The normal approximation, corrected for ties and continuity."""
    total, n = len(ranks), len(ranks) - m
    _, ties = np.unique(ranks, return_counts=True)
    variance = (
        m * n / 12 * (total + 1 - float((ties.astype(float) ** 3 - ties).sum()) / (total * (total - 1)))
    )
    if variance <= 0:
        return 1.0
    distance = abs(ranks[:m].sum() - m * (total + 1) / 2) - 0.5
    return float(min(1.0, 2 * ndtr(-distance / math.sqrt(variance))))
