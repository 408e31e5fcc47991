"""LIME's regression with infinitely many samples, where it has a closed form.

LIME keeps a uniformly drawn number of words, all equally likely to be kept, and its kernel depends on that number
alone. So the expectation of the weight over all variants that have k given words and lack l others is one number,
``joint[k, l]``. Whoever must have one word more, or lack one more, splits it: ``joint[k, l] = joint[k + 1, l] +
joint[k, l + 1]``. A leaf of a tree is just such a set of variants, and the regression needs nothing else of a forest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from verax.arrays import FloatArray
from verax.perturb import solve
from verax.perturb.leaf_sums import LeafSums, LeafWeights
from verax.perturb.masks import Masks, all_masks

# So many samples, and the input itself, are infinitely many: the penalty of 1 and the input no longer count, but a text
# of one word, all of whose samples are alike, is still told from its absence.
SAMPLES = 1e12
# The totals that a leaf adds to: E[w f], E[w x f] of a word it does not ask for, and f of the input itself.
MEAN, ELSEWHERE, WHOLE = range(3)


@dataclass(frozen=True, eq=False)
class LimeLimit:
    """The regression's sums of squares for a number of words, and what a leaf adds to its covariances."""

    normal: solve.Normal
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


def _normal(joint: FloatArray) -> solve.Normal:
    n = len(joint) - 1
    total = 1.0 + SAMPLES * float(joint[0, 0])
    if n == 0:
        return solve.Normal(np.zeros((0, 0)), np.zeros(0), total)
    one = 1.0 + SAMPLES * float(joint[1, 0])
    both = 1.0 + SAMPLES * float(joint[2, 0] if n > 1 else 0.0)
    gram = np.full((n, n), both - one * one / total)
    np.fill_diagonal(gram, one - one * one / total)
    return solve.Normal(gram, np.full(n, one / total), total)


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
