"""scikit-learn's random forest on rows that count several times, without repeating them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import IntArray

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier

    from verax.models.base import Rows


def fit_weighted_forest(rows: Rows, labels: IntArray, weights: IntArray, seed: int) -> RandomForestClassifier:
    """The forest that scikit-learn's defaults grow on the training part in which row i stands ``weights[i]`` times.

    scikit-learn reads ``sample_weight`` as chances of the bootstrap since 1.9 and as factors before, so that the same
    call means two things. Drawing a bootstrap of the repeated rows and counting how often each row was drawn means
    one, and growing a tree on these counts is what scikit-learn itself does.

    Args:
        rows: sparse or dense.
        labels: class numbers.
        weights: whole numbers, 1 or more.
        seed: of the bootstraps and the trees.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    forest = RandomForestClassifier(random_state=seed)
    rng = np.random.default_rng(seed)
    total = int(weights.sum())
    chances = weights / total
    trees = []
    for _ in range(forest.n_estimators):
        counts = rng.multinomial(total, chances)
        drawn = np.flatnonzero(counts)
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(rng.integers(2**31 - 1)))
        trees.append(tree.fit(rows[drawn], labels[drawn], sample_weight=counts[drawn]))
    # A class that a bootstrap happens to miss would shift that tree's columns.
    classes = np.unique(labels)
    if any(len(tree.classes_) < len(classes) for tree in trees):
        places = np.repeat(np.arange(len(labels)), weights)
        return forest.fit(rows[places], labels[places])
    forest.estimators_ = trees
    forest.estimator_ = DecisionTreeClassifier()
    forest.n_features_in_ = rows.shape[1]
    forest.n_outputs_ = 1
    forest.classes_ = classes
    forest.n_classes_ = len(classes)
    return forest
