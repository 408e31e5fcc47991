"""Every method on models of every sort: what a refusal recommends does not refuse, and targets come in any form."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.explain import explainers
from verax.explain.base import class_numbers
from verax.models.capabilities import Embedded
from verax.workflows.given_objects import parse_explainers

TEXTS = [
    "a good film with a fine plot",
    "the bad, dull plot of a film",
    "good and bad scenes in one story",
    "a dull film",
    "fine actors, good story",
]
LABELS = [1, 0, 1, 0, 1]
# Small budgets: whether a method refuses is asked here, not what it says.
SMALL = {
    "lime": {"samples": 50},
    "anchor": {"most_samples": 500},
    "decision-boundary": {"samples": 50},
    "composite": {"samples": 50},
    "l2x": {"epochs": 1, "k": 2},
    "invase": {"iterations": 5},
    "prototype": {"prototypes": 2},
}
NAMES = sorted(set(explainers.names()) - {"precomputed"})


class WithGradients(verax.Model):
    """A network of somebody's own: gradients, and neither layers nor filters."""

    kind = "text"
    class_names = ("negative", "positive")

    def predict_proba(self, inputs):
        scores = np.exp(self.scores(inputs))
        return scores / scores.sum(axis=1, keepdims=True)

    def scores(self, inputs):
        return self.scores_from(self.embed(inputs))

    def embed(self, inputs):
        words = [text.split() for text in inputs]
        return [
            Embedded(
                text,
                np.array([[len(word), 1.0] for word in own], dtype=np.float32).reshape(-1, 2),
                np.arange(len(own), dtype=np.intp),
            )
            for text, own in zip(inputs, words, strict=True)
        ]

    def scores_from(self, embedded):
        return np.array([[0.0, 0.1 * one.vectors.sum()] for one in embedded])

    def gradients(self, embedded, targets):
        return [
            np.full_like(one.vectors, 0.1 * target) for one, target in zip(embedded, targets, strict=True)
        ]


@pytest.fixture(scope="module")
def models():
    words = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS * 4, LABELS * 4)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    table = LogisticRegression().fit(rows, rows.a > 0)
    texts = verax.load_dataset((TEXTS * 8, LABELS * 8))
    plain = ["a good film", "dull plot"]
    schema = Schema.learn(rows)
    return {
        "texts": (verax.as_model(words), TEXTS[:2]),
        "function of texts": (verax.as_model(words.predict_proba, kind="text"), TEXTS[:2]),
        "texts with few references": (verax.as_model(words, reference=TEXTS), TEXTS[:2]),
        "texts with references": (verax.as_model(words, reference=TEXTS * 8), TEXTS[:2]),
        "table": (verax.as_model(table, schema=schema), rows[:2]),
        "table with references": (verax.as_model(table, reference=rows), rows[:2]),
        "cnn": (verax.fit_model("cnn(epochs=1)", texts), TEXTS[:2]),
        "bilstm": (verax.fit_model("bilstm(epochs=1)", texts), TEXTS[:2]),
        "gradients": (WithGradients(), plain),
    }


SORTS = [
    "texts",
    "function of texts",
    "texts with few references",
    "texts with references",
    "table",
    "table with references",
    "cnn",
    "bilstm",
    "gradients",
]


def made(name):
    """An explainer by its name, perhaps with options behind it; a small one."""
    plain = name.partition("(")[0]
    named = parse_explainers(name)[0]
    return verax.explainer(plain, **(SMALL.get(plain, {}) | dict(named.parameters)))


def recommended(sentence, refused):
    """The methods, with their options, that a sentence names besides the one that refused."""
    hint = sentence.partition(";")[2]
    found = re.findall(
        rf"(?<![\w-])({'|'.join(sorted(NAMES, key=len, reverse=True))})(\([^)]*\))?(?![\w-])", hint
    )
    return sorted({name + options for name, options in found if options or name != refused})


def refusal(name, model, inputs):
    """The sentence with which a method refuses; empty if it explains all inputs."""
    try:
        explanations = made(name).explain(model, inputs)
    except VeraxError as error:
        return str(error)
    assert len(explanations) == len(inputs)
    return ""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sort", SORTS)
def test_no_hint_recommends_what_refuses(models, sort, name):
    model, inputs = models[sort]
    sentence = refusal(name, model, inputs)
    if not sentence:
        return
    assert "; " in sentence, "nothing is recommended"
    others = recommended(sentence, name)
    if "reference=" in sentence:
        assert getattr(model, "reference", None) is None
        table = model.kind == "table"
        helped, rows = models["table with references" if table else "texts with references"]
        for other in others if table and others else [name]:
            assert not refusal(other, helped, rows)
        if table:
            return  # without rows none can serve, and the sentence says so
    for other in others:
        assert not refusal(other, model, inputs), sentence


def test_a_table_without_rows_is_told_of_them(models):
    model, rows = models["table"]
    sentences = {name: refusal(name, model, rows) for name in NAMES}
    assert {name for name, said in sentences.items() if said and "reference=" not in said} == {
        "random-fragments"
    }
    assert not sentences["random"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sort", ["texts with references", "table with references", "cnn", "bilstm"])
def test_every_method_takes_one_class_for_all_and_classes_by_name(models, sort, name):
    model, inputs = models[sort]
    if refusal(name, model, inputs):
        return
    method, last = made(name), model.class_names[1]
    try:
        expected = list(method.explain(model, inputs, [1, 1]))
    except VeraxError as error:
        pytest.skip(f"no explanation of this class: {error}")
    for targets in (last, 1, np.str_(last), [last, last], np.array([last, last]), pd.Series([last, last])):
        assert list(method.explain(model, inputs, targets)) == expected  # but for their cost


class Listening(verax.Explainer):
    """Somebody's own: what it is given as targets is what it says."""

    def explain(self, model, inputs, targets=None):
        return [
            verax.Attribution(
                ("x",), np.array([1.0]), model.predict_proba(inputs)[0].argmax() if targets is None else own
            )
            for own in (targets or [None] * len(inputs))
        ]


@pytest.mark.parametrize("targets", ["1", 1, ["0", "1"], np.array(["0", "1"]), [0, 1]])
def test_a_method_of_ones_own_is_given_numbers(models, targets):
    model, texts = models["texts"]
    assert model.class_names == ("0", "1")
    found = Listening().explain(model, texts, targets)
    assert [explanation.target for explanation in found] == (
        [1, 1] if isinstance(targets, str | int) else [0, 1]
    )
    assert all(type(explanation.target) is int for explanation in found)
    assert class_numbers(model, texts, targets) == [explanation.target for explanation in found]
    assert class_numbers(model, texts) == model.predict_proba(texts).argmax(axis=1).tolist()
