"""Networks in lower precision: faster where the processor has instructions for it, and never far from themselves."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import torch
from scipy.special import softmax
from torch import nn

from verax.arrays import FloatArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.models.base import Inputs, Model, ask
from verax.models.neural.encoders import TextEncoder
from verax.models.neural.networks import TextNetwork, run_network, weights_state
from verax.models.text import check_texts
from verax.seeds import stream

Precision = Literal["int8", "bfloat16"]
# A probability may change by this much.
TOLERANCE = 0.01
# Texts that are compared, and masked variants of each.
CHECKED_TEXTS, CHECKED_VARIANTS = 16, 8


@dataclass(frozen=True, eq=False)
class ReducedNetwork(Model):
    """A network of texts in lower precision: probabilities and scores, no gradients.

    Attributes:
        network: the copy in lower precision.
        encoder: from texts to what it reads.
        class_names: one name per score.
        precision: of its weights.
        difference: the largest that was seen between its probabilities and those in full precision.
        reference: training texts; None if not given.
    """

    network: nn.Module
    encoder: TextEncoder
    class_names: tuple[str, ...]
    precision: Precision
    difference: float
    reference: Sequence[str] | None = field(default=None, repr=False)

    kind = "text"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text, checked."""
        texts = check_texts(inputs)
        if not texts:
            return np.empty((0, len(self.class_names)))
        return ask(
            lambda batch: softmax(self.scores(batch), axis=1), texts, len(texts), len(self.class_names)
        )

    def scores(self, inputs: Inputs) -> FloatArray:
        """Class scores before the softmax, one row per text."""
        arrays = self.encoder.encode(check_texts(inputs))
        return run_network(self.network, self.encoder, arrays, len(self.class_names))

    def fitted_state(self) -> tuple[int, ...]:
        """Numbers that change when a weight does."""
        return weights_state(self.network)


def in_precision(
    model: Model, precision: Precision, *, texts: Sequence[str] | None = None, tolerance: float = TOLERANCE
) -> ReducedNetwork:
    """A copy of a network of texts in lower precision, if it says what the network says.

    Checked here and now: on texts and on random variants of them that lack words, as explainers make them, no
    probability may differ by more than the tolerance. Meant for transformers; a ``cnn`` has a faster path as it is.

    Args:
        model: a network of texts.
        precision: "int8" (weights of linear layers and LSTMs; activations on the fly) or "bfloat16" (everything; slow
            on processors without instructions for it).
        texts: to compare on; by default from those that the model was trained on.
        tolerance: how far a probability may be from the network's own.
    """
    if precision not in get_args(Precision):
        raise VeraxError(f"There is no precision {precision!r}; it is 'int8' or 'bfloat16'.")
    if not isinstance(model, TextNetwork):
        raise VeraxError(
            f"Lower precision is for networks of texts, and this is a {type(model).__name__}; leave it as it is."
        )
    compared = check_texts(texts) if texts is not None else list(model.reference or ())
    if not compared:
        raise VeraxError("No texts are known to compare the precisions on; give some: texts=[...].")
    network = _reduced(model.network, precision)
    reduced = ReducedNetwork(network, model.encoder, model.class_names, precision, 0.0, model.reference)
    variants = _variants(compared)
    difference = float(np.abs(reduced.predict_proba(variants) - model.predict_proba(variants)).max())
    if not difference <= tolerance:
        raise VeraxError(
            f"In {precision} this network's probabilities differ by up to {difference:.2g} from its own, on "
            f"{len(variants)} variants of texts; {tolerance:g} is allowed. Leave it in full precision, or allow more "
            "(tolerance=...)."
        )
    return ReducedNetwork(network, model.encoder, model.class_names, precision, difference, model.reference)


def _reduced(network: nn.Module, precision: Precision) -> nn.Module:
    """A copy in lower precision."""
    own = copy.deepcopy(network).eval()
    if precision == "bfloat16":
        return own.to(torch.bfloat16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the call will move to another package some day
        made: nn.Module = torch.ao.quantization.quantize_dynamic(  # type: ignore[no-untyped-call]
            own, {nn.Linear, nn.LSTM}, dtype=torch.qint8
        )
    return made


def _variants(texts: Sequence[str]) -> list[str]:
    """Some of the texts, spread over all, each whole and without some of its words."""
    places = np.linspace(0, len(texts) - 1, min(CHECKED_TEXTS, len(texts))).astype(int)
    variants = []
    for text in (texts[place] for place in places):
        words = split_words(text)
        rng = stream(0, "precision", text)
        kept = rng.random((CHECKED_VARIANTS - 1, len(words.distinct))) < rng.random((CHECKED_VARIANTS - 1, 1))
        variants += [text, *(words.keep(np.array(words.distinct)[row].tolist()) for row in kept)]
    return variants
