"""Rank correlation of two scores over few methods: Spearman and Kendall, exact p, and what the scores' errors do to it.

Each method has a score in two courts (a benchmark's recall, people's gain). Methods are few and their scores are
estimates, so the p-value counts all arrangements of the methods and the interval draws methods and scores anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.checks import finite_vector
from verax.stats.record import Record
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
        spearman_low: Lower end of the interval for the true scores, see `rank_correlation`.
        spearman_high: Upper end.
        kendall_low: Lower end for tau-b.
        kendall_high: Upper end.
        draws: Draws in which both scores told methods apart.
        undefined: Draws without (one method drawn n times); they are left out.
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
    undefined: int
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

    The interval is for the true scores and carries both uncertainties. Each draw takes n methods with replacement and
    finds r, the correlation of their estimates, and s, that of new scores drawn around each estimate from a normal
    distribution with its standard error. Errors blur an order: s falls short of r about as much as r falls short of
    the correlation of the true scores, so the draw is 2 r - s, held between -1 and 1; the ends are percentiles of the
    draws. Simulated with 5 to 30 methods, true correlations of 0 to 0.9 and scores with errors (up to half of their
    variance), a 95% interval held the true correlation in 91 to 100% of comparisons; without the new scores in as few
    as 0%, and with s alone too. Over five methods whose scores have no error it held it in 86%: percentiles of so few
    methods are too narrow, so read it as a rough one there. It is wide below ten methods, and has to be.

    Args:
        first: One score per method; higher is better.
        second: The other score of the same methods in the same order.
        first_error: Standard errors of the first score; None for scores without error.
        second_error: Standard errors of the second.
        level: Coverage wanted.
        draws: How many.
        seed: Of the draws and, above nine methods, of the arrangements.
    """
    scores, others = finite_vector(first), finite_vector(second)
    n = len(scores)
    if len(others) != n or n < FEWEST_METHODS:
        raise VeraxError(
            f"There are {n} first and {len(others)} second scores: a rank correlation needs both scores of at least "
            f"{FEWEST_METHODS} methods."
        )
    errors = [_errors(given, n) for given in (first_error, second_error)]
    rng = np.random.default_rng(seed)
    smallest = 2 / factorial(n)
    if np.ptp(scores) == 0 or np.ptp(others) == 0:
        return RankCorrelation(
            n, None, None, None, None, smallest, True, 0, None, None, None, None, 0, draws, level
        )
    arranged = _arrangements(n, rng)
    rhos = spearman_rows(scores[None], others[arranged])
    taus = kendall_rows(scores[None], others[arranged])
    rho, tau = float(rhos[0]), float(taus[0])
    drawn = drawn_correlations(scores, others, errors[0], errors[1], draws, rng)
    tail = (1 - level) / 2
    ends = [np.quantile(row[np.isfinite(row)], [tail, 1 - tail]) for row in drawn]
    defined = int(np.isfinite(drawn[0]).sum())
    return RankCorrelation(
        n=n,
        spearman=rho,
        kendall=tau,
        p_spearman=float((np.abs(rhos) >= abs(rho) - _EQUAL).mean()),
        p_kendall=float((np.abs(taus) >= abs(tau) - _EQUAL).mean()),
        smallest_p=smallest,
        exact=n <= MOST_ARRANGED,
        arrangements=len(arranged),
        spearman_low=float(ends[0][0]),
        spearman_high=float(ends[0][1]),
        kendall_low=float(ends[1][0]),
        kendall_high=float(ends[1][1]),
        draws=defined,
        undefined=draws - defined,
        level=level,
    )


def spearman_rows(first: FloatArray, second: FloatArray) -> FloatArray:
    """Spearman's rho of each row with its partner; NaN where a row has one value only."""
    ranks = [rankdata(rows, axis=1) - (rows.shape[1] + 1) / 2 for rows in (first, second)]
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


def drawn_correlations(
    first: FloatArray,
    second: FloatArray,
    first_error: FloatArray,
    second_error: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Rho and tau-b of the true scores in each draw of methods, as `rank_correlation` says; NaN where undefined.

    A method that is drawn twice has the same new score twice.
    """
    n = len(first)
    taken = rng.integers(0, n, (draws, n))
    given = first[taken], second[taken]
    blurred = [
        np.take_along_axis(values + errors * rng.standard_normal((draws, n)), taken, axis=1)
        for values, errors in ((first, first_error), (second, second_error))
    ]
    rho, tau = (
        np.clip(2 * correlate(*given) - correlate(*blurred), -1, 1)
        for correlate in (spearman_rows, kendall_rows)
    )
    return rho, tau


def _errors(given: ArrayLike | None, n: int) -> FloatArray:
    errors = np.zeros(n) if given is None else finite_vector(given)
    if len(errors) != n or (errors < 0).any():
        raise VeraxError(
            f"There are {len(errors)} standard errors for {n} scores ({int((errors < 0).sum())} below 0): give one "
            "per method, 0 for a score that is known exactly."
        )
    return errors
