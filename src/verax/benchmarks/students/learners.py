"""What students learn from and are tested on, and four learners that take explanations as a prior on features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.benchmarks.measures.reasons import Reasoned
from verax.benchmarks.staining.stainable import taken
from verax.data import Bins
from verax.data.dataset import Inputs, contents
from verax.data.words import split_words
from verax.seeds import share, stream


@dataclass(frozen=True, eq=False)
class Items:
    """Inputs and what the model says of them.

    Attributes:
        inputs: texts or rows.
        answers: 1 where the model says the class that the reason leads to: students do not see names of classes.
        predicted: the class that it says.
        wanted: the features of each that the planted reason is made of, as far as it has them.
    """

    inputs: Inputs
    answers: IntArray
    predicted: IntArray
    wanted: list[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.answers)

    def take(self, places: Sequence[int]) -> Items:
        """Some of them."""
        inputs = (
            self.inputs[np.asarray(places, dtype=np.intp)]
            if isinstance(self.inputs, np.ndarray)
            else [self.inputs[place] for place in places]
        )
        return Items(
            inputs,
            self.answers[list(places)],
            self.predicted[list(places)],
            [self.wanted[place] for place in places],
        )


# So many of the inputs have the whole reason.
WHOLE = 0.5


def make_items(case: Reasoned) -> Items:
    """Half of the inputs have the reason; the others have a part of it, so that no part is enough to know it by.

    A part is all features but one; or, where a feature must not be there, the reason with that feature. Where a part is
    enough for the model, as it should not be, the input is without the reason. Where either of two features is enough,
    half of the inputs have one of them, and half none. Chance by the input's content decides.
    """
    made: list[object] = []
    halves: list[tuple[int, object]] = []
    for number, (whole, without, wanted, content) in enumerate(
        zip(case.inputs, case.without, case.wanted, contents(case.inputs), strict=True)
    ):
        about = content.hex()
        one = [wanted[int(share(0, "gone", about) * len(wanted))]]
        if share(0, "student items", about) < WHOLE:
            made.append(_lacking(case, whole, without, one) if case.either and len(wanted) > 1 else whole)
            continue
        made.append(without)
        if not case.either and (len(wanted) > 1 or _can_hold(case)):
            part = _with_excluded(case, whole) if _can_hold(case) else _lacking(case, whole, without, one)
            halves.append((number, part))
    if halves:
        parts = _asked(case, [part for _, part in halves], [case.wanted[number] for number, _ in halves])
        for (number, part), answer in zip(halves, parts.answers, strict=True):
            if not answer:
                made[number] = part
    return _asked(case, made, case.wanted)


def _can_hold(case: Reasoned) -> bool:
    """Whether the reason has a feature that must not be there, and that can be put there: a word."""
    return bool(case.excluded) and case.data.bins is None


def _with_excluded(case: Reasoned, whole: object) -> str:
    """A text with the words that must not be there, at places of its own."""
    words = split_words(str(whole))
    at = int(share(0, "excluded", str(whole)) * (len(words) + 1))
    place = words.starts[at] if at < len(words) else len(words.text)
    before, after = words.text[:place].rstrip(), words.text[place:]
    return " ".join(part for part in (before, *case.excluded, after) if part)


def changed_items(case: Reasoned, numbers: Sequence[int]) -> Items:
    """Inputs with the reason, changed: half without the reason, half without as many other features."""
    made: list[object] = []
    known = list(contents(case.inputs))
    for number in numbers:
        whole, without, wanted = case.inputs[number], case.without[number], case.wanted[number]
        about = known[number].hex()
        if share(0, "changed", about) < 0.5:
            made.append(_lacking(case, whole, without, wanted))
            continue
        names = split_words(str(whole)).distinct if case.data.bins is None else case.data.bins.schema.names
        others = [name for name in names if name not in wanted]
        chosen = stream(0, "other features", about).permutation(len(others))[: len(wanted)]
        gone = [others[place] for place in chosen]
        other: object = without
        if case.data.bins is not None:
            # Another input's values: those of this one without the reason are its own.
            other = case.without[(number + 1) % len(case.without)]
        made.append(_lacking(case, whole, other, gone))
    return _asked(case, made, [case.wanted[number] for number in numbers])


def _lacking(case: Reasoned, whole: object, without: object, gone: Sequence[str]) -> object:
    """An input without some features: words are taken out, columns take the other input's values."""
    if case.data.bins is None:
        return taken(str(whole), list(gone))
    row = np.array(whole, dtype=np.float64)
    names = list(case.data.bins.schema.names)
    for name in gone:
        row[names.index(name)] = np.asarray(without)[names.index(name)]
    return row


