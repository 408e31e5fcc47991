"""Does an explanation depend on what the network learned? Weights are randomised layer by layer to see."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Explainer
from verax.explain.conversions import by_word
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for
from verax.seeds import stream

if TYPE_CHECKING:
    from torch import nn

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
    ranks = rankdata(one) - (len(one) + 1) / 2, rankdata(other) - (len(one) + 1) / 2
    scale = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float(ranks[0] @ ranks[1]) / scale if scale > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    if not known:
        raise VeraxError("None of the inputs has two features to put in order; give longer ones.")
    return float(np.mean(known))
