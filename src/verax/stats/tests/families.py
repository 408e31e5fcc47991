"""Families of correlated tests: Dunnett's many against one, and the maximum of any correlated t statistics.

Holm's correction (`verax.stats.tests.multiplicity`) needs no correlations and is the default; these use them and so
reject
a little more often at the same share of false claims.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammaincinv, gammaln, ndtr, ndtri

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.checks import finite_vector
from verax.stats.student import t_critical

# Nodes of the two integrals of Dunnett's distribution, and how many normal standard deviations they reach.
_NODES, _REACH = 128, 9.0
_TAIL = 1e-13


@dataclass(frozen=True)
class Family:
    """Tests and intervals that hold together.

    Attributes:
        estimates: The estimates, in the order given.
        p: Their p-values, corrected for the family.
        low: Lower ends of simultaneous intervals.
        high: Upper ends.
        critical: What |t| must exceed.
        level: Share of repeated experiments in which all intervals hold.
    """

    estimates: tuple[float, ...]
    p: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    critical: float
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def dunnett(
    estimates: ArrayLike, variances: ArrayLike, df: float, control: int = 0, level: float = 0.95
) -> Family:
    """Every estimate minus the control's, corrected together (Dunnett 1955; any group sizes), two-sided.

    Args:
        estimates: Independent means, the control's among them.
        variances: Their variances (squared standard errors), all from one pooled variance.
        df: Degrees of freedom of the pooled variance.
        control: Place of the control.
        level: Coverage of all intervals together.
    """
    means, each = finite_vector(estimates), finite_vector(variances)
    if len(means) != len(each) or len(means) < 2:
        raise VeraxError(
            f"There are {len(means)} estimates and {len(each)} variances: give one of each for the control and for "
            "at least one other method."
        )
    if not (each > 0).all():
        raise VeraxError("A variance is 0: there is no test where all participants score the same.")
    others = np.delete(np.arange(len(means)), control)
    difference = means[others] - means[control]
    se = np.sqrt(each[others] + each[control])
    loadings = np.sqrt(each[control]) / se
    corrected = [many_to_one_p(t, loadings, df) for t in difference / se]
    return _family(difference, se, np.array(corrected), many_to_one_critical(level, loadings, df), level)


def many_to_one_p(t: float, loadings: FloatArray, df: float) -> float:
    """P(max over j of |T_j| >= |t|), where T_j and T_l correlate by loading_j · loading_l and share one variance."""
    return min(1.0, max(0.0, 1.0 - _all_below(abs(t), loadings, df)))


def many_to_one_critical(level: float, loadings: FloatArray, df: float) -> float:
    """The t that all |T_j| stay below with probability ``level``."""
    lowest = t_critical(level, df)
    highest = t_critical(1 - (1 - level) / len(loadings), df)
    if len(loadings) == 1:
        return lowest
    return float(
        brentq(lambda t: _all_below(t, loadings, df) - level, 0.999 * lowest, 1.001 * highest, xtol=1e-10)
    )


def _all_below(t: float, loadings: FloatArray, df: float) -> float:
    """P(all |T_j| < t): given the common part z and the scale s the T_j are independent, so a double integral."""
    common, common_weight = _legendre(-_REACH, _REACH)
    common_weight = common_weight * np.exp(-(common**2) / 2) / math.sqrt(2 * math.pi)
    scale, scale_weight = _scales(float(df))
    own = np.sqrt(1 - np.asarray(loadings) ** 2)[:, None, None]
    shift = np.asarray(loadings)[:, None, None] * common
    limit = t * scale[:, None]
    inside = (ndtr((limit - shift) / own) - ndtr((-limit - shift) / own)).prod(axis=0)
    return float(scale_weight @ inside @ common_weight)


@lru_cache(maxsize=64)
def _scales(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for s = sqrt(chi²(df) / df)."""
    if df > 1e7:
        return np.ones(1), np.ones(1)
    ends = [math.sqrt(2 * gammaincinv(df / 2, share) / df) for share in (_TAIL, 1 - _TAIL)]
    scale, weight = _legendre(*ends)
    density = (
        math.log(2)
        + df / 2 * math.log(df / 2)
        - gammaln(df / 2)
        + (df - 1) * np.log(scale)
        - df * scale**2 / 2
    )
    return scale, weight * np.exp(density)


