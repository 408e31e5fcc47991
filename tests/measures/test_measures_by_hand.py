"""Each measure on cases small enough to be computed by hand.

The model adds words to 0.5: good 0.2, fine 0.1, bad -0.25, dull -0.05; its other class has the rest.
"""

import math
from itertools import permutations

import numpy as np
import pytest

import verax
from verax.explain.checks import additive_table_model, additive_text_model
from verax.explain.explanation import Attribution

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
