"""Each measure on cases small enough to be computed by hand.

The model adds words to 0.5: good 0.2, fine 0.1, bad -0.25, dull -0.05; its other class has the rest.
"""

import math
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from verax.explain.base import Explainer
from verax.explain.checks import additive_table_model, additive_text_model
from verax.explain.explanation import Attribution
from verax.seeds import stream

MODEL = additive_text_model()
# 0.75; without good 0.55, without fine too 0.45, without all 0.5; good alone 0.7, with fine 0.8.
BEST = {"good": 3.0, "fine": 2.0, "dull": 1.0}
WORST = {"good": 1.0, "fine": 2.0, "dull": 3.0}
SWAPPED = {"good": 2.0, "fine": 3.0, "dull": 1.0}
# The class "negative" has 0.6; without bad 0.35.
NEGATIVE = {"good": -1.0, "dull": 2.0, "bad": 3.0}
TRUE = {"good": 0.2, "fine": 0.1, "dull": -0.05}


def explained(scores, target=1, text=None):
    text = " ".join(scores) if text is None else text
    return text, Attribution(tuple(scores), np.array(list(scores.values()), dtype=float), target, input=text)


def value(name, scores, target=1, text=None, **options):
    text, explanation = explained(scores, target, text)
    return float(verax.measure(name, **options)(MODEL, [text], [explanation])[0])


def others(scores):
    return {"other": [explained(scores)[1]]}


