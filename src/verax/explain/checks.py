"""The contract of an explainer as tests: ours pass them all; import ``check_explainer`` to test yours.

For methods that look inside a network there is ``check_sanity`` besides: does an explanation depend on what the
network learned?
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import FloatArray, tied_ranks
from verax.data.table import Column, Schema
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Explainer
from verax.explain.explanation import Attribution, Explanation, by_word
from verax.models import as_model
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for
from verax.seeds import stream

if TYPE_CHECKING:
    from torch import nn


__all__ = ["additive_table_model", "additive_text_model", "check_explainer", "check_sanity"]

LIMIT = 0.5


@dataclass(frozen=True)
class Randomised:
    """How much of an explanation is left when the weights of some layers are random.

    Attributes:
        layers: their names; each entry has one more than the one before, from the scores towards the inputs.
        correlation: the mean over inputs of Spearman's correlation with the scores on the trained network.
        of_magnitudes: the same of the scores without their signs.
    """

    layers: tuple[str, ...]
    correlation: float
    of_magnitudes: float


def check_sanity(
    explainer: Explainer, model: Model, inputs: Inputs, *, limit: float = LIMIT, seed: int = 0
) -> tuple[Randomised, ...]:
    """Raises an AssertionError if explanations stay much the same for a network that knows nothing.

    The cascading randomisation of Adebayo et al. (2018): the last layer's weights are replaced by random ones of the
    same mean and spread, then those of the layer before it too, and so on. With all of them random, scores must have a
    mean rank correlation below ``limit`` with those on the trained network, with their signs and without.

    Args:
        explainer: a method that looks inside.
        model: a trained network; it is not changed.
        inputs: twenty or more, of several features each.
        limit: of the correlation.
        seed: of the random weights.

    Returns:
        The correlations after each layer.
    """
    ask_for(model, "layers", "check_sanity")
    targets = model.predict_proba(inputs).argmax(axis=1).tolist()
    trained = _scores(explainer, model, inputs, targets)
    seen: list[Randomised] = []
    names: list[str] = []
    network = _copied(model)
    for name, layer in reversed(list(ask_for(network, "layers", "check_sanity").layers().items())):
        if not any(True for _ in layer.parameters()):
            continue
        _randomise(layer, seed, name)
        names.append(name)
        scores = _scores(explainer, network, inputs, targets)
        pairs = list(zip(trained, scores, strict=True))
        seen.append(
            Randomised(
                tuple(names),
                _mean([_correlation(one, other) for one, other in pairs]),
                _mean([_correlation(np.abs(one), np.abs(other)) for one, other in pairs]),
            )
        )
    last = seen[-1]
    assert max(last.correlation, last.of_magnitudes) < limit, (
        f"{explainer!r} does not depend on what the network learned: with all weights random its scores still have a "
        f"rank correlation of {last.correlation:.2f} ({last.of_magnitudes:.2f} without signs) with those on the "
        f"trained network, and {limit} is allowed"
    )
    return tuple(seen)


def _copied(model: Model) -> Model:
    """Another model with weights of its own; what else is large is shared."""
    shared = [getattr(model, name, None) for name in ("reference", "encoder", "record")]
    return copy.deepcopy(model, {id(part): part for part in shared if part is not None})


def _randomise(layer: nn.Module, seed: int, name: str) -> None:
    """Puts random numbers of the same mean and spread in place of each of a layer's weights."""
    import torch

    with torch.no_grad():
        for place, parameter in enumerate(layer.parameters()):
            values = parameter.numpy()
            drawn = stream(seed, "sanity", name, place).normal(values.mean(), values.std(), values.shape)
            parameter.copy_(torch.from_numpy(drawn).to(parameter.dtype))
        padding = getattr(layer, "padding_idx", None)
        if isinstance(layer, torch.nn.Embedding) and padding is not None:
            layer.weight[padding] = 0.0


def _scores(explainer: Explainer, model: Model, inputs: Inputs, targets: Sequence[int]) -> list[FloatArray]:
    found = []
    for explanation in explainer.explain(model, inputs, targets):
        scored = by_word(explanation)
        if scored is None:
            raise VeraxError(f"{type(explanation).__name__} has no scores whose order could change.")
        # Fragments name some words only; the others score 0 there, so that all have the same features.
        found.append(scored.scores)
    return found


