"""Texts for the convolutional network: what each filter says to each word is computed once and added up per variant.

A filter of width w is a sum of w products, one for each word that it looks at. The products of a text's own words are a
small table; masking words changes which entries of it are added, never the entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.models.base import Inputs
from verax.models.neural.cnn import CnnNetwork
from verax.models.neural.encoders import WordEncoder
from verax.models.neural.networks import TextNetwork
from verax.models.text import check_texts
from verax.perturb.evaluate import Absent, Answer
from verax.perturb.masks import Variants
from verax.perturb.paths.word_ids import Numbered, numbered, probabilities

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
        from verax.perturb.paths.filter_kernel import strongest_responses

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
        from verax.perturb.paths.filter_kernel import words_read

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
    from verax.perturb.paths.filter_kernel import LANES, WIDTH

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
