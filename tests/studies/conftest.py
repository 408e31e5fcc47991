"""Made-up reviews in a file, and specs of small studies on them."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from helpers import make_texts
from verax.studies.spec import make_study_spec


@pytest.fixture(scope="session")
def reviews_file(tmp_path_factory):
    """700 reviews, a fifth of them with the wrong label, so that a model gets some of either class wrong."""
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    texts, labels = make_texts(700, seed=5, length=10)
    labels = np.where(np.random.default_rng(0).random(len(labels)) < 0.2, 1 - labels, labels)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((text, ("bad", "good")[label]) for text, label in zip(texts, labels, strict=True))
    return path


@pytest.fixture
def small_spec(reviews_file):
    """Makes the spec of a small study on the reviews; what is given replaces what it has."""

    def make(**changes):
        options = {
            "title": "Reviews",
            "dataset": str(reviews_file),
            "protocol": {"name": "forward", "learning": 4, "test": 8},
            "conditions": [
                {"name": "none"},
                {"name": "greedy", "explainer": "greedy"},
                {"name": "control", "like": "greedy"},
            ],
            "participants": 2,
            "seed": 3,
        }
        return make_study_spec(options | changes)

    return make
