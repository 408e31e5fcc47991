"""What many tests need: real data when it is there, and small models on texts of our own."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_data(name: str) -> Path:
    """A folder of real data beside the repository; the test is skipped where it is absent."""
    folder = SHARED / name
    if not folder.exists():
        pytest.skip(f"no real data {name} beside the repository")
    return folder


GOOD = ["good", "great", "fine", "lovely", "warm", "funny", "clever", "moving"]
BAD = ["bad", "dull", "poor", "weak", "cold", "silly", "slow", "boring"]
PLAIN = [
    "the",
    "a",
    "film",
    "movie",
    "plot",
    "actor",
    "scene",
    "story",
    "it",
    "was",
    "is",
    "with",
    "and",
    "of",
]


def make_texts(count: int, seed: int = 0, length: int = 12) -> tuple[list[str], np.ndarray]:
    """Texts of made-up reviews and their labels; some words are repeated, some in upper case."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    texts = []
    for label in labels:
        words = rng.choice(PLAIN + (GOOD if label else BAD) * 2 + GOOD + BAD, length)
        shown = [word.title() if rng.random() < 0.1 else word for word in words]
        texts.append(" ".join(shown) + rng.choice([".", "!", " ..."]))
    return texts, labels


def fitted(classifier, vectorizer=None, count: int = 200, classes: int = 2):
    """A fitted pipeline on made-up reviews."""
    texts, labels = make_texts(count)
    if classes > 2:
        labels = labels + np.arange(count) % (classes - 1)
    return make_pipeline(vectorizer or CountVectorizer(), classifier).fit(texts, labels)


def explain_elsewhere(arguments):
    """Explains texts, in whatever process this is called."""
    import verax

    explainer, pipeline, texts = arguments
    return [found.to_dict() for found in explainer.explain(verax.as_model(pipeline), texts)]


def forget(package: str) -> None:
    """The next import reads the package anew, and may find it elsewhere."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