@pytest.mark.parametrize(
    ("name", "scores", "target", "options", "wanted"),
    [
        ("comprehensiveness", BEST, 1, {"k": 1}, 0.2),
        ("comprehensiveness", BEST, 1, {"k": 2}, 0.3),
        ("comprehensiveness", BEST, 1, {}, (4 * 0.2 + 0.3) / 5),
        ("comprehensiveness", NEGATIVE, 0, {"k": 1}, 0.25),
        ("sufficiency", BEST, 1, {"k": 1}, 0.05),
        ("sufficiency", BEST, 1, {"k": 2}, -0.05),
        ("sufficiency", BEST, 1, {}, (4 * 0.05 - 0.05) / 5),
        ("deletion", BEST, 1, {}, (0.75 / 2 + 0.55 + 0.45 + 0.5 / 2) / 3),
        ("deletion", WORST, 1, {}, (0.75 / 2 + 0.8 + 0.7 + 0.5 / 2) / 3),
        ("deletion", SWAPPED, 1, {}, (0.75 / 2 + 0.65 + 0.45 + 0.5 / 2) / 3),
        ("insertion", BEST, 1, {}, (0.5 / 2 + 0.7 + 0.8 + 0.75 / 2) / 3),
        ("insertion", WORST, 1, {}, (0.5 / 2 + 0.45 + 0.55 + 0.75 / 2) / 3),
        ("insertion", SWAPPED, 1, {}, (0.5 / 2 + 0.6 + 0.8 + 0.75 / 2) / 3),
        ("decision-flip-fraction", BEST, 1, {}, 2 / 3),
        ("decision-flip-fraction", NEGATIVE, 0, {}, 1 / 3),
        ("decision-flip-fraction", {"bad": 1.0, "film": 0.0}, 0, {}, 1.0),
        ("decision-flip-token", NEGATIVE, 0, {}, 1.0),
        ("decision-flip-token", BEST, 1, {}, 0.0),
        ("decision-flip-token", {"good": 0.0, "dull": 0.0, "bad": 1.0}, 0, {}, 1.0),
        ("log-odds", BEST, 1, {"k": 1}, math.log(0.55 / 0.75)),
        ("log-odds", BEST, 1, {"k": 2}, math.log(0.45 / 0.75)),
        ("log-odds", WORST, 1, {"k": 1}, math.log(0.8 / 0.75)),
        ("naopc-comprehensiveness", BEST, 1, {}, 1.0),
        ("naopc-comprehensiveness", WORST, 1, {}, 0.0),
        ("naopc-comprehensiveness", SWAPPED, 1, {}, 1 - 0.1 / 0.5),
        ("naopc-sufficiency", BEST, 1, {}, 1.0),
        ("naopc-sufficiency", WORST, 1, {}, 0.0),
        ("naopc-sufficiency", SWAPPED, 1, {}, 1 - 0.1 / 0.5),
        ("soft-comprehensiveness", {"good": 1.0, "fine": 0.0, "dull": 0.0}, 1, {}, 0.2 / 0.25),
        ("soft-comprehensiveness", {"good": 1.0, "fine": 1.0, "dull": 1.0}, 1, {}, 1.0),
        ("soft-comprehensiveness", {"good": 0.0, "fine": 0.0, "dull": -1.0}, 1, {}, 0.0),
        ("soft-sufficiency", {"good": 1.0, "fine": 0.0, "dull": 0.0}, 1, {}, 1 - 0.05 / 0.25),
        ("soft-sufficiency", {"good": 1.0, "fine": 1.0, "dull": 1.0}, 1, {}, 1.0),
        ("soft-sufficiency", {"good": 0.0, "fine": 0.0, "dull": -1.0}, 1, {}, 0.0),
        ("monotonicity", BEST, 1, {}, 0.0),
        ("monotonicity", BEST, 1, {"steps": True}, 2 / 3),
        ("monotonicity", {"good": 1.0, "fine": 2.0}, 1, {}, 1.0),
        ("monotonicity-correlation", BEST, 1, {}, 1.0),
        ("monotonicity-correlation", WORST, 1, {}, -1.0),
        ("monotonicity-correlation", SWAPPED, 1, {}, 0.5),
        ("faithfulness-correlation", TRUE, 1, {"size": 1}, 1.0),
        ("faithfulness-correlation", {"good": -2.0, "fine": -1.0, "dull": 0.5}, 1, {"size": 2}, -1.0),
        ("faithfulness-correlation", {"good": 1.0, "fine": 1.0, "dull": 1.0}, 1, {"size": 2}, 0.0),
        ("infidelity", TRUE, 1, {"normalise": False}, 0.0),
        ("infidelity", {"good": 20.0, "fine": 10.0, "dull": -5.0}, 1, {}, 0.0),
        ("entropy", {"good": 1.0, "fine": -1.0}, 1, {}, math.log(2)),
        ("entropy", {"good": 1.0, "fine": 0.0}, 1, {}, 0.0),
        ("entropy", {"good": 1.0, "fine": 1.0, "dull": 2.0}, 1, {}, 1.5 * math.log(2)),
        ("gini", {"good": 1.0, "fine": -1.0}, 1, {}, 0.0),
        ("gini", {"good": 1.0, "fine": 0.0, "dull": 0.0}, 1, {}, 2 / 3),
        ("gini", {"good": 1.0, "fine": 3.0}, 1, {}, 0.25),
        ("feature-agreement", BEST, 1, {"k": 2, **others(SWAPPED)}, 1.0),
        ("feature-agreement", BEST, 1, {"k": 2, **others(WORST)}, 0.5),
        ("feature-agreement", BEST, 1, {"k": 1, **others(dict.fromkeys(BEST, 1.0))}, 1 / 3),
        ("rank-agreement", BEST, 1, {"k": 2, **others(SWAPPED)}, 0.0),
        ("rank-agreement", BEST, 1, {"k": 3, **others(WORST)}, 1 / 3),
        ("rank-agreement", BEST, 1, {"k": 3, **others(BEST)}, 1.0),
        ("sign-agreement", BEST, 1, {"k": 2, **others({"good": -3.0, "fine": 2.0, "dull": 1.0})}, 0.5),
        ("sign-agreement", BEST, 1, {"k": 2, **others(SWAPPED)}, 1.0),
        ("sign-agreement", BEST, 1, {"k": 1, **others(WORST)}, 0.0),
        ("rank-correlation", BEST, 1, others(BEST), 1.0),
        ("rank-correlation", BEST, 1, others(WORST), -1.0),
        ("rank-correlation", BEST, 1, others(SWAPPED), 0.5),
    ],
)  # fmt: skip
def test_a_measure_is_what_a_hand_computes(name, scores, target, options, wanted):
    assert value(name, scores, target, **options) == pytest.approx(wanted, abs=1e-9)


def test_infidelity_of_scores_that_say_nothing_is_the_mean_squared_fall():
    doubled = {word: 2 * score for word, score in TRUE.items()}
    nothing = dict.fromkeys(TRUE, 0.0)
    assert value("infidelity", nothing) == pytest.approx(value("infidelity", doubled, normalise=False))
    assert value("infidelity", {"good": 0.0}, draws=20_000) == pytest.approx(0.5 * 0.2**2, rel=0.05)