def _asked(case: Reasoned, made: Sequence[object], reasons: Sequence[tuple[str, ...]]) -> Items:
    inputs: Inputs = (
        [str(one) for one in made] if case.data.bins is None else np.array(made, dtype=np.float64)
    )
    predicted = case.model.predict_proba(inputs).argmax(axis=1).astype(np.int64)
    answers = (predicted == case.label).astype(np.int64)
    wanted: list[tuple[str, ...]] = []
    for one, own in zip(inputs, reasons, strict=True):
        there = set(split_words(str(one)).distinct) if case.data.bins is None else {*own, *case.excluded}
        wanted.append(tuple(name for name in (*own, *case.excluded) if name in there))
    return Items(inputs, answers, predicted, wanted)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What students read of an input: the words of their examples, or bins and categories of columns.

    Attributes:
        names: the feature of the model that each column is about.
        columns: the words, or (column, bin) pairs, in order.
        bins: of a table.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...] | tuple[tuple[int, int], ...]
    bins: Bins | None

    @classmethod
    def from_inputs(cls, inputs: Inputs, bins: Bins | None) -> Vocabulary:
        """What the examples have."""
        if bins is None:
            words = tuple(dict.fromkeys(word for text in inputs for word in split_words(str(text)).distinct))
            return cls(words, words, None)
        assigned = bins.assign(np.asarray(inputs))
        pairs = tuple(
            (column, int(value))
            for column in range(assigned.shape[1])
            for value in np.unique(assigned[:, column])
        )
        return cls(tuple(bins.schema.names[column] for column, _ in pairs), pairs, bins)

    def rows(self, inputs: Inputs) -> FloatArray:
        """(inputs, columns): 1 for what an input has."""
        if self.bins is None:
            found = np.zeros((len(inputs), len(self.columns)))
            place_of = {word: place for place, word in enumerate(self.columns)}
            for number, text in enumerate(inputs):
                places = [place_of[word] for word in split_words(str(text)).distinct if word in place_of]
                found[number, places] = 1.0
            return found
        assigned = self.bins.assign(np.asarray(inputs))
        columns = [int(pair[0]) for pair in self.columns]
        values = [int(pair[1]) for pair in self.columns]
        return np.asarray(assigned[:, columns] == values, dtype=np.float64)

    def scores(
        self, rows: FloatArray, features: Sequence[Sequence[str]], scores: Sequence[FloatArray]
    ) -> list[FloatArray]:
        """Explanations' scores as scores of columns, where the input has them."""
        places: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            places.setdefault(name, []).append(place)
        found = []
        for row, own, values in zip(rows, features, scores, strict=True):
            given = np.zeros(len(self.names))
            for name, value in zip(own, np.asarray(values).tolist(), strict=True):
                given[places.get(name, [])] = value
            found.append(row * given)
        return found


# How far features are stretched by their importance, times the importance over the largest one.
STRENGTHS = (3.0, 10.0)
# The penalties of the linear learner.
PENALTIES = (0.3, 3.0, 30.0)
# A tree may look at so many of the most important features only.
KEPT = (2, 5)
NEIGHBOURS = 3
# Of the network: units, gradient steps, their size, the penalty on weights.
HIDDEN, STEPS, RATE, PENALTY = 8, 100, 0.05, 0.003
FOLDS = 4
# A prior is believed if it lowers the error on examples left out by so large a share of it: chance does so, a little.
MARGIN = 0.1

# From examples, their answers (0 or 1), test inputs, importances (None without explanations) and how far these count,
# to the squared error on examples left out, and the answers to the test inputs.
Fit = Callable[[FloatArray, IntArray, FloatArray, "FloatArray | None", float], tuple[float, IntArray]]


@dataclass(frozen=True)
class Learner:
    """Learns from examples, and finds out on them how far importances are to be believed, not at all among the choices.

    Attributes:
        choices: how far they may count.
        fit: learns with one of these, or without importances.
    """

    choices: tuple[float, ...]
    fit: Fit

    def __call__(
        self, rows: FloatArray, answers: IntArray, prior: FloatArray | None, tested: FloatArray
    ) -> IntArray:
        """The answers to the test inputs, with importances or without."""
        return self.with_each(rows, answers, [prior], tested)[0]

    def with_each(
        self, rows: FloatArray, answers: IntArray, priors: Sequence[FloatArray | None], tested: FloatArray
    ) -> list[IntArray]:
        """The same with each of several: what is learnt without them is learnt once."""
        alone = self.fit(rows, answers, tested, None, 0.0)
        found = []
        for prior in priors:
            tried = [alone]
            if prior is not None:
                tried += [self.fit(rows, answers, tested, prior, choice) for choice in self.choices]
            found.append(tried[_believed([error for error, _ in tried])][1])
        return found


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


def _stretch(rows: FloatArray, prior: FloatArray | None, strength: float) -> FloatArray:
    return np.ones(rows.shape[1]) if prior is None else 1.0 + strength * prior


