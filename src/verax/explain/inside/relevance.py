"""Relevance handed back through the networks that it has rules for, the convolutional one and the BiLSTM.

In the BiLSTM with attention gates get none, signals all of it (Arras et al. 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.errors import VeraxError
from verax.explain.inside.cnn_arrays import CnnArrays
from verax.explain.inside.word_scores import Find, PositionScores, rounded
from verax.explain.perturbed import Targets
from verax.models.base import Model
from verax.models.capabilities import what_works
from verax.models.llm.local import WordLanguageModel
from verax.models.neural.architectures import BilstmNetwork, CnnNetwork
from verax.models.neural.encoders import length_batches, pad
from verax.models.neural.networks import TextNetwork

# ---- Ratios in which a denominator may be 0

# Differences below this are none, as in captum.
NONE = 1e-10


def stable(sums: FloatArray, epsilon: float) -> FloatArray:
    """Sums to divide by: moved away from 0 by epsilon; where they would still be 0, infinite, so that ratios are 0."""
    moved = sums + np.where(sums >= 0.0, epsilon, -epsilon)
    return np.where(moved == 0.0, np.inf, moved)


def rate(after: FloatArray, before: FloatArray, slope: FloatArray | BoolArray) -> FloatArray:
    """How fast rectified numbers change between two points; at equal points their slope."""
    difference = after - before
    change = np.maximum(after, 0.0) - np.maximum(before, 0.0)
    still = np.abs(difference) < NONE
    return np.where(still, slope, change / np.where(still, 1.0, difference))


# ---- The BiLSTM with attention


@dataclass(frozen=True, eq=False)
class Direction:
    """An LSTM that reads texts one way; its four blocks of weights are input gate, forget gate, signal, output gate.

    Attributes:
        of_inputs: (4 units, dimensions).
        of_states: (4 units, units).
        bias: both biases together.
    """

    of_inputs: FloatArray
    of_states: FloatArray
    bias: FloatArray

    def read(self, vectors: FloatArray) -> Steps:
        """Reads texts (texts, positions, dimensions) from the first position on."""
        count, length, _ = vectors.shape
        units = self.of_states.shape[1]
        steps = Steps(*(np.zeros((count, length, units)) for _ in range(6)))
        from_inputs = vectors @ self.of_inputs.T + self.bias
        state = cell = np.zeros((count, units))
        for place in range(length):
            sums = from_inputs[:, place] + state @ self.of_states.T
            enters, forgets, before, leaves = np.split(sums, 4, axis=1)
            signal = np.tanh(before)
            kept = expit(forgets) * cell
            entered = expit(enters) * signal
            cell = kept + entered
            state = expit(leaves) * np.tanh(cell)
            for values, step in zip((before, entered, kept, cell, state), steps.filled(), strict=True):
                step[:, place] = values
        steps.earlier[:, 1:] = steps.states[:, :-1]
        return steps

    def relevance(
        self, vectors: FloatArray, steps: Steps, of_states: FloatArray, epsilon: float
    ) -> FloatArray:
        """(texts, positions): what of the states' relevance reaches the words, from the last position back."""
        count, length, units = of_states.shape
        signal = slice(2 * units, 3 * units)
        reached = np.zeros((count, length))
        back_state, back_cell = np.zeros((count, units)), np.zeros((count, units))
        for place in range(length - 1, -1, -1):
            ratio = (back_cell + back_state + of_states[:, place]) / stable(steps.cells[:, place], epsilon)
            back_cell = steps.kept[:, place] * ratio
            entered = steps.entered[:, place] * ratio
            shared = entered / stable(steps.before[:, place], epsilon)
            reached[:, place] = (vectors[:, place] * (shared @ self.of_inputs[signal])).sum(axis=1)
            back_state = steps.earlier[:, place] * (shared @ self.of_states[signal])
        return reached


