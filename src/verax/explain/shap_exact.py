"""Shapley values with a closed form: what trees and linear models add up, and probabilities that are such sums."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.special import expit

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import Scored, Targets, attribution, slices
from verax.models.base import Inputs, Model
from verax.perturb.dispatch import path_for
from verax.perturb.leaf_sums import TextTrees
from verax.perturb.masks import Path, Prepared, all_masks
from verax.perturb.paths.bag_of_words import BagPath
from verax.perturb.paths.bags import Bag, LinearHead, TreeHead, word_weights
from verax.perturb.paths.composition import Separable
from verax.perturb.paths.ensembles import NUMBERS, Ensemble
from verax.perturb.paths.tables import TablePath, TableRow
from verax.perturb.paths.tree_walks import DIGITS
from verax.perturb.shapley import TreeGame, interactions_from_all, leaf_weights, shapley_from_all

# How far the values may miss the model's own prediction before the closed form is not trusted.
SUM_TOLERANCE = 1e-5
# All coalitions of so many features are asked about, where there is no closed form.
ENUMERATED = 12
# What is a sum over leaves, by what is made of it.
SUMS = {
    "identity": ("probability", "raw"),
    "logistic": ("log-odds", "raw"),
    "softmax": ("raw",),
    "number": ("number", "raw"),
    "exp": ("raw",),
    "isolation": ("raw",),
}


@dataclass(frozen=True)
class ShapOptions:
    """What is to be explained, and what stands for absence; see :class:`verax.explain.Shap`."""

    output: str
    background: str = "rows"
    interactions: bool = False


@dataclass(frozen=True, eq=False)
class Exact:
    """Shapley values of each of a model's outputs, the outputs with nothing present, and halves of interactions.

    Where there is one output for two classes, ``whole`` is what both of them add up to.
    """

    shapley: FloatArray
    base: FloatArray
    whole: float | None = None
    pairs: FloatArray | None = None


R_contra = TypeVar("R_contra", bound=Prepared, contravariant=True)


class Solver(Protocol[R_contra]):
    """A closed form for one model."""

    @property
    def route(self) -> str:
        """The word for it in results."""

    def solve(self, ready: Sequence[R_contra]) -> list[Exact | None]:
        """The values for prepared inputs; None for one where the closed form does not hold."""


def explain_exactly(
    name: str, model: Model, inputs: Inputs, targets: Targets, asked: ShapOptions
) -> list[Attribution | None]:
    """An explanation for each input that has a closed form, None for each that has not.

    Args:
        name: the explainer as code.
        model: the model.
        inputs: its inputs.
        targets: the class to explain for each input; the predicted one where None.
        asked: what is explained.
    """
    path = path_for(model)
    solver = _solver(path, asked)
    if solver is None:
        _refuse(asked, model)
        return [None] * len(inputs)
    explanations: list[Attribution | None] = []
    for part, wanted in slices(inputs, targets):
        started = time.perf_counter()
        prepared = path.prepare(part)
        found = solver.solve(prepared)
        cost = Cost(0, 0, (time.perf_counter() - started) / len(part))
        for given, ready, exact, target in zip(part, prepared, found, wanted, strict=True):
            if exact is None:
                explanations.append(None)
                continue
            chosen = _predicted(exact) if target is None else target
            scored = _for_target(exact, chosen)
            scored.details.update(output=asked.output, route=solver.route, path=path.name)
            explanations.append(attribution(name, model, given, ready.features, chosen, scored, cost))
    return explanations


def _refuse(asked: ShapOptions, model: Model) -> None:
    """Says what cannot be had otherwise; nothing where coalitions can be asked about instead."""
    kind = type(model).__name__
    if asked.background == "paths":
        raise VeraxError(
            f"background='paths' takes what the model's own trees say of its training rows, and this {kind} shows no "
            "trees that are read column by column and say it, or more than "
            f"{ENUMERATED} columns with an output that is no sum over trees (output='raw' is one); use "
            "background='rows'."
        )
    if asked.output == "raw":
        raise VeraxError(
            f"output='raw' is the sum that trees or a linear model make before it becomes a probability, and this "
            f"{kind} shows none; use output='probability' or 'log-odds'."
        )


def _predicted(exact: Exact) -> int:
    # A tie of trees stays one, however their shares were added up: the first class is predicted.
    outputs = (exact.base + exact.shapley.sum(axis=1)).round(DIGITS)
    if len(outputs) > 1 or exact.whole is None:
        return int(np.argmax(outputs))
    return int(outputs[0] > exact.whole / 2.0)


def _for_target(exact: Exact, target: int) -> Scored:
    """One class's values; where a single output is that of the second class, the first has what is left."""
    place, sign, start = target, 1.0, 0.0
    if exact.whole is not None:
        place = 0
        if target == 0:
            sign, start = -1.0, exact.whole
    details: dict[str, object] = {"base": start + sign * float(exact.base[place])}
    if exact.pairs is not None:
        # On the diagonal stands what is left of a feature's value without its interactions.
        pairs = sign * exact.pairs[place]
        np.fill_diagonal(pairs, 0.0)
        np.fill_diagonal(pairs, sign * exact.shapley[place] - pairs.sum(axis=1))
        details["interactions"] = pairs.tolist()
    return Scored(sign * exact.shapley[place], details)


