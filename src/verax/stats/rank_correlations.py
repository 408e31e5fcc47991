"""Rank correlation of two scores over few methods, with what the scores' errors do to it; and how many it takes.

Each method has a score in two evaluations (a benchmark's recall, people's gain). Methods are few and their scores are
estimates, so the p-value counts all arrangements of the methods, and the interval holds every true correlation that a
test would not reject. How often it holds the truth is in docs/results/calibration.md, made by
perf/calibration_joint.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations
from math import asin, factorial, isfinite, pi, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verax.arrays import FloatArray, tied_ranks
from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.estimate import check_level, finite_vector, t_critical
from verax.stats.thresholds import FEWEST_METHODS

# All arrangements of so many methods are counted (9! = 362,880).
MOST_ARRANGED = 9
ARRANGEMENTS = 99_999
DRAWS = 10_000
_EQUAL = 1e-9


@dataclass(frozen=True)
class RankCorrelation(Record):
    """How far two scores order the same methods alike.

    Attributes:
        n: Methods.
        spearman: Spearman's rho, ties share their mean rank; None where one score is the same for all methods.
        kendall: Kendall's tau-b.
        p_spearman: Two-sided: the share of arrangements with a rho at least as far from 0.
        p_kendall: The same for tau-b.
        smallest_p: The smallest p that so many methods without ties allow; above .05 nothing can be shown.
        exact: Whether all arrangements were counted.
        arrangements: How many were.
        spearman_low: Lower end of the interval for the true scores, see `rank_correlation`; None where so few methods
            cannot show anything.
        spearman_high: Upper end.
        kendall_low: Lower end for tau-b.
        kendall_high: Upper end.
        draws: Comparisons simulated for each true correlation that was tried.
        level: Of the interval.
    """

    n: int
    spearman: float | None
    kendall: float | None
    p_spearman: float | None
    p_kendall: float | None
    smallest_p: float
    exact: bool
    arrangements: int
    spearman_low: float | None
    spearman_high: float | None
    kendall_low: float | None
    kendall_high: float | None
    draws: int
    level: float


def rank_correlation(
    first: ArrayLike,
    second: ArrayLike,
    first_error: ArrayLike | None = None,
    second_error: ArrayLike | None = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> RankCorrelation:
    """Spearman's rho and Kendall's tau-b over methods with p and interval.

    The p-value supposes that any arrangement of the second score over the methods is equally likely; up to nine
    methods all n! are counted, above that 99,999 drawn ones and the observed one. It takes the scores as they are.

    The interval is for the correlation of the true scores of methods like these, by inversion: its ends are the true
    correlations of which so many methods show one as large as the observed one, or as small, in 2.5% of comparisons.
    True scores are simulated from normal distributions, of which ranks keep nothing but the dependence. Errors of the
    scores blur an order, so that the observed correlation falls short of the true one; an end that lies away from 0 is
    therefore moved outwards by the scores' reliability, and one that speaks against the observed sign is left where it
    is. With four methods or fewer even the same order in both scores has a p above .05, and there is no interval.

    Args:
        first: One score per method; higher is better.
        second: The other score of the same methods in the same order.
        first_error: Standard errors of the first score; None for scores without error.
        second_error: Standard errors of the second.
        level: Coverage wanted.
        draws: Comparisons simulated for each true correlation that is tried.
        seed: Of these and, above nine methods, of the arrangements.
    """
    scores, others = finite_vector(first), finite_vector(second)
    n = len(scores)
    if len(others) != n or n < FEWEST_METHODS:
        raise VeraxError(
            f"There are {n} first and {len(others)} second scores: a rank correlation needs both scores of at least "
            f"{FEWEST_METHODS} methods."
        )
    check_level(level)
    errors = [_errors(given, n) for given in (first_error, second_error)]
    smallest = 2 / factorial(n)
    if np.ptp(scores) == 0 or np.ptp(others) == 0:
        return RankCorrelation(n, None, None, None, None, smallest, True, 0, None, None, None, None, 0, level)
    arranged = _arrangements(n, np.random.default_rng(seed))
    rhos = spearman_rows(scores[None], others[arranged])
    taus = kendall_rows(scores[None], others[arranged])
    rho, tau = float(rhos[0]), float(taus[0])
    kept = sqrt((reliability(scores, errors[0]) or 0.0) * (reliability(others, errors[1]) or 0.0))
    ends: list[tuple[float | None, float | None]] = [
        (None, None)
        if smallest > 1 - level
        else true_ends(name, n, round(found, 9), kept, level, draws, seed)
        for name, found in (("spearman", rho), ("kendall", tau))
    ]
    return RankCorrelation(
        n=n,
        spearman=rho,
        kendall=tau,
        p_spearman=float((np.abs(rhos) >= abs(rho) - _EQUAL).mean()),
        p_kendall=float((np.abs(taus) >= abs(tau) - _EQUAL).mean()),
        smallest_p=smallest,
        exact=n <= MOST_ARRANGED,
        arrangements=len(arranged),
        spearman_low=ends[0][0],
        spearman_high=ends[0][1],
        kendall_low=ends[1][0],
        kendall_high=ends[1][1],
        draws=draws,
        level=level,
    )


def spearman_rows(first: FloatArray, second: FloatArray) -> FloatArray:
    """Spearman's rho of each row with its partner; NaN where a row has one value only."""
    ranks = [tied_ranks(rows) - (rows.shape[1] + 1) / 2 for rows in (first, second)]
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.sqrt((ranks[0] ** 2).sum(axis=1) * (ranks[1] ** 2).sum(axis=1))
        return np.asarray((ranks[0] * ranks[1]).sum(axis=1) / lengths, dtype=np.float64)


