"""The ground-truth explanation of models that can be read: a logistic regression's terms, a tree's path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain import Attribution, Explainer
from verax.explain.base import Target, check_targets
from verax.explain.perturbed import shown_input
from verax.models import Model
from verax.models.base import Inputs
from verax.perturb import path_for
from verax.perturb.paths.bag_of_words import BagPath
from verax.perturb.paths.bags import Bag
from verax.perturb.paths.tables import TablePath, TableRow

NAME = "ground-truth"
READABLE = ("LogisticRegression", "DecisionTreeClassifier")


def readable(model: Model) -> bool:
    """Whether the model's own reasons can be read off."""
    return type(_classifier(model)).__name__ in READABLE


@dataclass(frozen=True)
class GroundTruth(Explainer):
    """What the model itself uses (research question 2 of the paper).

    Logistic regression: each feature's term, weight times value (minus the background's mean value for a column). A
    tree: the features that are tested on the input's path, each with the change of the target's probability over the
    nodes that test it; features off the path score 0.
    """

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Reads the model; it is asked for nothing but the predicted class."""
        classifier = _classifier(model)
        if type(classifier).__name__ not in READABLE:
            raise VeraxError(
                f"The reasons of a {type(classifier).__name__} cannot be read off; the ground truth is known for "
                "logistic regression and decision trees."
            )
        wanted = check_targets(model, inputs, targets)
        predicted = np.argmax(model.predict_proba(list(inputs)), axis=1) if len(inputs) else []
        path = path_for(model)
        explanations = []
        prepared = path.prepare(inputs)
        seen = _read(path, classifier, prepared)
        for given, ready, target, guess, (values, owner) in zip(
            inputs, prepared, wanted, predicted, seen, strict=True
        ):
            chosen = int(guess) if target is None else target
            per_column = _terms(classifier, values, chosen)
            scores = np.zeros(len(ready.features))
            owned = owner >= 0
            np.add.at(scores, owner[owned], per_column[owned])
            explanations.append(
                Attribution(
                    ready.features,
                    scores,
                    chosen,
                    model.class_names[chosen],
                    shown_input(model, given),
                    explainer=repr(self),
                )
            )
        return explanations


def _classifier(model: Model) -> Any:
    classifier = getattr(model, "classifier", getattr(model, "estimator", None))
    return getattr(classifier, "steps", [(None, classifier)])[-1][1]


def _read(path: Any, classifier: Any, prepared: Sequence[Any]) -> Iterator[tuple[FloatArray, Any]]:
    """What the classifier sees of each prepared input, and which feature each number belongs to."""
    if isinstance(path, BagPath):
        return (_read_text(path, bag) for bag in prepared)
    if isinstance(path, TablePath) and path.seen is not None:
        # All rows at once: a pipeline takes milliseconds to be called, however few the rows are.
        rows: list[TableRow] = list(prepared)
        values = path.seen.transform(np.stack([row.values for row in rows])) if rows else np.zeros((0, 0))
        if type(classifier).__name__ == "LogisticRegression":
            values = values - path.seen.transform(path.background).mean(axis=0)
        owner = path.feature_owner(path.seen.owner)
        return ((row, owner) for row in values)
    raise VeraxError("The features of this model cannot be told apart, so its reasons cannot be read off.")


def _read_text(path: BagPath, bag: Bag) -> tuple[FloatArray, Any]:
    values = np.zeros(path.lexicon.n_columns)
    owner = np.full(path.lexicon.n_columns, -1)
    values[bag.columns[bag.slots]] = bag.values
    owner[bag.columns[bag.slots]] = bag.words
    return values, owner


def _terms(classifier: Any, values: FloatArray, target: int) -> FloatArray:
    """The part of each number in the prediction of the target."""
    if type(classifier).__name__ == "LogisticRegression":
        weights = classifier.coef_
        if len(weights) == 1:
            terms: FloatArray = (1.0 if target == 1 else -1.0) * weights[0] * values
            return terms
        return np.asarray(weights[target] * values)
    tree = classifier.tree_
    terms = np.zeros(len(values))
    node = 0
    shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
    single = values.astype(np.float32)
    while tree.children_left[node] >= 0:
        column = tree.feature[node]
        child = (
            tree.children_left[node] if single[column] <= tree.threshold[node] else tree.children_right[node]
        )
        terms[column] += shares[child, target] - shares[node, target]
        node = child
    return terms
