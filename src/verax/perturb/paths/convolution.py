"""Texts for the convolutional network: what each filter says to each word is computed once and added up per variant.

A filter of width w is a sum of w products, one for each word that it looks at. The products of a text's own words are a
small table; masking words changes which entries of it are added, never the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray
from verax.models.base import Inputs
from verax.models.neural.cnn import CnnNetwork
from verax.models.neural.encoders import WordEncoder
from verax.models.neural.networks import TextNetwork
from verax.models.text import check_texts
from verax.perturb.evaluate import Answer
from verax.perturb.masks import MAX_ROWS, Variants
from verax.perturb.paths.word_ids import Numbered, kept_words, numbered, probabilities

Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Filters:
    """A convolutional network's weights as arrays.

    Attributes:
        vectors: (words, dimensions).
        weights: for each width (width, dimensions, filters).
        biases: (widths, filters).
        hidden, hidden_bias, output, output_bias: of the two layers after the filters.
    """

    vectors: Singles
    weights: tuple[Singles, ...]
    biases: Singles
    hidden: Singles
    hidden_bias: Singles
    output: Singles
    output_bias: Singles

    def table(self, text: Numbered) -> Singles:
        """(offsets of all widths, words of the text, filters): the products of each word at each place of a filter."""
        words = self.vectors[text.numbers]
        return np.concatenate([words @ weights for weights in self.weights])

    def scores(self, strongest: Singles) -> FloatArray:
        """Class scores from the strongest response of each filter, (variants, classes)."""
        hidden = np.maximum(strongest @ self.hidden + self.hidden_bias, 0)
        return np.asarray(hidden @ self.output + self.output_bias, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ConvolutionPath:
    """Adds up responses of filters for every variant, and asks the layers after them."""

    model: TextNetwork
    encoder: WordEncoder
    filters: Filters
    strongest: Callable[[BoolArray, Singles, Singles, NDArray[np.int64], int], Singles]
    name: str = "filter responses of words"

    def prepare(self, inputs: Inputs) -> list[Numbered]:
        """Each text as the numbers of its words."""
        return [numbered(text, self.encoder) for text in check_texts(inputs)]

    def evaluate(self, prepared: Sequence[Numbered], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        widths = np.array([len(weights) for weights in self.filters.weights])
        for text, variants in zip(prepared, masks, strict=True):
            table = self.filters.table(text)
            answers, rows = [], 0
            for block in variants.blocks(MAX_ROWS):
                kept, inverse = kept_words(text, block.columns())
                strongest = self.strongest(kept, table, self.filters.biases, widths, self.encoder.max_words)
                answers.append(probabilities(self.filters.scores(strongest))[inverse])
                rows += len(kept)
            yield Answer(np.concatenate(answers), rows, len(answers))


def convolution_path(model: TextNetwork, encoder: WordEncoder) -> ConvolutionPath | None:
    """The path for a convolutional network of ours; None for others, and where numba is not installed."""
    network = model.network
    if not isinstance(network, CnnNetwork) or find_spec("numba") is None:
        return None
    from verax.perturb.paths.kernels import strongest_responses

    arrays = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    numbers = range(len(network.filters))
    filters = Filters(
        vectors=arrays["embedding.weight"],
        weights=tuple(
            np.ascontiguousarray(arrays[f"filters.{n}.weight"].transpose(2, 1, 0)) for n in numbers
        ),
        biases=np.stack([arrays[f"filters.{n}.bias"] for n in numbers]),
        hidden=np.ascontiguousarray(arrays["hidden.weight"].T),
        hidden_bias=arrays["hidden.bias"],
        output=np.ascontiguousarray(arrays["output.weight"].T),
        output_bias=arrays["output.bias"],
    )
    return ConvolutionPath(model, encoder, filters, strongest_responses)
