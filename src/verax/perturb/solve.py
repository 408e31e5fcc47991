"""Weighted ridge regression on masks, from sums of squares that many inputs share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.perturb.masks import Masks

# The sums of squares of more features than this would not fit the memory that one call may take.
MAX_FEATURES = 2_500
# Less weighted variance of the answers than this is rounding.
NO_SPREAD = 1e-22


@dataclass(frozen=True, eq=False)
class Normal:
    """Centred, weighted sums of squares of a design: all of a regression that does not depend on the answers.

    Attributes:
        gram: ``sum_i w_i (z_i - mean)(z_i - mean)'``.
        mean: the weighted mean of each feature.
        total: the sum of the weights.
    """

    gram: FloatArray
    mean: FloatArray
    total: float

    @property
    def nbytes(self) -> int:
        """Memory held, with the two factors that may be added."""
        return 3 * self.gram.nbytes + self.mean.nbytes

    @cached_property
    def factor(self) -> FloatArray:
        """Cholesky factor for LIME's penalty of 1."""
        return _factor(self.gram, 1.0)

    @cached_property
    def selection_factor(self) -> FloatArray:
        """Cholesky factor for the penalty of 0.01 that LIME chooses features with."""
        return _factor(self.gram, 0.01)


class Moments(NamedTuple):
    """All of a regression that depends on the answers.

    Attributes:
        covariance: of each feature with the answers, weighted.
        mean: the answers' weighted mean.
        spread: their weighted spread around it.
    """

    covariance: FloatArray
    mean: float
    spread: float


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted local linear model; features that were not selected have a coefficient of 0."""

    coefficients: FloatArray
    intercept: float
    r2: float


def normal_of_masks(masks: Masks, weights: FloatArray) -> Normal:
    """The sums of squares of masks under weights."""
    if masks.n_features > MAX_FEATURES:
        raise VeraxError(
            f"An input has {masks.n_features:,} features, more than a local regression can be fitted to "
            f"({MAX_FEATURES:,}); shorten the input or use the explainer 'greedy'."
        )
    total = float(weights.sum())
    mean = masks.dot(weights) / total
    gram = np.zeros((masks.n_features, masks.n_features))
    first = 0
    for block in masks.blocks():
        centred = block.dense() - mean[:, None]
        centred *= np.sqrt(weights[first : first + block.n_rows])
        gram += centred @ centred.T
        first += block.n_rows
    return Normal(gram, mean, total)


def normal_of_columns(columns: FloatArray, weights: FloatArray) -> Normal:
    """The sums of squares of a (features, rows) array under weights."""
    total = float(weights.sum())
    mean = columns @ weights / total
    centred = columns - mean[:, None]
    centred *= np.sqrt(weights)
    return Normal(centred @ centred.T, mean, total)


def moments(normal: Normal, design: Masks | FloatArray, weights: FloatArray, answers: FloatArray) -> Moments:
    """What the answers add to a regression.

    Args:
        normal: the sums of squares of the same design.
        design: masks, or a (features, rows) array.
        weights: one per row.
        answers: one per row.
    """
    mean = float(weights @ answers) / normal.total
    centred = answers - mean
    weighted = weights * centred
    return Moments(design.dot(weighted), mean, float(weighted @ centred))


def ridge(normal: Normal, moments: Moments) -> Fit:
    """Ridge regression with penalty 1 and an intercept, on all features."""
    return _fit(normal, solve_factored(normal.factor, moments.covariance), moments)


def ridge_on(normal: Normal, chosen: IndexArray, moments: Moments) -> Fit:
    """Ridge regression with penalty 1 and an intercept, on the chosen features only."""
    gram = normal.gram[np.ix_(chosen, chosen)]
    coefficients = np.zeros(len(normal.gram))
    coefficients[chosen] = solve_factored(_factor(gram, 1.0), moments.covariance[chosen])
    return _fit(normal, coefficients, moments)


def highest_weights(normal: Normal, covariance: FloatArray, count: int) -> IndexArray:
    """The features with the largest coefficients of a ridge regression with penalty 0.01, as in LIME."""
    coefficients = solve_factored(normal.selection_factor, covariance)
    return np.argsort(-np.abs(coefficients), kind="stable")[:count]


def forward_selection(normal: Normal, covariance: FloatArray, count: int) -> IndexArray:
    """The features that raise R2 most, one after the other, as in LIME.

    Pivoted Gram-Schmidt on the sums of squares: after each choice, what is left of every feature is what the
    chosen ones do not explain, so that the gain of each candidate is one division.
    """
    left = np.diag(normal.gram).copy()
    explains = covariance.copy()
    floor = 1e-10 * max(float(left.max(initial=0.0)), 1e-300)
    basis = np.zeros((0, len(left)))
    chosen: list[int] = []
    for _ in range(min(count, len(left))):
        usable = left > floor
        usable[chosen] = False
        gains = np.where(usable, explains**2 / np.where(usable, left, 1.0), -1.0)
        gains[chosen] = -2.0
        best = int(np.argmax(gains))
        chosen.append(best)
        if not usable[best]:  # constant, or explained by the chosen ones: it adds nothing
            continue
        row = (normal.gram[best] - basis.T @ basis[:, best]) / np.sqrt(left[best])
        explains = explains - row * (explains[best] / row[best])
        left = left - row**2
        basis = np.vstack([basis, row])
    return np.array(chosen, dtype=np.intp)


def lasso_path(normal: Normal, covariance: FloatArray, count: int) -> IndexArray:
    """The features on the lasso path at its last step with at most ``count`` of them, as in LIME."""
    from sklearn.linear_model import lars_path_gram

    _, _, coefficients = lars_path_gram(
        covariance.copy(), normal.gram.copy(), n_samples=max(1, len(normal.gram)), method="lasso"
    )
    nonzero: IndexArray = np.arange(len(normal.gram))
    for step in range(coefficients.shape[1] - 1, 0, -1):
        nonzero = coefficients[:, step].nonzero()[0]
        if len(nonzero) <= count:
            break
    return nonzero


def factored(matrix: FloatArray) -> FloatArray | None:
    """The Cholesky factor of a symmetric matrix, or None if it is not positive definite.

    LAPACK is called directly: for the twenty words of a sentence scipy's own wrappers take longer than the work.
    """
    if len(matrix) == 0:
        return matrix
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
    return None if failed else factor


def solve_factored(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Solves for one or several right-hand sides with the factor that :func:`factored` made."""
    if len(factor) == 0:
        return right.copy()
    solution: FloatArray = lapack.dpotrs(factor, right, lower=1)[0]
    return solution.reshape(right.shape)


def _factor(gram: FloatArray, penalty: float) -> FloatArray:
    penalised = gram.copy()
    penalised[np.diag_indices_from(penalised)] += penalty
    factor = factored(penalised)
    if factor is None:  # a penalty above 0 makes it positive definite, whatever the masks
        raise ArithmeticError("the penalised sums of squares are not positive definite")
    return factor


def _fit(normal: Normal, coefficients: FloatArray, moments: Moments) -> Fit:
    covariance, mean, spread = moments
    # Residual sum of squares = spread - 2 c'b + c'Gc; lime's score is 1 - residual / spread.
    explained = float(coefficients @ normal.gram @ coefficients)
    residual = spread - 2.0 * float(coefficients @ covariance) + explained
    # Answers that are all the same but for rounding are fitted perfectly by the intercept.
    r2 = 1.0 - residual / spread if spread > NO_SPREAD else 1.0
    return Fit(coefficients, mean - float(normal.mean @ coefficients), r2)
