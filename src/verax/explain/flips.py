"""Perturbed versions of one input, text or row: what `decision-boundary` chooses among."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.dataset import contents
from verax.data.words import split_words
from verax.explain.margins import class_scores, scores_of
from verax.explain.path import Edit
from verax.models.base import Inputs, Model
from verax.models.capabilities import Scores
from verax.perturb.counterfactual.table_changes import sample_rows
from verax.perturb.counterfactual.text_changes import Distribution, distribution, sample_versions
from verax.perturb.counterfactual.text_versions import (
    Versions,
    build_texts,
    join,
    predict_versions,
    score_asker,
)
from verax.perturb.counterfactual.thesaurus import Thesaurus
from verax.perturb.masks import BLOCK_CELLS
from verax.perturb.paths.tables import schema_of
from verax.seeds import stream

# The most values of a row that are replaced (Hase and Bansal 2020, A.2).
MOST_VALUES = 3
# A model is asked for so many samples at a time, at the most.
BLOCK = 10_000


class Samples(Protocol):
    """Distinct versions of an input, each with at least one edit."""

    @property
    def counts(self) -> IndexArray:
        """How many edits each has."""

    def scores(self) -> Iterator[FloatArray]:
        """The class scores of all of them in order, as many at a time as the model is asked for at once."""

    def edits(self, place: int) -> list[Edit]:
        """The edits of one of them, in the order of the input."""

    def with_some(self, place: int, subsets: Sequence[Sequence[int]]) -> Inputs:
        """One of them with only some of its edits, for each set of edits."""


class TextSamples:
    """Versions of a text; see :class:`Samples`."""

    def __init__(self, model: Model, versions: Versions) -> None:
        self.model = model
        self.versions = versions
        self.counts = versions.edits

    def scores(self) -> Iterator[FloatArray]:
        """The class scores; see :class:`Samples`."""
        ask = self._asker(self.model)
        step = max(1, min(BLOCK, BLOCK_CELLS // len(self.versions.options.words.text)))
        for block in self.versions.blocks(step):
            yield ask(block)

    def _asker(self, model: Model) -> Callable[[Versions], FloatArray]:
        """The fastest way from versions to class scores that the model has; texts are built if there is no other."""
        if not isinstance(model, Scores):
            predict = predict_versions(model, self.versions.options)
            return lambda block: scores_of(predict(block))
        return score_asker(model, self.versions.options) or (lambda block: model.scores(build_texts(block)))

    def edits(self, place: int) -> list[Edit]:
        """Which words are replaced, and by what."""
        options, words = self.versions.options, self.versions.options.words
        number = {word: feature for feature, word in enumerate(words.distinct)}
        edits = []
        for option in self._chosen(place).tolist():
            word = int(options.places[option])
            before = words.words[word]
            edits.append(Edit(number[before], word, before, options.after[option]))
        return edits

    def with_some(self, place: int, subsets: Sequence[Sequence[int]]) -> Inputs:
        """The text with some of the edits."""
        chosen = self._chosen(place)
        parts = [chosen[sorted(subset)] for subset in subsets]
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
        return build_texts(Versions(self.versions.options, starts, np.concatenate(parts)))

    def _chosen(self, place: int) -> IndexArray:
        return self.versions.chosen[self.versions.starts[place] : self.versions.starts[place + 1]]


class RowSamples:
    """Versions of a row; see :class:`Samples`."""

    def __init__(self, model: Model, row: FloatArray, rows: FloatArray) -> None:
        self.model = model
        self.row = row
        self.rows = rows
        self.changed: BoolArray = ~((rows == row) | (np.isnan(rows) & np.isnan(row)))
        self.counts: IndexArray = self.changed.sum(axis=1)

    def scores(self) -> Iterator[FloatArray]:
        """The class scores; see :class:`Samples`."""
        for first in range(0, len(self.rows), BLOCK):
            yield class_scores(self.model, self.rows[first : first + BLOCK])

    def edits(self, place: int) -> list[Edit]:
        """Which values are replaced, and by what."""
        schema = schema_of(self.model)
        return [
            Edit(
                column,
                None,
                schema.describe(column, self.row[column]),
                schema.describe(column, self.rows[place, column]),
            )
            for column in np.flatnonzero(self.changed[place]).tolist()
        ]

    def with_some(self, place: int, subsets: Sequence[Sequence[int]]) -> Inputs:
        """The row with some of the edits."""
        columns = np.flatnonzero(self.changed[place])
        rows = np.repeat(self.row[None], len(subsets), axis=0)
        for made, subset in zip(rows, subsets, strict=True):
            made[columns[list(subset)]] = self.rows[place, columns[list(subset)]]
        return rows


def boundary_distribution(n_words: int, attempt: int = 0) -> Distribution:
    """As for counterfactual texts, but at a higher temperature: the authors' code looks for flips more widely."""
    return replace(distribution(n_words, attempt), temperature=0.8 + 0.4 * attempt)


def text_samples(
    model: Model, text: str, thesaurus: Thesaurus, samples: int, seed: int, attempt: int
) -> TextSamples | None:
    """Versions of a text with words replaced by similar ones; None if no word can be."""
    words = split_words(text)
    wanted = boundary_distribution(len(words), attempt)
    candidates = thesaurus.candidates(words, wanted.top)
    if not candidates.options.after:
        return None
    rng = stream(seed, "decision boundary", text, attempt)
    drawn = join(list(sample_versions(candidates, wanted, samples, rng)))
    return TextSamples(model, drawn.select(drawn.first_places()))


def row_samples(
    model: Model, row: FloatArray, values: Sequence[FloatArray], samples: int, seed: int, attempt: int
) -> RowSamples | None:
    """Versions of a row with one to three values replaced; None if no column has another value."""
    rng = stream(seed, "decision boundary", next(contents(row[None])).hex(), attempt)
    blocks = list(sample_rows(row, values, MOST_VALUES, samples, rng))
    return RowSamples(model, row, np.unique(np.concatenate(blocks), axis=0)) if blocks else None
