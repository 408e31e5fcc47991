"""Shapley values with a closed form: trees and forests, and linear models and boosted trees in log-odds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.special import expit

from verax.arrays import FloatArray
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import Scored, Targets, attribution
from verax.models.base import Inputs, Model
from verax.perturb.dispatch import path_for
from verax.perturb.evaluate import Path, Prepared
from verax.perturb.leaf_sums import TextTrees, leaf_sums
from verax.perturb.paths.bag_of_words import BagPath
from verax.perturb.paths.bags import Bag, word_weights
from verax.perturb.paths.ensembles import Ensemble
from verax.perturb.paths.heads import LinearHead, TreeHead
from verax.perturb.paths.separable import Separable, separable
from verax.perturb.paths.tables import TablePath, TableRow
from verax.perturb.paths.tree_readers import flatten
from verax.perturb.shapley import leaf_weights

# How far the values may miss the model's own prediction before the closed form is not trusted.
SUM_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Exact:
    """Shapley values of each of a model's outputs, and the outputs with nothing present."""

    shapley: FloatArray
    base: FloatArray


R_contra = TypeVar("R_contra", bound=Prepared, contravariant=True)


class Solver(Protocol[R_contra]):
    """A closed form for one model."""

    @property
    def route(self) -> str:
        """The word for it in results."""

    def solve(self, ready: R_contra) -> Exact | None:
        """The values for a prepared input; None where the closed form does not hold for it."""


def explain_exactly(
    name: str, model: Model, inputs: Inputs, targets: Targets, output: str
) -> list[Attribution | None]:
    """An explanation for each input that has a closed form, None for each that has not.

    Args:
        name: the explainer as code.
        model: the model.
        inputs: its inputs.
        targets: the class to explain for each input; the predicted one where None.
        output: what is explained, "probability" or "log-odds" of the target.
    """
    path = path_for(model)
    solver = _solver(path, output)
    if solver is None:
        return [None] * len(inputs)
    explanations: list[Attribution | None] = []
    for given, target in zip(inputs, targets, strict=True):
        started = time.perf_counter()
        ready = path.prepare([given])[0]
        exact = solver.solve(ready)
        if exact is None:
            explanations.append(None)
            continue
        outputs = exact.base + exact.shapley.sum(axis=1)
        if target is None:
            target = _predicted(outputs, output)  # noqa: PLW2901
        scores, base = _for_target(exact, target, output)
        details = {"output": output, "route": solver.route, "base": base, "path": path.name}
        cost = Cost(0, 0, time.perf_counter() - started)
        explanations.append(
            attribution(name, model, given, ready.features, target, Scored(scores, details), cost)
        )
    return explanations


def _predicted(outputs: FloatArray, output: str) -> int:
    if len(outputs) > 1:
        return int(np.argmax(outputs))
    return int(outputs[0] > (0.5 if output == "probability" else 0.0))


def _for_target(exact: Exact, target: int, output: str) -> tuple[FloatArray, float]:
    """One class's values; with a single output it is the second class, and the first is what is left of 1, or of 0."""
    if len(exact.base) > 1:
        return exact.shapley[target], float(exact.base[target])
    if target == 1:
        return exact.shapley[0], float(exact.base[0])
    return -exact.shapley[0], float((1.0 if output == "probability" else 0.0) - exact.base[0])


def _solver(path: Path[Any], output: str) -> Solver[Any] | None:
    if isinstance(path, BagPath) and isinstance(path.head, TreeHead):
        ensemble = path.head.ensemble
        if _explains(ensemble, output):
            trees = TextTrees.of(ensemble, path.lexicon.n_columns)
            return TextTreeSolver(trees, trees.outputs_of_nothing())
    if isinstance(path, BagPath) and isinstance(path.head, LinearHead) and output == "log-odds":
        return TextLinear(path.head) if path.head.weights.shape[1] == 1 else None
    if isinstance(path, TablePath):
        return _table_solver(path, output)
    return None


def _explains(ensemble: Ensemble, output: str) -> bool:
    """Whether the summed leaves are what is to be explained."""
    return ensemble.link == ("identity" if output == "probability" else "logistic")


@dataclass(frozen=True, eq=False)
class TextTreeSolver:
    """Trees on bags of words."""

    trees: TextTrees
    base: FloatArray
    route: str = "trees"

    def solve(self, ready: Bag) -> Exact | None:
        """Shapley values of the leaves; None if two words feed one column or there are very many words."""
        if not self.trees.takes(ready):
            return None
        return Exact(self.trees.leaf_sums(ready, leaf_weights(len(ready.features))).shares, self.base)


