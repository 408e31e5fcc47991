"""Four learners that take explanations as a prior on features, and decide by themselves how far they believe it.

An explanation of an example says which features mattered. Over all examples that is an importance of each feature, by
which features are stretched (or, for a tree, left out): a stretched feature costs less to use. How far, not at all
among the choices, is found on the learner's own examples by leaving some of them out: a student that is given nonsense
can say so. Without explanations the same learner has the same choices but this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.seeds import stream

# How far features are stretched by their importance, times the importance over the largest one; 0 is not at all.
STRENGTHS = (0.0, 3.0, 10.0)
# The penalties of the linear learner.
PENALTIES = (0.3, 3.0, 30.0)
# A tree may look at all features, or at so many of the most important ones.
KEPT = (0, 2, 5)
NEIGHBOURS = 3
# Of the network: units, gradient steps, their size, the penalty on weights.
HIDDEN, STEPS, RATE, PENALTY = 8, 100, 0.05, 0.003
FOLDS = 4
# A prior is believed if it lowers the error on examples left out by so large a share of it: chance does so, a little.
MARGIN = 0.1

# From examples, their answers (0 or 1), importances (None without explanations), and test inputs, to answers.
Learner = Callable[[FloatArray, IntArray, "FloatArray | None", FloatArray], IntArray]


def importance(scores: Sequence[FloatArray], present: FloatArray) -> FloatArray:
    """The importance of each feature, from 0 to 1 for the most important one.

    Each explanation's sizes sum to 1. A feature is important as far as it gets more than an equal share of that, summed
    over the examples that have it and divided by the root of their number: features that are merely frequent get
    nothing out of explanations that say nothing.

    Args:
        scores: for each example, one score per feature of all examples; 0 for what it does not have.
        present: (examples, features), above 0 for what an example has.
    """
    there = present > 0
    excess = np.zeros(present.shape[1])
    for own, has in zip(scores, there, strict=True):
        size = float(np.abs(own).sum())
        if size > 0:
            excess += np.where(has, np.abs(own) / size - 1.0 / max(1, int(has.sum())), 0.0)
    more = np.maximum(excess / np.sqrt(np.maximum(1, there.sum(axis=0))), 0.0)
    return np.asarray(more / (more.max(initial=0.0) or 1.0))


def _believed(errors: Sequence[float]) -> int:
    """Which choice has the smallest error; the first, without explanations, unless another is clearly better."""
    best = int(np.argmin(errors))
    return best if errors[best] < (1 - MARGIN) * errors[0] - 1e-12 else 0


def linear(rows: FloatArray, answers: IntArray, prior: FloatArray | None, tested: FloatArray) -> IntArray:
    """Ridge regression on stretched features; its penalty and the stretch by the error of leaving one out, exactly."""
    signs = 2.0 * answers - 1.0
    centre, mean = rows.mean(axis=0), signs.mean()
    found: list[tuple[float, FloatArray]] = []
    for strength in STRENGTHS if prior is not None else STRENGTHS[:1]:
        scale = np.ones(rows.shape[1]) if prior is None else 1.0 + strength * prior
        seen, asked = (rows - centre) * scale, (tested - centre) * scale
        products = seen @ seen.T
        best: tuple[float, FloatArray] | None = None
        for penalty in PENALTIES:
            hat = products @ np.linalg.inv(products + penalty * np.eye(len(rows))) + 1.0 / len(rows)
            left_out = (signs - (hat @ (signs - mean) + mean)) / np.maximum(1e-9, 1.0 - np.diag(hat))
            error = float(np.mean(left_out**2))
            if best is None or error < best[0]:
                weights = np.linalg.solve(products + penalty * np.eye(len(rows)), signs - mean)
                best = error, asked @ (seen.T @ weights) + mean
        assert best is not None
        found.append(best)
    chosen = found[_believed([error for error, _ in found])][1]
    return (chosen > 0).astype(np.int64)


def neighbour(rows: FloatArray, answers: IntArray, prior: FloatArray | None, tested: FloatArray) -> IntArray:
    """The answer of most of the three nearest examples, by the angle between stretched features."""
    found: list[tuple[float, IntArray]] = []
    for strength in STRENGTHS if prior is not None else STRENGTHS[:1]:
        scale = np.ones(rows.shape[1]) if prior is None else 1.0 + strength * prior
        seen, asked = _unit(rows * scale), _unit(tested * scale)
        own = seen @ seen.T
        np.fill_diagonal(own, -np.inf)
        votes = _votes(own, answers)
        error = float(np.mean((answers - votes) ** 2))
        found.append((error, (_votes(asked @ seen.T, answers) > 0.5).astype(np.int64)))
    return found[_believed([error for error, _ in found])][1]


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _votes(similarity: FloatArray, answers: IntArray) -> FloatArray:
    nearest: IndexArray = np.argsort(-similarity, axis=1, kind="stable")[:, :NEIGHBOURS]
    return np.asarray(answers[nearest].mean(axis=1))


def tree(rows: FloatArray, answers: IntArray, prior: FloatArray | None, tested: FloatArray) -> IntArray:
    """A decision tree on all features, or on the most important ones."""
    from sklearn.tree import DecisionTreeClassifier

    def fit(some: FloatArray, own: IntArray, asked: FloatArray, kept: int) -> FloatArray:
        columns = np.arange(some.shape[1])
        if kept and prior is not None:
            columns = np.sort(np.argsort(-prior, kind="stable")[:kept])
        grown = DecisionTreeClassifier(max_depth=4, min_samples_leaf=2, random_state=0)
        return _chance(grown.fit(some[:, columns], own), asked[:, columns])

    return _chosen_by_folds(rows, answers, tested, KEPT if prior is not None else KEPT[:1], fit)


def network(rows: FloatArray, answers: IntArray, prior: FloatArray | None, tested: FloatArray) -> IntArray:
    """One hidden layer of eight units on stretched features, trained by gradient steps with a penalty."""
    found: list[tuple[float, FloatArray]] = []
    folds = _folds(len(rows))
    for strength in (STRENGTHS[0], STRENGTHS[-1]) if prior is not None else STRENGTHS[:1]:
        scale = np.ones(rows.shape[1]) if prior is None else 1.0 + strength * prior
        # Gradients lie in the span of the examples, so that as many coordinates as there are examples are enough.
        _, sizes, directions = np.linalg.svd(rows * scale, full_matrices=False)
        kept = directions[sizes > 1e-9 * sizes.max(initial=0.0)].T
        seen, asked = (rows * scale) @ kept, (tested * scale) @ kept
        # One network for each fold, without it, and one for all examples; all of them are trained at once.
        counted = np.array([folds != fold for fold in range(FOLDS)] + [np.ones(len(rows), dtype=np.bool_)])
        chances = _trained(seen, answers, counted.astype(np.float64), np.concatenate([seen, asked]))
        left_out = chances[folds, np.arange(len(rows))]
        found.append((float(np.mean((answers - left_out) ** 2)), chances[-1, len(rows) :]))
    chosen = found[_believed([error for error, _ in found])][1]
    return (chosen > 0.5).astype(np.int64)


def _trained(seen: FloatArray, answers: IntArray, counted: FloatArray, asked: FloatArray) -> FloatArray:
    """The chances of answer 1 by several networks, each trained on the examples that count for it (Adam)."""
    several, width = len(counted), seen.shape[1]
    rng = stream(0, "student network", width)
    unit = float(np.sqrt((seen**2).sum(axis=1).mean())) or 1.0
    first = np.repeat(rng.normal(0.0, 1.0 / np.sqrt(max(1, width)), (1, width, HIDDEN)), several, axis=0)
    last = np.repeat(rng.normal(0.0, 1.0 / np.sqrt(HIDDEN), (1, HIDDEN, 1)), several, axis=0)
    weights = [first, np.zeros((several, 1, HIDDEN)), last, np.zeros((several, 1, 1))]
    means, squares = [np.zeros_like(one) for one in weights], [np.zeros_like(one) for one in weights]
    inputs, shares = seen / unit, counted / counted.sum(axis=1, keepdims=True)
    for step in range(1, STEPS + 1):
        hidden = np.tanh(inputs @ weights[0] + weights[1])
        chances = 1.0 / (1.0 + np.exp(-np.clip((hidden @ weights[2] + weights[3])[:, :, 0], -30, 30)))
        error = (shares * (chances - answers))[:, :, None]
        back = (error @ weights[2].transpose(0, 2, 1)) * (1.0 - hidden**2)
        gradients = [
            inputs.T @ back + PENALTY * weights[0],
            back.sum(axis=1, keepdims=True),
            hidden.transpose(0, 2, 1) @ error + PENALTY * weights[2],
            error.sum(axis=1, keepdims=True),
        ]
        for place, gradient in enumerate(gradients):
            means[place] = 0.9 * means[place] + 0.1 * gradient
            squares[place] = 0.99 * squares[place] + 0.01 * gradient**2
            moved = means[place] / (1 - 0.9**step) / (np.sqrt(squares[place] / (1 - 0.99**step)) + 1e-8)
            weights[place] = weights[place] - RATE * moved
    hidden = np.tanh(asked / unit @ weights[0] + weights[1])
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip((hidden @ weights[2] + weights[3])[:, :, 0], -30, 30))))


def _chance(fitted: object, asked: FloatArray) -> FloatArray:
    """The probability of answer 1, whatever answers the learner has seen."""
    classes = list(fitted.classes_)  # type: ignore[attr-defined]
    if 1 not in classes:
        return np.zeros(len(asked))
    found: FloatArray = fitted.predict_proba(asked)[:, classes.index(1)]  # type: ignore[attr-defined]
    return found


def _chosen_by_folds(
    rows: FloatArray,
    answers: IntArray,
    tested: FloatArray,
    choices: Sequence[float],
    fit: Callable[..., FloatArray],
) -> IntArray:
    """Answers of the choice with the smallest squared error on folds of the examples."""
    errors = [0.0] * len(choices)
    if len(choices) > 1:
        folds = _folds(len(rows))
        for place, choice in enumerate(choices):
            for fold in range(FOLDS):
                inside, outside = folds != fold, folds == fold
                if outside.any():
                    found = fit(rows[inside], answers[inside], rows[outside], choice)
                    errors[place] += float(((answers[outside] - found) ** 2).sum())
    chosen = choices[_believed(errors) if len(choices) > 1 else 0]
    return (fit(rows, answers, tested, chosen) > 0.5).astype(np.int64)


def _folds(n: int) -> IndexArray:
    return stream(0, "folds", n).permutation(np.arange(n) % FOLDS)


LEARNERS: dict[str, Learner] = {
    "linear": linear,
    "tree": tree,
    "neighbour": neighbour,
    "network": network,
}