def _correlation(one: FloatArray, other: FloatArray) -> float:
    """Spearman's; 0 where one of them says nothing of any feature, NaN where there is nothing to order."""
    if len(one) < 2:
        return float("nan")
    ranks = tied_ranks(one) - (len(one) + 1) / 2, tied_ranks(other) - (len(one) + 1) / 2
    scale = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float(ranks[0] @ ranks[1]) / scale if scale > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    if not known:
        raise VeraxError("None of the inputs has two features to put in order; give longer ones.")
    return float(np.mean(known))


# A model whose probability is a sum over words: every faithful score is known. "the" is not among them.
WORD_WEIGHTS = {"good": 0.2, "fine": 0.1, "bad": -0.25, "dull": -0.05}
TEXTS = (
    "the good film",
    "a fine, good and bad film",
    "Dull? The bad, dull dull plot was the end of it!",
    "film",
)
ODD_TEXTS = ("", " ... !", "good", "zzz")
# The same on a table: two columns matter, the third does not.
COLUMN_WEIGHTS = np.array([0.3, -0.2, 0.0])

Batch = list[str] | FloatArray


def check_explainer(
    explainer: Explainer,
    *,
    tolerance: float = 1e-6,
    kinds: Sequence[str] = ("text", "table"),
    model: Model | None = None,
) -> None:
    """Raises an AssertionError that says which part of the contract an explainer breaks.

    A text's features may be its distinct words, or its words where they stand.

    Args:
        explainer: an explainer with its parameters.
        tolerance: how far scores may be from their known values, relative to the largest; explainers that sample
            or shrink, like LIME, need more than the default.
        kinds: what it explains: "text", "table" or both.
        model: a model of texts to check it on instead of ours, for a method that needs more than probabilities (a
            network, for one). What its scores should be is not known, and not checked.
    """
    check_parameters(explainer)
    if model is not None:
        check_batches(explainer, model, list(TEXTS))
        check_round_trip(explainer, model, list(TEXTS))
        check_odd_texts(explainer, model)
        return
    if "text" in kinds:
        model = additive_text_model()
        check_batches(explainer, model, list(TEXTS))
        check_round_trip(explainer, model, list(TEXTS))
        check_odd_texts(explainer, model)
        if explainer.claims_faithfulness:
            check_known_scores(explainer, model, list(TEXTS), _word_scores, tolerance)
    if "table" in kinds:
        table = additive_table_model()
        rows = _rows(6, seed=1)
        check_batches(explainer, table, rows)
        check_round_trip(explainer, table, rows)
        if explainer.claims_faithfulness:
            check_dummy_column(explainer, table, rows, tolerance)


def additive_text_model() -> Model:
    """A model of texts whose probability is 0.5 plus the weights of the words that occur."""

    def probabilities(texts: Sequence[str]) -> FloatArray:
        positive = np.array(
            [0.5 + sum(_weight(word) for word in split_words(text).distinct) for text in texts]
        )
        return np.stack([1.0 - positive, positive], axis=1)

    return as_model(probabilities, class_names=("negative", "positive"))


def additive_table_model() -> Model:
    """A model of rows whose probability is linear in two of three numeric columns."""

    def probabilities(rows: FloatArray) -> FloatArray:
        positive = 0.5 + rows @ COLUMN_WEIGHTS
        return np.stack([1.0 - positive, positive], axis=1)

    schema = Schema((Column("up"), Column("down"), Column("idle")))
    return as_model(probabilities, class_names=("no", "yes"), schema=schema, reference=_rows(200, seed=0))


def check_parameters(explainer: Explainer) -> None:
    """A frozen dataclass: equal parameters make an equal explainer with an equal key."""
    assert dataclasses.is_dataclass(explainer), f"{type(explainer).__name__} is not a dataclass"
    fields = {item.name: getattr(explainer, item.name) for item in dataclasses.fields(explainer)}
    again = type(explainer)(**fields)
    assert again == explainer, (
        f"{explainer!r} made again from its fields is another one: its constructor changes them"
    )
    assert again.key == explainer.key, f"{explainer!r} has a key that changes"
    assert hash(again) == hash(explainer), f"{explainer!r} has a hash that changes"
    for name in fields:
        try:
            object.__getattribute__(explainer, "__setattr__")(name, None)
        except dataclasses.FrozenInstanceError:
            continue
        raise AssertionError(f"{type(explainer).__name__}.{name} can be changed; make the dataclass frozen")