def _whole(ensemble: Ensemble) -> float | None:
    """What two classes add up to where one output stands for both; None where each class has its own."""
    if len(ensemble.base) > 1 or ensemble.link in NUMBERS:
        return None
    return 1.0 if ensemble.link == "identity" else 0.0


def _solver(path: Path[Any], asked: ShapOptions) -> Solver[Any] | None:
    if isinstance(path, BagPath) and asked.background == "rows" and not asked.interactions:
        if isinstance(path.head, TreeHead) and asked.output in SUMS.get(path.head.ensemble.link, ()):
            trees = TextTrees.from_ensemble(path.head.ensemble, path.lexicon.n_columns)
            return TextTreeSolver(trees, trees.outputs_of_nothing())
        if isinstance(path.head, LinearHead) and asked.output in SUMS["logistic"]:
            return TextLinear(path.head) if path.head.weights.shape[1] == 1 else None
    return _table_solver(path, asked) if isinstance(path, TablePath) else None


@dataclass(frozen=True, eq=False)
class TextTreeSolver:
    """Trees on bags of words."""

    trees: TextTrees
    base: FloatArray
    route: str = "trees"

    def solve(self, ready: Sequence[Bag]) -> list[Exact | None]:
        """Shapley values of the leaves; None if two words feed one column or there are very many words."""
        return [self._one(bag) if self.trees.takes(bag) else None for bag in ready]

    def _one(self, bag: Bag) -> Exact:
        shares = self.trees.leaf_sums(bag, leaf_weights(len(bag.features))).shares
        return Exact(shares, self.base, _whole(self.trees.ensemble))


@dataclass(frozen=True, eq=False)
class TextLinear:
    """Logistic regression in log-odds: a word's value is what it adds."""

    head: LinearHead
    route: str = "linear"

    def solve(self, ready: Sequence[Bag]) -> list[Exact | None]:
        """What each word adds; None where rows are not sums over words."""
        return [
            Exact(word_weights(bag, self.head.weights).T, self.head.intercept, 0.0)
            if bag.additive and bag.weighting.norm is None
            else None
            for bag in ready
        ]


def _table_solver(path: TablePath, asked: ShapOptions) -> Solver[TableRow] | None:
    if path.trees is not None:
        game, link = path.game, path.trees.ensemble.link
        sums = asked.output in SUMS.get(link, ())
        if asked.background == "paths":
            if not game.has_paths or not (sums or (link in SUMS and game.n_features <= ENUMERATED)):
                return None
            return TablePaths(path, game, None if sums else asked.output, asked.interactions)
        return TableTrees(path, game, asked.interactions) if sums else None
    if asked.background == "paths" or asked.interactions or path.seen is None:
        return None
    classifier = path.seen.classifier
    linear = type(classifier).__name__ in LINEAR and np.ndim(classifier.coef_) <= 2
    number = path.model.output == "number"
    if not linear or asked.output not in SUMS["number" if number else "logistic"]:
        return None
    if np.ndim(classifier.coef_) == 2 and len(classifier.coef_) != 1:
        return None
    return TableLinear(path, path.seen, path.seen.transform(path.background).mean(axis=0))


