"""The convolutional network as plain arrays in double precision, and what its filters detect in texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.capabilities import ask_for, what_works
from verax.models.neural.architectures import BilstmNetwork, CnnNetwork
from verax.models.neural.encoders import PADDING, Encoded, length_batches
from verax.models.neural.networks import TextNetwork


@dataclass(frozen=True, eq=False)
class Detected:
    """For each text and filter, where it responds most; the first place, if there are several.

    Attributes:
        lengths: how many words of each text are read.
        places: (texts, filters), the word with which the strongest run begins.
        before: (texts, filters), the response there before it is rectified.
        shares: (texts, filters, widest), what each word of the run adds to it; the filter's bias adds the rest.
    """

    lengths: IntArray
    places: IndexArray
    before: FloatArray
    shares: FloatArray

    @cached_property
    def features(self) -> FloatArray:
        """(texts, filters): the strongest responses, which the hidden layer reads."""
        return np.maximum(self.before, 0.0)

    def to_words(self, factors: FloatArray) -> list[FloatArray]:
        """For each text a number per word: the words' shares in each filter's response, times a factor per filter."""
        widest = self.shares.shape[2]
        weighted = self.shares * factors[:, :, None]
        where = self.places[:, :, None] + np.arange(widest)
        by_text = self._added(where, weighted)
        return [row[:length] for row, length in zip(by_text, self.lengths.tolist(), strict=True)]

    def over_words(self, values: FloatArray, widths: IntArray) -> FloatArray:
        """(texts, positions): the values of the filters whose run contains the word; 0 behind the end of a text."""
        offsets = np.arange(self.shares.shape[2])
        where = self.places[:, :, None] + offsets
        by_text = self._added(where, np.where(offsets < widths[:, None], values[:, :, None], 0.0))
        return np.where(np.arange(by_text.shape[1]) < self.lengths[:, None], by_text, 0.0)

    def _added(self, where: IndexArray, values: FloatArray) -> FloatArray:
        room = int(self.lengths.max(initial=1)) + self.shares.shape[2]
        rows = np.arange(len(where))[:, None, None] * room
        sums = np.asarray(
            np.bincount((rows + where).ravel(), values.ravel(), len(where) * room), dtype=np.float64
        )
        return sums.reshape(len(where), room)


@dataclass(frozen=True, eq=False)
class CnnArrays:
    """The network's weights.

    Attributes:
        embedding: (words, dimensions), as the network has it.
        kernels: for each width (width, dimensions, filters).
        biases: of all filters, in the order of the widths.
        hidden: (units, filters) and
        hidden_bias: of the hidden layer.
        output: (classes, units) and
        output_bias: of the last layer.
    """

    embedding: NDArray[np.float32]
    kernels: tuple[FloatArray, ...]
    biases: FloatArray
    hidden: FloatArray
    hidden_bias: FloatArray
    output: FloatArray
    output_bias: FloatArray

    @classmethod
    def from_network(cls, network: CnnNetwork) -> CnnArrays:
        """A copy of a network's weights, but for those of its words."""
        weights, places = dict(network.named_parameters()), range(len(network.widths))
        return cls(
            network.embedding.weight.detach().numpy(),
            tuple(_double(weights[f"filters.{place}.weight"]).transpose(2, 1, 0) for place in places),
            np.concatenate([_double(weights[f"filters.{place}.bias"]) for place in places]),
            _double(network.hidden.weight),
            _double(network.hidden.bias),
            _double(network.output.weight),
            _double(network.output.bias),
        )

    @cached_property
    def widths(self) -> IntArray:
        """How many words each filter looks at."""
        return np.concatenate([np.full(kernel.shape[2], len(kernel)) for kernel in self.kernels])

    def units(self, features: FloatArray) -> FloatArray:
        """The hidden units before they are rectified."""
        return np.asarray(features @ self.hidden.T + self.hidden_bias)

    def scores(self, units: FloatArray) -> FloatArray:
        """Class scores from hidden units before they are rectified."""
        return np.asarray(np.maximum(units, 0.0) @ self.output.T + self.output_bias)

    def slopes(self, units: FloatArray, targets: Sequence[int]) -> FloatArray:
        """(texts, filters): how fast each target's score grows with each strongest response."""
        return np.asarray((self.output[list(targets)] * (units > 0.0)) @ self.hidden)

    def detect(self, texts: Sequence[Encoded]) -> Detected:
        """Where the filters respond most in texts as numbers of words."""
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        # Equal words add the same in every text: their products with the filters are computed once.
        words, numbers = np.unique(np.concatenate([[PADDING], *texts]).astype(np.int64), return_inverse=True)
        vectors = self.embedding[words].astype(np.float64)
        vectors[words == PADDING] = 0.0
        products = self._products(vectors)
        single = [[table.astype(np.float32) for table in tables] for tables in products]
        split = np.split(numbers[1:], np.cumsum(lengths)[:-1])
        widest, total = max(map(len, self.kernels)), len(self.biases)
        places = np.zeros((len(texts), total), dtype=np.intp)
        before = np.zeros((len(texts), total))
        shares = np.zeros((len(texts), total, widest))
        nothing = int(numbers[0])
        for batch in length_batches(lengths.tolist()):
            longest = max(1, int(lengths[batch].max()))
            rows = np.full((len(batch), longest + widest - 1), nothing)
            for row, number in zip(rows, batch, strict=True):
                row[: lengths[number]] = split[number]
            outside = np.arange(longest) >= np.maximum(lengths[batch], 1)[:, None]
            first = 0
            for tables, halved in zip(products, single, strict=True):
                filters = slice(first, first + tables[0].shape[1])
                first = filters.stop
                found = _strongest(tables, halved, rows, outside, self.biases[filters])
                places[batch, filters], before[batch, filters] = found[:2]
                shares[batch, filters, : len(tables)] = found[2]
        return Detected(lengths, places, before, shares)

    def _products(self, vectors: FloatArray) -> list[list[FloatArray]]:
        """For each width and each place of a run: what each word adds there to the filters' responses."""
        weights = np.concatenate([place for kernel in self.kernels for place in kernel], axis=1)
        ends = np.cumsum([place.shape[1] for kernel in self.kernels for place in kernel])
        columns = iter(np.split(vectors @ weights, ends[:-1], axis=1))
        return [[next(columns) for _ in kernel] for kernel in self.kernels]


