"""Perfectly correlated copies of what stains are made of: taken out of the inputs, so that no model reads them.

A model may learn a stain by a copy of one of its features, and then every faithful explanation is wrong by the scores.
The paper removes perfectly correlated features. A word that is a copy is removed from all texts; a column that holds a
copy is given one value in all rows, so that models which name their columns still work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from verax.benchmarks.staining.rules import Literal, Values, column_of
from verax.data import Bins, Dataset, Part
from verax.data.dataset import Inputs

Copy = tuple[str, str]


def copied_words(literals: Sequence[Literal], names: Sequence[str], counts: Values) -> list[Copy]:
    """Words that stand in exactly the training texts of a condition's word (or in exactly all others), with that word.

    Args:
        literals: the conditions that stains may be made of, in order: of two of them the earlier stays.
        names: all words.
        counts: how often each stands in each training text, by columns.
    """
    n_texts = counts.shape[0]
    copies: dict[str, str] = {}
    presence = (counts > 0).tocsc()
    presence.sort_indices()
    lengths = np.diff(presence.indptr)
    for literal in literals:
        if literal.name in copies:
            continue
        own = _texts(presence, literal.column)
        alike = (lengths == len(own)) | (lengths == n_texts - len(own))
        for column in np.flatnonzero(alike).tolist():
            if column == literal.column or str(names[column]) in copies:
                continue
            texts = _texts(presence, column)
            same = len(texts) == len(own) and np.array_equal(texts, own)
            if same or len(np.union1d(texts, own)) == len(texts) + len(own) == n_texts:
                copies[str(names[column])] = literal.name
    return list(copies.items())


def _texts(presence: Values, column: int) -> NDArray[np.int32]:
    texts: NDArray[np.int32] = presence.indices[presence.indptr[column] : presence.indptr[column + 1]]
    return texts


def copied_columns(literals: Sequence[Literal], bins: Bins, values: Values) -> list[Copy]:
    """Columns of which a value is a copy of a condition on an earlier column (or its opposite), with that condition.

    A column's own values are no copies of each other: one that says Male wherever another does not say Female is one.
    """
    copies: dict[str, str] = {}
    names = bins.schema.names
    for literal in literals:
        if literal.name in copies:
            continue
        own = literal.holds(values)
        for column in range(literal.column + 1, len(names)):
            if names[column] in copies:
                continue
            other = column_of(values, column)
            for value in bins.values[column]:
                agree = np.count_nonzero((other == value) == own)
                if agree in (0, len(own)):
                    copies[names[column]] = literal.shown
    return list(copies.items())


def without_words(dataset: Dataset, words: Sequence[str]) -> Dataset:
    """The texts without some words."""
    return _each_part(dataset, lambda inputs: [taken(str(text), words) for text in inputs])


def without_columns(dataset: Dataset, columns: Sequence[str], bins: Bins) -> Dataset:
    """The rows with the commonest value of the training rows in some columns, everywhere."""
    names = list(bins.schema.names)
    commonest = {}
    for name in columns:
        values, counts = np.unique(np.asarray(dataset.train.inputs)[:, names.index(name)], return_counts=True)
        commonest[names.index(name)] = values[np.argmax(counts)]

    def even(inputs: Inputs) -> Inputs:
        rows = np.array(inputs, dtype=np.float64)
        for place, value in commonest.items():
            rows[:, place] = value
        return rows

    return _each_part(dataset, even)


def taken(text: str, words: Sequence[str]) -> str:
    """A text without some words, as the bag of words tells words apart."""
    if not words:
        return text
    listed = "|".join(re.escape(word) for word in words)
    return re.sub(rf"(?<!\w)(?:{listed})(?!\w) ?", "", text)


def _each_part(dataset: Dataset, change: Callable[[Inputs], Inputs]) -> Dataset:
    train, validation, test = (
        Part(change(part.inputs), part.labels) for part in (dataset.train, dataset.validation, dataset.test)
    )
    return replace(dataset, train=train, validation=validation, test=test)