def test_ties_are_broken_at_random_and_averaged():
    # One of three is removed: 0.2, 0.1 or -0.05 with a third each, as far as eight draws show.
    removed = value("comprehensiveness", {"good": 1.0, "fine": 1.0, "dull": 1.0}, k=1)
    possible = {(0.2 * a + 0.1 * b - 0.05 * (8 - a - b)) / 8 for a in range(9) for b in range(9 - a)}
    assert min(abs(removed - one) for one in possible) < 1e-9
    # The order in which words stand is not the order in which they go.
    backwards = value(
        "comprehensiveness", {"dull": 1.0, "fine": 1.0, "good": 1.0}, k=1, text="good fine dull"
    )
    assert removed == pytest.approx(backwards)


def test_fewer_features_than_k_are_all_of_them():
    assert value("comprehensiveness", BEST, k=10) == pytest.approx(0.25)
    assert value("feature-agreement", BEST, k=10, **others(WORST)) == 1.0


def test_columns_are_resampled_or_given_their_mean():
    model = additive_table_model()
    row = np.array([[1.0, 0.0, 0.3]])
    explanation = Attribution(("up", "down", "idle"), np.array([1.0, 0.5, 0.0]), 1)
    means = np.asarray(model.reference).mean(axis=0)
    for absent in ("mean", "resampled", None):
        found = verax.measure("comprehensiveness", k=1, absent=absent)(model, row, [explanation])
        background = 0.3 * (1.0 - means[0])
        # A linear model's mean answer is its answer to the mean; a hundred of the rows are resampled.
        assert found[0] == pytest.approx(background, abs=1e-9 if absent == "mean" else 0.03)


def test_resampled_words_come_from_the_training_texts():
    def probabilities(texts):
        yes = np.array([0.2 + 0.6 * ("good" in text) + 0.1 * ("zebra" in text) for text in texts])
        return np.stack([1 - yes, yes], axis=1)

    model = verax.as_model(probabilities, class_names=("no", "yes"), reference=["zebra zebra"])
    explanation = Attribution(("good", "film"), np.array([1.0, 0.0]), 1)
    dropped = verax.measure("comprehensiveness", k=1)(model, ["good film"], [explanation])
    resampled = verax.measure("comprehensiveness", k=1, absent="resampled")(
        model, ["good film"], [explanation]
    )
    assert dropped[0] == pytest.approx(0.6)
    assert resampled[0] == pytest.approx(0.5)


@pytest.mark.parametrize("exact", [True, False])
def test_the_best_and_the_worst_order_are_those_of_all_orders(exact, monkeypatch):
    """A model in which words work together; all 120 orders of five words are tried by hand."""

    def probabilities(texts):
        yes = []
        for text in texts:
            there = set(text.split())
            yes.append(
                0.1
                + 0.4 * ({"a", "b"} <= there)
                + 0.3 * ("c" in there and "d" not in there)
                + 0.05 * ("e" in there)
            )
        return np.stack([1 - np.array(yes), yes], axis=1)

    if not exact:
        monkeypatch.setattr("verax.measures.removal.MOST_EXACT", 0)
    model = verax.as_model(probabilities, class_names=("no", "yes"))
    words, text = ("a", "b", "c", "d", "e"), "a b c d e"

    def summed(order):
        return sum(
            model.predict_proba([" ".join(word for word in words if word not in order[:count])])[0, 1]
            for count in range(1, 6)
        )

    sums = {order: summed(order) for order in permutations(words)}
    low, high = min(sums.values()), max(sums.values())
    for order in (("a", "b", "c", "d", "e"), ("d", "c", "e", "a", "b"), ("e", "d", "a", "c", "b")):
        scores = np.array([5.0 - order.index(word) for word in words])
        for name, wanted in (
            ("naopc-comprehensiveness", (high - sums[order]) / (high - low)),
            ("naopc-sufficiency", (sums[order[::-1]] - low) / (high - low)),
        ):
            found = verax.measure(name, beam=20)(model, [text], [Attribution(words, scores, 1)])
            assert found[0] == pytest.approx(wanted, abs=1e-9)


# Ten texts of each class. One word of each tells all; the others are the same in all, so that a model without that word
# says the class that is more frequent among what it was fitted on.
TWENTY = [f"{word} the film today" for word in ("good", "bad")] * 10
SIDES = [1, 0] * 10