def _strongest(
    tables: Sequence[FloatArray],
    single: Sequence[NDArray[np.float32]],
    rows: IntArray,
    outside: NDArray[np.bool_],
    biases: FloatArray,
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Of filters of one width: where each responds most, how much, and what each word of that run adds."""
    longest = outside.shape[1]
    # Where a response is strongest is found in single precision, which moves half the memory; what it is, in double.
    responses = np.zeros((*outside.shape, len(biases)), dtype=np.float32)
    for offset, table in enumerate(single):
        responses += table[rows[:, offset : longest + offset]]
    responses[outside] = -np.inf
    places = responses.argmax(axis=1)
    columns = np.arange(len(biases))
    shares = np.stack(
        [
            table[np.take_along_axis(rows, places + offset, axis=1), columns]
            for offset, table in enumerate(tables)
        ],
        axis=2,
    )
    return places, shares.sum(axis=2) + biases, shares


def _double(weights: Tensor) -> FloatArray:
    return weights.detach().numpy().astype(np.float64)


def ask_for_filters(model: Model, method: str) -> tuple[TextNetwork, CnnArrays]:
    """The convolutional network that a method needs; else a sentence.

    Args:
        model: what is to be explained.
        method: the explainer's name, for the sentence.
    """
    ask_for(model, "layers", method)
    if isinstance(model, TextNetwork) and isinstance(model.network, CnnNetwork):
        return model, CnnArrays.from_network(model.network)
    network = type(model.network if isinstance(model, TextNetwork) else model)
    raise VeraxError(
        f"The method {method!r} reads the filters of the network 'cnn', which this {network.__name__} does not have; "
        f"{what_works(model, *(('lrp',) if network is BilstmNetwork else ()))}."
    )
