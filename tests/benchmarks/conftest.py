"""A small dataset of texts for staining."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from helpers import make_texts

sys.path.append(str(Path(__file__).parent))  # stain_methods, by name, here and in workers


@pytest.fixture(scope="session")
def reviews_csv(tmp_path_factory):
    """A file of 900 made-up reviews."""
    path = tmp_path_factory.mktemp("stain") / "reviews.csv"
    texts, labels = make_texts(900, seed=8, length=14)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(
            (f"{text} {number % 97}", label)
            for number, (text, label) in enumerate(zip(texts, labels, strict=True))
        )
    return str(path)