@pytest.fixture(scope="module")
def refittable():
    return verax.as_model(
        make_pipeline(CountVectorizer(), LogisticRegression()).fit(TWENTY, SIDES), reference=TWENTY
    )


@dataclass(frozen=True)
class Falling(Explainer):
    """Scores of 3, 2, 1, ... for the words of the texts that it knows, and these times a factor for any other."""

    known: tuple[str, ...] = ()
    factor: float = 1.0

    def explain(self, model, inputs, targets=None):
        made = []
        for text, target in zip(inputs, targets or [1] * len(inputs), strict=True):
            words = tuple(dict.fromkeys(text.split()))
            scores = np.arange(len(words), 0, -1.0) * (1.0 if text in self.known else self.factor)
            made.append(Attribution(words, scores, target, input=text))
        return made


@pytest.mark.parametrize(
    ("factor", "changed", "alike"), [(1.0, 0.0, 1.0), (-1.0, 2.0, -1.0), (3.0, 2.0, 1.0), (0.0, 1.0, 0.0)]
)
def test_scores_of_versions_are_compared_with_those_of_the_input(factor, changed, alike):
    """Scores v of the input and f v of every version of it: they change by |f - 1| of their size."""
    rng = np.random.default_rng(0)
    filler = ["film", "plot", "actor", "scene", "music", "end"]
    sides = [1, 0] * 30
    texts = [" ".join([("bad", "good")[side], *rng.choice(filler, 3, replace=False)]) for side in sides]
    fitted = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, sides)
    model = verax.as_model(fitted, reference=texts)
    method = Falling((texts[0],), factor)
    given = model, texts[:1], method.explain(model, texts[:1])
    assert verax.measure("max-sensitivity", explainer=method)(*given)[0] == pytest.approx(changed)
    assert verax.measure("stability", explainer=method)(*given)[0] == pytest.approx(alike)


def test_without_a_version_nothing_changes(refittable):
    """The only word that is known has no other like it."""
    method = Falling((), -1.0)
    given = refittable, ["zzz"], method.explain(refittable, ["zzz"])
    assert verax.measure("max-sensitivity", explainer=method)(*given).tolist() == [0.0]
    assert verax.measure("stability", explainer=method)(*given).tolist() == [1.0]


def test_explanations_of_a_model_that_says_the_same_to_everything_are_stable(refittable):
    """Scores that differ in their last digits only have no order, so that they agree."""
    rounding = Falling((TWENTY[0],), 0.5)
    nothing = [replace(one, scores=1e-17 * one.scores) for one in rounding.explain(refittable, TWENTY[:1])]

    class Rounding(Falling):
        def explain(self, model, inputs, targets=None):
            return [
                replace(one, scores=-2e-17 * one.scores) for one in super().explain(model, inputs, targets)
            ]

    method = Rounding((), 1.0)
    assert verax.measure("stability", explainer=method)(refittable, TWENTY[:1], nothing).tolist() == [1.0]


@dataclass(frozen=True)
class Reads(Explainer):
    """Scores of a text's words: rising, and multiplied by a factor for any model but one that is sure of its answer."""

    factor: float = 1.0

    def explain(self, model, inputs, targets=None):
        made = []
        for text, target in zip(inputs, targets or [1] * len(inputs), strict=True):
            sure = model.predict_proba([text]).max() > 0.75
            words = tuple(dict.fromkeys(text.split()))
            made.append(
                Attribution(words, np.arange(1.0, len(words) + 1) * (1.0 if sure else self.factor), target)
            )
        return made


@pytest.mark.parametrize(("factor", "wanted"), [(1.0, 1.0), (-1.0, -1.0), (0.0, 0.0)])
def test_a_model_of_shuffled_labels_is_explained_again(refittable, factor, wanted):
    assert refittable.predict_proba(TWENTY[:2]).max(axis=1).min() > 0.75
    method = Reads(factor)
    values = verax.measure("model-randomisation", explainer=method)(
        refittable, TWENTY[:4], method.explain(refittable, TWENTY[:4])
    )
    assert values == pytest.approx(np.full(4, wanted))


