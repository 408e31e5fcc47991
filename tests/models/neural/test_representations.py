"""What a transformer made of texts, kept on disk with checksums."""

from __future__ import annotations

import random
import sqlite3

import numpy as np
import pytest

from verax.models.neural.representations import Representations

TEXTS = [f"text {number}" for number in range(5)]


def compute(texts):
    return [np.full((2, 3), float(text[-1]), dtype=np.float16) for text in texts]


def never(texts):
    raise AssertionError(f"computed again: {texts}")


@pytest.fixture
def store(tmp_path):
    kept = Representations(tmp_path / "representations.sqlite")
    kept.get("model", TEXTS, compute)
    return kept


def test_what_is_kept_is_not_computed_again(store):
    found = store.get("model", TEXTS[::-1], never)
    assert [array[0, 0] for array in found] == [4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE checked SET data = x'00' || substr(data, 2)",
        "UPDATE checked SET width = 2",
        "UPDATE checked SET data = (SELECT data FROM checked ORDER BY key LIMIT 1)",
        "UPDATE checked SET sum = NULL",
    ],
)
def test_bytes_that_changed_are_not_used(store, damage):
    connection = sqlite3.connect(store.path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    found = store.get("model", TEXTS, compute)
    assert [array.shape for array in found] == [(2, 3)] * 5
    assert [float(array[1, 2]) for array in found] == [0, 1, 2, 3, 4]
    store.get("model", TEXTS, never)  # mended


def test_a_file_with_flipped_bytes_gives_no_wrong_number(store):
    whole = store.path.read_bytes()
    draw = random.Random(0)
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(draw.choice([1, 3, 200])):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        store.path.write_bytes(content)
        found = store.get("model", TEXTS, compute)
        assert [array.tolist() for array in found] == [array.tolist() for array in compute(TEXTS)]