@dataclass(frozen=True, eq=False)
class Steps:
    """What happened at each position, each (texts, positions, units).

    Attributes:
        before: the signal before its tanh.
        entered: the signal that the input gate let in.
        kept: of the cell before, what the forget gate left.
        cells: the sum of these two.
        states: what came out.
        earlier: what had come out one position before.
    """

    before: FloatArray
    entered: FloatArray
    kept: FloatArray
    cells: FloatArray
    states: FloatArray
    earlier: FloatArray

    def filled(self) -> tuple[FloatArray, ...]:
        """Those that are filled while reading."""
        return (self.before, self.entered, self.kept, self.cells, self.states)


@dataclass(frozen=True, eq=False)
class Reading:
    """Texts as the network read them.

    Attributes:
        vectors: forwards and backwards, each text's words first.
        order: for each text and place, the place where the backward reading has it.
        steps: of both directions.
        weights: (texts, positions), the attention.
        states: (texts, positions, 2 units), both directions side by side.
        text: their weighted sum.
        scores: (texts, classes).
    """

    vectors: tuple[FloatArray, FloatArray]
    order: IntArray
    steps: tuple[Steps, Steps]
    weights: FloatArray
    states: FloatArray
    text: FloatArray
    scores: FloatArray


@dataclass(frozen=True, eq=False)
class BilstmArrays:
    """The network's weights in double precision.

    Attributes:
        forward: reads from the first word on, and
        backward: from the last.
        attention: (2 units, 2 units) and
        attention_bias: before the tanh.
        context: what a word's state is compared with.
        output: (classes, 2 units) and
        output_bias: of the last layer.
    """

    forward: Direction
    backward: Direction
    attention: FloatArray
    attention_bias: FloatArray
    context: FloatArray
    output: FloatArray
    output_bias: FloatArray

    @classmethod
    def from_network(cls, network: BilstmNetwork) -> BilstmArrays:
        """A copy of a network's weights, but for those of its words."""
        weights = {
            name: tensor.detach().numpy().astype(np.float64)
            for name, tensor in network.named_parameters()
            if not name.startswith("embedding.")
        }
        directions = [
            Direction(
                weights[f"lstm.weight_ih_l0{way}"],
                weights[f"lstm.weight_hh_l0{way}"],
                weights[f"lstm.bias_ih_l0{way}"] + weights[f"lstm.bias_hh_l0{way}"],
            )
            for way in ("", "_reverse")
        ]
        return cls(
            directions[0],
            directions[1],
            weights["attention.weight"],
            weights["attention.bias"],
            weights["context.weight"][0],
            weights["output.weight"],
            weights["output.bias"],
        )

    def read(self, vectors: FloatArray, lengths: IntArray) -> Reading:
        """Reads padded texts (texts, positions, dimensions)."""
        lengths = np.maximum(lengths, 1)[:, None]  # an empty text is one word of nothing
        places = np.arange(vectors.shape[1])
        order = np.where(places < lengths, lengths - 1 - places, places)
        turned = _reordered(vectors, order)
        steps = (self.forward.read(vectors), self.backward.read(turned))
        states = np.concatenate([steps[0].states, _reordered(steps[1].states, order)], axis=2)
        fit = np.tanh(states @ self.attention.T + self.attention_bias) @ self.context
        weights = softmax(np.where(places < lengths, fit, -np.inf), axis=1)
        text = (weights[:, :, None] * states).sum(axis=1)
        scores = text @ self.output.T + self.output_bias
        return Reading((vectors, turned), order, steps, weights, states, text, scores)

    def relevance(self, reading: Reading, targets: Sequence[int], epsilon: float) -> FloatArray:
        """(texts, positions): the relevance of each word for each text's target."""
        explained = reading.scores[np.arange(len(targets)), targets]
        of_text = (
            reading.text * self.output[list(targets)] * (explained / stable(explained, epsilon))[:, None]
        )
        shared = (of_text / stable(reading.text, epsilon))[:, None]
        of_states = reading.weights[:, :, None] * reading.states * shared
        forwards, backwards = np.split(of_states, 2, axis=2)
        there = self.forward.relevance(reading.vectors[0], reading.steps[0], forwards, epsilon)
        turned = _reordered(backwards, reading.order)
        back = self.backward.relevance(reading.vectors[1], reading.steps[1], turned, epsilon)
        return np.asarray(there + np.take_along_axis(back, reading.order, axis=1))


