"""Logistic regression on one predictor: does a rating go with right answers? For one data set, or thousands at once.

And the mean of the logistic curve over people and items that differ: what log-odds mean in accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtri

from verax.arrays import FloatArray, IndexArray
from verax.codec import Record
from verax.stats.estimate import check_level
from verax.stats.responses import check_lengths, coded, numbers, zero_or_one

STEPS = 100
# Nodes of the mean over a normal number.
_NODES = 41


@dataclass(frozen=True)
class Logistic(Record):
    """logit P(right) = intercept + slope · x, by maximum likelihood.

    Everything is None where the right answers lie on one side of x (or are all equal, or x is constant): the best
    slope is then infinite or unknown.

    Attributes:
        intercept: Log-odds of a right answer at x = 0.
        slope: Change of the log-odds with 1 more x.
        intercept_error: Standard error.
        slope_error: Standard error.
        low: Lower end of Wald's interval of the slope. Answers are taken as independent: several answers of one
            participant make it too narrow.
        high: Upper end.
        p: Wald's two-sided test of slope 0.
        n: Answers used.
        dropped: Answers without x or without a result.
        level: Coverage of the interval.
    """

    intercept: float | None
    slope: float | None
    intercept_error: float | None
    slope_error: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    dropped: int
    level: float = 0.95

    def probability(self, x: float) -> float | None:
        """P(right) at x."""
        if self.intercept is None or self.slope is None:
            return None
        return float(expit(self.intercept + self.slope * x))


def logistic(x: ArrayLike, right: ArrayLike, level: float = 0.95) -> Logistic:
    """Regresses right (1) or wrong (0) on x.

    Args:
        x: The predictor, NaN where missing.
        right: 1, 0, or NaN where missing.
        level: Coverage wanted.
    """
    check_level(level)
    check_lengths(x=x, right=right)
    predictor, result = numbers("x", x), zero_or_one("right", right)
    used = ~(np.isnan(predictor) | np.isnan(result))
    n, dropped = int(used.sum()), int((~used).sum())
    unknown = Logistic(None, None, None, None, None, None, None, n, dropped, level)
    if n == 0:
        return unknown
    values, place = np.unique(predictor[used], return_inverse=True)
    answers = np.bincount(place)
    rights = np.bincount(place, weights=result[used])
    ((intercept, slope),) = logistic_of_counts(values, answers[None], rights[None])
    if math.isnan(slope):
        return unknown
    share = expit(intercept + slope * values)
    weight = answers * share * (1 - share)
    centre = (weight * values).sum() / weight.sum()
    slope_error = 1 / math.sqrt((weight * (values - centre) ** 2).sum())
    intercept_error = math.sqrt(1 / weight.sum() + (centre * slope_error) ** 2)
    margin = float(ndtri((1 + level) / 2)) * slope_error
    return Logistic(
        intercept=float(intercept),
        slope=float(slope),
        intercept_error=intercept_error,
        slope_error=slope_error,
        low=float(slope - margin),
        high=float(slope + margin),
        p=math.erfc(abs(slope / slope_error) / math.sqrt(2)),
        n=n,
        dropped=dropped,
        level=level,
    )


def logistic_of_counts(x: ArrayLike, answers: ArrayLike, right: ArrayLike) -> FloatArray:
    """Intercept and slope of many data sets that share their values of x: (data sets, 2).

    NaN where a slope does not exist: all answers equal, or right and wrong ones on different sides of some x.

    Args:
        x: The distinct values of the predictor.
        answers: How many answers each data set has at each value: (data sets, values).
        right: How many of them are right.
    """
    values = numbers("x", x)
    n, s = np.atleast_2d(np.asarray(answers, float)), np.atleast_2d(np.asarray(right, float))
    overlap = _overlap(values, n, s)
    coefficients = np.full((len(n), 2), np.nan)
    if overlap.any():
        coefficients[overlap] = _fit(values, n[overlap], s[overlap])
    return coefficients


def normalised(values: ArrayLike, group: ArrayLike) -> FloatArray:
    """(value - mean) / standard deviation (divisor n - 1) inside each group, such as a participant.

    NaN where the value is missing or where its group has less than two different values.
    """
    check_lengths(values=values, group=group)
    column, codes = numbers("values", values), coded("group", group)[1]
    known = ~np.isnan(column)
    mean, spread = _moments(column[known], codes[known], int(codes.max()) + 1)
    scaled = np.full(len(column), np.nan)
    varied = known & (spread[codes] > 0)
    scaled[varied] = (column[varied] - mean[codes[varied]]) / spread[codes[varied]]
    return scaled


def _moments(values: FloatArray, group: IndexArray, groups: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each group; 0 spread where there is only one value, whatever rounding says."""
    count = np.bincount(group, minlength=groups)
    mean = np.bincount(group, weights=values, minlength=groups) / np.maximum(count, 1)
    squares = np.bincount(group, weights=(values - mean[group]) ** 2, minlength=groups)
    lowest, highest = np.full(groups, np.inf), np.full(groups, -np.inf)
    np.minimum.at(lowest, group, values)
    np.maximum.at(highest, group, values)
    return mean, np.where(highest > lowest, np.sqrt(squares / np.maximum(count - 1, 1)), 0.0)


