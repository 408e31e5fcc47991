"""Accuracy per method, shrunk towards the common one: logistic regression with a random effect for the method.

    logit P(right | method m) = b0 + u_m,    u_m ~ Normal(0, sigma²)

fitted by the Laplace approximation, as ``glmer(right ~ (1 | method), family = binomial)`` of R's lme4 does. Its
likelihood knows the data only through the number of answers n_m and of right ones s_m, so that many data sets (the
replicates of a bootstrap) are fitted at once: one Newton iteration on arrays of counts.

With t = sigma², eta_m = b0 + u_m, p_m = 1 / (1 + exp(-eta_m)), r_m = s_m - n_m p_m, w_m = n_m p_m (1 - p_m) and
A_m = 1 + t w_m, the mode is at u_m = t r_m and

    log L(b0, t) = sum_m [ s_m eta_m - n_m log(1 + exp(eta_m)) - t r_m² / 2 - log(A_m) / 2 ].

Everything is smooth in t down to 0, where methods do not differ.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from verax.arrays import FloatArray
from verax.errors import VeraxError

# lme4's isSingular: below this standard deviation the methods count as equal.
SINGULAR = 1e-4
STEPS = 200
CLOSE = 1e-10


@dataclass(frozen=True)
class MethodEffects:
    """The fits, one per data set (replicate).

    Attributes:
        probability: exp(b0 + u_m) / (1 + exp(b0 + u_m)): (data sets, methods). NaN where a method has no answers, and
            in data sets that cannot be fitted.
        intercept: b0.
        spread: sigma; 0 where the best fit has equal methods.
        singular: Where the spread is below 1e-4, lme4's limit.
        fitted: False where there is nothing to fit and lme4 stops with an error: less than two methods with answers,
            or all answers equal.
    """

    probability: FloatArray
    intercept: FloatArray
    spread: FloatArray
    singular: NDArray[np.bool_]
    fitted: NDArray[np.bool_]


@dataclass(frozen=True)
class _Point:
    """The likelihood at one (b0, t) of each data set, with its slopes and curvatures."""

    value: FloatArray
    slope_b: FloatArray
    slope_t: FloatArray
    curve_bb: FloatArray
    curve_bt: FloatArray
    curve_tt: FloatArray


def method_effects(answers: ArrayLike, right: ArrayLike) -> MethodEffects:
    """Fits every row of counts.

    Args:
        answers: Number of answers of each method: (data sets, methods).
        right: How many of them are right.
    """
    n, s = _checked(answers, right)
    total, total_right = n.sum(axis=1), s.sum(axis=1)
    fitted = ((n > 0).sum(axis=1) > 1) & (total_right > 0) & (total_right < total)
    intercept, variance = np.full(len(n), np.nan), np.full(len(n), np.nan)
    probability = np.full(n.shape, np.nan)
    if fitted.any():
        b0, t = _maximum(n[fitted].T.copy(), s[fitted].T.copy())
        intercept[fitted], variance[fitted] = b0, t
        probability[fitted] = expit(b0 + _modes(n[fitted].T, s[fitted].T, b0, t)).T
    probability[n == 0] = np.nan
    spread = np.sqrt(variance)
    return MethodEffects(probability, intercept, spread, spread < SINGULAR, fitted)


def _checked(answers: ArrayLike, right: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both tables of counts, refused where they do not fit each other."""
    n, s = np.atleast_2d(np.asarray(answers, float)), np.atleast_2d(np.asarray(right, float))
    if n.shape != s.shape:
        raise VeraxError(
            f"The counts of answers have the shape {n.shape}, those of right answers {s.shape}: "
            "give both for each method."
        )
    wrong = np.argwhere(~((s >= 0) & (s <= n)))
    if len(wrong):
        row, method = wrong[0]
        raise VeraxError(
            f"Row {row + 1}, method {method + 1} has {s[row, method]:g} right of {n[row, method]:g} answers "
            f"({len(wrong)} such in all): right answers must be between 0 and the number of answers."
        )
    return n, s


