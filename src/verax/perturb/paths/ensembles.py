"""Trees, forests and boosted trees as flat arrays, whatever library grew them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verax.arrays import BoolArray, FloatArray, IntArray

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


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees, and what is made of the sum of their leaves.

    Attributes:
        trees: their nodes.
        base: what each output starts from.
        link: how outputs become probabilities: "identity", "logistic" or "softmax".
        absent_is_missing: whether a column that a sparse row lacks is missing (xgboost) or zero (scikit-learn).
    """

    trees: Trees
    base: FloatArray
    link: str
    absent_is_missing: bool

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
    """The arrays of a scikit-learn tree or forest or an XGBClassifier; None for anything else."""
    name = type(classifier).__name__
    module = type(classifier).__module__
    ensemble = None
    if module.startswith("sklearn.") and name in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        ensemble = _from_sklearn([classifier])
    elif module.startswith("sklearn.") and name in ("RandomForestClassifier", "ExtraTreesClassifier"):
        ensemble = _from_sklearn(list(classifier.estimators_))
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
    return _averaging(
        Trees(flat.roots, flat.column, flat.threshold, flat.left, flat.right, everywhere, flat.shares)
    )


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
    values = np.zeros((len(left), n_outputs))
    output = np.repeat(np.array(model["tree_info"], dtype=np.intp), sizes)
    leaves = np.flatnonzero(left == LEAF)
    values[leaves, output[leaves]] = conditions[leaves]
    column = np.concatenate([np.array(tree["split_indices"], dtype=np.int32) for tree in trees])
    nodes = Trees(
        roots=_roots(sizes),
        column=np.where(left == LEAF, LEAF, column),
        # value < t is value <= the next smaller number, in xgboost's single precision.
        threshold=np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64),
        left=left,
        right=_children([np.array(tree["right_children"]) for tree in trees]),
        missing_left=np.concatenate([np.array(tree["default_left"], dtype=np.bool_) for tree in trees]),
        values=values,
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
