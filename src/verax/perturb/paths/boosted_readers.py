"""Reading the boosted trees of LightGBM, xgboost and CatBoost from what these libraries write of themselves."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verax.arrays import FloatArray, IntArray
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

# What becomes of the sum of the leaves, by the objective.
LIGHTGBM = {
    "binary": "logistic", "multiclass": "softmax",
    "regression": "number", "regression_l1": "number", "huber": "number", "fair": "number", "quantile": "number",
    "mape": "number", "poisson": "exp", "gamma": "exp", "tweedie": "exp",
}  # fmt: skip
XGBOOST = {
    "binary:logistic": "logistic", "multi:softprob": "softmax", "multi:softmax": "softmax",
    "reg:squarederror": "number", "reg:absoluteerror": "number", "reg:pseudohubererror": "number",
    "reg:quantileerror": "number", "count:poisson": "exp", "reg:gamma": "exp", "reg:tweedie": "exp",
}  # fmt: skip
CATBOOST = {
    "Logloss": "logistic", "CrossEntropy": "logistic", "MultiClass": "softmax",
    "RMSE": "number", "MAE": "number", "Quantile": "number", "MAPE": "number", "Huber": "number", "LogCosh": "number",
    "Expectile": "number", "Lq": "number", "Poisson": "exp", "Tweedie": "exp",
}  # fmt: skip


class Node(NamedTuple):
    """One node of a tree that is being read; see :class:`Trees`."""

    column: int
    threshold: float
    left: int
    right: int
    missing_left: bool
    values: Sequence[float]
    cover: float


def _trees(nodes: Sequence[Node], sizes: Sequence[int]) -> tuple[Trees, FloatArray]:
    column, threshold, left, right, missing, values, cover = (
        np.array(part) for part in zip(*nodes, strict=True)
    )
    trees = Trees(
        roots_of(sizes),
        column.astype(np.int32),
        threshold.astype(np.float64),
        left.astype(np.int32),
        right.astype(np.int32),
        missing.astype(np.bool_),
        np.ascontiguousarray(values, dtype=np.float64),
    )
    return trees, cover.astype(np.float64)


def _from_lightgbm(boosted: BaseEstimator) -> Ensemble | None:
    dumped = boosted.booster_.dump_model()
    words = str(dumped.get("objective", "")).split()
    options = dict(word.split(":", 1) for word in words[1:] if ":" in word)
    link = LIGHTGBM.get(words[0]) if words else None
    if link is None or "sqrt" in words:
        return None
    n_outputs = int(dumped["num_tree_per_iteration"])
    scale = float(options.get("sigmoid", 1.0)) if link == "logistic" else 1.0
    if dumped.get("average_output"):
        scale *= n_outputs / len(dumped["tree_info"])
    nodes: list[Node] = []
    categories: list[tuple[int, list[int]]] = []
    sizes = []
    for number, tree in enumerate(dumped["tree_info"]):
        start = len(nodes)
        nothing = [0.0] * n_outputs
        # Children are numbered when their parent is read.
        waiting = [tree["tree_structure"]]
        for node in waiting:
            if "leaf_coeff" in node:
                return None  # leaves that are linear models
            if "split_feature" not in node:
                leaf = nothing.copy()
                leaf[number % n_outputs] = scale * float(node["leaf_value"])
                nodes.append(Node(LEAF, 0.0, LEAF, LEAF, False, leaf, float(node.get("leaf_count", 1))))
                continue
            column, threshold = int(node["split_feature"]), node["threshold"]
            missing_left = _missing_goes_left(node)
            if missing_left is None:
                return None
            if node["decision_type"] == "==":
                categories.append((column, [int(category) for category in str(threshold).split("||")]))
                column, threshold = dumped["max_feature_idx"] + len(categories), 0.5
            place = start + len(waiting)
            waiting += [node["left_child"], node["right_child"]]
            nodes.append(
                Node(
                    column, float(threshold), place, place + 1, missing_left, nothing, node["internal_count"]
                )
            )
        sizes.append(len(nodes) - start)
    sets = None
    if categories:
        side = np.ones((len(categories), 1 + max(max(some) for _, some in categories)))
        for number, (_, some) in enumerate(categories):
            side[number, some] = 0.0
        sets = CategorySets(np.array([column for column, _ in categories], dtype=np.int32), side)
    trees, cover = _trees(nodes, sizes)
    return Ensemble(
        trees, np.zeros(n_outputs), link, absent_is_missing=False, single=False, sets=sets, cover=cover
    )


def _missing_goes_left(node: Mapping[str, Any]) -> bool | None:
    """Whether a missing value goes left at a node of LightGBM's; None at one that is not understood."""
    if node["decision_type"] == "==":
        return False  # what is missing or unknown goes right
    if node["decision_type"] != "<=":
        return None
    if node["missing_type"] == "NaN":
        return bool(node["default_left"])
    left = float(node["threshold"]) >= 0.0  # what is missing counts as zero
    if node["missing_type"] == "Zero" and left != bool(node["default_left"]):
        return None  # and zeros go another way than the numbers around them
    return left


