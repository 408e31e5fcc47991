"""Reading scikit-learn's trees, forests and boosted trees, and which reader a library's model has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray
from verax.perturb.paths.ensembles import (
    LEAF,
    CategorySets,
    Ensemble,
    Trees,
    by_output,
    children_of,
    in_walking_order,
    roots_of,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# What boosted trees of scikit-learn make of their sums, by the loss that they were fitted with.
LINKS = {
    "HalfBinomialLoss": "logistic",
    "ExponentialLoss": "logistic",
    "HalfMultinomialLoss": "softmax",
    "HalfSquaredError": "number",
    "AbsoluteError": "number",
    "PinballLoss": "number",
    "HuberLoss": "number",
    "HalfPoissonLoss": "exp",
    "HalfGammaLoss": "exp",
}


def flatten(estimator: BaseEstimator) -> Ensemble | None:
    """The arrays of scikit-learn's, xgboost's, LightGBM's and CatBoost's models of trees; None for anything else."""
    reader = reader_of(estimator)
    ensemble = None if reader is None else reader(estimator)
    return None if ensemble is None else in_walking_order(ensemble)


def reader_of(estimator: BaseEstimator) -> Callable[[BaseEstimator], Ensemble | None] | None:
    """What reads the trees of such an estimator; None if it is not known to be made of trees."""
    module, name = type(estimator).__module__, type(estimator).__name__
    library = module.split(".", 1)[0]
    if library == "sklearn":
        return SKLEARN.get(name)
    if module == "verax.models.forest":
        return _from_sparse_forest
    if library not in ("lightgbm", "xgboost", "catboost"):
        return None
    from verax.perturb.paths import boosted_readers

    return boosted_readers.READERS.get(name)


def _from_trees(estimators: Sequence[BaseEstimator]) -> Ensemble | None:
    """Trees whose class shares, or numbers, are averaged, as forests do."""
    if estimators[0].n_outputs_ != 1:
        return None
    parts = [estimator.tree_ for estimator in estimators]
    leaves = np.concatenate([part.value[:, 0, :] for part in parts])
    if hasattr(estimators[0], "classes_"):
        leaves = leaves / leaves.sum(axis=1, keepdims=True)
        return _averaging(_nodes(parts, leaves), "identity", _cover(parts))
    return _averaging(_nodes(parts, leaves), "number", _cover(parts))


def _nodes(parts: Sequence[Any], values: FloatArray) -> Trees:
    """The nodes of scikit-learn's trees, one after the other."""
    return Trees(
        roots=roots_of([part.node_count for part in parts]),
        column=np.maximum(np.concatenate([part.feature for part in parts]), LEAF).astype(np.int32),
        threshold=np.concatenate([part.threshold for part in parts]),
        left=children_of([part.children_left for part in parts]),
        right=children_of([part.children_right for part in parts]),
        missing_left=np.concatenate([part.missing_go_to_left for part in parts]).astype(np.bool_),
        values=values,
    )


def _cover(parts: Sequence[Any]) -> FloatArray:
    cover: FloatArray = np.concatenate([part.weighted_n_node_samples for part in parts]).astype(np.float64)
    return cover


def _averaging(trees: Trees, link: str, cover: FloatArray | None) -> Ensemble:
    shares = trees.values / len(trees.roots)
    if link == "identity" and shares.shape[1] == 2:  # of two classes one is enough: the other is the rest
        shares = shares[:, 1:]
    trees = trees._replace(values=np.ascontiguousarray(shares))
    return Ensemble(trees, np.zeros(shares.shape[1]), link, absent_is_missing=False, cover=cover)


def _from_sparse_forest(forest: BaseEstimator) -> Ensemble:
    flat = forest.flat_
    everywhere = np.ones(len(flat.left), dtype=np.bool_)
    trees = Trees(flat.roots, flat.column, flat.threshold, flat.left, flat.right, everywhere, flat.shares)
    return replace(_averaging(trees, "identity", None), single=False)


def _from_adaboost(classifier: BaseEstimator) -> Ensemble | None:
    """Each tree votes for the class of its leaf (SAMME)."""
    if any(type(estimator).__name__ not in ONE_TREE for estimator in classifier.estimators_):
        return None
    parts = [estimator.tree_ for estimator in classifier.estimators_]
    n_classes = classifier.n_classes_
    if n_classes < 2:
        return None
    votes = []
    for estimator, weight in zip(classifier.estimators_, classifier.estimator_weights_, strict=False):
        winners = estimator.classes_.take(np.argmax(estimator.tree_.value[:, 0, :], axis=1))
        vote = np.where(winners[:, None] == classifier.classes_, 1.0, -1.0 / (n_classes - 1))
        votes.append(weight * vote)
    values = np.concatenate(votes) / classifier.estimator_weights_.sum()
    # Of two classes, twice half of the difference are the log-odds.
    values = (values[:, 1] - values[:, 0])[:, None] if n_classes == 2 else values / (n_classes - 1)
    trees = _nodes(parts, np.ascontiguousarray(values))
    link = "logistic" if n_classes == 2 else "softmax"
    return Ensemble(trees, np.zeros(values.shape[1]), link, absent_is_missing=False, cover=_cover(parts))


