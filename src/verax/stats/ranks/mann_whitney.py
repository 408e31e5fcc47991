"""Mann-Whitney's test of two samples, exact where small, with effect sizes: superiority, Cliff's delta, shift."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.checks import finite_vector

# Up to so many pairs of values p is exact, with or without ties: 50 x 50 takes some 50 ms.
EXACT_PAIRS = 2_500
# Beyond so many pairs the shift, which sorts them all, is not computed.
SHIFT_PAIRS = 20_000_000


@dataclass(frozen=True)
class RankTest:
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
        shift: Hodges-Lehmann: median of the differences first - second over all pairs; None beyond 20 million pairs.
        shift_low: Lower end of its interval by Mann-Whitney's distribution; None where so few values cannot give one.
        shift_high: Upper end.
        level: Coverage of the intervals; that of the shift is at least this, and more with ties.
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
    shift: float | None
    shift_low: float | None
    shift_high: float | None
    level: float = 0.95

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def mann_whitney(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> RankTest:
    """Mann-Whitney's U of two independent samples, one value per unit (average a participant's answers first).

    Args:
        first: Values of the first sample.
        second: Values of the second.
        level: Coverage of the intervals.
    """
    if not 0 < level < 1:
        raise VeraxError(f"The level of an interval is {level}: give a number between 0 and 1, such as 0.95.")
    x, y = finite_vector(first), finite_vector(second)
    for name, sample in (("first", x), ("second", y)):
        if not len(sample):
            raise VeraxError(f"The {name} sample is empty: give at least one value.")
    m, n = len(x), len(y)
    ranks = _ranks(np.concatenate([x, y]))
    u = float(ranks[:m].sum() - m * (m + 1) / 2)
    exact = m * n <= EXACT_PAIRS
    superiority = u / (m * n)
    low, high = superiority_interval(superiority, m, n, level)
    shift, shift_low, shift_high = _shift(x, y, level)
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
        shift=shift,
        shift_low=shift_low,
        shift_high=shift_high,
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


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1, ties share their mean: half of the number below, the number not above, and 1."""
    ordered = np.sort(values)
    return np.asarray(
        (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") + 1) / 2
    )


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


def _shift(x: FloatArray, y: FloatArray, level: float) -> tuple[float | None, float | None, float | None]:
    """Hodges and Lehmann's shift, and the differences between which it lies by the distribution of U without ties."""
    m, n = len(x), len(y)
    if m * n > SHIFT_PAIRS:
        return None, None, None
    differences = np.sort(np.subtract.outer(x, y), axis=None)
    outside = _outside(m, n, level)
    median = float(np.median(differences))
    if outside == 0:
        return median, None, None
    return median, float(differences[outside - 1]), float(differences[m * n - outside])


def _outside(m: int, n: int, level: float) -> int:
    """The largest c with P(U <= c - 1) <= (1 - level) / 2, by counting or the normal approximation; 0 if none."""
    if m * n <= EXACT_PAIRS:
        small = min(m, n)
        counts = rank_sum_counts(np.arange(1.0, m + n + 1), small)[small * (small + 1) :: 2]
        below = np.cumsum(counts) / math.comb(m + n, small)
        return int((below <= (1 - level) / 2).sum())
    spread = math.sqrt(m * n * (m + n + 1) / 12)
    return max(0, math.floor(m * n / 2 - float(ndtri((1 + level) / 2)) * spread))