def _from_xgboost(boosted: BaseEstimator) -> Ensemble | None:
    booster = boosted.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    link = XGBOOST.get(learner["objective"]["name"])
    grown = learner["gradient_booster"]
    if link is None or grown["name"] not in ("gbtree", "dart"):
        return None
    model = grown["gbtree"]["model"] if grown["name"] == "dart" else grown["model"]
    trees, output = model["trees"], np.array(model["tree_info"], dtype=np.intp)
    n_outputs = max(1, int(learner["learner_model_param"]["num_class"]))
    best = booster.attributes().get("best_iteration")
    if best is not None:  # after early stopping, later trees are not asked
        used = (int(best) + 1) * n_outputs * int(model["gbtree_model_param"].get("num_parallel_tree", 1))
        trees, output = trees[:used], output[:used]
    if any(int(tree["tree_param"].get("size_leaf_vector", 1)) > 1 for tree in trees) or not trees:
        return None
    sizes = [len(tree["left_children"]) for tree in trees]
    left = children_of([np.array(tree["left_children"]) for tree in trees])
    conditions = np.concatenate([np.array(tree["split_conditions"], dtype=np.float32) for tree in trees])
    column = np.concatenate([np.array(tree["split_indices"], dtype=np.int32) for tree in trees])
    # value < t is value <= the next smaller number, in xgboost's single precision.
    threshold = np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64)
    n_columns = int(learner["learner_model_param"]["num_feature"])
    sets = _sets_of_xgboost(trees, sizes, column, threshold, n_columns)
    leaves = conditions.astype(np.float64)
    if grown["name"] == "dart":
        leaves *= np.repeat(np.array(grown["weight_drop"], dtype=np.float64)[: len(trees)], sizes)
    nodes = Trees(
        roots=roots_of(sizes),
        column=np.where(left == LEAF, LEAF, column),
        threshold=threshold,
        left=left,
        right=children_of([np.array(tree["right_children"]) for tree in trees]),
        missing_left=np.concatenate([np.array(tree["default_left"], dtype=np.bool_) for tree in trees]),
        values=by_output(leaves, left, output, sizes, n_outputs),
    )
    cover = np.concatenate([np.array(tree["sum_hessian"], dtype=np.float64) for tree in trees])
    base = _base_margin(str(learner["learner_model_param"]["base_score"]), n_outputs, link)
    return Ensemble(nodes, base, link, absent_is_missing=True, sets=sets, cover=cover)


def _sets_of_xgboost(
    trees: Sequence[Mapping[str, Any]],
    sizes: Sequence[int],
    column: IntArray,
    threshold: FloatArray,
    n_columns: int,
) -> CategorySets | None:
    """Splits by categories, which go right; all others, unknown ones too, go left. Their nodes ask further columns."""
    nodes: list[int] = []
    chosen: list[list[int]] = []
    for tree, root in zip(trees, roots_of(sizes).tolist(), strict=True):
        for node, first, size in zip(
            tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
        ):
            nodes.append(root + int(node))
            chosen.append([int(code) for code in tree["categories"][first : first + size]])
    if not nodes:
        return None
    side = np.zeros((len(nodes), 1 + max(max(codes, default=0) for codes in chosen)))
    for number, codes in enumerate(chosen):
        side[number, codes] = 1.0
    sets = CategorySets(column[nodes].astype(np.int32), side, beyond=0.0)
    column[nodes] = n_columns + np.arange(len(nodes))
    threshold[nodes] = 0.5
    return sets


