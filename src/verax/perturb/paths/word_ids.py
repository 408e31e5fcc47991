"""Texts for networks that read the numbers of words: masked variants are rows of numbers, no text is rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.words import split_words
from verax.models.base import Inputs, check_probabilities
from verax.models.neural.encoders import Encoded, TextEncoder, WordEncoder
from verax.models.neural.networks import TextNetwork, WordNetwork, run_network
from verax.models.text import check_texts
from verax.perturb.evaluate import Answer, Prepared, Rows, evaluate_packed
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS, Variants, distinct_rows

# In place of a word's number: a vector of zeros.
BLANK = -1


@dataclass(frozen=True, eq=False)
class Numbered(Prepared):
    """A text as the numbers of its words, or of pieces of them.

    Attributes:
        numbers: of each word in order. Where absent words are dropped, also of those beyond what the network reads:
            later ones move up.
        feature_of: which distinct word each of them is; -1 for what is none and always there.
    """

    numbers: IntArray
    feature_of: IndexArray

    def blocks(self, variants: Variants) -> Iterator[tuple[BoolArray, IndexArray]]:
        """In parts of bounded size: what each distinct variant keeps, (variants, numbers), and which one each is."""
        for block in variants.blocks(min(MAX_ROWS, BLOCK_CELLS // max(1, len(self.numbers)))):
            columns = block.columns()
            first, inverse = distinct_rows(columns)
            distinct = columns if len(first) == columns.shape[1] else columns[:, first]
            always = np.ones((1, distinct.shape[1]), dtype=np.bool_)
            yield (
                np.ascontiguousarray(np.concatenate([distinct, always])[self.feature_of].T),
                inverse,
            )


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
        return evaluate_packed(parts, lambda batches: ask_network(self.model, self.model.network, batches))

    def score_rows(self, words: IntArray, rows: NDArray[np.int32], ends: IndexArray) -> FloatArray:
        """The class scores of texts: the places of their words among these, one text after the other."""
        texts = np.split(words[rows], ends[:-1])
        return run_network(self.model.network, self.encoder, texts, len(self.model.class_names))

    def _parts(self, text: Numbered, variants: Variants) -> Iterator[Rows[list[Encoded]]]:
        limit = self.encoder.max_words
        for kept, inverse in text.blocks(variants):
            rows: list[Encoded] = [text.numbers[row][:limit] for row in kept]
            yield Rows(rows, len(rows), inverse, int(np.count_nonzero(kept)))


@dataclass(frozen=True, eq=False)
class MaskedPath:
    """Puts a mask in place of words, or of their pieces: right for every network that shows its embeddings.

    Attributes:
        model: the model.
        mask: the number of the mask; ``BLANK`` for a vector of zeros.
    """

    model: TextNetwork
    mask: int = BLANK
    name: str = "masked numbers"

    def prepare(self, inputs: Inputs) -> list[Numbered]:
        """Each text as the numbers that the network reads."""
        return read_numbers(check_texts(inputs), self.model.encoder)

    def evaluate(self, prepared: Sequence[Numbered], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        network = Blanking(self.model.network) if self.mask == BLANK else self.model.network
        parts = (self._parts(text, variants) for text, variants in zip(prepared, masks, strict=True))
        return evaluate_packed(parts, lambda batches: ask_network(self.model, network, batches))

    def _parts(self, text: Numbered, variants: Variants) -> Iterator[Rows[list[Encoded]]]:
        for kept, inverse in text.blocks(variants):
            rows: list[Encoded] = list(np.where(kept, text.numbers, self.mask))
            yield Rows(rows, len(rows), inverse, kept.size)


class Blanking(nn.Module):
    """A network that reads ``BLANK`` as a vector of zeros.

    Args:
        network: that is asked.
    """

    def __init__(self, network: WordNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as numbers (texts, positions)."""
        vectors = self.network.embedding(ids.clamp(min=0)) * (ids != BLANK)[:, :, None]
        return self.network.from_embedded(vectors, lengths)


def numbered(text: str, encoder: WordEncoder) -> Numbered:
    """A text as the numbers of all its words."""
    words = split_words(text)
    place = {word: number for number, word in enumerate(words.distinct)}
    return Numbered(
        features=words.distinct,
        numbers=encoder.numbers_of(words.words),
        feature_of=np.array([place[word] for word in words.words], dtype=np.intp),
    )


def read_numbers(texts: Sequence[str], encoder: TextEncoder) -> list[Numbered]:
    """Each text as the numbers that a network reads, which may be of pieces of words."""
    prepared = []
    for text, numbers, places in zip(texts, encoder.encode(texts), encoder.word_places(texts), strict=True):
        words = split_words(text)
        feature = {word: number for number, word in enumerate(words.distinct)}
        # One more for what is no word: its place is -1, as among the words of a text.
        features = np.array([*(feature[word] for word in words.words), -1], dtype=np.intp)
        prepared.append(Numbered(words.distinct, np.asarray(numbers, dtype=np.int64), features[places]))
    return prepared


def ask_network(model: TextNetwork, network: nn.Module, batches: Sequence[list[Encoded]]) -> FloatArray:
    """The probabilities of rows of numbers."""
    rows = list(chain.from_iterable(batches))
    return probabilities(run_network(network, model.encoder, rows, len(model.class_names)))


def probabilities(scores: NDArray[np.floating]) -> FloatArray:
    """The softmax of each row, checked as every model's answer is."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True), dtype=np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    return check_probabilities(shares, len(scores))
