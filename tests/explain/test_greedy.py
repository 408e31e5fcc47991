"""Greedy removal against numbers worked by hand and against the plain way with strings."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

import verax
from helpers import fitted
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.greedy import Greedy, GreedyPath


def table_of_probabilities(table: dict[str, float]):
    """A model of the words a, b, c whose probabilities are written down."""

    def probabilities(texts):
        positive = np.array([table["".join(sorted(split_words(text).words))] for text in texts])
        return np.stack([1 - positive, positive], axis=1)

    return verax.as_model(probabilities, class_names=("no", "yes"))


BY_HAND = {"abc": 0.9, "bc": 0.7, "ac": 0.6, "ab": 0.95, "a": 0.65, "b": 0.9, "c": 0.3, "": 0.2}


def test_each_word_scores_the_fall_when_it_is_removed():
    found = Greedy().explain(table_of_probabilities(BY_HAND), ["a b c"])[0]
    assert found.features == ("a", "b", "c")
    assert np.allclose(found.scores, [0.2, 0.3, -0.05])
    assert found.target_name == "yes"
    assert found.cost.rows == 4
    assert [word for word, _ in found.top(2)] == ["b", "a"]


def test_the_path_removes_the_best_and_goes_on():
    # b falls most (0.9 -> 0.6); then from "ac" (0.6): without a 0.3, without c 0.65; then from "c" (0.3): 0.2.
    found = GreedyPath().explain(table_of_probabilities(BY_HAND), ["a b c"])[0]
    assert found.details["removed"] == [1, 0, 2]
    assert np.allclose(found.scores, [0.3, 0.3, 0.1])
    assert found.details["flipped"]
    assert found.cost.rows == 4 + 3 + 2


def test_the_path_stops_at_the_flip_and_after_its_steps():
    model = table_of_probabilities(BY_HAND)
    assert GreedyPath(until_flip=True).explain(model, ["a b c"])[0].details["removed"] == [1, 0]
    found = GreedyPath(steps=1).explain(model, ["a b c"])[0]
    assert found.details["removed"] == [1]
    assert not found.details["flipped"]
    assert np.allclose(found.scores, [0.0, 0.3, 0.0])


def test_other_targets_are_explained_when_asked():
    found = Greedy().explain(table_of_probabilities(BY_HAND), ["a b c"], ["no"])[0]
    assert np.allclose(found.scores, [-0.2, -0.3, 0.05])


def plainly(pipeline, text: str, steps: int) -> list[int]:
    """The removal sequence the plain way: strings, one call a step."""
    words = split_words(text)
    left = list(range(len(words.distinct)))
    target = int(np.argmax(pipeline.predict_proba([text])[0]))
    removed = []
    for _ in range(min(steps, len(left))):
        texts = [words.keep(words.distinct[i] for i in left if i != out) for out in left]
        answers = pipeline.predict_proba(texts)[:, target].round(9)
        removed.append(left.pop(int(np.argmin(answers))))
    return removed


@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        RandomForestClassifier(10, random_state=0),
        xgboost.XGBClassifier(n_estimators=10, n_jobs=1),
        BernoulliNB(),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_sequences_equal_the_plain_way(classifier, reviews):
    pipeline = fitted(classifier)
    found = GreedyPath(steps=6).explain(verax.as_model(pipeline), reviews[0][:8])
    assert [explanation.details["removed"] for explanation in found] == [
        plainly(pipeline, text, 6) for text in reviews[0][:8]
    ]


def test_a_text_of_many_thousand_words_has_a_result():
    pipeline = fitted(LogisticRegression())
    text = " ".join(f"word{number}" for number in range(3000)) + " good bad"
    found = Greedy().explain(verax.as_model(pipeline), [text])[0]
    assert len(found.scores) == 3002
    assert {word for word, score in zip(found.features, found.scores, strict=True) if score} == {
        "good",
        "bad",
    }


def test_no_steps_is_a_sentence():
    with pytest.raises(VeraxError, match="steps=0 is too small; give 1 or more"):
        GreedyPath(steps=0)