LINEAR = (
    "LogisticRegression", "LinearRegression", "Ridge", "Lasso", "ElasticNet", "RidgeCV", "LassoCV",
    "ElasticNetCV",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TableTrees:
    """Trees on rows of a table; an absent column takes the background's values, which are averaged."""

    path: TablePath
    game: TreeGame
    interactions: bool = False
    route: str = "trees"

    def solve(self, ready: Sequence[TableRow]) -> list[Exact | None]:
        """Shapley values of the leaves; None where they do not add up to the model's own answer."""
        rows = [row.read for row in ready if row.read is not None]
        if len(rows) < len(ready) or not rows:
            return [None] * len(ready)
        shapley, pairs = self.game.against_background(np.stack(rows), interactions=self.interactions)
        base, ensemble = self.game.background_output, self.game.ensemble
        outputs = base + shapley.sum(axis=2)
        answers = ensemble.probabilities((outputs - ensemble.base).T)
        return [
            Exact(shapley[number], base, _whole(ensemble), pairs[number] if self.interactions else None)
            if _same(answers[number], own)
            else None
            for number, own in enumerate(self.path.own_answers(ready))
        ]


@dataclass(frozen=True, eq=False)
class TablePaths:
    """Trees on rows of a table; at a node whose column is absent a row goes both ways, as training rows did.

    Attributes:
        link: "probability" or "log-odds" where that is no sum over leaves: then all coalitions are asked about.
    """

    path: TablePath
    game: TreeGame
    link: str | None
    interactions: bool = False

    @property
    def route(self) -> str:
        """The word for it in results."""
        return "paths" if self.link is None else "paths, enumeration"

    def solve(self, ready: Sequence[TableRow]) -> list[Exact | None]:
        """Shapley values by the trees' own paths."""
        rows = [row.read for row in ready if row.read is not None]
        if len(rows) < len(ready) or not rows:
            return [None] * len(ready)
        if self.link is not None:
            return [self._enumerated(row) for row in rows]
        game = self.game
        shapley, pairs = game.along_paths(np.stack(rows), interactions=self.interactions)
        nothing = game.path_outputs(rows[0], np.zeros((1, game.n_features), dtype=np.bool_))[:, 0]
        return [
            Exact(values, nothing, _whole(game.ensemble), pairs[number] if self.interactions else None)
            for number, values in enumerate(shapley)
        ]

    def _enumerated(self, row: FloatArray) -> Exact:
        masks = all_masks(self.game.n_features)
        sums = self.game.path_outputs(row, masks.rows())
        answers = self.game.ensemble.probabilities(sums - self.game.ensemble.base[:, None])
        if self.link == "log-odds":
            answers = log_odds(answers)
        shapley = np.stack([shapley_from_all(masks, values) for values in answers.T])
        pairs = (
            np.stack([interactions_from_all(values) for values in answers.T]) if self.interactions else None
        )
        return Exact(shapley, answers[0], None, pairs)


@dataclass(frozen=True, eq=False)
class TableLinear:
    """A linear model on rows of a table, before its link: weight times difference from the background's mean."""

    path: TablePath
    seen: Separable
    mean: FloatArray
    route: str = "linear"

    def solve(self, ready: Sequence[TableRow]) -> list[Exact | None]:
        """What each column adds to the background's mean; None where that is not the model's own answer."""
        if not ready:
            return []
        weights = np.ravel(self.seen.classifier.coef_)
        rows = self.seen.transform(np.stack([row.values for row in ready]))
        owner = self.path.feature_owner(self.seen.owner)
        owned = owner >= 0
        base = np.ravel(self.seen.classifier.intercept_) + weights @ self.mean
        number = self.path.model.output == "number"
        found: list[Exact | None] = []
        owns = self.path.own_answers(ready)
        for row, own, parts in zip(ready, owns, weights * (rows - self.mean), strict=True):
            shapley = np.zeros(len(row.features))
            np.add.at(shapley, owner[owned], parts[owned])
            total = base[0] + shapley.sum()
            answer = np.array([total]) if number else np.array([1.0 - expit(total), expit(total)])
            holds = abs(parts[~owned].sum()) <= SUM_TOLERANCE and _same(answer, own)
            found.append(Exact(shapley[None], base, None if number else 0.0) if holds else None)
        return found


def log_odds(probabilities: FloatArray) -> FloatArray:
    """log(p / (1 - p)); probabilities nearer to 0 or 1 than 1e-9 count as that near, so that it stays finite."""
    inside = np.clip(probabilities, 1e-9, 1.0 - 1e-9)
    odds: FloatArray = np.log(inside) - np.log1p(-inside)
    return odds


def _same(answer: FloatArray, own: FloatArray) -> bool:
    """Whether base and values make the model's own answer; the preprocessing may hold surprises."""
    return bool(np.abs(answer - own).max() <= SUM_TOLERANCE * max(1.0, float(np.abs(own).max())))
