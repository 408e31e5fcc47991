"""Texts for networks that read the numbers of words: masked variants are rows of numbers, no text is rebuilt.

For the convolutional network what each filter says to each word is computed once and added up per variant. A filter
of width w is a sum of w products, one for each word that it looks at. The products of a text's own words are a small
table; masking words changes which entries of it are added, never the entries.

For the BiLSTM with attention what a variant shares with others, at its beginning or its end, is read once. A state of
an LSTM depends on the words before it and on nothing else. Variants of a text that begin alike have the same states
there, and those that end alike have the same ones in the other direction. What a word adds to the gates is computed
once for a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.words import split_words
from verax.models.base import Inputs, check_probabilities
from verax.models.neural.architectures import BilstmNetwork, CnnNetwork, PrototypeBilstm
from verax.models.neural.encoders import PADDING, Encoded, TextEncoder, WordEncoder
from verax.models.neural.networks import TextNetwork, WordNetwork, run_network
from verax.models.wrappers import check_texts
from verax.perturb.masks import (
    BLOCK_CELLS,
    MAX_ROWS,
    Absent,
    Answer,
    Prepared,
    Rows,
    Variants,
    distinct_rows,
    evaluate_packed,
)

# ---- Any network of words

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


# ---- The convolutional network

Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Filters:
    """A convolutional network's weights as arrays.

    Attributes:
        vectors: (words, dimensions).
        weights: (dimensions, groups of filters, offsets, filters of a group).
        biases: (groups of filters, filters of a group).
        hidden, hidden_bias, output, output_bias: of the two layers after the filters.
    """

    vectors: Singles
    weights: Singles
    biases: Singles
    hidden: Singles
    hidden_bias: Singles
    output: Singles
    output_bias: Singles

    def table(self, words: IntArray) -> Singles:
        """What each filter says at each offset to some words, and to a vector of zeros behind them."""
        vectors = np.concatenate([self.vectors[words], np.zeros_like(self.vectors[:1])])
        table = (vectors @ self.weights.reshape(len(self.weights), -1)).reshape(-1, *self.weights.shape[1:])
        table[:, :, 0] += self.biases
        return table

    def scores(self, rows: NDArray[np.int32], ends: IndexArray, table: Singles) -> Singles:
        """Class scores (variants, classes) of variants as rows of a table, those of one after those of the other."""
        from verax.perturb.paths.network_kernels import strongest_responses

        strongest = strongest_responses(rows, ends, table, self.biases.reshape(-1))
        hidden: Singles = strongest @ self.hidden
        hidden += self.hidden_bias
        np.maximum(hidden, 0, out=hidden)
        scores: Singles = hidden @ self.output
        scores += self.output_bias
        return scores


@dataclass(frozen=True, eq=False)
class ConvolutionPath:
    """Adds up responses of filters for every variant, and asks the layers after them."""

    model: TextNetwork
    encoder: WordEncoder
    filters: Filters
    absent: Absent
    name: str = "filter responses of words"

    def prepare(self, inputs: Inputs) -> list[Numbered]:
        """Each text as the numbers of its words."""
        return [numbered(text, self.encoder) for text in check_texts(inputs)]

    def evaluate(self, prepared: Sequence[Numbered], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        from verax.perturb.paths.network_kernels import words_read

        limit = self.encoder.max_words
        for text, variants in zip(prepared, masks, strict=True):
            words, row_of = np.unique(text.numbers, return_inverse=True)
            table = self.filters.table(words)
            blank = len(words) if self.absent == "masked" else -1
            answers, count = [], 0
            for kept, inverse in text.blocks(variants):
                rows, ends = words_read(kept, row_of, limit, blank)
                answers.append(probabilities(self.filters.scores(rows, ends, table))[inverse])
                count += len(kept)
            yield Answer(np.concatenate(answers), count, len(answers))

    def score_rows(self, words: IntArray, rows: NDArray[np.int32], ends: IndexArray) -> FloatArray:
        """The class scores of texts: the places of their words among these, one text after the other."""
        return self.filters.scores(rows, ends, self.filters.table(words)).astype(np.float64)


def convolution_path(model: TextNetwork, encoder: WordEncoder, absent: Absent) -> ConvolutionPath | None:
    """The path for a convolutional network of ours; None for others, and where numba is not installed."""
    network = model.network
    if not isinstance(network, CnnNetwork) or find_spec("numba") is None:
        return None
    from verax.perturb.paths.network_kernels import LANES, WIDTH

    arrays = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    # Comparisons with what is no number are false: the kernel would not show it, so the network itself is asked.
    if max(network.widths) > WIDTH or not all(np.isfinite(array).all() for array in arrays.values()):
        return None
    weights = [arrays[f"filters.{number}.weight"] for number in range(len(network.widths))]
    n_filters = sum(map(len, weights))
    groups = -(-n_filters // LANES)
    padding = groups * LANES - n_filters
    wide = [np.pad(each, ((0, 0), (0, 0), (0, WIDTH - each.shape[2]))) for each in weights]
    by_filter = np.pad(np.concatenate(wide), ((0, padding), (0, 0), (0, 0)))
    by_group = by_filter.reshape(groups, LANES, -1, WIDTH)
    biases = np.concatenate([arrays[f"filters.{number}.bias"] for number in range(len(weights))])
    filters = Filters(
        vectors=arrays["embedding.weight"],
        weights=np.ascontiguousarray(by_group.transpose(2, 0, 3, 1)),
        biases=np.pad(biases, (0, padding)).reshape(groups, LANES),
        hidden=np.pad(arrays["hidden.weight"].T, ((0, padding), (0, 0))),
        hidden_bias=arrays["hidden.bias"],
        output=np.ascontiguousarray(arrays["output.weight"].T),
        output_bias=arrays["output.bias"],
    )
    return ConvolutionPath(model, encoder, filters, absent)


# ---- The BiLSTM

Numbers = NDArray[np.int32]

# Words of variants that are read together: more would share more, and not fit the processor's cache.
TOGETHER = 16_384


@dataclass(frozen=True, eq=False)
class Direction:
    """One direction of the LSTM as arrays; gates are ordered input, forget, output, cell, and halved but for the last.

    Attributes:
        own: (dimensions, gates): what a word vector adds to the gates.
        bias: of the gates.
        recurrent: (units, gates): what the state before adds to them.
        attention: (units, units of attention): what a state adds to attention's argument.
    """

    own: Singles
    bias: Singles
    recurrent: Singles
    attention: Singles


@dataclass(frozen=True, eq=False)
class Recurrence:
    """A BiLSTM's weights as arrays.

    Attributes:
        vectors: (words, dimensions).
        directions: from the beginning, and from the end.
        attention_bias: of attention's argument.
        context: what attention's tangents are weighted with.
    """

    vectors: Singles
    directions: tuple[Direction, Direction]
    attention_bias: Singles
    context: Singles

    def tables(self, words: IntArray) -> list[Singles]:
        """What each word adds to the gates, for both directions; behind them padding, and a vector of zeros."""
        vectors = self.vectors[[*words.tolist(), PADDING, PADDING]]
        vectors[-1] = 0.0
        return [vectors @ direction.own + direction.bias for direction in self.directions]

    def text_vectors(self, tables: Sequence[Singles], rows: Numbers, ends: IndexArray) -> Singles:
        """The vector of each variant, from which its scores are made.

        Args:
            tables: of the words.
            rows: of these tables, those of one variant after those of the other; no variant is without any.
            ends: where those of each variant end.
        """
        from verax.perturb.paths.network_kernels import attended, prefix_tree, tree_states

        def read(table: Singles, direction: Direction, backward: bool) -> tuple[Numbers, Singles, Singles]:
            node_of, parents, words, starts = prefix_tree(rows, ends, backward)
            states = tree_states(parents, words, starts, table, direction.recurrent)
            return node_of, states, states @ direction.attention

        forward_of, forward, forward_part = read(tables[0], self.directions[0], False)
        backward_of, backward, backward_part = read(tables[1], self.directions[1], True)
        forward_part += self.attention_bias
        return attended(
            ends, forward_of, backward_of, forward, backward, forward_part, backward_part, self.context
        )


@dataclass(frozen=True, eq=False)
class RecurrencePath:
    """Reads what variants have in common once, and asks the layer behind the text's vector."""

    model: TextNetwork
    encoder: WordEncoder
    recurrence: Recurrence
    absent: Absent
    name: str = "shared states of words"

    def prepare(self, inputs: Inputs) -> list[Numbered]:
        """Each text as the numbers of its words."""
        return [numbered(text, self.encoder) for text in check_texts(inputs)]

    def evaluate(self, prepared: Sequence[Numbered], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        from verax.perturb.paths.network_kernels import words_read

        for text, variants in zip(prepared, masks, strict=True):
            words, row_of = np.unique(text.numbers, return_inverse=True)
            tables = self.recurrence.tables(words)
            blank = len(words) + 1 if self.absent == "masked" else -1
            answers, count = [], 0
            for kept, inverse in text.blocks(variants):
                rows, ends = words_read(kept, row_of, self.encoder.max_words, blank)
                scores = self._scores(tables, rows[: ends[-1]], ends)
                answers.append(probabilities(scores)[inverse])
                count += len(kept)
            yield Answer(np.concatenate(answers), count, len(answers))

    def score_rows(self, words: IntArray, rows: Numbers, ends: IndexArray) -> FloatArray:
        """The class scores of texts: the places of their words among these, one text after the other."""
        return self._scores(self.recurrence.tables(words), rows, ends)

    def _scores(self, tables: Sequence[Singles], rows: Numbers, ends: IndexArray) -> FloatArray:
        # To the network a text without words is one word of padding.
        rows, ends = without_empty(rows, ends, len(tables[0]) - 2)
        vectors, first = [], 0
        while first < len(ends):
            start = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, start + TOGETHER, side="right")))
            some = ends[first:last] - start
            vectors.append(self.recurrence.text_vectors(tables, rows[start : ends[last - 1]], some))
            first = last
        self.model.network.eval()
        with torch.inference_mode():
            output = self.model.network.get_submodule("output")
            scores: Singles = output(torch.from_numpy(np.concatenate(vectors))).numpy()
            return scores.astype(np.float64)