@dataclass(frozen=True, eq=False)
class TextLinear:
    """Logistic regression in log-odds: a word's value is what it adds."""

    head: LinearHead
    route: str = "linear"

    def solve(self, ready: Bag) -> Exact | None:
        """What each word adds; None where rows are not sums over words."""
        if not ready.additive or ready.weighting.norm is not None:
            return None
        return Exact(word_weights(ready, self.head.weights).T, self.head.intercept)


def _table_solver(path: TablePath, output: str) -> Solver[TableRow] | None:
    seen = separable(path.model, path.background) if path.trees is None else path.trees.seen
    if seen is None:
        return None
    name = type(seen.classifier).__name__
    if name == "LogisticRegression" and output == "log-odds" and len(seen.classifier.coef_) == 1:
        return TableLinear(path, seen, seen.transform(path.background).mean(axis=0))
    ensemble = flatten(seen.classifier) if path.trees is None else path.trees.ensemble
    if ensemble is None or not _explains(ensemble, output):
        return None
    background = ensemble.read(seen.transform(path.background, ensemble.absent))
    base = np.mean([_outputs_of_row(ensemble, row) for row in background], axis=0)
    return TableTrees(path, seen, ensemble, background, base)


@dataclass(frozen=True, eq=False)
class TableTrees:
    """Trees on rows of a table; an absent column takes the background's values, which are averaged."""

    path: TablePath
    seen: Separable
    ensemble: Ensemble
    background: FloatArray
    base: FloatArray
    route: str = "trees"

    def solve(self, ready: TableRow) -> Exact | None:
        """Shapley values of the leaves; None if they do not add up to the model's own answer."""
        present = ready.read
        if present is None:
            present = self.ensemble.read(self.seen.transform(ready.values[None], self.ensemble.absent))[0]
        owner = self.ensemble.owners(self.seen.owner)
        n_features = len(ready.features)
        shapley = np.mean(
            [
                leaf_sums(self.ensemble, present, absent, owner, n_features, leaf_weights(n_features)).shares
                for absent in self.background
            ],
            axis=0,
        )
        outputs = self.base + shapley.sum(axis=1) - self.ensemble.base
        probabilities = self.ensemble.probabilities(outputs[:, None])[0]
        return Exact(shapley, self.base) if _adds_up(self.path, ready, probabilities) else None


@dataclass(frozen=True, eq=False)
class TableLinear:
    """Logistic regression on rows of a table in log-odds: weight times difference from the background's mean."""

    path: TablePath
    seen: Separable
    mean: FloatArray
    route: str = "linear"

    def solve(self, ready: TableRow) -> Exact | None:
        """What each column adds to the background's mean log-odds; None if that is not the model's own answer."""
        weights = self.seen.classifier.coef_[0]
        parts = weights * (self.seen.transform(ready.values[None])[0] - self.mean)
        owned = self.seen.owner >= 0
        shapley = np.zeros(len(ready.features))
        np.add.at(shapley, self.seen.owner[owned], parts[owned])
        if abs(parts[~owned].sum()) > SUM_TOLERANCE:
            return None
        base = self.seen.classifier.intercept_ + weights @ self.mean
        chance = expit(base[0] + shapley.sum())
        adds_up = _adds_up(self.path, ready, np.array([1.0 - chance, chance]))
        return Exact(shapley[None], base) if adds_up else None


def _adds_up(path: TablePath, ready: TableRow, probabilities: FloatArray) -> bool:
    """Whether base and values make the model's own probabilities; the preprocessing may hold surprises."""
    own = path.model.predict_proba(ready.values[None])[0]
    return bool(np.abs(probabilities - own).max() <= SUM_TOLERANCE)


def _outputs_of_row(ensemble: Ensemble, row: FloatArray) -> FloatArray:
    """The summed leaves of one row, with the base."""
    trees = ensemble.trees
    nodes = trees.roots.copy()
    while True:
        inner = trees.left[nodes] >= 0
        if not inner.any():
            break
        at = nodes[inner]
        value = row[trees.column[at]]
        left = np.where(np.isnan(value), trees.missing_left[at], value <= trees.threshold[at])
        nodes[inner] = np.where(left, trees.left[at], trees.right[at])
    outputs: FloatArray = trees.values[nodes].sum(axis=0) + ensemble.base
    return outputs
