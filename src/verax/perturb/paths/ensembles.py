"""Trees, forests and boosted trees as flat arrays, whatever library grew them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

NodeArray: TypeAlias = NDArray[np.int32]
LEAF = -1


class Trees(NamedTuple):
    """All nodes of all trees in one set of arrays, ordered so that most steps go to the next node.

    The child that a row takes when it lacks a node's column is always the next node: a text lacks nearly all of the
    columns that a forest asks for, so most of a walk runs straight through memory.
    A row goes left at a node where ``value <= threshold`` (xgboost's ``<`` is turned into this); a missing value
    follows ``missing_left``. A leaf has ``left == LEAF``.

    Attributes:
        roots: where each tree starts.
        column: the column that a node tests; -1 at a leaf.
        threshold: what it is compared with.
        left: the node that follows if it is not above; ``right`` if it is.
        missing_left: whether a missing value goes left.
        values: (nodes, outputs); what a leaf adds to each output, already divided by the number of trees in a forest.
    """

    roots: NodeArray
    column: NodeArray
    threshold: FloatArray
    left: NodeArray
    right: NodeArray
    missing_left: BoolArray
    values: FloatArray


class CategorySets(NamedTuple):
    """Splits by sets of categories, as columns of their own, so that all nodes compare a number with a threshold.

    Set ``i`` makes of column ``column[i]`` a further one, which is 0 for the categories that go left, 1 for those that
    go right and missing for all others (what is missing, negative or unknown).

    Attributes:
        column: the column that each set is about.
        side: (sets, categories): 0, 1 or missing.
    """

    column: NodeArray
    side: FloatArray

    def of(self, rows: FloatArray) -> FloatArray:
        """The further columns of some rows."""
        given = rows[:, self.column]
        inside = (given > -1.0) & (given < self.side.shape[1])  # a fraction is cut off, as libraries do
        codes = np.where(inside, given, 0.0).astype(np.intp)
        return np.where(inside, self.side[np.arange(len(self.column)), codes], np.nan)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees, and what is made of the sum of their leaves.

    Attributes:
        trees: their nodes.
        base: what each output starts from.
        link: how outputs become probabilities: "identity", "logistic" or "softmax".
        absent_is_missing: whether a column that a sparse row lacks is missing (xgboost) or zero (scikit-learn).
        single: whether values are rounded to single precision before they are compared.
        sets: splits by sets of categories, whose columns follow those that the classifier is given.
    """

    trees: Trees
    base: FloatArray
    link: str
    absent_is_missing: bool
    single: bool = True
    sets: CategorySets | None = None

    def read(self, rows: FloatArray) -> FloatArray:
        """What the nodes compare, of rows as the classifier is given them."""
        if self.single:
            rows = rows.astype(np.float32).astype(np.float64)
        return rows if self.sets is None else np.concatenate([rows, self.sets.of(rows)], axis=1)

    def owners(self, owner: NodeArray) -> NodeArray:
        """Of the columns that the nodes compare, what is told of those that the classifier is given."""
        return owner if self.sets is None else np.concatenate([owner, owner[self.sets.column]])

    @property
    def absent(self) -> float:
        """The value of a column that a sparse row lacks."""
        return np.nan if self.absent_is_missing else 0.0

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Class probabilities (rows, classes) from the summed leaves (outputs, rows)."""
        margins = outputs + self.base[:, None]
        if self.link == "softmax":
            powers = np.exp(margins - margins.max(axis=0))
            return np.ascontiguousarray((powers / powers.sum(axis=0)).T)
        positive = margins[0] if self.link == "identity" else expit(margins[0])
        if len(margins) == 1:
            return np.stack([1.0 - positive, positive], axis=1)
        return np.ascontiguousarray(margins.T)


class Levels(NamedTuple):
    """For each column that a text touches, which variants reach which of its values.

    Column ``slot`` takes the ascending values ``levels[first[slot]:first[slot + 1]]``, the lowest being 0 (absent);
    row ``i`` of ``reach`` has a bit for each variant whose value is at least ``levels[i]``. ``touched`` says which of
    the model's columns the text has at all; its last entry stands for leaves and is True.
    """

    touched: BoolArray
    slot_of_column: NodeArray
    first: NodeArray
    levels: FloatArray
    reach: NDArray[np.uint64]
    n_rows: int


def flatten(classifier: BaseEstimator) -> Ensemble | None:
    """The arrays of scikit-learn's, xgboost's and LightGBM's classifiers of trees; None for anything else."""
    name = type(classifier).__name__
    module = type(classifier).__module__
    ensemble = None
    if module.startswith("sklearn.") and name in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        ensemble = _from_sklearn([classifier])
    elif module.startswith("sklearn.") and name in ("RandomForestClassifier", "ExtraTreesClassifier"):
        ensemble = _from_sklearn(list(classifier.estimators_))
    elif module.startswith("sklearn.") and name == "GradientBoostingClassifier":
        ensemble = _from_gradient_boosting(classifier)
    elif module.startswith("sklearn.") and name == "HistGradientBoostingClassifier":
        ensemble = _from_histograms(classifier)
    elif module.startswith("lightgbm.") and name == "LGBMClassifier":
        ensemble = _from_lightgbm(classifier)
    elif module == "verax.models.forest":
        ensemble = _from_sparse_forest(classifier)
    elif module.startswith("xgboost.") and name == "XGBClassifier":
        ensemble = _from_xgboost(classifier)
    if ensemble is None:
        return None
    absent_left = (
        ensemble.trees.missing_left if ensemble.absent_is_missing else ensemble.trees.threshold >= 0.0
    )
    return replace(ensemble, trees=_in_walking_order(ensemble.trees, absent_left))


def _in_walking_order(trees: Trees, absent_left: BoolArray) -> Trees:
    """The same trees, numbered so that the child of an absent column follows its parent."""
    inner = trees.left != LEAF
    next_child = np.where(absent_left, trees.left, trees.right)
    parents = np.flatnonzero(inner)
    if np.array_equal(next_child[parents], parents + 1):
        return trees  # forests on bags of words are grown in this order
    other_child = np.where(absent_left, trees.right, trees.left)
    levels = [trees.roots]
    while True:
        parents = levels[-1][inner[levels[-1]]]
        if not len(parents):
            break
        levels.append(np.concatenate([next_child[parents], other_child[parents]]))
    size = np.ones(len(inner), dtype=np.int32)
    for level in reversed(levels):
        parents = level[inner[level]]
        size[parents] += size[next_child[parents]] + size[other_child[parents]]
    place = np.zeros(len(inner), dtype=np.int32)
    place[trees.roots] = np.cumsum(size[trees.roots]) - size[trees.roots]
    for level in levels:
        parents = level[inner[level]]
        place[next_child[parents]] = place[parents] + 1
        place[other_child[parents]] = place[parents] + 1 + size[next_child[parents]]
    order = np.argsort(place)

    def moved(child: NodeArray) -> NodeArray:
        return np.where(inner, place[child], LEAF).astype(np.int32)[order]

    return Trees(
        roots=place[trees.roots],
        column=trees.column[order],
        threshold=trees.threshold[order],
        left=moved(trees.left),
        right=moved(trees.right),
        missing_left=trees.missing_left[order],
        values=trees.values[order],
    )


def _from_sklearn(estimators: Sequence[BaseEstimator]) -> Ensemble | None:
    if estimators[0].n_outputs_ != 1:
        return None
    parts = [estimator.tree_ for estimator in estimators]
    shares = np.concatenate([part.value[:, 0, :] for part in parts])
    column = np.concatenate([part.feature for part in parts]).astype(np.int32)
    return _averaging(
        Trees(
            _roots([part.node_count for part in parts]),
            np.maximum(column, LEAF),
            np.concatenate([part.threshold for part in parts]),
            _children([part.children_left for part in parts]),
            _children([part.children_right for part in parts]),
            np.concatenate([part.missing_go_to_left for part in parts]).astype(np.bool_),
            shares / shares.sum(axis=1, keepdims=True),
        )
    )


def _averaging(trees: Trees) -> Ensemble:
    """Trees whose class shares are averaged, as forests do."""
    shares = trees.values / len(trees.roots)
    if shares.shape[1] == 2:  # of two classes one is enough: the other is the rest
        shares = shares[:, 1:]
    trees = trees._replace(values=np.ascontiguousarray(shares))
    return Ensemble(trees, np.zeros(shares.shape[1]), link="identity", absent_is_missing=False)


def _from_sparse_forest(forest: BaseEstimator) -> Ensemble:
    flat = forest.flat_
    everywhere = np.ones(len(flat.left), dtype=np.bool_)
    made = _averaging(
        Trees(flat.roots, flat.column, flat.threshold, flat.left, flat.right, everywhere, flat.shares)
    )
    return replace(made, single=False)


def _from_gradient_boosting(classifier: BaseEstimator) -> Ensemble | None:
    start = classifier.init_
    if not (isinstance(start, str) or type(start).__name__ == "DummyClassifier"):
        return None  # what the trees start from depends on the row
    link = _link(classifier._loss)
    if link is None:
        return None
    parts = [estimator.tree_ for estimator in classifier.estimators_.ravel()]
    n_outputs = classifier.estimators_.shape[1]
    # With the exponential loss the log-odds are twice the sum.
    scale = 2.0 if type(classifier._loss).__name__ == "ExponentialLoss" else 1.0
    sizes = [part.node_count for part in parts]
    left = _children([part.children_left for part in parts])
    leaves = np.concatenate([part.value[:, 0, 0] for part in parts]) * classifier.learning_rate
    trees = Trees(
        roots=_roots(sizes),
        column=np.maximum(np.concatenate([part.feature for part in parts]), LEAF).astype(np.int32),
        threshold=np.concatenate([part.threshold for part in parts]),
        left=left,
        right=_children([part.children_right for part in parts]),
        missing_left=np.concatenate([part.missing_go_to_left for part in parts]).astype(np.bool_),
        values=_by_output(scale * leaves, left, np.arange(len(parts)) % n_outputs, sizes, n_outputs),
    )
    base = classifier._raw_predict_init(np.zeros((1, classifier.n_features_in_)))[0]
    return Ensemble(trees, scale * base, link, absent_is_missing=False)


def _link(loss: object) -> str | None:
    """What scikit-learn's boosted trees make of their sums."""
    links = {
        "HalfBinomialLoss": "logistic", "ExponentialLoss": "logistic", "HalfMultinomialLoss": "softmax",
    }  # fmt: skip
    return links.get(type(loss).__name__)


def _from_histograms(classifier: BaseEstimator) -> Ensemble | None:
    link = _link(classifier._loss)
    if link is None:
        return None
    predictors = [predictor for iteration in classifier._predictors for predictor in iteration]
    n_outputs = classifier.n_trees_per_iteration_
    sizes = [len(predictor.nodes) for predictor in predictors]
    nodes = np.concatenate([predictor.nodes for predictor in predictors])
    is_leaf = nodes["is_leaf"].astype(np.bool_)
    offsets = np.repeat(_roots(sizes), sizes)
    left = np.where(is_leaf, LEAF, nodes["left"] + offsets).astype(np.int32)
    column = np.where(is_leaf, LEAF, nodes["feature_idx"]).astype(np.int32)
    threshold = nodes["num_threshold"].astype(np.float64)
    sets = None
    by_category = np.flatnonzero(nodes["is_categorical"].astype(np.bool_) & ~is_leaf)
    if len(by_category):
        known, place = classifier._bin_mapper.make_known_categories_bitsets()
        bits = np.concatenate([predictor.raw_left_cat_bitsets for predictor in predictors])
        first = np.repeat(_roots([len(predictor.raw_left_cat_bitsets) for predictor in predictors]), sizes)
        goes_left = _unpacked(bits[nodes["bitset_idx"][by_category] + first[by_category]])
        is_known = _unpacked(known)[place[column[by_category]]]
        side = np.where(goes_left, 0.0, np.where(is_known, 1.0, np.nan))
        sets = CategorySets(column[by_category], side)
        column[by_category] = classifier._bin_mapper.n_bins_non_missing_.size + np.arange(len(by_category))
        threshold[by_category] = 0.5
    trees = Trees(
        roots=_roots(sizes),
        column=column,
        threshold=threshold,
        left=left,
        right=np.where(is_leaf, LEAF, nodes["right"] + offsets).astype(np.int32),
        missing_left=nodes["missing_go_to_left"].astype(np.bool_),
        values=_by_output(nodes["value"], left, np.arange(len(predictors)) % n_outputs, sizes, n_outputs),
    )
    base = np.asarray(classifier._baseline_prediction, dtype=np.float64).reshape(-1)
    return Ensemble(trees, base, link, absent_is_missing=False, single=False, sets=sets)


def _unpacked(bitsets: NDArray[np.uint32]) -> BoolArray:
    """Sets of categories, 32 a number, as (sets, categories)."""
    numbers = np.ascontiguousarray(bitsets, dtype="<u4")
    return np.unpackbits(numbers.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)


def _by_output(
    leaf_values: FloatArray, left: NodeArray, output: IndexArray, sizes: Sequence[int], n_outputs: int
) -> FloatArray:
    """The leaves' values as (nodes, outputs), where each tree adds to one output."""
    values = np.zeros((len(left), n_outputs))
    leaves = np.flatnonzero(left == LEAF)
    values[leaves, np.repeat(output, sizes)[leaves]] = leaf_values[leaves]
    return values


def _from_lightgbm(classifier: BaseEstimator) -> Ensemble | None:
    dumped = classifier.booster_.dump_model()
    words = str(dumped.get("objective", "")).split()
    options = dict(word.split(":", 1) for word in words[1:] if ":" in word)
    if words[:1] not in (["binary"], ["multiclass"]) or dumped.get("average_output"):
        return None
    n_outputs = int(dumped["num_tree_per_iteration"])
    scale = float(options.get("sigmoid", 1.0)) if words[0] == "binary" else 1.0
    nodes: list[tuple[int, float, int, int, bool, float]] = []
    categories: list[tuple[int, list[int]]] = []
    sizes = []
    for tree in dumped["tree_info"]:
        start = len(nodes)
        # Children are numbered when their parent is read.
        waiting = [tree["tree_structure"]]
        for node in waiting:
            if "leaf_coeff" in node:
                return None  # leaves that are linear models
            if "split_feature" not in node:
                nodes.append((LEAF, 0.0, LEAF, LEAF, False, scale * float(node["leaf_value"])))
                continue
            column, threshold, missing_left = int(node["split_feature"]), node["threshold"], False
            if node["decision_type"] == "==":  # what is missing or unknown goes right
                categories.append((column, [int(category) for category in str(threshold).split("||")]))
                column, threshold = dumped["max_feature_idx"] + len(categories), 0.5
            elif node["decision_type"] != "<=":
                return None
            elif node["missing_type"] == "NaN":
                missing_left = bool(node["default_left"])
            else:  # what is missing counts as zero
                missing_left = float(threshold) >= 0.0
                if node["missing_type"] == "Zero" and missing_left != bool(node["default_left"]):
                    return None  # and zeros go another way than the numbers around them
            place = start + len(waiting)
            waiting += [node["left_child"], node["right_child"]]
            nodes.append((column, float(threshold), place, place + 1, missing_left, 0.0))
        sizes.append(len(nodes) - start)
    columns, thresholds, lefts, rights, missing, leaf_values = (
        np.array(part) for part in zip(*nodes, strict=True)
    )
    sets = None
    if categories:
        side = np.ones((len(categories), 1 + max(max(some) for _, some in categories)))
        for number, (_, some) in enumerate(categories):
            side[number, some] = 0.0
        sets = CategorySets(np.array([column for column, _ in categories], dtype=np.int32), side)
    left = lefts.astype(np.int32)
    trees = Trees(
        roots=_roots(sizes),
        column=columns.astype(np.int32),
        threshold=thresholds,
        left=left,
        right=rights.astype(np.int32),
        missing_left=missing,
        values=_by_output(leaf_values, left, np.arange(len(sizes)) % n_outputs, sizes, n_outputs),
    )
    link = "logistic" if words[0] == "binary" else "softmax"
    return Ensemble(trees, np.zeros(n_outputs), link, absent_is_missing=False, single=False, sets=sets)


def _from_xgboost(classifier: BaseEstimator) -> Ensemble | None:
    learner = json.loads(bytes(classifier.get_booster().save_raw("json")))["learner"]
    objective = learner["objective"]["name"]
    if learner["gradient_booster"]["name"] != "gbtree" or objective not in (
        "binary:logistic",
        "multi:softprob",
    ):
        return None
    model = learner["gradient_booster"]["model"]
    trees = model["trees"]
    if any(tree.get("categories") for tree in trees):
        return None
    n_outputs = 1 if objective == "binary:logistic" else int(learner["learner_model_param"]["num_class"])
    sizes = [len(tree["left_children"]) for tree in trees]
    left = _children([np.array(tree["left_children"]) for tree in trees])
    conditions = np.concatenate([np.array(tree["split_conditions"], dtype=np.float32) for tree in trees])
    output = np.array(model["tree_info"], dtype=np.intp)
    column = np.concatenate([np.array(tree["split_indices"], dtype=np.int32) for tree in trees])
    nodes = Trees(
        roots=_roots(sizes),
        column=np.where(left == LEAF, LEAF, column),
        # value < t is value <= the next smaller number, in xgboost's single precision.
        threshold=np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64),
        left=left,
        right=_children([np.array(tree["right_children"]) for tree in trees]),
        missing_left=np.concatenate([np.array(tree["default_left"], dtype=np.bool_) for tree in trees]),
        values=_by_output(conditions, left, output, sizes, n_outputs),
    )
    base = _base_margin(str(learner["learner_model_param"]["base_score"]), n_outputs, objective)
    link = "logistic" if n_outputs == 1 else "softmax"
    return Ensemble(nodes, base, link, absent_is_missing=True)


def _roots(sizes: Sequence[int]) -> NodeArray:
    """Where each tree starts when trees of these sizes stand one after the other."""
    return np.cumsum([0, *sizes[:-1]]).astype(np.int32)


def _children(parts: Sequence[IntArray]) -> NodeArray:
    """The children of all trees, one after the other; each tree counts its own nodes from 0."""
    offsets = _roots([len(part) for part in parts])
    shifted = [np.where(part >= 0, part + offset, LEAF) for part, offset in zip(parts, offsets, strict=True)]
    return np.concatenate(shifted).astype(np.int32)


def _base_margin(text: str, n_outputs: int, objective: str) -> FloatArray:
    base = np.array([float(part) for part in text.strip("[]").split(",")])
    if objective == "binary:logistic":
        base = np.log(base / (1.0 - base))
    return np.broadcast_to(base, (n_outputs,)).astype(np.float64)