def without_empty(rows: Numbers, ends: IndexArray, nothing: int) -> tuple[Numbers, IndexArray]:
    """The same variants; one that reads no row reads this one instead."""
    starts = np.concatenate([[0], ends[:-1]])
    empty = starts == ends
    if not empty.any():
        return rows, ends
    return np.insert(rows, starts[empty], nothing), ends + np.cumsum(empty)


def recurrence_path(model: TextNetwork, encoder: WordEncoder, absent: Absent) -> RecurrencePath | None:
    """The path for a BiLSTM of ours, with prototypes or without; None for others, and where numba is not installed."""
    network = model.network
    if type(network) not in (BilstmNetwork, PrototypeBilstm) or find_spec("numba") is None:
        return None
    arrays = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    # Compiled comparisons would not show what is no number, so the network itself is asked.
    if not all(np.isfinite(array).all() for array in arrays.values()):
        return None
    units = arrays["lstm.weight_hh_l0"].shape[1]
    attention = np.ascontiguousarray(arrays["attention.weight"].T)
    recurrence = Recurrence(
        vectors=arrays["embedding.weight"],
        directions=(
            _direction(arrays, "", attention[:units]),
            _direction(arrays, "_reverse", attention[units:]),
        ),
        attention_bias=arrays["attention.bias"],
        context=arrays["context.weight"][0],
    )
    return RecurrencePath(model, encoder, recurrence, absent)


def _direction(arrays: dict[str, Singles], suffix: str, attention: Singles) -> Direction:
    """One direction; torch orders gates input, forget, cell, output."""

    def ordered(name: str) -> Singles:
        into, forget, cell, output = np.split(arrays[f"lstm.{name}_l0{suffix}"], 4)
        half = np.float32(0.5)
        return np.ascontiguousarray(np.concatenate([half * into, half * forget, half * output, cell]).T)

    return Direction(
        own=ordered("weight_ih"),
        bias=ordered("bias_ih") + ordered("bias_hh"),
        recurrent=ordered("weight_hh"),
        attention=attention,
    )
