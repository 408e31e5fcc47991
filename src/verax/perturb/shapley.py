"""Exact Shapley values where they have a closed form: from all masks, and what a tree's leaf gives to each feature."""

from __future__ import annotations

from functools import lru_cache
from math import factorial

import numpy as np

from verax.arrays import FloatArray
from verax.perturb.leaf_sums import LeafWeights
from verax.perturb.masks import Masks


def shapley_from_all(masks: Masks, values: FloatArray) -> FloatArray:
    """Shapley values of a game from its value on every mask, by the defining formula.

    Args:
        masks: all 2**n masks, in any order.
        values: the game's value on each.
    """
    n = masks.n_features
    sizes = np.bitwise_count(masks.columns().astype(np.uint8)).sum(axis=0)
    joining = np.array([_weight(size - 1, n) if size else 0.0 for size in range(n + 1)])
    leaving = np.array([_weight(size, n) if size < n else 0.0 for size in range(n + 1)])
    gained = values * joining[sizes]
    missed = values * leaving[sizes]
    return masks.dot(gained + missed) - float(missed.sum())


def interactions_from_all(values: FloatArray) -> FloatArray:
    """Halves of the Shapley interactions of each two features of a game, (features, features); 0 on the diagonal.

    Args:
        values: the game's value on every mask; the bits of a place are the features that are present.
    """
    n = int(np.log2(len(values)))
    numbers = np.arange(len(values))
    sizes = np.bitwise_count(numbers)
    weights = np.array([0.5 * _weight(size, n - 1) if size < n - 1 else 0.0 for size in range(n + 1)])
    pairs = np.zeros((n, n))
    for one in range(n):
        for two in range(one):
            both = (1 << one) | (1 << two)
            rest = numbers[numbers & both == 0]
            both_less_each = (
                values[rest | both] - values[rest | (1 << one)] - values[rest | (1 << two)] + values[rest]
            )
            pairs[one, two] = pairs[two, one] = float(weights[sizes[rest]] @ both_less_each)
    return pairs


def _weight(others: int, n: int) -> float:
    """The Shapley weight of a coalition of ``others`` that one more feature joins."""
    return factorial(others) * factorial(n - others - 1) / factorial(n)


def leaf_weights(n_features: int) -> LeafWeights:
    """The Shapley values of a leaf; one table serves inputs of about the same length."""
    return _leaf_weights(max(64, 1 << n_features.bit_length()))


@lru_cache(maxsize=4)
def _leaf_weights(n: int) -> LeafWeights:
    """(k-1)! l! / (k+l)! and k! (l-1)! / (k+l)! for k, l up to n."""
    from scipy.special import gammaln

    k, l = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")  # noqa: E741
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.exp(gammaln(k) + gammaln(l + 1) - gammaln(k + l + 1))
        lost = np.exp(gammaln(k + 1) + gammaln(l) - gammaln(k + l + 1))
    kept[0, :] = 0.0
    lost[:, 0] = 0.0
    return LeafWeights(kept, lost)
