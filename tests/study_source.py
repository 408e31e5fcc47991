"""Sources of items for tests of protocols: made-up reviews with doubtful labels, and models that err on them."""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from helpers import BAD, GOOD, make_texts
from verax.data.dataset import Dataset, Part
from verax.studies.definition.spec import make_study_spec
from verax.studies.protocol.contract import Source

NAMES = ("awful", "superb", "middling")


def review_source(table, conditions, *, classes=2, wrong=0.3, size=400, worse=False, **options) -> Source:
    """Texts of 12 words and a model that weighs good and bad words; labels differ from what it says at random."""
    spec = make_study_spec(
        {"title": "T", "dataset": "made-up", "protocol": table, "conditions": conditions, **options}
    )
    inputs = [make_texts(size, seed=seed)[0] for seed in (1, 2, 3)]
    model = _fitted(inputs[0], classes)
    parts = [Part(texts, _labels(model, texts, wrong)) for texts in inputs]
    return Source(
        spec,
        Dataset("made-up", "text", NAMES[:classes], *parts),
        verax.as_model(model, class_names=NAMES[:classes]),
        verax.as_model(_fitted(inputs[0][:30], classes), class_names=NAMES[:classes]) if worse else None,
    )


def _fitted(texts, classes):
    """More good words than bad ones make class 1, more bad ones class 0, about as many class 2 where there is one."""
    balance = np.array([sum((w in GOOD) - (w in BAD) for w in text.lower().split()) for text in texts])
    labels = np.where((np.abs(balance) < 2) & (classes > 2), 2, balance > 0)
    return make_pipeline(CountVectorizer(), LogisticRegression(C=0.1)).fit(texts, labels)


def _labels(model, texts, wrong):
    rng = np.random.default_rng(0)
    said, classes = model.predict(texts), len(model.classes_)
    others = (said + 1 + rng.integers(0, classes - 1, len(texts))) % classes
    return np.where(rng.random(len(texts)) < wrong, others, said).astype(np.int64)
