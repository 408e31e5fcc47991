"""What a model was asked for an explanation is counted, whoever asks it and however."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from verax.data import split_words
from verax.errors import VeraxError
from verax.explain import Cost, Lime
from verax.explain.base import explanations_of
from verax.perturb import path_for

TEXTS = ["a good film", "the bad plot of a film"]


class Counting:
    """A function from texts to probabilities that counts the rows and calls itself."""

    def __init__(self):
        self.rows = self.calls = 0

    def __call__(self, texts):
        self.rows += len(texts)
        self.calls += 1
        yes = np.array([0.8 if "good" in text else 0.3 for text in texts])
        return np.stack([1 - yes, yes], axis=1)


@dataclass(frozen=True)
class Alone(verax.Explainer):
    """The explainer of docs/staining.md: it says nothing of its cost."""

    def explain(self, model, inputs, targets=None):
        if targets is None:
            targets = np.argmax(model.predict_proba(inputs), axis=1).tolist()
        explanations = []
        for text, target in zip(inputs, targets, strict=True):
            words = split_words(text).distinct
            nothing, *alone = model.predict_proba(["", *words])[:, target]
            scores = np.array(alone) - nothing
            explanations.append(verax.Attribution(words, scores, target, model.class_names[target], text))
        return explanations


class NoClassOfOurs:
    """Any object with the method."""

    def explain(self, model, inputs, targets=None):
        return Alone().explain(model, inputs, targets)


def test_what_an_own_explainer_asks_is_counted_and_shared_among_its_inputs():
    function = Counting()
    explanations = Alone().explain(verax.as_model(function, class_names=("no", "yes")), TEXTS)
    assert function.rows == 2 + (1 + 3) + (1 + 6)
    assert sum(e.cost.rows for e in explanations) == function.rows
    assert [e.cost.rows for e in explanations] == [7, 6]  # 13 rows for two inputs
    assert [e.cost.calls for e in explanations] == [2, 2]  # 3 calls, rounded up
    assert all(e.cost.seconds > 0 for e in explanations)


def test_an_object_with_the_method_is_counted_alike():
    function = Counting()
    model = verax.as_model(function, class_names=("no", "yes"))
    explanations = explanations_of(NoClassOfOurs(), "mine", model, TEXTS)
    assert sum(e.cost.rows for e in explanations) == function.rows == 13


def test_a_model_class_of_somebodys_own_is_counted():
    class Own(verax.Model):
        kind = "text"
        class_names = ("no", "yes")

        def predict_proba(self, inputs):
            return Counting()(inputs)

    assert sum(e.cost.rows for e in Alone().explain(Own(), TEXTS)) == 13


def test_an_explainer_that_asks_another_one_has_that_ones_cost():
    @dataclass(frozen=True)
    class Rounded(verax.Explainer):
        def explain(self, model, inputs, targets=None):
            return [
                verax.Attribution(e.features, e.scores.round(1), e.target)
                for e in Lime(samples=50).explain(model, inputs, targets)
            ]

    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS * 3, [1, 0] * 3)
    model = verax.as_model(pipeline)
    path_for(model)  # building the path asks the model, too
    lime = sum(e.cost.rows for e in Lime(samples=50).explain(model, TEXTS))
    assert lime > 0
    assert sum(e.cost.rows for e in Rounded().explain(model, TEXTS)) == lime


def test_a_cost_that_an_explainer_states_is_kept():
    @dataclass(frozen=True)
    class Stating(verax.Explainer):
        def explain(self, model, inputs, targets=None):
            model.predict_proba(inputs)
            return [verax.Attribution(("a",), np.ones(1), 0, cost=Cost(5, 1, 0.5)) for _ in inputs]

    explanations = Stating().explain(verax.as_model(Counting(), class_names=("no", "yes")), TEXTS)
    assert [e.cost for e in explanations] == [Cost(5, 1, 0.5)] * 2


def test_probabilities_of_a_model_are_counted_once_although_it_is_asked_in_layers():
    function = Counting()
    model = verax.as_model(function, class_names=("no", "yes"))

    @dataclass(frozen=True)
    class Once(verax.Explainer):
        def explain(self, model, inputs, targets=None):
            model.predict_proba(inputs)
            return [verax.Attribution((), np.empty(0), 0) for _ in inputs]

    assert [e.cost.rows for e in Once().explain(model, TEXTS)] == [1, 1]


def test_an_explainer_that_raises_or_returns_too_few_is_named():
    class Raising:
        def explain(self, model, inputs, targets=None):
            raise KeyError("weights")

    class Short:
        def explain(self, model, inputs, targets=None):
            return Alone().explain(model, inputs, targets)[:1]

    class Strange:
        def explain(self, model, inputs, targets=None):
            return [0.5 for _ in inputs]

    model = verax.as_model(Counting(), class_names=("no", "yes"))
    for method, sentence in [
        (Raising(), r"The explainer 'mine' raised KeyError \('weights'\) on 2 inputs"),
        (Short(), r"The explainer 'mine' returned 1 explanations for 2 inputs"),
        (Strange(), r"The explainer 'mine' returned a float; it must return explanations"),
    ]:
        with pytest.raises(VeraxError, match=sentence):
            explanations_of(method, "mine", model, TEXTS)


def test_plain_and_changeable_classes_work_as_explainers():
    class Plain(verax.Explainer):
        def __init__(self, power=2):
            self.power = power

        def explain(self, model, inputs, targets=None):
            return Alone().explain(model, inputs, targets)

    @dataclass
    class Changeable(verax.Explainer):
        power: int = 2

        def explain(self, model, inputs, targets=None):
            return Alone().explain(model, inputs, targets)

    model = verax.as_model(Counting(), class_names=("no", "yes"))
    for kind in (Plain, Changeable):
        assert kind().explain(model, TEXTS) == Alone().explain(model, TEXTS)
        assert kind(power=3).key == kind(power=3).key != kind().key
        assert repr(kind(power=3)).endswith("(power=3)")
