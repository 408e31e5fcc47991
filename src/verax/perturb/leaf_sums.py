"""Sums over the leaves of trees, each a product of presences and absences: what closed forms are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from verax.arrays import FloatArray
from verax.perturb.paths.bags import Bag
from verax.perturb.paths.ensembles import LEAF, Ensemble, NodeArray

# Closed forms are for inputs of up to this many features: the table of weights is its square.
MAX_TREE_FEATURES = 512


@dataclass(frozen=True, eq=False)
class LeafWeights:
    """What a leaf gives, by how many features must be present (k) and absent (l) for it to be reached.

    Attributes:
        kept: [k, l], to each feature that must be present.
        lost: [k, l], taken from each feature that must be absent.
        totals: [number, k, l], to totals that are no feature's own.
    """

    kept: FloatArray
    lost: FloatArray
    totals: FloatArray = field(default_factory=lambda: np.zeros((0, 1, 1)))

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.kept.nbytes + self.lost.nbytes + self.totals.nbytes


class LeafSums(NamedTuple):
    """What all leaves give.

    Attributes:
        shares: (outputs, features).
        totals: (totals, outputs).
    """

    shares: FloatArray
    totals: FloatArray


def leaf_sums(
    ensemble: Ensemble,
    present: FloatArray,
    absent: FloatArray,
    owner: NodeArray,
    n_features: int,
    weights: LeafWeights,
) -> LeafSums:
    """Adds up what the leaves of all trees give.

    Args:
        ensemble: the trees.
        present: the value of each column while its feature is present.
        absent: the value of each column while its feature is absent (NaN is missing).
        owner: which feature each column belongs to; negative for none.
        n_features: how many features there are.
        weights: what a leaf gives.
    """
    from verax.perturb.paths.kernels import sum_leaf_games

    n_outputs = ensemble.trees.values.shape[1]
    sums = LeafSums(np.zeros((n_outputs, n_features)), np.zeros((len(weights.totals), n_outputs)))
    lacked = np.isnan(absent) if ensemble.absent_is_missing else absent == 0.0
    skipped = np.append((owner < 0) & lacked, False)
    sum_leaf_games(
        *ensemble.trees, present, absent, owner, skipped, weights.kept, weights.lost, weights.totals, *sums
    )
    return sums


@dataclass(frozen=True, eq=False)
class TextTrees:
    """Trees on bags of words, where absent words take their columns away; with scratch space that all texts share."""

    ensemble: Ensemble
    present: FloatArray
    absent: FloatArray
    owner: NodeArray

    @classmethod
    def of(cls, ensemble: Ensemble, n_columns: int) -> TextTrees:
        """The trees of a model with so many columns."""
        absent = np.full(n_columns, ensemble.absent)
        return cls(ensemble, absent.copy(), absent, np.full(n_columns, -1, dtype=np.int32))

    def outputs_of_nothing(self) -> FloatArray:
        """The summed leaves of a text without words, with the base."""
        # It goes from each root to the next leaf: nodes are in walking order.
        trees = self.ensemble.trees
        leaves = np.flatnonzero(trees.left == LEAF)
        reached = leaves[np.searchsorted(leaves, trees.roots)]
        outputs: FloatArray = trees.values[reached].sum(axis=0) + self.ensemble.base
        return outputs

    def takes(self, text: Bag) -> bool:
        """Whether its leaves are products of words: no two words feed one column, and they are not too many."""
        return text.single and len(text.features) <= MAX_TREE_FEATURES

    def leaf_sums(self, text: Bag, weights: LeafWeights) -> LeafSums:
        """What the leaves give to each word of a text that it takes."""
        self.present[text.columns] = text.values.astype(np.float32)
        self.owner[text.columns] = text.words
        try:
            return leaf_sums(
                self.ensemble, self.present, self.absent, self.owner, len(text.features), weights
            )
        finally:
            self.present[text.columns] = self.absent[text.columns]
            self.owner[text.columns] = -1
