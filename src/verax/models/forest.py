"""Random forests and single trees grown for bags of words: scikit-learn's rules, several times faster.

The trees follow the rules of scikit-learn's RandomForestClassifier and DecisionTreeClassifier with their defaults and
have the same distribution; with another stream of random numbers, so they are not the same trees for a seed. The
compiled loops are in :mod:`verax.models.forest_kernels` and need numba. scikit-learn's own forest on rows that count
several times is here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_is_fitted

from verax.arrays import FloatArray, IntArray
from verax.errors import VeraxError
from verax.installed import require
from verax.models.base import check_weights
from verax.models.forest_arrays import Nodes, make_bag, make_nodes, make_work

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier

    from verax.models.base import Rows


# Weights and counts are added in 32 bits.
LARGEST_TOTAL = 2**31 - 1


@dataclass(frozen=True, eq=False)
class FlatForest:
    """All nodes of all trees in one set of arrays; a left child always follows its parent.

    A row goes left where ``value <= threshold``. Thresholds are above 0, so that a row that lacks the column goes left.

    Attributes:
        roots: the number of each tree's first node.
        column: what a node asks for; -1 for a leaf.
        threshold: midway between two neighbouring values; 0 for a leaf.
        left: the number of the child; -1 for a leaf.
        right: the number of the other child; -1 for a leaf.
        shares: (nodes, classes); the classes' shares of the training rows in the node, by weight.
    """

    roots: NDArray[np.int32]
    column: NDArray[np.int32]
    threshold: FloatArray
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    shares: FloatArray


class SparseForest(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A random forest, or a single tree, for sparse rows of presences or counts.

    As in scikit-learn: Gini impurity, thresholds midway between neighbouring values, no limit on depth or leaf size;
    at each node columns are drawn until ``max_features`` of them are drawn and one of them varies. A weight says how
    many times a row stands in the training part, and a bootstrap draws as many rows as the weights sum up to.
    It runs in one thread, and the same seed gives the same forest.
    ``SparseForest(1, max_features=None, bootstrap=False)`` is a decision tree.

    Args:
        n_trees: how many trees.
        max_features: how many columns are drawn at a node: ``"sqrt"`` of all, or all (``None``).
        bootstrap: whether each tree gets rows drawn with replacement, or all rows.
        random_state: the seed of all that is random.

    Attributes:
        classes_: the labels, sorted.
        n_features_in_: how many columns the rows have.
        flat_: the trees.
    """

    def __init__(
        self,
        n_trees: int = 100,
        *,
        max_features: str | None = "sqrt",
        bootstrap: bool = True,
        random_state: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grows the trees.

        Args:
            X: rows of numbers that are 0 or more, sparse or dense; few different values per column are fast.
            y: a label per row.
            sample_weight: whole numbers; a row of weight 2 counts as two rows, one of weight 0 is not seen.
        """
        require("SparseForest", "numba", extra="fast")
        self._check_options()
        rows = _check_rows(X)
        labels = np.asarray(y)
        if labels.shape != (rows.shape[0],):
            raise VeraxError(
                f"There are {rows.shape[0]} rows but labels of shape {labels.shape}; give one label per row."
            )
        weights = _check_counts(sample_weight, len(labels))
        seen = np.flatnonzero(weights)
        if not len(seen):
            raise VeraxError("There is no row of weight above 0 to grow a tree on; give at least one.")
        if len(seen) < len(labels):
            rows, labels, weights = rows[seen], labels[seen], weights[seen]
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        self.n_features_in_ = int(rows.shape[1])
        self.flat_ = self._grow(rows, numbers.astype(np.int32), weights)
        return self

    def _check_options(self) -> None:
        if self.n_trees < 1:
            raise VeraxError(f"n_trees={self.n_trees} grows no tree; give 1 or more.")
        if self.max_features not in ("sqrt", None):
            raise VeraxError(f"max_features={self.max_features!r} is not known; use 'sqrt' or None.")

    def _grow(self, rows: Any, labels: NDArray[np.int32], weights: NDArray[np.int64]) -> FlatForest:
        from verax.models import forest_kernels as kernels

        n_rows, n_columns = rows.shape
        n_classes = len(self.classes_)
        bag = make_bag(rows, labels)
        work = make_work(n_rows, n_columns, len(bag.cell_value), n_classes)
        nodes = make_nodes(2 * n_rows, n_classes)
        max_features = n_columns if self.max_features is None else max(1, int(np.sqrt(n_columns)))
        rng = np.random.default_rng(self.random_state)
        # The training part, with each row as often as it counts.
        copies = np.repeat(np.arange(n_rows), weights)
        roots, trees = [0], []
        for _ in range(self.n_trees):
            drawn = weights
            if self.bootstrap:
                drawn = np.bincount(copies[rng.integers(0, len(copies), len(copies))], minlength=n_rows)
            seed = int(rng.integers(2**63))
            n_nodes = kernels.grow(bag, drawn.astype(np.int32), max_features, seed, work, nodes)
            trees.append(_in_walking_order(nodes, n_nodes, roots[-1]))
            roots.append(roots[-1] + n_nodes)
        parts = [np.concatenate(arrays) for arrays in zip(*trees, strict=True)]
        return FlatForest(np.array(roots[:-1], dtype=np.int32), *parts)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, one row per row: the mean over the trees."""
        check_is_fitted(self)
        require("SparseForest", "numba", extra="fast")
        from verax.models import forest_kernels as kernels

        rows = _check_rows(X)
        if rows.shape[1] != self.n_features_in_:
            raise VeraxError(
                f"The rows have {rows.shape[1]} columns but SparseForest was fitted on {self.n_features_in_}; "
                "give rows of the same columns."
            )
        flat = self.flat_
        sums = np.zeros((rows.shape[0], len(self.classes_)))
        kernels.walk(
            rows.indptr.astype(np.int32),
            rows.indices.astype(np.int32),
            rows.data,
            flat.roots,
            flat.column,
            flat.threshold,
            flat.right,
            flat.shares,
            self.n_features_in_,
            sums,
        )
        return sums / len(flat.roots)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        predicted: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted


def _check_rows(X: Any) -> Any:
    """The rows as CSR with sorted columns and no stored zeros."""
    rows = sparse.csr_array(
        check_array(X, accept_sparse=["csr", "csc"], dtype=np.float64, ensure_min_samples=0)
    )
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()  # what the caller gave stays as it is
        rows.sum_duplicates()
        rows.eliminate_zeros()
    if rows.data.min(initial=0.0) < 0.0:
        place = int(np.argmin(rows.data))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise VeraxError(
            f"Row {row} has the negative value {rows.data[place]:g} in column {rows.indices[place]}; "
            "SparseForest takes presences or counts, 0 or more (rows are counted from 0)."
        )
    return rows


def _check_counts(sample_weight: Any, n_rows: int) -> NDArray[np.int64]:
    weights = check_weights(sample_weight, n_rows)
    broken = weights != np.floor(weights)
    if broken.any():
        row = int(np.argmax(broken))
        raise VeraxError(
            f"Row {row} has the weight {weights[row]:g}; a weight of SparseForest says how many times a row "
            "stands in the training part, so give whole numbers (rows are counted from 0)."
        )
    if weights.sum() > LARGEST_TOTAL:
        raise VeraxError(
            f"The weights sum up to {weights.sum():g}; SparseForest counts to {LARGEST_TOTAL}, so give smaller ones."
        )
    return weights.astype(np.int64)


def _in_walking_order(nodes: Nodes, n_nodes: int, first: int) -> tuple[NDArray[Any], ...]:
    """A tree's column, threshold, left, right and shares, numbered from ``first`` on."""
    from verax.models.forest_kernels import number_nodes

    order = np.empty(n_nodes, dtype=np.int32)
    number = np.empty(n_nodes, dtype=np.int32)
    number_nodes(nodes.left, nodes.right, order, number)
    inner = nodes.left[order] >= 0  # a leaf's other entries are left over from the tree before
    right = number[np.where(inner, nodes.right[order], 0)]
    weight = nodes.weight[order]
    return (
        np.where(inner, nodes.column[order], -1).astype(np.int32),
        np.where(inner, nodes.threshold[order], 0.0),
        np.where(inner, np.arange(1, n_nodes + 1) + first, -1).astype(np.int32),
        np.where(inner, right + first, -1).astype(np.int32),
        weight / weight.sum(axis=1, keepdims=True),
    )


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
