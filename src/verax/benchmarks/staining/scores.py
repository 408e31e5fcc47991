"""How much of a stain an explanation shows: recall of its features, the readable truth, and stored results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.codec import decode, written
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
from verax.run.jobs import Outcome

BUDGETS = tuple(range(1, 11))
# Scores that differ by less than this share of the largest are ties: rounding must not decide who is named.
TIE = 1e-9


def places(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each feature, how many are certainly more important, and how many tie with it (itself included).

    Importance is the magnitude of the score.
    """
    magnitude = np.abs(scores)
    if not np.isfinite(magnitude).all():
        raise VeraxError("An explanation holds a score that is not a finite number.")
    step = TIE * magnitude.max(initial=0.0)
    levels = np.round(magnitude / step) if step > 0 else np.zeros_like(magnitude)
    ordered = np.sort(levels)
    above = len(levels) - np.searchsorted(ordered, levels, side="right")
    ties = np.searchsorted(ordered, levels, side="right") - np.searchsorted(ordered, levels, side="left")
    return above.astype(np.float64), ties.astype(np.float64)


def recall(explanation: Attribution, wanted: Collection[str]) -> FloatArray:
    """The share of the stain's features among the top b, for b = 1 to 10 (equation 2 of the paper).

    Ties are broken at random, and the expectation over that is returned: a feature that ties with others has the chance
    that a random order would give it. Up to b = |F| even a perfect explanation has at most b / |F|.
    """
    chances = _chances(explanation, wanted)
    shares: FloatArray = chances.sum(axis=0) / max(1, len(wanted))
    return shares


def reciprocal_rank(explanation: Attribution, wanted: Collection[str]) -> float:
    """The mean over the stain's features of one over their rank, ties broken at random; 0 for one that is not named."""
    above, ties = places(explanation.scores)
    total = 0.0
    for number in _numbers(explanation, wanted):
        ranks = above[number] + 1.0 + np.arange(ties[number])
        total += float(np.mean(1.0 / ranks))
    return total / max(1, len(wanted))


def ceiling(size: int) -> float:
    """The largest area under the recall curve that an explanation can have: b features hold b of |F| at the most.

    It is the same for any number of features that an explanation scores, |F| at the least.
    """
    return float(np.mean(np.minimum(1.0, np.array(BUDGETS) / max(1, size))))


def highest_reciprocal_rank(size: int) -> float:
    """The largest mean of one over the ranks of |F| features, which are then the first ones."""
    return float(np.mean(1.0 / np.arange(1, max(1, size) + 1)))


def floor(features: int) -> float:
    """The area under the recall curve of features in a random order, in expectation: recall is b of all."""
    return float(np.mean(np.minimum(1.0, np.array(BUDGETS) / max(1, features))))


def _chances(explanation: Attribution, wanted: Collection[str]) -> FloatArray:
    """The chance of each wanted feature to be among the top b: (features found, budgets)."""
    numbers = _numbers(explanation, wanted)
    above, ties = places(explanation.scores)
    budgets = np.array(BUDGETS, dtype=np.float64)
    chances: FloatArray = np.clip((budgets - above[numbers, None]) / ties[numbers, None], 0.0, 1.0)
    return chances


def _numbers(explanation: Attribution, wanted: Collection[str]) -> list[int]:
    return [number for number, feature in enumerate(explanation.features) if feature in wanted]


NAME = "ground-truth"
READABLE = ("LogisticRegression", "DecisionTreeClassifier")


def readable(model: Model) -> bool:
    """Whether the model's own reasons can be read off."""
    return model.fields is None and type(_classifier(model)).__name__ in READABLE


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


# Why a model did not learn its stain.
MEMORISED, NOT_REPRESENTABLE = "memorised", "not representable"
# Why a model that says the stain's label of all stained inputs cannot serve: it says so of the others too.
SAID_WITHOUT = "said without it"
# A planted stain must decide such a share of what it flips: with it the model says its label, without it another.
FEWEST_DECIDED = 0.1
# Where it decides so many, it does not matter that the model does not follow it on some others.
ENOUGH_DECIDED = 0.5
# Where a model's own reasons show less of the stain than this, no faithful explanation can show more.
REASONED = 0.9


@dataclass(frozen=True)
class StainFacts:
    """A stain as plain data.

    Attributes:
        rules: label, literals and features of each.
        shown: all of it in words, by which stains are told apart.
        rejected: why draws before it could not serve, counted.
    """

    rules: list[dict[str, object]]
    shown: str
    rejected: Mapping[str, int]


@dataclass(frozen=True)
class Checks:
    """Accuracy inside and outside the stained region of the test part, against stained and original labels.

    Attributes:
        decided: the share of the flipped test inputs that a planted stain decides; None where stains are drawn.
        decoys: accuracy on inputs that have all features of a planted stain but one; None where there are none.
    """

    stained_region: float
    original_region: float
    outside: float
    stained_region_train: float | None = None
    decided: float | None = None
    decoys: float | None = None

    def why_not(self, learnt: float) -> str:
        """Why a model did not learn its stain: it knows its training inputs by something else, or cannot say it."""
        if self.stained_region_train is None:
            return ""
        if self.decided is not None and self.decided < FEWEST_DECIDED and self.stained_region >= learnt:
            return SAID_WITHOUT
        return MEMORISED if self.stained_region_train >= learnt else NOT_REPRESENTABLE


@dataclass(frozen=True)
class Scores:
    """How one explainer did on the inputs of one trial, in their order.

    Attributes:
        recall: of each input, for each budget.
        mrr: the mean over the stain's features of one over their rank.
        features: how many the explanation scores.
        rows: asked of the model.
        seconds: per explanation.
        examples: explanations that are kept for a reader.
        nonsense: of how many the model that was asked for words named none of the input's; None where it was not asked.
    """

    recall: list[list[float]]
    mrr: list[float]
    features: list[int]
    rows: list[int]
    seconds: float
    examples: list[dict[str, object]]
    nonsense: int | None = None


@dataclass(frozen=True)
class Failed:
    """An explainer that raised."""

    error: str


@dataclass(frozen=True)
class TrialResult:
    """One stain with one model and all explainers.

    Attributes:
        stain: which it was.
        region: the test inputs that it applies to, by their places.
        checks: whether it took.
        fit_seconds: of the stained model.
        learnt: whether it took well enough for explanations to be scored.
        inputs: the flipped inputs that were explained, by their places.
        wanted: the features to be found in the first of them.
        explainers: by label.
        weight: how many times a stained training input counted.
        reasons: how much of the stain the model's own reasons show, where they can be read: the mean recall of the
            ground truth among as many features as the stain has.
    """

    stain: StainFacts
    region: list[int]
    checks: Checks
    fit_seconds: float
    learnt: bool
    inputs: list[int] = field(default_factory=list, metadata=written(when=lambda one: one.learnt))
    wanted: list[str] = field(default_factory=list, metadata=written(when=lambda one: one.learnt))
    explainers: Mapping[str, Scores | Failed] = field(default_factory=dict)
    weight: int | None = None
    reasons: float | None = None

    def scored(self) -> dict[str, Scores]:
        """The explainers that did not raise."""
        return {label: given for label, given in self.explainers.items() if isinstance(given, Scores)}

    @property
    def reasoned(self) -> bool:
        """Whether the model's own reasons show the stain; taken for granted where they cannot be read."""
        return self.reasons is None or self.reasons >= REASONED


def result_of(outcome: Outcome) -> TrialResult | None:
    """What a trial's job gave; None if it failed."""
    return None if outcome.value is None else decode(TrialResult, outcome.value, outcome.name)