def lost_without_the_word(shares=1.0):
    """By hand: who is of the class that is more frequent in its own fold is told wrong without the telling word."""
    folds = stream(0, "folds", 20).permutation(np.arange(20) % 5)
    labels = np.array(SIDES)
    lost = np.zeros(20)
    for fold in range(5):
        own = labels[folds == fold]
        rest = labels[folds != fold]
        # scikit-learn's answer to features that tell nothing is the class that is more frequent; of a tie, the first.
        lost[folds == fold] = own != int(rest.mean() > 0.5)
    return shares * lost


@pytest.mark.parametrize(
    ("scores", "shares", "wanted"),
    [
        ((9.0, 1.0, 1.0, 1.0), (0.25,), 1.0),
        ((0.0, 1.0, 2.0, 3.0), (0.25,), 0.0),
        ((2.0, 3.0, 1.0, 0.0), (0.25, 0.5), 0.5),
    ],
)
def test_roar_is_the_mean_loss_over_its_shares(refittable, scores, shares, wanted):
    given = [
        Attribution(tuple(text.split()), np.array(scores), side)
        for text, side in zip(TWENTY, SIDES, strict=True)
    ]
    values = verax.measure("roar", shares=shares)(refittable, TWENTY, given)
    assert values == pytest.approx(lost_without_the_word(wanted))


@dataclass(frozen=True)
class Named(Explainer):
    """Scores each word by a table, anything else 0."""

    table: tuple[tuple[str, float], ...]

    def explain(self, model, inputs, targets=None):
        scores = dict(self.table)
        return [
            Attribution(
                tuple(text.split()), np.array([scores.get(word, 0.0) for word in text.split()]), target
            )
            for text, target in zip(inputs, targets or [1] * len(inputs), strict=True)
        ]


@pytest.mark.parametrize(
    ("again", "wanted"),
    [
        # A copy of the telling word is found after the first is gone: at the second of two shares nothing is left.
        ({"warm": 1.0, "dull": 1.0}, 0.5),
        # The copy is not found.
        ({"film": 1.0}, 0.0),
        # Nothing else than the first explanation matters if it names both.
        (None, 0.5),
    ],
)
def test_recursive_roar_explains_again_what_is_left(again, wanted):
    texts = [f"{one} {copy} film today" for one, copy in (("good", "warm"), ("bad", "dull"))] * 10
    model = verax.as_model(
        make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, SIDES), reference=texts
    )
    first = Named((("good", 2.0), ("bad", 2.0), ("warm", 1.0), ("dull", 1.0)))
    method = first if again is None else Named(tuple(again.items()))
    measure = verax.measure("recursive-roar", explainer=method, shares=(0.25, 0.5))
    values = measure(model, texts, first.explain(model, texts))
    assert values == pytest.approx(lost_without_the_word(wanted))


def test_of_a_model_of_numbers_falls_are_shares_of_the_spread_of_its_predictions():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    model = verax.as_model(LinearRegression().fit(rows, 300 * rows[:, 0] - 100 * rows[:, 1]), reference=rows)
    spread = np.subtract(*np.percentile(model.predict_proba(rows)[:, 0], (95, 5)))
    row, means = rows[:1], rows.mean(axis=0)
    given = model, row, [Attribution(model.schema.names, np.array([3.0, 2.0, 1.0]), 0)]
    falls = np.cumsum([300 * (row[0, 0] - means[0]), -100 * (row[0, 1] - means[1]), 0.0]) / spread
    for k in (1, 2):
        found = verax.measure("comprehensiveness", k=k, absent="mean")
        assert found(*given)[0] == pytest.approx(falls[k - 1])
    whole = float(model.predict_proba(row)[0, 0]) / spread
    curve = np.array([whole, *(whole - falls)])
    deletion = verax.measure("deletion", absent="mean")
    assert deletion(*given)[0] == pytest.approx(np.trapezoid(curve, dx=1 / 3))
    assert deletion.range == (0, 1)
    assert deletion.range_of(model) == (-math.inf, math.inf)
    # What compares shapes has no unit to begin with.
    exact = [replace(given[2][0], scores=np.array([300.0, -100.0, 0.0]) * (row[0] - means))]
    assert verax.measure("infidelity", absent="mean")(model, row, exact)[0] == pytest.approx(0.0, abs=1e-9)
    assert verax.measure("faithfulness-correlation", absent="mean")(model, row, exact)[0] == pytest.approx(
        1.0
    )