def check_batches(explainer: Explainer, model: Model, inputs: Batch) -> None:
    """The same inputs give the same explanations: again, one by one, and in another order."""
    together = list(explainer.explain(model, inputs))
    assert len(together) == len(inputs), (
        f"{explainer!r} returned {len(together)} explanations for {len(inputs)} inputs"
    )
    assert together == list(explainer.explain(model, inputs)), (
        f"{explainer!r} differs from one call to the next"
    )
    alone = [explainer.explain(model, inputs[number : number + 1])[0] for number in range(len(inputs))]
    assert together == alone, f"{explainer!r} explains an input otherwise in a batch than alone"
    backwards = list(explainer.explain(model, inputs[::-1]))[::-1]
    assert together == backwards, f"{explainer!r} depends on the order of the inputs"


def check_round_trip(explainer: Explainer, model: Model, inputs: Batch) -> None:
    """Explanations survive JSON."""
    for explanation in explainer.explain(model, inputs):
        again = Explanation.from_dict(json.loads(json.dumps(explanation.to_dict())))
        assert again == explanation, (
            f"an explanation of {explainer!r} does not survive JSON: {explanation.to_dict()}"
        )


def check_odd_texts(explainer: Explainer, model: Model) -> None:
    """Empty texts, texts without words, and texts of one word get a score for each word and no error."""
    for text, explanation in zip(ODD_TEXTS, explainer.explain(model, list(ODD_TEXTS)), strict=True):
        if isinstance(explanation, Attribution):
            words = split_words(text)
            expected = len(words.distinct if explanation.spans is None else words)
            given = len(explanation.features)
            assert given == expected, f"{explainer!r} gave {given} scores for {text!r} instead of {expected}"


def check_known_scores(
    explainer: Explainer,
    model: Model,
    texts: list[str],
    known: Callable[[str], FloatArray],
    tolerance: float,
) -> None:
    """On an additive model each word scores what it adds, other words 0, and the other class the opposite."""
    allowed = tolerance * max(map(abs, WORD_WEIGHTS.values()))
    for target, sign in ((1, 1.0), (0, -1.0)):
        for text, explanation in zip(
            texts, explainer.explain(model, texts, [target] * len(texts)), strict=True
        ):
            if not isinstance(explanation, Attribution):
                continue
            assert explanation.target == target, (
                f"{explainer!r} was asked for class {target} and explains another"
            )
            error = np.abs(_by_word(explanation, text) - sign * known(text)).max(initial=0.0)
            assert error <= allowed, (
                f"{explainer!r} is off by {error:.3g} (allowed: {allowed:.3g}) on an additive model: "
                f"{dict(zip(explanation.features, explanation.scores.round(4).tolist(), strict=True))} for {text!r}"
            )


def check_dummy_column(explainer: Explainer, model: Model, rows: FloatArray, tolerance: float) -> None:
    """A column that the model does not read scores 0."""
    for explanation in explainer.explain(model, rows):
        if isinstance(explanation, Attribution):
            idle, largest = abs(explanation.scores[2]), float(np.abs(explanation.scores).max())
            assert idle <= tolerance * largest, (
                f"{explainer!r} gives {idle:.3g} to a column that the model does not read (largest: {largest:.3g})"
            )


def _by_word(explanation: Attribution, text: str) -> FloatArray:
    """The scores of the distinct words; those of a word's places are added up."""
    if explanation.spans is None:
        return explanation.scores
    words = split_words(text).distinct
    sums = np.zeros(len(words))
    for feature, score in zip(explanation.features, explanation.scores, strict=True):
        sums[words.index(feature)] += score
    return sums


def _weight(word: str) -> float:
    return WORD_WEIGHTS.get(word, 0.0)


def _word_scores(text: str) -> FloatArray:
    return np.array([_weight(word) for word in split_words(text).distinct])


def _rows(count: int, seed: int) -> FloatArray:
    return np.random.default_rng(seed).random((count, 3))
