"""What stains and models of a dataset share is what vectorisers of their own would make of each text."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import make_texts
from verax.benchmarks.staining.stainable import lower_cased, stainable_of
from verax.data.load import load_dataset
from verax.models.ready import fit_vectorizer


@pytest.mark.parametrize("words", ["presence", "counts"])
def test_rows_are_as_models_read_them_and_values_are_counts(words):
    texts, labels = make_texts(60, seed=3)
    texts = [f"{text} {text.split()[0]}" for text in texts]  # a word that occurs twice
    made = stainable_of(lower_cased(load_dataset((texts, labels))), words)
    for part, rows, values in zip(made.dataset.parts.values(), made.rows, made.values, strict=True):
        train = list(made.dataset.train.inputs)
        asked = {each: fit_vectorizer(train, each).transform(list(part.inputs)) for each in ("counts", words)}
        assert rows.dtype == values.dtype == np.float64
        assert np.array_equal(rows.toarray(), asked[words].toarray())
        assert np.array_equal(values.toarray(), asked["counts"].toarray())
    assert made.values[0].max() > 1
