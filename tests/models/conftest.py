"""Small data with known answers, shared by the tests of models."""

from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pytest

from verax.data.dataset import Dataset, Part
from verax.data.table import Column, Schema


def part(inputs, labels):
    return Part(inputs, np.asarray(labels, dtype=np.int64))


@pytest.fixture(scope="session")
def texts():
    """40 texts in which "good" and "bad" decide, with their labels."""
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    filler = ["film", "plot", "the", "actor", "scene", "story"]
    words = [[("bad", "good")[label], *rng.choice(filler, 4)] for label in labels]
    return [" ".join(rng.permutation(row)) for row in words], labels


@pytest.fixture(scope="session")
def text_data(texts):
    inputs, labels = texts
    parts = [part(inputs[a:b], labels[a:b]) for a, b in ((0, 24), (24, 32), (32, 40))]
    return Dataset("reviews", "text", ("negative", "positive"), *parts)


@pytest.fixture(scope="session")
def mixed_schema():
    return Schema((Column("age", missing=True), Column("job", ("clerk", "cook", "judge")), Column("hours")))


@pytest.fixture(scope="session")
def mixed_data(mixed_schema):
    """300 rows of age (sometimes missing), job and hours; three classes that the job and the hours decide."""
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.uniform(20, 60, 300), rng.integers(0, 3, 300), rng.uniform(0, 80, 300)])
    rows[::7, 0] = np.nan
    labels = np.where(rows[:, 2] > 50, 2, (rows[:, 1] == 1).astype(int))
    parts = [part(rows[a:b], labels[a:b]) for a, b in ((0, 200), (200, 250), (250, 300))]
    return Dataset("jobs", "table", ("low", "middle", "high"), *parts, schema=mixed_schema)


@pytest.fixture(scope="session")
def needs_package():
    """A function that skips the test where a package that carries data is not installed."""

    def check(name):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"the package {name} is not installed (verax-xai[data])")

    return check
