"""Weighted ridge regression on masks, from sums of squares that many inputs share; and LIME's limit.

With infinitely many samples LIME's regression has a closed form. LIME keeps a uniformly drawn number of words, all
equally likely to be kept, and its kernel depends on that number alone. So the expectation of the weight over all
variants that have k given words and lack l others is one number, ``joint[k, l]``. Whoever must have one word more, or
lack one more, splits it: ``joint[k, l] = joint[k + 1, l] + joint[k, l + 1]``. A leaf of a tree is just such a set of
variants, and the regression needs nothing else of a forest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.special import gammaln

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.perturb.leaf_sums import LeafSums, LeafWeights
from verax.perturb.masks import Masks, all_masks

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


# So many samples, and the input itself, are infinitely many: the penalty of 1 and the input no longer count, but a text
# of one word, all of whose samples are alike, is still told from its absence.
SAMPLES = 1e12
# The totals that a leaf adds to: E[w f], E[w x f] of a word it does not ask for, and f of the input itself.
MEAN, ELSEWHERE, WHOLE = range(3)


@dataclass(frozen=True, eq=False)
class LimeLimit:
    """The regression's sums of squares for a number of words, and what a leaf adds to its covariances."""

    normal: Normal
    weights: LeafWeights

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.normal.nbytes + self.weights.nbytes


def lime_limit(kernel: FloatArray) -> LimeLimit:
    """The limit for texts of so many words.

    Args:
        kernel: the weight of a variant by the number of words it keeps, from none to all but one: all are kept by
            the input alone.
    """
    n = len(kernel)
    joint = joint_weights(kernel)
    kept = np.zeros((n + 1, n + 1))
    lost = np.zeros((n + 1, n + 1))
    kept[:, :n] = joint[:, 1:]
    lost[:n] = joint[1:]
    exactly = np.arange(n + 1)
    kept[exactly, n - exactly] = joint[exactly, n - exactly]  # no word is left to split by
    whole = np.zeros_like(joint)
    whole[:, 0] = 1.0
    return LimeLimit(_normal(joint), LeafWeights(kept, lost, np.stack([joint, lost, whole])))


def joint_weights(kernel: FloatArray) -> FloatArray:
    """``joint[k, l]``: the expected weight of variants that have k given words and lack l others; 0 where k + l > n."""
    n = len(kernel)
    joint = np.zeros((n + 1, n + 1))
    k = np.arange(n)
    joint[k, n - k] = variant_weights(kernel)
    for together in range(n - 1, -1, -1):
        k = np.arange(together + 1)
        joint[k, together - k] = joint[k + 1, together - k] + joint[k, together - k + 1]
    return joint


def variant_weights(kernel: FloatArray) -> FloatArray:
    """The expected weight of one variant that keeps so many words: its chance times its kernel."""
    n = len(kernel)
    kept = np.arange(n)
    # The number kept is uniform, and so is the choice of the words: 1 / n / (n over kept).
    chances = np.exp(gammaln(kept + 1) + gammaln(n - kept + 1) - gammaln(n + 1)) / max(1, n)
    weights: FloatArray = chances * kernel
    return weights


def _normal(joint: FloatArray) -> Normal:
    n = len(joint) - 1
    total = 1.0 + SAMPLES * float(joint[0, 0])
    if n == 0:
        return Normal(np.zeros((0, 0)), np.zeros(0), total)
    one = 1.0 + SAMPLES * float(joint[1, 0])
    both = 1.0 + SAMPLES * float(joint[2, 0] if n > 1 else 0.0)
    gram = np.full((n, n), both - one * one / total)
    np.fill_diagonal(gram, one - one * one / total)
    return Normal(gram, np.full(n, one / total), total)


def limit_moments(limit: LimeLimit, sums: LeafSums, output: int) -> tuple[FloatArray, float]:
    """The covariance of each word with an output, and the output's mean."""
    normal, totals = limit.normal, sums.totals[:, output]
    mean = (totals[WHOLE] + SAMPLES * totals[MEAN]) / normal.total
    with_word = totals[WHOLE] + SAMPLES * (totals[ELSEWHERE] + sums.shares[output])
    return with_word - mean * normal.total * normal.mean, float(mean)


def every_variant(kernel: FloatArray) -> tuple[Masks, FloatArray]:
    """All variants of a text with their weights after infinitely many samples; the last one is the text itself."""
    masks = all_masks(len(kernel))
    sizes = masks.columns().sum(axis=0)
    weights = np.append(SAMPLES * variant_weights(kernel), 1.0)[sizes]
    return masks, weights
