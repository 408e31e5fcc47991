"""Relevance handed back through the networks that it has rules for: 'cnn' here, 'bilstm' in its own module."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.inside.bilstm_relevance import BilstmArrays
from verax.explain.inside.cnn_arrays import CnnArrays
from verax.explain.inside.course import Find, Found, rounded
from verax.explain.inside.ratios import stable
from verax.explain.perturbed import Targets
from verax.models.base import Model
from verax.models.capabilities import what_works
from verax.models.neural.bilstm import BilstmNetwork
from verax.models.neural.cnn import CnnNetwork
from verax.models.neural.encoders import length_batches, pad
from verax.models.neural.networks import TextNetwork

CNN_EPSILON, BILSTM_EPSILON = 1e-7, 1e-3


def relevance_of(model: Model, epsilon: float | None) -> Find:
    """What finds the relevance of texts' words for a network; a sentence if there is no rule for its layers."""
    if isinstance(model, TextNetwork):
        if isinstance(model.network, CnnNetwork):
            return _cnn(model, CnnArrays.of(model.network), CNN_EPSILON if epsilon is None else epsilon)
        if type(model.network) is BilstmNetwork:  # one with prototypes in place of the last layer has no rule
            return _bilstm(
                model, BilstmArrays.of(model.network), BILSTM_EPSILON if epsilon is None else epsilon
            )
    network = type(model.network if isinstance(model, TextNetwork) else model).__name__
    raise VeraxError(
        f"The method 'lrp' has rules for the networks 'cnn' and 'bilstm', not for this {network}; "
        f"{what_works(model)}."
    )


def _cnn(model: TextNetwork, arrays: CnnArrays, epsilon: float) -> Find:
    def find(texts: Sequence[str], targets: Targets) -> list[Found]:
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
    def find(texts: Sequence[str], targets: Targets) -> list[Found]:
        vectors = [embedded.vectors.astype(np.float64) for embedded in model.embed(texts)]
        found: dict[int, Found] = {}
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


def _found(targets: Sequence[int], explained: FloatArray, of_words: Sequence[FloatArray]) -> list[Found]:
    return [
        Found(target, words, {"score": rounded(score), "absorbed": rounded(score - words.sum())})
        for target, score, words in zip(targets, explained, of_words, strict=True)
    ]