def kendall_rows(first: FloatArray, second: FloatArray) -> FloatArray:
    """Kendall's tau-b of each row with its partner; NaN where a row has one value only."""
    rows = max(len(first), len(second))
    agree, untied, untied_other = (np.zeros(rows, dtype=np.int64) for _ in range(3))
    # Pair by pair: all pairs of all rows at once would take 36 times the memory of the rows.
    for left, right in zip(*np.triu_indices(first.shape[1], k=1), strict=True):
        signs = np.sign(first[:, left] - first[:, right]).astype(np.int64)
        signs_other = np.sign(second[:, left] - second[:, right]).astype(np.int64)
        agree += signs * signs_other
        untied += signs != 0
        untied_other += signs_other != 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(agree / np.sqrt(untied * untied_other), dtype=np.float64)


def _arrangements(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Orders of the methods, one a row, the observed one first."""
    if n <= MOST_ARRANGED:
        return np.array(list(permutations(range(n))), dtype=np.intp)
    rows = np.tile(np.arange(n, dtype=np.intp), (ARRANGEMENTS + 1, 1))
    rows[1:] = rng.permuted(rows[1:], axis=1)
    return rows


def reliability(estimates: ArrayLike, errors: ArrayLike) -> float | None:
    """The share of the spread between methods that is not error: 1 - mean error² / variance, never below 0.

    None with less than three methods or without any spread. With few methods it is a rough number.
    """
    values, spread = finite_vector(estimates), finite_vector(errors)
    if len(values) < FEWEST_METHODS or np.ptp(values) == 0:
        return None
    return max(0.0, 1 - float((spread**2).mean()) / float(values.var(ddof=1)))


def true_ends(
    name: str, n: int, observed: float, kept: float, level: float, draws: int, seed: int
) -> tuple[float, float]:
    """The interval of the correlation of true scores, of which errors leave the part ``kept``."""
    low, high = _normal_ends(name, n, observed, level, draws, seed)
    # Less may be left than was estimated, and more: each end is the wider one of the two readings.
    wider = [
        _blown_up(end, kept) if outwards else end for end, outwards in ((low, low < 0), (high, high > 0))
    ]
    if name == "spearman":
        return 6 / pi * asin(wider[0] / 2), 6 / pi * asin(wider[1] / 2)
    return 2 / pi * asin(wider[0]), 2 / pi * asin(wider[1])


def _blown_up(pearson: float, kept: float) -> float:
    """The correlation before errors, held between -1 and 1."""
    return max(-1.0, min(1.0, pearson / kept)) if kept > 0 else float(np.sign(pearson))


@lru_cache(maxsize=4096)
def _normal_ends(
    name: str, n: int, observed: float, level: float, draws: int, seed: int
) -> tuple[float, float]:
    """The normal correlations of which n methods show one as large as the observed one, or as small, in a tail each."""
    rng = np.random.default_rng([seed, n])
    first, other = rng.standard_normal((2, draws, n))
    correlate: Callable[[FloatArray, FloatArray], FloatArray] = (
        spearman_rows if name == "spearman" else kendall_rows
    )
    tail = (1 - level) / 2

    def shown(pearson: float, sign: int) -> float:
        second = pearson * first + sqrt(1 - pearson**2) * other
        return float((sign * correlate(first, second) >= sign * observed - _EQUAL).mean())

    ends = []
    for sign in (1, -1):
        # The farther the true correlation lies on the other side, the rarer is one like the observed one.
        inside, outside = float(sign), float(-sign)
        for _ in range(14):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if shown(middle, sign) > tail else (inside, middle)
        ends.append(outside if abs(outside) < 1 else float(-sign))
    return ends[0], ends[1]


def _errors(given: ArrayLike | None, n: int) -> FloatArray:
    errors = np.zeros(n) if given is None else finite_vector(given)
    if len(errors) != n or (errors < 0).any():
        raise VeraxError(
            f"There are {len(errors)} standard errors for {n} scores ({int((errors < 0).sum())} below 0): give one "
            "per method, 0 for a score that is known exactly."
        )
    return errors


STUDIES = 4000
MOST_METHODS = 500
# Up to here the test's limit is counted out; above it, t of rho on n - 2 degrees of freedom is close enough.
COUNTED = 9


@dataclass(frozen=True)
class Needed(Record):
    """How many methods a comparison of two evaluations needs.

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