def _base_margin(text: str, n_outputs: int, link: str) -> FloatArray:
    base = np.array([float(part) for part in text.strip("[]").split(",")])
    if link == "logistic":
        base = np.log(base / (1.0 - base))
    elif link == "exp":
        base = np.log(base)
    return np.broadcast_to(base, (n_outputs,)).astype(np.float64)


class Probe(NamedTuple):
    """How a CatBoost model is asked where its trees send categories, which it knows by hashes alone.

    Attributes:
        row: an encoded row to start from.
        counts: how many categories each column has; 0 for a numeric one.
        leaves: from encoded rows to the leaf of each tree, (rows, trees).
    """

    row: FloatArray
    counts: Sequence[int]
    leaves: Callable[[FloatArray], IntArray]


def from_catboost(boosted: BaseEstimator, probe: Probe | None = None) -> Ensemble | str:
    """CatBoost's trees, which read categories as their codes; or why they cannot be read.

    Args:
        boosted: the model.
        probe: needed if it has categorical columns.
    """
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        boosted.save_model(path, format="json")
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
    finally:
        os.unlink(path)
    link = CATBOOST.get(str(boosted.get_all_params().get("loss_function", "")).split(":")[0])
    info = saved["features_info"]
    if link is None or info.get("text_features") or info.get("embedding_features"):
        return "what CatBoost makes of their sums, or of texts, is not known"
    scale, bias = saved["scale_and_bias"]
    base = np.array(bias, dtype=np.float64)
    numbers = dict(enumerate(info.get("float_features", ())))
    flat = [known["flat_feature_index"] for known in info.get("categorical_features", ())]
    nodes: list[Node] = []
    sizes: list[int] = []
    if "oblivious_trees" not in saved:
        for tree in saved["trees"]:
            start = len(nodes)
            if not _read_branches(tree, numbers, nodes, start, len(base), scale):
                return "trees of CatBoost that are not symmetric split by categories"
            sizes.append(len(nodes) - start)
        trees, cover = _trees(nodes, sizes)
        return Ensemble(trees, base, link, absent_is_missing=False, cover=cover)
    wanted: list[tuple[int, int, int]] = []  # tree, place of the split, column
    about = _columns_of_ctrs(info, flat)
    n_columns = len(numbers) + len(flat)
    for number, tree in enumerate(saved["oblivious_trees"]):
        columns = []
        for place, split in enumerate(tree["splits"]):
            if split["split_type"] == "FloatFeature":
                known = numbers[split["float_feature_index"]]
                missing_left = known["nan_value_treatment"] != "AsTrue"
                columns.append((known["flat_feature_index"], float(split["border"]), missing_left))
                continue
            one = split.get("cat_feature_index")
            column = flat[one] if split["split_type"] == "OneHotFeature" else about(split)
            if column is None:
                return "CatBoost made of several columns one number (max_ctr_complexity=1 keeps it from that)"
            columns.append((n_columns + len(wanted), 0.5, True))
            wanted.append((number, place, column))
        _grow(tree, columns, len(base), scale, nodes)
        sizes.append(2 ** (len(columns) + 1) - 1)
    sets = None
    if wanted:
        if probe is None:
            return "a step before it hands it categories"
        sets = _sides(wanted, probe)
    trees, cover = _trees(nodes, sizes)
    return Ensemble(trees, base, link, absent_is_missing=False, sets=sets, cover=cover)


def _columns_of_ctrs(
    info: Mapping[str, Any], flat: Sequence[int]
) -> Callable[[Mapping[str, Any]], int | None]:
    """From a split by a statistic of categories to the one column that it is about; None if there are several."""
    by_split: dict[int, int | None] = {}
    # Splits are numbered: borders of numbers, then values of categories, then borders of statistics.
    number = sum(len(known["borders"]) for known in info.get("float_features", ()))
    number += sum(len(known.get("values", ())) for known in info.get("categorical_features", ()))
    for statistic in info.get("ctrs", ()):
        elements = statistic["elements"]
        alone = len(elements) == 1 and elements[0]["combination_element"] == "cat_feature_value"
        column = flat[elements[0]["cat_feature_index"]] if alone else None
        for _ in statistic["borders"]:
            by_split[number] = column
            number += 1
    return lambda split: by_split.get(int(split["split_index"]))


