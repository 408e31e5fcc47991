"""Texts for the BiLSTM with attention: what a variant shares with others, at its beginning or its end, is read once.

A state of an LSTM depends on the words before it and on nothing else. Variants of a text that begin alike have the same
states there, and those that end alike have the same ones in the other direction. What a word adds to the gates is
computed once for a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.models.base import Inputs
from verax.models.neural.bilstm import BilstmNetwork
from verax.models.neural.encoders import PADDING, WordEncoder
from verax.models.neural.networks import TextNetwork
from verax.models.neural.prototypes import PrototypeBilstm
from verax.models.text import check_texts
from verax.perturb.evaluate import Absent, Answer
from verax.perturb.masks import Variants
from verax.perturb.paths.word_ids import Numbered, numbered, probabilities

Singles = NDArray[np.float32]
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
        from verax.perturb.paths.recurrence_kernel import attended, prefix_tree, tree_states

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
        from verax.perturb.paths.filter_kernel import words_read

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
