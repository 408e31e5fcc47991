"""The logistic mixed model with crossed participants and items, by Laplace's approximation.

logit P(right) = X b + Z L u with standard normal u; one standard deviation per term (a grouping with a covariate: 1 for
an intercept, 0 or 1 for "after"). The integral over u is approximated at its mode, which Newton finds with one Cholesky
decomposition a step; coefficients and standard deviations maximise it together (lme4's default), with exact gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.mixed.linear import Term, jacobian, random_effects
from verax.stats.responses import zero_or_one

# A standard deviation below this is 0: the data show no such differences (a singular fit).
SINGULAR = 1e-3


@dataclass(frozen=True, eq=False)
class LogisticMixed:
    """A fitted model.

    Attributes:
        coefficients: The fixed effects, on the log-odds scale.
        sds: Standard deviation of each term.
        covariance: Covariance of coefficients and sds together, from the curvature of the likelihood; rows and columns
            of an sd that is 0 are 0.
        log_likelihood: Laplace's approximation at the maximum.
        converged: Whether the gradient vanishes there.
        rows: Number of answers.
    """

    coefficients: FloatArray
    sds: FloatArray
    covariance: FloatArray
    log_likelihood: float
    converged: bool
    rows: int


def fit_logistic(correct: ArrayLike, design: ArrayLike, terms: Sequence[Term]) -> LogisticMixed:
    """Fits by maximum likelihood.

    Args:
        correct: 1 or 0 per row.
        design: (rows, coefficients): the fixed effects.
        terms: The random effects.
    """
    problem = _problem(correct, design, terms)
    n_coefficients = problem.x.shape[1]
    mode = _Mode(np.zeros(problem.z.shape[1]))
    point, value = _maximise(problem, np.append(_plain(problem), np.full(len(terms), 0.5)), mode)
    for _ in range(len(terms)):
        # At 0 the likelihood is flat in a standard deviation, so that a long step may strand there: start beside it.
        lifted = np.where((np.arange(len(point)) >= n_coefficients) & (point < SINGULAR), 0.1, point)
        again, better = _maximise(problem, lifted, mode)
        if better <= value + 1e-7:
            break
        point, value = again, better
    sds = point[n_coefficients:]
    sds[sds < SINGULAR] = 0.0
    value, slope = _laplace(problem, point, mode)
    free = np.concatenate([np.ones(n_coefficients, dtype=bool), sds > 0])
    return LogisticMixed(
        coefficients=point[:n_coefficients],
        sds=sds,
        covariance=_covariance(problem, point, free, mode),
        log_likelihood=value,
        converged=bool(np.abs(slope[free]).max() < 1e-2),
        rows=len(problem.y),
    )


@dataclass(frozen=True, eq=False)
class _Problem:
    """The data.

    Attributes:
        y: Right answers.
        x: Fixed effects.
        z: Random effects, sparse.
        zt: The same, transposed.
        row: Row of each number that ``z`` stores.
        sizes: Columns of each term.
    """

    y: FloatArray
    x: FloatArray
    z: csr_array
    zt: csr_array
    row: IndexArray
    sizes: tuple[int, ...]

    def weighted(self, weight: FloatArray) -> FloatArray:
        """Z' W Z."""
        part = csr_array((self.z.data * weight[self.row], self.z.indices, self.z.indptr), shape=self.z.shape)
        return np.asarray((self.zt @ part).toarray(), dtype=np.float64)


@dataclass(eq=False)
class _Mode:
    """Where the last search for the mode ended: the next one starts there."""

    u: FloatArray


def _problem(correct: ArrayLike, design: ArrayLike, terms: Sequence[Term]) -> _Problem:
    """Checks and lays out the data."""
    y, x = zero_or_one("correct", correct), np.asarray(design, dtype=np.float64)
    lengths = {
        len(y),
        len(x),
        *(len(np.asarray(part)) for term in terms for part in (term.group, term.covariate)),
    }
    if len(lengths) > 1 or np.isnan(y).any() or not terms:
        raise VeraxError(
            "Answers, design and terms differ in length, or an answer is missing: give one of each per row."
        )
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise VeraxError(f"Some of the {x.shape[1]} fixed effects are sums of others: take them out.")
    z, sizes = random_effects(terms)
    row = np.repeat(np.arange(len(y)), np.diff(z.indptr))
    return _Problem(y, x, z, z.T.tocsr(), row, sizes)


def _plain(problem: _Problem) -> FloatArray:
    """Coefficients of the logistic regression without random effects, by Newton with a slight ridge."""
    b = np.zeros(problem.x.shape[1])
    for _ in range(25):
        share = expit(problem.x @ b)
        weight = share * (1 - share)
        hessian = (problem.x * weight[:, None]).T @ problem.x + 1e-6 * np.eye(len(b))
        b = b + np.linalg.solve(hessian, problem.x.T @ (problem.y - share) - 1e-6 * b)
    return b