def _maximum(n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best b0 and t >= 0 of each column.

    With methods of very different sizes the likelihood can have a second, higher hill away from t = 0: whoever ends at
    0 looks for one.
    """
    b0, t, value = _hill(n, s, *_start(n, s))
    flat = np.flatnonzero(t < SINGULAR**2)
    if len(flat):
        other_b, other_t, other = _hill(n[:, flat], s[:, flat], *_second_start(n[:, flat], s[:, flat]))
        higher = other > value[flat] + 1e-9
        b0[flat[higher]], t[flat[higher]] = other_b[higher], other_t[higher]
    return b0, t


def _second_start(n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best of some t, each with the b0 that weights the methods' log-odds by 1 / (t + their variance)."""
    logit = np.log(s + 0.5) - np.log(n - s + 0.5)
    variance = 1 / (s + 0.5) + 1 / (n - s + 0.5)
    best_b, best_t, best = np.zeros(n.shape[1]), np.zeros(n.shape[1]), np.full(n.shape[1], -np.inf)
    for t in np.geomspace(0.003, 3, 10):
        weight = np.where(n > 0, 1 / (t + variance), 0.0)
        b0 = (weight * logit).sum(axis=0) / weight.sum(axis=0)
        value = _point(n, s, b0, np.full_like(b0, t)).value
        higher = value > best
        best_b[higher], best_t[higher], best[higher] = b0[higher], t, value[higher]
    return best_b, best_t


def _start(n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The common log-odds, and the variance by moments: E r² = w + t w²."""
    share = s.sum(axis=0) / n.sum(axis=0)
    r, w = s - n * share, n * share * (1 - share)
    moments = (r**2 - w).sum(axis=0) / (w**2).sum(axis=0)
    return np.asarray(np.log(share) - np.log1p(-share)), np.maximum(moments, 0.01)


def _hill(
    n: FloatArray, s: FloatArray, b0: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The top of the hill that each start stands on, and its height: Newton's steps, halved while they lead down."""
    b0, t, value = b0.copy(), t.copy(), np.empty(len(b0))
    going, point = np.arange(len(b0)), _point(n, s, b0, t)
    for _ in range(STEPS):
        step_b, step_t = _step(point, t[going])
        next_b, next_t, point = _climb(
            n[:, going], s[:, going], b0[going], t[going], step_b, step_t, point.value
        )
        far_b = np.abs(next_b - b0[going]) > CLOSE * (1 + np.abs(next_b))
        still = far_b | (np.abs(next_t - t[going]) > CLOSE * (1 + next_t))
        b0[going], t[going], value[going] = next_b, next_t, point.value
        if not still.any():
            break
        going = going[still]
        point = _Point(*(getattr(point, field.name)[still] for field in fields(point)))
    return b0, t, value


def _step(point: _Point, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Newton's step, or the steepest one (scaled by the curvatures' sizes) where the surface is no hill."""
    fixed = (t <= 0) & (point.slope_t <= 0)
    determinant = point.curve_bb * point.curve_tt - point.curve_bt**2
    hill = (point.curve_bb < 0) & (determinant > 0) & ~fixed
    inverse = 1 / np.where(hill, determinant, 1.0)
    newton_b = (point.curve_bt * point.slope_t - point.curve_tt * point.slope_b) * inverse
    newton_t = (point.curve_bt * point.slope_b - point.curve_bb * point.slope_t) * inverse
    alone_b = point.slope_b / np.maximum(np.abs(point.curve_bb), 1e-12)
    alone_t = np.where(fixed, 0.0, point.slope_t / np.maximum(np.abs(point.curve_tt), 1e-12))
    return np.where(hill, newton_b, alone_b), np.where(hill, newton_t, alone_t)


def _climb(
    n: FloatArray,
    s: FloatArray,
    b0: FloatArray,
    t: FloatArray,
    step_b: FloatArray,
    step_t: FloatArray,
    value: FloatArray,
) -> tuple[FloatArray, FloatArray, _Point]:
    """The end of the step, t not below 0, halved for as long as the likelihood is lower there than it was."""
    rounding = 1e-11 * (1 + np.abs(value))
    # Far steps leave the range in which a quadratic says anything.
    length = np.minimum(1.0, 2.0 / np.maximum(np.maximum(np.abs(step_b), np.abs(step_t) / (1 + t)), 1e-12))
    for _ in range(60):
        next_b, next_t = b0 + length * step_b, np.maximum(t + length * step_t, 0.0)
        point = _point(n, s, next_b, next_t)
        lower = point.value < value - rounding
        if not lower.any():
            break
        length = np.where(lower, length / 2, length)
    return next_b, next_t, point


def _point(n: FloatArray, s: FloatArray, b0: FloatArray, t: FloatArray) -> _Point:
    """The formulas of this module's docstring and their derivatives, by d eta/d b0 = 1/A and d eta/d t = r/A."""
    eta = b0 + _modes(n, s, b0, t)
    p = expit(eta)
    r, w = s - n * p, n * p * (1 - p)
    w1, w2 = w * (1 - 2 * p), w * (1 - 6 * p * (1 - p))  # derivatives of w by eta
    a = 1 + t * w
    a_t = w + t * w1 * r / a
    value = s * eta - n * np.logaddexp(0, eta) - t * r**2 / 2 - np.log(a) / 2
    slope_t = r**2 - w / a - t * w1 * r / a**2
    curve_bb = -w / a - t * w2 / (2 * a**3) + (t * w1) ** 2 / a**4
    curve_bt = -w * r / a - w1 / (2 * a**2) - t * w2 * r / (2 * a**3) + t * w1 * a_t / a**3
    curve_tt = (
        -2 * w * r**2 / a
        - w1 * r / a**2
        + w * a_t / a**2
        - (w1 * r + t * w2 * r**2 / a - t * w1 * w * r / a) / a**2
        + 2 * t * w1 * r * a_t / a**3
    )
    terms = (value, r - t * w1 / (2 * a**2), slope_t / 2, curve_bb, curve_bt, curve_tt / 2)
    return _Point(*(term.sum(axis=0) for term in terms))


def _modes(n: FloatArray, s: FloatArray, b0: FloatArray, t: FloatArray) -> FloatArray:
    """The u_m with u_m = t (s_m - n_m p_m): Newton's steps, and the middle of the bracket where they do not shrink.

    Without the bracket they can go back and forth between two values for ever, where t n_m is large.
    """
    low, high = t * (s - n), t * s
    u, size = np.zeros_like(low), high - low
    for _ in range(200):
        p = expit(b0 + u)
        excess = u - t * (s - n * p)
        low, high = np.where(excess < 0, u, low), np.where(excess > 0, u, high)
        step = -excess / (1 + t * n * p * (1 - p))
        close = np.abs(step) <= 1e-13 * (1 + np.abs(u))
        if close.all():
            break
        inside = (u + step >= low) & (u + step <= high) & (2 * np.abs(step) <= size)
        step = np.where(close | inside, step, (low + high) / 2 - u)
        u, size = u + step, np.abs(step)
    return u