def _grow(
    tree: Mapping[str, Any],
    columns: Sequence[tuple[int, float, bool]],
    n_outputs: int,
    scale: float,
    nodes: list[Node],
) -> None:
    """A symmetric tree as nodes, level by level; the last split is asked first, so that leaves keep their numbers."""
    start, depth = len(nodes), len(columns)
    weights = np.array(tree.get("leaf_weights") or np.ones(2**depth), dtype=np.float64)
    nothing = [0.0] * n_outputs
    for level in range(depth):
        column, threshold, missing_left = columns[depth - 1 - level]
        for cover in weights.reshape(2**level, -1).sum(axis=1):
            # The children of the place-th node in level order are number 2 * place + 1 and the next.
            child = start + 2 * (len(nodes) - start) + 1
            nodes.append(Node(column, threshold, child, child + 1, missing_left, nothing, float(cover)))
    leaves = scale * np.array(tree["leaf_values"], dtype=np.float64).reshape(2**depth, n_outputs)
    for leaf, cover in zip(leaves.tolist(), weights.tolist(), strict=True):
        nodes.append(Node(LEAF, 0.0, LEAF, LEAF, True, leaf, cover))


def _read_branches(
    node: Mapping[str, Any],
    numbers: Mapping[int, Any],
    nodes: list[Node],
    start: int,
    n_outputs: int,
    scale: float,
) -> bool:
    """A tree that is not symmetric, as nodes; False if it splits by categories."""
    waiting: list[Mapping[str, Any]] = [node]
    nothing = [0.0] * n_outputs
    for here in waiting:
        if "split" not in here:
            leaf = np.broadcast_to(scale * np.array(here["value"], dtype=np.float64), (n_outputs,))
            nodes.append(Node(LEAF, 0.0, LEAF, LEAF, True, leaf.tolist(), float(here.get("weight", 1.0))))
            continue
        split = here["split"]
        if split["split_type"] != "FloatFeature":
            return False
        known = numbers[split["float_feature_index"]]
        place = start + len(waiting)
        waiting += [here["left"], here["right"]]
        missing_left = known["nan_value_treatment"] != "AsTrue"
        nodes.append(
            Node(
                known["flat_feature_index"], float(split["border"]), place, place + 1, missing_left,
                nothing, _weight(here),
            )
        )  # fmt: skip
    return True


def _weight(node: Mapping[str, Any]) -> float:
    if "split" not in node:
        return float(node.get("weight", 1.0))
    return _weight(node["left"]) + _weight(node["right"])


def _sides(wanted: Sequence[tuple[int, int, int]], probe: Probe) -> CategorySets:
    """Where each split by categories sends each of them, as the model itself says by the leaves it comes to."""
    columns = sorted({column for _, _, column in wanted})
    rows = []
    for column in columns:
        made = np.repeat(probe.row[None], probe.counts[column], axis=0)
        made[:, column] = np.arange(probe.counts[column])
        rows.append(made)
    ends = np.cumsum([len(made) for made in rows])[:-1]
    leaves = dict(zip(columns, np.split(probe.leaves(np.concatenate(rows)), ends), strict=True))
    side = np.full((len(wanted), max(probe.counts)), np.nan)
    for number, (tree, place, column) in enumerate(wanted):
        side[number, : probe.counts[column]] = (leaves[column][:, tree].astype(np.int64) >> place) & 1
    return CategorySets(np.array([column for _, _, column in wanted], dtype=np.int32), side)


def catboost_ensemble(boosted: BaseEstimator, probe: Probe | None) -> Ensemble | str:
    """CatBoost's trees in walking order, or why they cannot be read."""
    found = from_catboost(boosted, probe)
    return found if isinstance(found, str) else in_walking_order(found)


def _from_catboost_of_numbers(boosted: BaseEstimator) -> Ensemble | None:
    found = from_catboost(boosted)
    return None if isinstance(found, str) else found


READERS: dict[str, Callable[[BaseEstimator], Ensemble | None]] = {
    "LGBMClassifier": _from_lightgbm,
    "LGBMRegressor": _from_lightgbm,
    "XGBClassifier": _from_xgboost,
    "XGBRegressor": _from_xgboost,
    "XGBRFClassifier": _from_xgboost,
    "XGBRFRegressor": _from_xgboost,
    "CatBoostClassifier": _from_catboost_of_numbers,
    "CatBoostRegressor": _from_catboost_of_numbers,
}