def _maximise(problem: _Problem, start: FloatArray, mode: _Mode) -> tuple[FloatArray, float]:
    """Coefficients and standard deviations (not below 0) with the largest likelihood that are found from a start."""

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        value, slope = _laplace(problem, point, mode)
        return -value, -slope

    bounds = [(None, None)] * problem.x.shape[1] + [(0.0, None)] * len(problem.sizes)
    limits = {"ftol": 1e-13, "gtol": 1e-6, "maxiter": 500}
    best = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=limits)
    return np.array(best.x), -float(best.fun)


def _laplace(problem: _Problem, point: FloatArray, mode: _Mode) -> tuple[float, FloatArray]:
    """Laplace's log-likelihood, l(u) - u'u / 2 - log|H| / 2 at the mode u, and its gradient.

    The mode moves with the parameters: du = H^-1 (dL' Z' (y - p) - L Z' W d(eta)), which moves the weights in H.
    """
    b, sds = point[: problem.x.shape[1]], point[problem.x.shape[1] :]
    scale = np.repeat(sds, problem.sizes)
    offset = problem.x @ b
    u = _find_mode(problem, scale, offset, mode)
    eta = offset + problem.z @ (scale * u)
    share = expit(eta)
    weight, miss = share * (1 - share), problem.y - share
    factor = _hessian(problem, scale, weight)
    value = _fit(problem.y, eta) - float(u @ u) / 2 - float(np.log(np.diag(factor[0])).sum())

    inverse = cho_solve(factor, np.eye(len(u)))
    spread = problem.z @ (scale[:, None] * inverse)
    stored = spread[problem.row, problem.z.indices] * problem.z.data
    leverage = np.bincount(problem.row, stored * scale[problem.z.indices], len(eta))
    bend = leverage * weight * (1 - 2 * share) / 2  # d(log|H| / 2) / d(eta)
    back = inverse @ (scale * (problem.zt @ bend))  # what a push on the mode does to log|H| / 2
    along_eta = miss - bend + weight * (problem.z @ (scale * back))
    by_hessian = np.bincount(problem.z.indices, stored * weight[problem.row], len(u))
    by_scale = u * (problem.zt @ along_eta) - by_hessian - back * (problem.zt @ miss)
    by_sd = np.add.reduceat(by_scale, np.cumsum([0, *problem.sizes[:-1]]))
    return value, np.concatenate([problem.x.T @ along_eta, by_sd])


def _find_mode(problem: _Problem, scale: FloatArray, offset: FloatArray, mode: _Mode) -> FloatArray:
    """The u that maximises l(u) - u'u / 2, by Newton with halved steps."""

    def penalised(u: FloatArray) -> float:
        return _fit(problem.y, offset + problem.z @ (scale * u)) - float(u @ u) / 2

    u, value = mode.u, penalised(mode.u)
    for _ in range(100):
        share = expit(offset + problem.z @ (scale * u))
        slope = scale * (problem.zt @ (problem.y - share)) - u
        step = cho_solve(_hessian(problem, scale, share * (1 - share)), slope)
        if slope @ step < 1e-18 * (1 + abs(value)):
            break
        while penalised(u + step) < value - 1e-12 * abs(value):
            step = step / 2
        u = u + step
        value = penalised(u)
    mode.u = u
    return u


def _hessian(problem: _Problem, scale: FloatArray, weight: FloatArray) -> tuple[FloatArray, bool]:
    """L Z' W Z L + 1, decomposed."""
    matrix = problem.weighted(weight) * scale * scale[:, None]
    matrix[np.diag_indices_from(matrix)] += 1.0
    factor: tuple[FloatArray, bool] = cho_factor(matrix)
    return factor


def _fit(y: FloatArray, eta: FloatArray) -> float:
    """Log-likelihood of the answers given their log-odds."""
    return float((y * eta - np.logaddexp(0.0, eta)).sum())


def _covariance(problem: _Problem, point: FloatArray, free: NDArray[np.bool_], mode: _Mode) -> FloatArray:
    """Inverse of the curvature in the free parameters; 0 for the others.

    Where the standard deviations are too uncertain for that, they are taken as known.
    """
    for varied in (free, np.arange(len(point)) < problem.x.shape[1]):
        values, vectors = np.linalg.eigh(_curvature(problem, point, varied, mode))
        if values.min() > 0:
            covariance = np.zeros((len(point), len(point)))
            covariance[np.ix_(varied, varied)] = (vectors / values) @ vectors.T
            return covariance
    raise VeraxError(
        "The likelihood of the logistic mixed model has no clear maximum: the study is too small for it."
    )


def _curvature(problem: _Problem, point: FloatArray, varied: NDArray[np.bool_], mode: _Mode) -> FloatArray:
    """Second derivatives of -log likelihood in some parameters."""

    def slope(part: FloatArray) -> FloatArray:
        at = point.copy()
        at[varied] = part
        return np.asarray(_laplace(problem, at, mode)[1][varied], dtype=np.float64)

    bend = -jacobian(slope, point[varied], np.full(int(varied.sum()), 1e-4))
    return np.asarray((bend + bend.T) / 2, dtype=np.float64)
