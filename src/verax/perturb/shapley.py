"""Exact Shapley values where they have a closed form: all masks, linear models, and trees."""

from __future__ import annotations

from functools import lru_cache
from math import factorial

import numpy as np

from verax.arrays import FloatArray
from verax.perturb.masks import Masks
from verax.perturb.paths.ensembles import Ensemble, NodeArray

# Exact values from trees are for inputs of up to this many features: the table of weights is its square.
MAX_TREE_FEATURES = 512


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


def _weight(others: int, n: int) -> float:
    """The Shapley weight of a coalition of ``others`` that one more feature joins."""
    return factorial(others) * factorial(n - others - 1) / factorial(n)


def shapley_of_trees(
    ensemble: Ensemble, present: FloatArray, absent: FloatArray, owner: NodeArray, n_features: int
) -> FloatArray:
    """Exact Shapley values (outputs, features) of the trees' summed leaves.

    Args:
        ensemble: the trees.
        present: the value of each column while its feature is present.
        absent: the value of each column while its feature is absent (NaN is missing).
        owner: which feature each column belongs to; negative for none.
        n_features: how many features there are.
    """
    from verax.perturb.paths.kernels import shapley_of_leaves

    kept, lost = _leaf_weights(max(64, 1 << n_features.bit_length()))
    shapley = np.zeros((ensemble.trees.values.shape[1], n_features))
    lacked = np.isnan(absent) if ensemble.absent_is_missing else absent == 0.0
    skipped = np.append((owner < 0) & lacked, False)
    shapley_of_leaves(*ensemble.trees, present, absent, owner, skipped, kept, lost, shapley)
    return shapley


@lru_cache(maxsize=4)
def _leaf_weights(n: int) -> tuple[FloatArray, FloatArray]:
    """(k-1)! l! / (k+l)! and k! (l-1)! / (k+l)! for k, l up to n."""
    from scipy.special import gammaln

    k, l = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")  # noqa: E741
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.exp(gammaln(k) + gammaln(l + 1) - gammaln(k + l + 1))
        lost = np.exp(gammaln(k + 1) + gammaln(l) - gammaln(k + l + 1))
    kept[0, :] = 0.0
    lost[:, 0] = 0.0
    return kept, lost
