"""Paths are kept for the last few models only."""

from __future__ import annotations

import gc
import weakref

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import verax
from helpers import make_texts
from verax.perturb import path_for
from verax.perturb.dispatch import MAX_PATHS


def small_model(seed: int):
    texts, labels = make_texts(40, seed=seed)
    return verax.as_model(make_pipeline(CountVectorizer(), DecisionTreeClassifier()).fit(texts, labels))


def test_the_same_model_keeps_its_path_and_a_refitted_one_gets_a_new_one():
    model = small_model(0)
    first = path_for(model)
    assert path_for(model) is first
    texts, labels = make_texts(40, seed=1)
    model.classifier.fit(model.vectorizer.transform(texts), labels)
    assert path_for(model) is not first


def test_models_that_nobody_uses_any_more_are_let_go():
    alive = []
    for seed in range(MAX_PATHS + 6):
        model = small_model(seed)
        path_for(model)
        alive.append(weakref.ref(model))
    del model
    gc.collect()
    assert sum(ref() is not None for ref in alive) <= MAX_PATHS