def mean_accuracy(log_odds: FloatArray | float, spread: float | FloatArray) -> FloatArray:
    """Mean of 1 / (1 + exp(-x)) over normal x, by 41-node Gauss-Hermite quadrature."""
    nodes, weights = _hermite()
    shares = expit(np.asarray(log_odds)[..., None] + np.asarray(spread)[..., None] * nodes)
    return np.asarray(shares @ weights, dtype=np.float64)


@cache
def _hermite() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for the mean over a standard normal number."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def _overlap(x: FloatArray, n: FloatArray, s: FloatArray) -> NDArray[np.bool_]:
    """Where right and wrong answers overlap in x, so that the likelihood has a maximum."""
    right_low = np.where(s > 0, x, np.inf).min(axis=1)
    right_high = np.where(s > 0, x, -np.inf).max(axis=1)
    wrong_low = np.where(n - s > 0, x, np.inf).min(axis=1)
    wrong_high = np.where(n - s > 0, x, -np.inf).max(axis=1)
    return np.asarray((right_low < wrong_high) & (wrong_low < right_high))


def _fit(x: FloatArray, n: FloatArray, s: FloatArray) -> FloatArray:
    """Intercept and slope of data sets that have them, computed on x moved to [-1, 1]."""
    centre, scale = (x.max() + x.min()) / 2, (x.max() - x.min()) / 2
    scaled = (x - centre) / scale
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        best, step = _newton(scaled, n, s, guarded=False)
        lost = np.flatnonzero(~(step < 1e-6))
        if len(lost):  # a full step went too far somewhere: rare, so the slow way is only for these
            best[lost] = _newton(scaled, n[lost], s[lost], guarded=True)[0]
    slope = best[:, 1] / scale
    return np.stack([best[:, 0] - slope * centre, slope], axis=1)


def _newton(x: FloatArray, n: FloatArray, s: FloatArray, guarded: bool) -> tuple[FloatArray, FloatArray]:
    """Newton's steps on all data sets and the size of the last; guarded steps are halved until they climb."""
    share = s.sum(axis=1) / n.sum(axis=1)
    coefficients = np.stack([np.log(share) - np.log1p(-share), np.zeros(len(n))], axis=1)
    for _ in range(STEPS if guarded else 25):
        p = expit(coefficients[:, :1] + coefficients[:, 1:] * x)
        residual, weight = s - n * p, n * p * (1 - p)
        by_intercept, by_slope = residual.sum(axis=1), residual @ x
        a, b, c = weight.sum(axis=1), weight @ x, weight @ x**2
        step = np.stack([c * by_intercept - b * by_slope, a * by_slope - b * by_intercept], axis=1)
        step /= (a * c - b**2)[:, None]
        if guarded:
            step = _halved(x, n, s, coefficients, step)
        coefficients = coefficients + step
        size = np.abs(step).max(axis=1) / (1 + np.abs(coefficients).max(axis=1))
        if not (size > 1e-9).any():  # the error is of the order of its square
            break
    return coefficients, size


def _halved(
    x: FloatArray, n: FloatArray, s: FloatArray, coefficients: FloatArray, step: FloatArray
) -> FloatArray:
    """The step, halved for as long as the likelihood is lower at its end."""
    value = _log_likelihood(x, n, s, coefficients)
    for _ in range(60):
        lower = _log_likelihood(x, n, s, coefficients + step) < value - 1e-11 * (1 + np.abs(value))
        if not lower.any():
            break
        step = np.where(lower[:, None], step / 2, step)
    return step


def _log_likelihood(x: FloatArray, n: FloatArray, s: FloatArray, coefficients: FloatArray) -> FloatArray:
    eta = coefficients[:, :1] + coefficients[:, 1:] * x
    return np.asarray((s * eta - n * np.logaddexp(0, eta)).sum(axis=1))