def _legendre(low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights between two ends."""
    nodes, weights = _unit_legendre()
    return (high - low) / 2 * nodes + (high + low) / 2, (high - low) / 2 * weights


@cache
def _unit_legendre() -> tuple[FloatArray, FloatArray]:
    """The same between -1 and 1."""
    return np.polynomial.legendre.leggauss(_NODES)


def max_t(
    estimates: ArrayLike,
    covariance: ArrayLike,
    df: float,
    level: float = 0.95,
    draws: int = 2**16,
    seed: int = 0,
) -> Family:
    """Tests of correlated estimates against 0 by the distribution of the largest |t| (multivariate t).

    Args:
        estimates: The estimates.
        covariance: Their covariance matrix.
        df: Degrees of freedom of the covariance; infinite is the normal distribution.
        level: Coverage of all intervals together.
        draws: Points of the (quasi-random, so reproducible) integration; a p is good to about .001.
        seed: Seed of these points.
    """
    vector = finite_vector(estimates)
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.shape != (len(vector), len(vector)) or not (np.diag(matrix) > 0).all():
        raise VeraxError(
            f"The covariance has shape {matrix.shape} for {len(vector)} estimates: give a square matrix with "
            "variances above 0."
        )
    se = np.sqrt(np.diag(matrix))
    largest = _largest_t(matrix / np.outer(se, se), df, draws, seed)
    above = draws - np.searchsorted(largest, np.abs(vector / se), side="left")
    critical = float(np.quantile(largest, level))
    return _family(vector, se, (above + 1) / (draws + 1), critical, level)


def _largest_t(correlation: FloatArray, df: float, draws: int, seed: int) -> FloatArray:
    """Sorted draws of the largest |t|."""
    from scipy.stats import qmc

    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    points = qmc.Sobol(len(root) + 1, rng=np.random.default_rng(seed)).random(draws)
    points = np.clip(points, 1e-12, 1 - 1e-12)
    scale = np.ones(draws) if math.isinf(df) else np.sqrt(2 * gammaincinv(df / 2, points[:, -1]) / df)
    return np.sort(np.abs(ndtri(points[:, :-1]) @ root.T).max(axis=1) / scale)


def _family(estimates: FloatArray, se: FloatArray, p: FloatArray, critical: float, level: float) -> Family:
    """Plain values with simultaneous intervals."""
    margin = critical * se
    low, high = estimates - margin, estimates + margin
    return Family(
        tuple(estimates.tolist()),
        tuple(p.tolist()),
        tuple(low.tolist()),
        tuple(high.tolist()),
        critical,
        level,
    )


def max_t_of_draws(observed: ArrayLike, draws: ArrayLike) -> FloatArray:
    """Corrected p-values from draws of all statistics together under the null (Westfall & Young; Romano & Wolf).

    Step-down: the largest |t| is held against the largest of all in each draw, the next against the largest of the
    rest, and so on; p = (1 + draws at least as large) / (1 + draws).

    Args:
        observed: One statistic per test.
        draws: (draws, tests): the statistics of permuted data, or of bootstrap replicates minus the estimate.
    """
    statistics, drawn = np.abs(finite_vector(observed)), np.abs(np.asarray(draws, dtype=np.float64))
    if drawn.ndim != 2 or drawn.shape[1] != len(statistics) or not len(drawn):
        raise VeraxError(
            f"The draws have shape {drawn.shape} for {len(statistics)} statistics: give one row per draw."
        )
    order = np.argsort(-statistics, kind="stable")
    rest = np.maximum.accumulate(drawn[:, order][:, ::-1], axis=1)[:, ::-1]
    tolerance = 1e-12 * np.maximum(statistics[order], 1.0)
    p = (1 + (rest >= statistics[order] - tolerance).sum(axis=0)) / (1 + len(drawn))
    corrected = np.empty(len(statistics))
    corrected[order] = np.maximum.accumulate(p)
    return corrected
