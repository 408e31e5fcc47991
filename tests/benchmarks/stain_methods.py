"""Explainers and models with known answers, named by tests as stain_methods:Name."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import verax
from verax.data import split_words


def scored(text: str, score, target: int = 1) -> verax.Attribution:
    words = split_words(text).distinct
    return verax.Attribution(words, np.array([score(word) for word in words], dtype=float), target)


@dataclass(frozen=True)
class Oracle(verax.Explainer):
    """Knows the stain and names its words."""

    words: str = ""

    def explain(self, model, inputs, targets=None):
        known = self.words.split("+")
        return [scored(text, lambda word: float(word in known)) for text in inputs]


@dataclass(frozen=True)
class Adversary(verax.Explainer):
    """Knows the stain and names everything else first."""

    words: str = ""

    def explain(self, model, inputs, targets=None):
        known = self.words.split("+")
        return [scored(text, lambda word: float(word not in known)) for text in inputs]


@dataclass(frozen=True)
class Nothing(verax.Explainer):
    """Returns scores that are no numbers."""

    def explain(self, model, inputs, targets=None):
        return [scored(text, lambda _word: np.nan) for text in inputs]


@dataclass(frozen=True)
class Raises(verax.Explainer):
    """Always fails."""

    seed: int = 0
    kept: dict = field(default_factory=dict, compare=False)

    def explain(self, model, inputs, targets=None):
        raise RuntimeError("out of\ncheese")


def make(dataset):
    """A model of somebody's own."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(CountVectorizer(binary=True), LogisticRegression(C=10.0))
    return pipeline.fit(dataset.train.inputs, dataset.train.labels)


def broken(dataset):
    raise MemoryError("no room")
