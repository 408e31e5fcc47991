"""How many methods it takes to see a rank correlation, and how the scores' errors raise that number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import asin, isfinite, pi, sin, sqrt

import numpy as np

from verax.errors import VeraxError
from verax.stats.ranks.correlation import spearman_rows
from verax.stats.record import Record
from verax.stats.student import t_critical

STUDIES = 4000
MOST_METHODS = 500
# Up to here the test's limit is counted out; above it, t of rho on n - 2 degrees of freedom is close enough.
COUNTED = 9


@dataclass(frozen=True)
class Needed(Record):
    """How many methods a comparison of two courts needs.

    Attributes:
        methods: The fewest methods with the power wanted; None above 500.
        correlation: The true Spearman correlation that is to be seen, of scores without error.
        observed: What errors leave of it on average.
        power: Wanted.
        reached: Power with so many methods, simulated.
        level: Of the test: 0.95 rejects at p <= 0.05, two-sided.
        comparisons: Simulated per number of methods.
    """

    methods: int | None
    correlation: float
    observed: float
    power: float
    reached: float | None
    level: float
    comparisons: int


def methods_needed(
    correlation: float = 0.7,
    power: float = 0.8,
    reliabilities: tuple[float, float] = (1.0, 1.0),
    *,
    level: float = 0.95,
    comparisons: int = STUDIES,
    seed: int = 0,
) -> Needed:
    """The fewest methods with which a rank test finds a true correlation with the power wanted, by simulation.

    Methods' true scores are drawn from a bivariate normal distribution with this Spearman correlation, errors are
    added as the reliabilities say, and Spearman's permutation test (exact up to nine methods) is made.

    Args:
        correlation: Spearman's, between 0 and 1.
        power: Wanted.
        reliabilities: Of the two scores, from 0 to 1; see `reliability`.
        level: Of the test.
        comparisons: Simulated per number of methods.
        seed: Of the simulation.
    """
    if not (0 < correlation < 1 and 0 < power < 1 and all(0 <= share <= 1 for share in reliabilities)):
        raise VeraxError(
            f"A correlation of {correlation} with power {power} and reliabilities {reliabilities}: give numbers "
            "between 0 and 1."
        )
    # Spearman's correlation of normal scores as Pearson's, which errors make smaller in proportion.
    pearson = 2 * sin(pi * correlation / 6) * sqrt(reliabilities[0] * reliabilities[1])
    observed = 6 / pi * asin(pearson / 2)
    low, high = 3, 8
    # Doubled until it is enough, since large numbers take long and are seldom needed; then halved.
    while (reached := rank_power(high, pearson, level, comparisons, seed)) < power:
        if high == MOST_METHODS:
            return Needed(None, correlation, observed, power, None, level, comparisons)
        low, high = high, min(2 * high, MOST_METHODS)
    while high - low > 1:
        middle = (low + high) // 2
        halfway = rank_power(middle, pearson, level, comparisons, seed)
        if halfway >= power:
            high, reached = middle, halfway
        else:
            low = middle
    return Needed(high, correlation, observed, power, reached, level, comparisons)


@cache
def rank_power(methods: int, pearson: float, level: float, comparisons: int, seed: int) -> float:
    """The share of simulated comparisons of so many methods whose p is at most 1 - level."""
    limit = smallest_significant(methods, level)
    if not isfinite(limit):
        return 0.0
    rng = np.random.default_rng([seed, methods])
    first = rng.standard_normal((comparisons, methods))
    second = pearson * first + sqrt(1 - pearson**2) * rng.standard_normal((comparisons, methods))
    return float((np.abs(spearman_rows(first, second)) >= limit - 1e-9).mean())


@cache
def smallest_significant(methods: int, level: float) -> float:
    """The smallest |rho| of so many methods without ties that is significant; infinite if none is."""
    if methods <= COUNTED:
        places = np.array(list(permutations(range(methods))), dtype=np.float64)
        sizes = np.sort(np.abs(spearman_rows(places[:1], places)))[::-1]
        # p of each |rho|: the share of arrangements that are at least as far from 0.
        shares = np.searchsorted(-sizes, -sizes + 1e-9, side="right") / len(sizes)
        kept = sizes[shares <= 1 - level + 1e-12]
        return float(kept[-1]) if len(kept) else float("inf")
    t = t_critical(level, methods - 2)
    return t / sqrt(methods - 2 + t**2)  # t = rho · sqrt(df / (1 - rho²)), turned round