def _linear(
    rows: FloatArray, answers: IntArray, tested: FloatArray, prior: FloatArray | None, strength: float
) -> tuple[float, IntArray]:
    """Ridge regression on stretched features; its penalty by the error of leaving one out, exactly."""
    signs = 2.0 * answers - 1.0
    centre, mean = rows.mean(axis=0), signs.mean()
    scale = _stretch(rows, prior, strength)
    seen, asked = (rows - centre) * scale, (tested - centre) * scale
    products = seen @ seen.T
    errors = []
    for penalty in PENALTIES:
        hat = products @ np.linalg.inv(products + penalty * np.eye(len(rows))) + 1.0 / len(rows)
        left_out = (signs - (hat @ (signs - mean) + mean)) / np.maximum(1e-9, 1.0 - np.diag(hat))
        errors.append(float(np.mean(left_out**2)))
    best = int(np.argmin(errors))
    weights = np.linalg.solve(products + PENALTIES[best] * np.eye(len(rows)), signs - mean)
    return errors[best], (asked @ (seen.T @ weights) + mean > 0).astype(np.int64)


def _neighbour(
    rows: FloatArray, answers: IntArray, tested: FloatArray, prior: FloatArray | None, strength: float
) -> tuple[float, IntArray]:
    """The answer of most of the three nearest examples, by the angle between stretched features."""
    scale = _stretch(rows, prior, strength)
    seen, asked = _unit(rows * scale), _unit(tested * scale)
    own = seen @ seen.T
    np.fill_diagonal(own, -np.inf)
    error = float(np.mean((answers - _votes(own, answers)) ** 2))
    return error, (_votes(asked @ seen.T, answers) > 0.5).astype(np.int64)


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _votes(similarity: FloatArray, answers: IntArray) -> FloatArray:
    nearest: IndexArray = np.argsort(-similarity, axis=1, kind="stable")[:, :NEIGHBOURS]
    return np.asarray(answers[nearest].mean(axis=1))


def _tree(
    rows: FloatArray, answers: IntArray, tested: FloatArray, prior: FloatArray | None, kept: float
) -> tuple[float, IntArray]:
    """A decision tree on all features, or on the most important ones; the error is that on folds of the examples."""
    from sklearn.tree import DecisionTreeClassifier

    columns = np.arange(rows.shape[1])
    if prior is not None:
        columns = np.sort(np.argsort(-prior, kind="stable")[: int(kept)])

    def fit(some: FloatArray, own: IntArray, asked: FloatArray) -> FloatArray:
        grown = DecisionTreeClassifier(max_depth=4, min_samples_leaf=2, random_state=0)
        return _chance(grown.fit(some[:, columns], own), asked[:, columns])

    folds, error = _folds(len(rows)), 0.0
    for fold in range(FOLDS):
        inside, outside = folds != fold, folds == fold
        if outside.any():
            left_out = fit(rows[inside], answers[inside], rows[outside])
            error += float(((answers[outside] - left_out) ** 2).sum())
    return error, (fit(rows, answers, tested) > 0.5).astype(np.int64)


def _network(
    rows: FloatArray, answers: IntArray, tested: FloatArray, prior: FloatArray | None, strength: float
) -> tuple[float, IntArray]:
    """One hidden layer of eight units on stretched features, trained by gradient steps with a penalty."""
    scale = _stretch(rows, prior, strength)
    seen, asked = _coordinates(rows * scale, tested * scale)
    folds = _folds(len(rows))
    # One network for each fold, without it, and one for all examples; all of them are trained at once.
    counted = np.array([folds != fold for fold in range(FOLDS)] + [np.ones(len(rows), dtype=np.bool_)])
    chances = _trained(seen, answers, counted.astype(np.float64), np.concatenate([seen, asked]))
    left_out = chances[folds, np.arange(len(rows))]
    return float(np.mean((answers - left_out) ** 2)), (chances[-1, len(rows) :] > 0.5).astype(np.int64)


def _coordinates(rows: FloatArray, tested: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Examples and test inputs by the examples' principal directions, the largest first.

    Gradients lie in the span of the examples, so that as many coordinates as there are examples are enough. Which way a
    direction points is settled by its largest entry, so that it is not the machine that decides.
    """
    squares, directions = np.linalg.eigh(rows @ rows.T)
    kept = np.flatnonzero(squares > 1e-12 * squares.max(initial=0.0))[::-1]
    sizes, directions = np.sqrt(squares[kept]), directions[:, kept]
    directions = directions * np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(len(kept))])
    return directions * sizes, tested @ (rows.T @ (directions / sizes))


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


def _folds(n: int) -> IndexArray:
    return stream(0, "folds", n).permutation(np.arange(n) % FOLDS)


LEARNERS = {
    "linear": Learner(STRENGTHS, _linear),
    "tree": Learner(KEPT, _tree),
    "neighbour": Learner(STRENGTHS, _neighbour),
    "network": Learner(STRENGTHS[-1:], _network),
}
