"""Measures that no package defines alike, beside everything that could be or all of it done again by hand."""

from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline

import verax
from verax.explain.base import Explainer
from verax.explain.explanation import Attribution
from verax.seeds import stream

WORDS = ("good", "warm", "film", "plot", "dull", "bad")


def together(texts):
    """Words that work together, so that no fall is the sum of others."""
    yes = np.array(
        [
            0.3
            + 0.3 * ({"good", "warm"} <= set(text.split()))
            + 0.2 * ("film" in text and "bad" not in text)
            - 0.1 * ("dull" in text)
            for text in texts
        ]
    )
    return np.stack([1 - yes, yes], axis=1)


@pytest.mark.parametrize("scores", [(1.0, 0.6, 0.3, 0.0, -0.5, 0.2), (0.2, 0.1, 0.4, 0.4, 0.3, 0.0)])
def test_soft_measures_are_means_over_all_sets_weighted_by_their_chance(scores):
    model = verax.as_model(together, class_names=("no", "yes"))
    text = " ".join(WORDS[:5])
    chances = np.maximum(scores[:5], 0.0) / max(scores[:5])
    whole, empty = together([text, ""])[:, 1]
    kept = removed = 0.0
    spread = []
    for chosen in product([0, 1], repeat=5):
        chance = np.prod([own if one else 1 - own for one, own in zip(chosen, chances, strict=True)])
        inside, outside = (
            " ".join(word for word, one in zip(WORDS, chosen, strict=False) if one == wanted)
            for wanted in (1, 0)
        )
        falls = np.maximum(0.0, whole - together([inside, outside])[:, 1])
        kept, removed = kept + chance * falls[0], removed + chance * falls[1]
        spread.append((chance, falls))
    draws = 20_000
    given = model, [text], [Attribution(WORDS[:5], np.array(scores[:5]), 1, input=text)]
    for name, wanted, mean, place in (
        ("soft-sufficiency", 1 - kept / (whole - empty), kept, 0),
        ("soft-comprehensiveness", removed / (whole - empty), removed, 1),
    ):
        error = np.sqrt(sum(chance * (falls[place] - mean) ** 2 for chance, falls in spread) / draws)
        found = verax.measure(name, draws=draws)(*given)[0]
        assert found == pytest.approx(wanted, abs=4 * error / (whole - empty) + 1e-9)
        assert error > 0


def orders(scores):
    """All orders by size, the largest first, in which what ties stands either way."""
    sizes = np.abs(scores)
    return [order for order in permutations(range(len(sizes))) if (np.diff(sizes[list(order)]) <= 0).all()]


@pytest.mark.parametrize("tied", [False, True])
def test_agreement_is_the_published_definition_over_all_orders_of_what_ties(tied):
    """Krishna et al. (2022): of the k first of two explanations, those in both, at the same place, of the same sign."""
    rng = np.random.default_rng(8)
    model = verax.as_model(together, class_names=("no", "yes"))
    text = " ".join(WORDS)
    several = 0
    for _ in range(5):
        mine, theirs = rng.integers(-3, 4, (2, 6)) / 2 if tied else rng.normal(size=(2, 6))
        one, other = (Attribution(WORDS, scores, 1, input=text) for scores in (mine, theirs))
        pairs = list(product(orders(mine), orders(theirs)))
        several += len(pairs) > 1
        for k in (1, 3, 5):
            same = [set(first[:k]) & set(second[:k]) for first, second in pairs]
            wanted = {
                "feature-agreement": [len(both) for both in same],
                "rank-agreement": [
                    sum(a == b for a, b in zip(first[:k], second[:k], strict=True)) for first, second in pairs
                ],
                "sign-agreement": [
                    sum(np.sign(mine[place]) == np.sign(theirs[place]) for place in both) for both in same
                ],
            }
            for name, counts in wanted.items():
                found = verax.measure(name, other=[other], k=k)(model, [text], [one])
                assert found[0] == pytest.approx(np.mean(counts) / k, abs=1e-9), name
    assert several == (5 if tied else 0)


@dataclass(frozen=True)
class Weights(Explainer):
    """What each word adds to the score of the target by a logistic regression's weights."""

    def explain(self, model, inputs, targets=None):
        made = []
        for text, target in zip(inputs, targets, strict=True):
            words = tuple(dict.fromkeys(text.split()))
            made.append(
                Attribution(
                    words, weights_of(model.vectorizer, model.classifier, words, target), target, input=text
                )
            )
        return made


