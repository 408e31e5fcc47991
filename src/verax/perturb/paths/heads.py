"""What comes after the bag of words: linear models, trees and one-hidden-layer networks, on all variants at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verax.arrays import BoolArray, FloatArray
from verax.perturb.masks import Masks
from verax.perturb.paths.bags import Bag, Weighting, project
from verax.perturb.paths.ensembles import Ensemble, Levels, NodeArray
from verax.perturb.paths.tree_readers import flatten
from verax.perturb.paths.tree_walks import sum_leaves

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class Head(Protocol):
    """A classifier that works in a text's own columns."""

    @property
    def name(self) -> str:
        """For people: what sort of model it is."""

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""


def from_scores(scores: FloatArray) -> FloatArray:
    """Class probabilities from scores (variants, classes); a single column is the log-odds of the second class."""
    if scores.shape[1] == 1:
        positive = expit(scores[:, 0])
        return np.stack([1.0 - positive, positive], axis=1)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, eq=False)
class LinearHead:
    """Logistic regression: one product per variant."""

    weights: FloatArray
    intercept: FloatArray
    name: str = "linear"

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""
        return from_scores(project(bag, masks, self.weights) + self.intercept)


@dataclass(frozen=True, eq=False)
class MlpHead:
    """One hidden layer; the first layer, where the work is, in single precision."""

    first: NDArray[np.float32]
    first_bias: NDArray[np.float32]
    second: FloatArray
    second_bias: FloatArray
    activation: str
    name: str = "mlp"

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""
        hidden = project(bag, masks, self.first)
        hidden += self.first_bias
        if self.activation == "relu":
            np.maximum(hidden, 0.0, out=hidden)
        elif self.activation == "tanh":
            np.tanh(hidden, out=hidden)
        elif self.activation == "logistic":
            hidden = expit(hidden)
        return from_scores((hidden @ self.second.astype(np.float32)).astype(np.float64) + self.second_bias)


@dataclass(frozen=True, eq=False)
class TreeHead:
    """Trees, forests and boosted trees on rows without a norm."""

    ensemble: Ensemble
    # Scratch for the current text, set and cleared for each: which columns it has (a last entry for leaves, True),
    # and which of its slots each of them is.
    touched: BoolArray = field(repr=False)
    slot_of_column: NodeArray = field(repr=False)
    name: str = "trees"

    @classmethod
    def of(cls, ensemble: Ensemble, n_columns: int) -> TreeHead:
        """Prepares the scratch space that all texts share."""
        touched = np.zeros(n_columns + 1, dtype=np.bool_)
        touched[-1] = True
        return cls(ensemble, touched, np.full(n_columns, -1, dtype=np.int32))

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""
        self.touched[bag.columns] = True
        self.slot_of_column[bag.columns] = np.arange(len(bag.columns))
        try:
            outputs = sum_leaves(self.ensemble, self._levels(bag, masks))
        finally:
            self.touched[bag.columns] = False
            self.slot_of_column[bag.columns] = -1
        return self.ensemble.probabilities(outputs)

    def _levels(self, bag: Bag, masks: Masks) -> Levels:
        first, levels, reach = column_levels(bag, masks)
        return Levels(self.touched, self.slot_of_column, first, levels, reach, masks.n_rows)


def column_levels(bag: Bag, masks: Masks) -> tuple[NodeArray, FloatArray, NDArray[np.uint64]]:
    """The values that each column takes over the variants, and which variants reach them; see :class:`Levels`."""
    n_words = masks.words.shape[1]
    if bag.single:
        n_slots = len(bag.columns)
        levels = np.zeros((n_slots, 2))
        levels[:, 1] = bag.values.astype(np.float32)
        reach = np.empty((n_slots, 2, n_words), dtype=np.uint64)
        reach[:, 0] = ~np.uint64(0)
        reach[:, 1] = masks.words[bag.words]
        first = np.arange(0, 2 * n_slots + 1, 2, dtype=np.int32)
        return first, levels.reshape(-1), reach.reshape(-1, n_words)
    values = bag.column_values(masks).astype(np.float32)
    first_of: list[int] = [0]
    all_levels: list[FloatArray] = []
    all_reach: list[NDArray[np.uint64]] = []
    for slot in range(len(bag.columns)):
        # A column's value in single precision, as trees compare it; 0 is always a level, the one of "absent".
        levels = np.union1d(np.zeros(1, dtype=np.float32), values[slot])
        if len(levels) == 1:
            levels = np.array([0.0, np.inf], dtype=np.float32)
        all_levels.append(levels.astype(np.float64))
        all_reach.append(Masks.from_columns(values[slot] >= levels[:, None]).words)
        first_of.append(first_of[-1] + len(levels))
    return np.array(first_of, dtype=np.int32), np.concatenate(all_levels), np.concatenate(all_reach)


def head_for(classifier: BaseEstimator, weighting: Weighting, n_columns: int) -> Head | str:
    """The head for a fitted classifier, or why there is none."""
    module, name = type(classifier).__module__, type(classifier).__name__
    if module.startswith("sklearn.") and name in ("LogisticRegression", "LogisticRegressionCV"):
        return linear_head(classifier)
    if name in ("MLPClassifier", "MlpClassifier"):
        return _mlp(classifier)
    if weighting.norm is not None or weighting.signed:
        return f"{name} on rows with a norm or with negative values has no fast path"
    ensemble = flatten(classifier)
    # Texts are walked in single precision; where that would round what the model compares, the model is asked.
    if (
        ensemble is None
        or ensemble.link not in ("identity", "logistic", "softmax")
        or ensemble.sets is not None
        or not (ensemble.single or module.startswith("verax."))
    ):
        return f"{name} has no fast path"
    return TreeHead.of(ensemble, n_columns)


def linear_head(classifier: BaseEstimator) -> LinearHead | str:
    """The head for scikit-learn's logistic regression, or why there is none."""
    weights = np.ascontiguousarray(np.asarray(classifier.coef_, dtype=np.float64).T)
    if getattr(classifier, "multi_class", None) == "ovr" and weights.shape[1] > 1:
        return "one-versus-rest logistic regression has no fast path"
    return LinearHead(weights, np.asarray(classifier.intercept_, dtype=np.float64))


def _mlp(classifier: BaseEstimator) -> Head | str:
    activation = getattr(classifier, "activation", "relu")  # our own has no other
    if len(classifier.coefs_) != 2 or activation not in ("relu", "tanh", "logistic", "identity"):
        return "a network with more than one hidden layer has no fast path"
    return MlpHead(
        np.ascontiguousarray(classifier.coefs_[0], dtype=np.float32),
        np.asarray(classifier.intercepts_[0], dtype=np.float32),
        np.asarray(classifier.coefs_[1], dtype=np.float64),
        np.asarray(classifier.intercepts_[1], dtype=np.float64),
        activation,
    )