def _from_gradient_boosting(boosted: BaseEstimator) -> Ensemble | None:
    start = boosted.init_
    if not (isinstance(start, str) or type(start).__name__ in ("DummyClassifier", "DummyRegressor")):
        return None  # what the trees start from depends on the row
    link = LINKS.get(type(boosted._loss).__name__)
    if link is None:
        return None
    parts = [estimator.tree_ for estimator in boosted.estimators_.ravel()]
    n_outputs = boosted.estimators_.shape[1]
    # With the exponential loss the log-odds are twice the sum.
    scale = 2.0 if type(boosted._loss).__name__ == "ExponentialLoss" else 1.0
    sizes = [part.node_count for part in parts]
    leaves = np.concatenate([part.value[:, 0, 0] for part in parts]) * boosted.learning_rate
    trees = _nodes(parts, leaves)
    values = by_output(scale * leaves, trees.left, np.arange(len(parts)) % n_outputs, sizes, n_outputs)
    base = np.asarray(boosted._raw_predict_init(np.zeros((1, boosted.n_features_in_))))[0]
    return Ensemble(
        trees._replace(values=values), scale * base, link, absent_is_missing=False, cover=_cover(parts)
    )


def _from_isolation(forest: BaseEstimator) -> Ensemble | None:
    """Trees that say after how many splits a row is alone, as a share of what is usual."""
    lengths = getattr(forest, "_decision_path_lengths", None)
    beyond = getattr(forest, "_average_path_length_per_tree", None)
    if lengths is None or beyond is None:
        return None
    parts = [estimator.tree_ for estimator in forest.estimators_]
    rows = float(forest._max_samples)
    usual = 2.0 * (np.log(rows - 1.0) + np.euler_gamma - (rows - 1.0) / rows) if rows > 2 else rows - 1.0
    if usual <= 0:
        return None
    values = (np.concatenate(lengths) + np.concatenate(beyond) - 1.0)[:, None] / usual
    trees = _nodes(parts, values / len(parts))
    columns = [
        np.where(part.feature < 0, LEAF, np.asarray(chosen)[part.feature])
        for part, chosen in zip(parts, forest.estimators_features_, strict=True)
    ]
    trees = trees._replace(column=np.concatenate(columns).astype(np.int32))
    return Ensemble(trees, np.zeros(1), "isolation", absent_is_missing=False, cover=_cover(parts))


def _from_histograms(boosted: BaseEstimator) -> Ensemble | None:
    link = LINKS.get(type(boosted._loss).__name__)
    if link is None:
        return None
    predictors = [predictor for iteration in boosted._predictors for predictor in iteration]
    n_outputs = boosted.n_trees_per_iteration_
    sizes = [len(predictor.nodes) for predictor in predictors]
    nodes = np.concatenate([predictor.nodes for predictor in predictors])
    is_leaf = nodes["is_leaf"].astype(np.bool_)
    offsets = np.repeat(roots_of(sizes), sizes)
    left = np.where(is_leaf, LEAF, nodes["left"] + offsets).astype(np.int32)
    column = np.where(is_leaf, LEAF, nodes["feature_idx"]).astype(np.int32)
    threshold = nodes["num_threshold"].astype(np.float64)
    sets = None
    by_category = np.flatnonzero(nodes["is_categorical"].astype(np.bool_) & ~is_leaf)
    if len(by_category):
        known, place = boosted._bin_mapper.make_known_categories_bitsets()
        bits = np.concatenate([predictor.raw_left_cat_bitsets for predictor in predictors])
        first = np.repeat(roots_of([len(predictor.raw_left_cat_bitsets) for predictor in predictors]), sizes)
        goes_left = _unpacked(bits[nodes["bitset_idx"][by_category] + first[by_category]])
        is_known = _unpacked(known)[place[column[by_category]]]
        side = np.where(goes_left, 0.0, np.where(is_known, 1.0, np.nan))
        sets = CategorySets(column[by_category], side)
        column[by_category] = boosted._bin_mapper.n_bins_non_missing_.size + np.arange(len(by_category))
        threshold[by_category] = 0.5
    trees = Trees(
        roots=roots_of(sizes),
        column=column,
        threshold=threshold,
        left=left,
        right=np.where(is_leaf, LEAF, nodes["right"] + offsets).astype(np.int32),
        missing_left=nodes["missing_go_to_left"].astype(np.bool_),
        values=by_output(nodes["value"], left, np.arange(len(predictors)) % n_outputs, sizes, n_outputs),
    )
    base = np.asarray(boosted._baseline_prediction, dtype=np.float64).reshape(-1)
    cover = nodes["count"].astype(np.float64)
    return Ensemble(trees, base, link, absent_is_missing=False, single=False, sets=sets, cover=cover)


def _unpacked(bitsets: NDArray[np.uint32]) -> BoolArray:
    """Sets of categories, 32 a number, as (sets, categories)."""
    numbers = np.ascontiguousarray(bitsets, dtype="<u4")
    return np.unpackbits(numbers.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)


def _from_one_tree(estimator: BaseEstimator) -> Ensemble | None:
    return _from_trees([estimator])


def _from_forest(estimator: BaseEstimator) -> Ensemble | None:
    return _from_trees(list(estimator.estimators_))


ONE_TREE = ("DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor")
SKLEARN: dict[str, Callable[[BaseEstimator], Ensemble | None]] = {
    **dict.fromkeys(ONE_TREE, _from_one_tree),
    "RandomForestClassifier": _from_forest,
    "ExtraTreesClassifier": _from_forest,
    "RandomForestRegressor": _from_forest,
    "ExtraTreesRegressor": _from_forest,
    "AdaBoostClassifier": _from_adaboost,
    "IsolationForest": _from_isolation,
    "GradientBoostingClassifier": _from_gradient_boosting,
    "GradientBoostingRegressor": _from_gradient_boosting,
    "HistGradientBoostingClassifier": _from_histograms,
    "HistGradientBoostingRegressor": _from_histograms,
}