def weights_of(vectorizer, classifier, words, target):
    known = vectorizer.vocabulary_
    return np.array(
        [
            (1 if target else -1) * (classifier.coef_[0, known[word]] if word in known else 0.0)
            for word in words
        ]
    )


def fit(texts, labels):
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)


@pytest.fixture(scope="module")
def learnt():
    """Sixty texts of six words out of twelve, whose class is whether three words outweigh three others."""
    rng = np.random.default_rng(2)
    words = np.array([*WORDS, "actor", "scene", "music", "end", "cast", "story"])
    texts = [" ".join(rng.permutation(words)[:6]) for _ in range(60)]
    labels = [
        int(sum(word in text for word in words[:3]) + rng.normal() > sum(word in text for word in words[3:6]))
        for text in texts
    ]
    fitted = fit(texts, labels)
    model = verax.as_model(fitted, reference=texts)
    return model, texts, model.predict_proba(texts).argmax(axis=1).tolist()


def without(text, gone):
    return " ".join(word for word in text.split() if word not in gone)


def first_of(explained, count):
    return {explained.features[place] for place in np.argsort(-explained.scores)[:count]}


# Of six words, two and three.
SHARES = (1 / 3, 1 / 2)


def folds_of(number):
    return stream(0, "folds", number).permutation(np.arange(number) % 5)


def right_by_scikit_learn(texts, labels):
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    return cross_val_predict(pipeline, texts, labels, cv=PredefinedSplit(folds_of(len(texts)))) == labels


def test_roar_is_scikit_learns_cross_validation_with_and_without_the_first_words(learnt):
    model, texts, labels = learnt
    explained = Weights().explain(model, texts, labels)
    lost = [
        [without(text, first_of(one, count)) for text, one in zip(texts, explained, strict=True)]
        for count in (2, 3)
    ]
    wanted = right_by_scikit_learn(texts, labels) - np.mean(
        [right_by_scikit_learn(some, labels) for some in lost], axis=0
    )
    found = verax.measure("roar", shares=SHARES)(model, texts, explained)
    assert found == pytest.approx(wanted, abs=1e-9)
    assert len(set(found)) > 2


def test_recursive_roar_takes_each_next_word_by_the_model_fitted_without_the_ones_before(learnt):
    model, texts, labels = learnt
    explained = Weights().explain(model, texts, labels)
    two = [without(text, first_of(one, 2)) for text, one in zip(texts, explained, strict=True)]
    again = fit(two, labels)
    three = []
    for text, target in zip(two, labels, strict=True):
        words = text.split()
        scores = weights_of(*(step for _, step in again.steps), words, target)
        three.append(without(text, {words[scores.argmax()]}))
    wanted = right_by_scikit_learn(texts, labels) - np.mean(
        [right_by_scikit_learn(some, labels) for some in (two, three)], axis=0
    )
    once = [without(text, first_of(one, 3)) for text, one in zip(texts, explained, strict=True)]
    assert three != once  # to explain again does something
    found = verax.measure("recursive-roar", explainer=Weights(), shares=SHARES)(model, texts, explained)
    assert found == pytest.approx(wanted, abs=1e-9)


def test_a_model_that_is_no_network_is_fitted_on_shuffled_labels_and_compared_by_scipy(learnt):
    model, texts, labels = learnt
    explained = Weights().explain(model, texts, labels)
    # Both have to tell six words apart; the shuffled model is fitted here again.
    ignorant = fit(texts, stream(3, "shuffled labels").permutation(labels))
    vectorizer, classifier = (step for _, step in ignorant.steps)
    wanted = [
        spearmanr(one.scores, weights_of(vectorizer, classifier, one.features, one.target)).statistic
        for one in explained
    ]
    found = verax.measure("model-randomisation", explainer=Weights(), seed=3)(model, texts, explained)
    assert found == pytest.approx(wanted, abs=1e-6)
    other = [replace(one, scores=-one.scores) for one in explained]
    opposite = verax.measure("model-randomisation", explainer=Weights(), seed=3)(model, texts, other)
    assert opposite == pytest.approx(-found, abs=1e-9)