def _reordered(values: FloatArray, order: IntArray) -> FloatArray:
    """Values (texts, positions, ...) with the positions of each text in another order; twice is none."""
    return np.take_along_axis(values, order[:, :, None], axis=1)


# ---- Relevance of each network

CNN_EPSILON, BILSTM_EPSILON = 1e-7, 1e-3


def relevance_of(model: Model, epsilon: float | None) -> Find:
    """What finds the relevance of texts' words for a network; a sentence if there is no rule for its layers."""
    if isinstance(model, TextNetwork):
        if isinstance(model.network, CnnNetwork):
            return _cnn(
                model, CnnArrays.from_network(model.network), CNN_EPSILON if epsilon is None else epsilon
            )
        if type(model.network) is BilstmNetwork:  # one with prototypes in place of the last layer has no rule
            return _bilstm(
                model,
                BilstmArrays.from_network(model.network),
                BILSTM_EPSILON if epsilon is None else epsilon,
            )
    if isinstance(model, WordLanguageModel):
        from verax.explain.inside.attention import attention_relevance

        if epsilon:
            raise VeraxError(
                "Relevance in a language model is handed back without epsilon; leave epsilon= out."
            )
        return attention_relevance(model)
    network = type(model.network if isinstance(model, TextNetwork) else model).__name__
    raise VeraxError(
        f"The method 'lrp' has rules for the networks 'cnn' and 'bilstm' and for language models, not for this "
        f"{network}; {what_works(model)}."
    )


def _cnn(model: TextNetwork, arrays: CnnArrays, epsilon: float) -> Find:
    def find(texts: Sequence[str], targets: Targets) -> list[PositionScores]:
        detected = arrays.detect(model.encoder.encode(texts))
        units = arrays.units(detected.features)
        scores = arrays.scores(units)
        chosen = chosen_targets(scores, targets)
        explained = scores[np.arange(len(chosen)), chosen]
        of_units = np.maximum(units, 0.0) * arrays.output[chosen]
        of_units *= (explained / stable(explained, epsilon))[:, None]
        of_features = detected.features * ((of_units / stable(units, epsilon)) @ arrays.hidden)
        # A rectified response is positive where relevance arrives at all: the rectifier hands it on as it is.
        of_words = detected.to_words(of_features / stable(detected.before, epsilon))
        return _found(chosen, explained, of_words)

    return find


def _bilstm(model: TextNetwork, arrays: BilstmArrays, epsilon: float) -> Find:
    def find(texts: Sequence[str], targets: Targets) -> list[PositionScores]:
        vectors = [embedded.vectors.astype(np.float64) for embedded in model.embed(texts)]
        found: dict[int, PositionScores] = {}
        for batch in length_batches([len(rows) for rows in vectors]):
            padded, lengths = pad([vectors[place].astype(np.float32) for place in batch])
            reading = arrays.read(padded.numpy().astype(np.float64), lengths.numpy())
            chosen = chosen_targets(reading.scores, [targets[place] for place in batch])
            explained = reading.scores[np.arange(len(chosen)), chosen]
            rows = arrays.relevance(reading, chosen, epsilon)
            of_words = [row[: len(vectors[place])] for row, place in zip(rows, batch, strict=True)]
            found |= zip(batch, _found(chosen, explained, of_words), strict=True)
        return [found[place] for place in range(len(texts))]

    return find


def chosen_targets(scores: FloatArray, targets: Targets) -> list[int]:
    """The classes to explain: those asked for, else those with the highest score."""
    predicted = scores.argmax(axis=1).tolist()
    return [guess if target is None else target for target, guess in zip(targets, predicted, strict=True)]


def _found(
    targets: Sequence[int], explained: FloatArray, of_words: Sequence[FloatArray]
) -> list[PositionScores]:
    return [
        PositionScores(target, words, {"score": rounded(score), "absorbed": rounded(score - words.sum())})
        for target, score, words in zip(targets, explained, of_words, strict=True)
    ]
