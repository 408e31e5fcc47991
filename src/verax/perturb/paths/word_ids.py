"""Texts for networks that read the numbers of words: masked variants are rows of numbers, no text is rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.words import split_words
from verax.models.base import Inputs, check_probabilities
from verax.models.neural.encoders import Encoded, WordEncoder
from verax.models.neural.networks import TextNetwork, run_network
from verax.models.text import check_texts
from verax.perturb.evaluate import Answer, Prepared, Rows, evaluate_packed
from verax.perturb.masks import MAX_ROWS, Variants, distinct_rows


@dataclass(frozen=True, eq=False)
class Numbered(Prepared):
    """A text as the numbers of its words.

    Attributes:
        numbers: of each word in order, also of those beyond what the network reads: where words are taken out, later
            ones move up.
        feature_of: which distinct word each of them is.
    """

    numbers: IntArray
    feature_of: IndexArray


@dataclass(frozen=True, eq=False)
class WordIdPath:
    """Takes words out of rows of numbers: right for every network that reads a text word by word."""

    model: TextNetwork
    encoder: WordEncoder
    name: str = "word numbers"

    def prepare(self, inputs: Inputs) -> list[Numbered]:
        """Each text as the numbers of its words."""
        return [numbered(text, self.encoder) for text in check_texts(inputs)]

    def evaluate(self, prepared: Sequence[Numbered], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        parts = (self._parts(text, variants) for text, variants in zip(prepared, masks, strict=True))
        return evaluate_packed(parts, self._ask)

    def _parts(self, text: Numbered, variants: Variants) -> Iterator[Rows[list[Encoded]]]:
        for block in variants.blocks(MAX_ROWS):
            kept, inverse = kept_words(text, block.columns())
            limit = self.encoder.max_words
            rows: list[Encoded] = [text.numbers[row][:limit] for row in kept]
            yield Rows(rows, len(rows), inverse, int(np.count_nonzero(kept)))

    def _ask(self, batches: Sequence[list[Encoded]]) -> FloatArray:
        rows = list(chain.from_iterable(batches))
        return probabilities(run_network(self.model.network, self.encoder, rows, len(self.model.class_names)))


def numbered(text: str, encoder: WordEncoder) -> Numbered:
    """A text as the numbers of its words."""
    words = split_words(text)
    place = {word: number for number, word in enumerate(words.distinct)}
    return Numbered(
        features=words.distinct,
        numbers=encoder.numbers_of(words.words),
        feature_of=np.array([place[word] for word in words.words], dtype=np.intp),
    )


def kept_words(text: Numbered, columns: BoolArray) -> tuple[BoolArray, NDArray[np.intp]]:
    """Which words each distinct variant keeps, (variants, words), and which of them every variant is.

    Args:
        text: the text.
        columns: the variants, (features, variants).
    """
    first, inverse = distinct_rows(columns)
    distinct = columns if len(first) == columns.shape[1] else columns[:, first]
    return np.ascontiguousarray(distinct.T)[:, text.feature_of], inverse


def probabilities(scores: FloatArray) -> FloatArray:
    """The softmax of each row, checked as every model's answer is."""
    return check_probabilities(softmax(scores, axis=1), len(scores))
