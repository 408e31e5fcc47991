"""Made-up reviews in a file, specs of small studies on them, and databases for their answers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import real_parts
from helpers import make_texts
from small_study import Clock
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import Study
from verax.studies.store import Store, open_store


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


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def field_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database of each kind for many tests, each with a study of its own title in it."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('field') / 'answers.sqlite'}"
    else:
        with real_parts.fresh_database(request.getfixturevalue("postgres_server")) as url:
            yield url


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(field_url: str, clock: Clock) -> Iterator[Callable[[Study], Store]]:
    """Opens a study, with a clock that the test moves; closes it in the end."""
    stores: list[Store] = []

    def open_one(study: Study) -> Store:
        stores.append(open_store(study, field_url, clock=clock))
        return stores[-1]

    yield open_one
    for one in stores:
        one.close()
