"""Trees, forests and boosted trees as flat arrays, whatever library grew them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verax.arrays import FloatArray

LEAF = -1


@dataclass(frozen=True, eq=False)
class Ensemble:
    """All nodes of all trees in one set of arrays, ordered so that most steps go to the next node.

    The child that a row takes when it lacks a node's column is always the next node: a text lacks nearly all of the
    columns that a forest asks for, so most of a walk runs straight through memory.
    A row goes left at a node where ``value <= threshold`` (xgboost's ``<`` is turned into this); a missing value
    follows ``missing_left``. A leaf has ``left == LEAF``.

    Attributes:
        values: (nodes, outputs); what a leaf adds to each output, already divided by the number of trees in a forest.
        base: what each output starts from.
        link: how outputs become probabilities: "identity", "logistic" or "softmax".
        absent_is_missing: whether a column that a sparse row lacks is missing (xgboost) or zero (scikit-learn).
    """

    roots: NDArray[np.int32]
    column: NDArray[np.int32]
    threshold: FloatArray
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    values: FloatArray
    base: FloatArray
    link: str
    absent_is_missing: bool

    @property
    def absent_left(self) -> NDArray[np.bool_]:
        """Where a row that lacks the column goes left."""
        return self.missing_left if self.absent_is_missing else self.threshold >= 0.0

    @property
    def n_columns(self) -> int:
        """One more than the largest column that is tested."""
        return int(self.column.max(initial=-1)) + 1

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


def flatten(classifier: Any) -> Ensemble | None:
    """The arrays of a scikit-learn tree or forest or an XGBClassifier; None for anything else."""
    name = type(classifier).__name__
    module = type(classifier).__module__
    found = None
    if module.startswith("sklearn.") and name in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        found = _from_sklearn([classifier])
    elif module.startswith("sklearn.") and name in ("RandomForestClassifier", "ExtraTreesClassifier"):
        found = _from_sklearn(list(classifier.estimators_))
    elif module == "verax.models.forest":
        found = _from_sparse_forest(classifier)
    elif module.startswith("xgboost.") and name == "XGBClassifier":
        found = _from_xgboost(classifier)
    return None if found is None else _in_walking_order(found)


def _in_walking_order(ensemble: Ensemble) -> Ensemble:
    """The same trees, numbered so that the child of an absent column follows its parent."""
    inner = ensemble.left != LEAF
    next_child = np.where(ensemble.absent_left, ensemble.left, ensemble.right)
    parents = np.flatnonzero(inner)
    if np.array_equal(next_child[parents], parents + 1):
        return ensemble  # forests on bags of words are grown in this order
    other_child = np.where(ensemble.absent_left, ensemble.right, ensemble.left)
    levels = [ensemble.roots]
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
    place[ensemble.roots] = np.cumsum(size[ensemble.roots]) - size[ensemble.roots]
    for level in levels:
        parents = level[inner[level]]
        place[next_child[parents]] = place[parents] + 1
        place[other_child[parents]] = place[parents] + 1 + size[next_child[parents]]
    order = np.argsort(place)

    def moved(child: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(inner, place[child], LEAF).astype(np.int32)[order]

    return replace(
        ensemble,
        roots=place[ensemble.roots],
        column=ensemble.column[order],
        threshold=ensemble.threshold[order],
        left=moved(ensemble.left),
        right=moved(ensemble.right),
        missing_left=ensemble.missing_left[order],
        values=ensemble.values[order],
    )


def _from_sklearn(trees: list[Any]) -> Ensemble | None:
    if trees[0].n_outputs_ != 1:
        return None
    parts = [tree.tree_ for tree in trees]
    offsets = np.concatenate([[0], np.cumsum([part.node_count for part in parts])]).astype(np.int32)

    def children(side: str) -> NDArray[np.int32]:
        return np.concatenate(
            [
                np.where(getattr(part, side) >= 0, getattr(part, side) + offset, LEAF)
                for part, offset in zip(parts, offsets, strict=False)
            ]
        ).astype(np.int32)

    shares = np.concatenate([part.value[:, 0, :] for part in parts])
    column = np.concatenate([part.feature for part in parts]).astype(np.int32)
    return _averaging(
        offsets[:-1],
        np.maximum(column, LEAF),
        np.concatenate([part.threshold for part in parts]),
        children("children_left"),
        children("children_right"),
        np.concatenate([part.missing_go_to_left for part in parts]),
        shares / shares.sum(axis=1, keepdims=True),
    )


def _averaging(
    roots: NDArray[np.int32],
    column: NDArray[np.int32],
    threshold: FloatArray,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    missing_left: Any,
    shares: FloatArray,
) -> Ensemble:
    """Trees whose class shares are averaged, as forests do."""
    shares = shares / len(roots)
    two_classes = shares.shape[1] == 2
    return Ensemble(
        roots=roots,
        column=column,
        threshold=threshold,
        left=left,
        right=right,
        missing_left=np.asarray(missing_left, dtype=np.bool_),
        # Of two classes one is enough: the other is the rest.
        values=np.ascontiguousarray(shares[:, 1:] if two_classes else shares),
        base=np.zeros(1 if two_classes else shares.shape[1]),
        link="identity",
        absent_is_missing=False,
    )


def _from_sparse_forest(forest: Any) -> Ensemble:
    flat = forest.flat_
    return _averaging(
        flat.roots, flat.column, flat.threshold, flat.left, flat.right, np.ones(len(flat.left)), flat.shares
    )


def _from_xgboost(classifier: Any) -> Ensemble | None:
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
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    left = _children(trees, offsets, "left_children")
    conditions = np.concatenate([np.array(tree["split_conditions"], dtype=np.float32) for tree in trees])
    values = np.zeros((len(left), n_outputs))
    output = np.repeat(np.array(model["tree_info"], dtype=np.intp), sizes)
    leaves = np.flatnonzero(left == LEAF)
    values[leaves, output[leaves]] = conditions[leaves]
    column = np.concatenate([np.array(tree["split_indices"], dtype=np.int32) for tree in trees])
    return Ensemble(
        roots=offsets[:-1],
        column=np.where(left == LEAF, LEAF, column),
        # value < t is value <= the next smaller number, in xgboost's single precision.
        threshold=np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64),
        left=left,
        right=_children(trees, offsets, "right_children"),
        missing_left=np.concatenate([np.array(tree["default_left"], dtype=np.bool_) for tree in trees]),
        values=values,
        base=_base_margin(learner, n_outputs, objective),
        link="logistic" if n_outputs == 1 else "softmax",
        absent_is_missing=True,
    )


def _children(trees: list[Any], offsets: NDArray[np.int32], side: str) -> NDArray[np.int32]:
    parts = [np.array(tree[side], dtype=np.int32) for tree in trees]
    return np.concatenate(
        [np.where(part >= 0, part + offset, LEAF) for part, offset in zip(parts, offsets, strict=False)]
    )


def _base_margin(learner: Any, n_outputs: int, objective: str) -> FloatArray:
    text = str(learner["learner_model_param"]["base_score"]).strip("[]")
    base = np.array([float(part) for part in text.split(",")])
    if objective == "binary:logistic":
        base = np.log(base / (1.0 - base))
    return np.broadcast_to(base, (n_outputs,)).astype(np.float64)
