import subprocess
import sys
from dataclasses import replace

import numpy as np

from verax.data import Column, Dataset, Part, Schema

TEXTS = Dataset(
    "reviews",
    "text",
    ("bad", "good"),
    train=Part(["a fine film", "dull \ud83d"], np.array([1, 0])),
    validation=Part(["so-so"], np.array([0])),
    test=Part(["grand", ""], np.array([1, 1])),
    notes=("3 empty texts dropped",),
)
ROWS = Dataset(
    "table",
    "table",
    ("no", "yes"),
    train=Part(np.array([[1.5, 0], [np.nan, 1]]), np.array([0, 1])),
    validation=Part(np.empty((0, 2)), np.array([], dtype=int)),
    test=Part(np.array([[0.0, 1]]), np.array([1])),
    schema=Schema((Column("x", missing=True), Column("c", ("u", "v")))),
)

PRINT_HASH = """
import numpy as np
from verax.data import (Dataset, Part)
part = Part(["é", "b"], np.array([0, 1]))
print(Dataset("any", "text", ("x", "y"), part, part, part).hash)
"""


def test_the_hash_is_the_same_in_every_process():
    found = {
        subprocess.run(
            [sys.executable, "-c", PRINT_HASH],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    part = Part(["é", "b"], np.array([0, 1]))
    assert found == {Dataset("another name", "text", ("x", "y"), part, part, part).hash + "\n"}


def test_the_hash_tells_contents_apart():
    train = TEXTS.train
    variants = [
        TEXTS,
        replace(TEXTS, class_names=("bad", "fine")),
        replace(TEXTS, train=Part(train.inputs, np.array([1, 1]))),
        replace(TEXTS, train=Part(["a fine film!", "dull \ud83d"], train.labels)),
        replace(TEXTS, train=Part(["a fine filmdull", " \ud83d"], train.labels)),
        replace(TEXTS, train=TEXTS.validation, validation=train),
        ROWS,
        replace(ROWS, schema=Schema((Column("x", missing=True), Column("c", ("u", "w"))))),
        replace(ROWS, test=Part(np.array([[0.0, 0]]), np.array([1]))),
    ]
    assert len({dataset.hash for dataset in variants}) == len(variants)


def test_the_hash_does_not_tell_apart_what_is_equal():
    same = replace(
        ROWS, name="other", notes=("a note",), test=Part(np.array([[-0.0, 1]]), np.array([1], dtype=np.int32))
    )
    assert same.hash == ROWS.hash


def test_a_dataset_says_what_it_is():
    assert repr(TEXTS) == "Dataset('reviews', 2/1/2 texts, classes: bad, good)"
    assert repr(ROWS) == "Dataset('table', 2/0/1 rows x 2 columns, classes: no, yes)"
    assert repr(TEXTS.train) == "Part(2 texts)"
    assert len(TEXTS) == 5
    assert len(TEXTS.test) == 2
    assert TEXTS.summary().splitlines() == [
        "reviews: 5 texts",
        "  train            2  (bad 1, good 1)",
        "  validation       1  (bad 1, good 0)",
        "  test             2  (bad 0, good 2)",
        "  note: 3 empty texts dropped",
    ]
    assert "  columns          2  (1 numeric, 1 categorical)" in ROWS.summary()
