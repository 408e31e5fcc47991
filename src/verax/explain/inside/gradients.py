"""Methods that go back through a network: gradients, integrated gradients, DeepLIFT, LRP and attention rollout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.inside.word_scores import Find, PositionScores, explain_positions, rounded
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.capabilities import Embedded, Gradients, ask_for, has

# ---- Gradient times input


@explainers.register("gradient-x-input")
@dataclass(frozen=True)
class GradientXInput(Explainer):
    """The gradient of the target's score before the softmax with respect to each word's vector, times the vector.

    It explains any network that shows its word vectors. Pieces of one word are added up.
    """

    claim: ClassVar[Claim] = "additive"

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """The product of gradient and vector of each word, where it stands."""
        network = ask_for(model, "gradients", "gradient-x-input")

        def find(texts: Sequence[str], wanted: Targets) -> list[PositionScores]:
            embedded = network.embed(texts)
            scores = network.scores_from(embedded)
            chosen = [
                int(row.argmax()) if target is None else target
                for row, target in zip(scores, wanted, strict=True)
            ]
            slopes = network.gradients(embedded, chosen)
            return [
                PositionScores(
                    target,
                    (text.vectors.astype(np.float64) * slope).sum(axis=1),
                    {"score": rounded(row[target])},
                    text.word_of,
                )
                for text, slope, target, row in zip(embedded, slopes, chosen, scores, strict=True)
            ]

        return explain_positions(self, model, inputs, targets, find, Cost(1, 1))


# ---- Integrated gradients

# Texts on their way are held at once up to so many positions.
POSITIONS = 32_768


@explainers.register("integrated-gradients")
@dataclass(frozen=True)
class IntegratedGradients(Explainer):
    """Gradients averaged over the straight way from all-zero word vectors to the text's (Sundararajan et al. 2017).

    Scores are those before the softmax. They add up to the difference between the text's score and that of zero
    vectors, up to an error of the integration, ``details["error"]``, that shrinks with more steps.

    Attributes:
        steps: points on the way, those of Gauss and Legendre; 50 is captum's default too.
    """

    steps: int = 50

    claim: ClassVar[Claim] = "additive"

    def __post_init__(self) -> None:
        at_least(self.steps, 1, "steps")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """What each word contributes to the difference, where it stands."""
        network = ask_for(model, "gradients", "integrated-gradients")

        def find(texts: Sequence[str], wanted: Targets) -> list[PositionScores]:
            embedded = network.embed(texts)
            empty = [replace(text, vectors=np.zeros_like(text.vectors)) for text in embedded]
            scores, reference = network.scores_from(embedded), network.scores_from(empty)
            chosen = [
                int(row.argmax()) if target is None else target
                for row, target in zip(scores, wanted, strict=True)
            ]
            values = [
                (text.vectors.astype(np.float64) * mean).sum(axis=1)
                for text, mean in zip(embedded, self._mean_gradients(network, embedded, chosen), strict=True)
            ]
            return [
                PositionScores(target, each, _facts(here[target], there[target], each), text.word_of)
                for text, target, each, here, there in zip(
                    embedded, chosen, values, scores, reference, strict=True
                )
            ]

        return explain_positions(self, model, inputs, targets, find, Cost(self.steps + 2, 1))

    def _mean_gradients(
        self, network: Gradients, embedded: Sequence[Embedded], targets: Sequence[int]
    ) -> list[FloatArray]:
        """The gradient of each text, averaged over the points on its way."""
        points, weights = np.polynomial.legendre.leggauss(self.steps)
        means: list[FloatArray] = []
        for text, target in zip(embedded, targets, strict=True):
            way = [
                replace(text, vectors=(text.vectors * ((point + 1.0) / 2.0)).astype(np.float32))
                for point in points
            ]
            mean = np.zeros(text.vectors.shape)
            together = max(1, POSITIONS // max(1, len(text.vectors)))
            for first in range(0, self.steps, together):
                some = way[first : first + together]
                slopes = network.gradients(some, [target] * len(some))
                for weight, slope in zip(weights[first : first + together], slopes, strict=True):
                    mean += weight / 2.0 * slope
            means.append(mean)
        return means


def _facts(score: float, reference: float, values: FloatArray) -> dict[str, object]:
    return {
        "score": rounded(score),
        "reference": rounded(reference),
        "error": rounded(score - reference - values.sum()),
    }


# ---- DeepLIFT


@explainers.register("deeplift")
@dataclass(frozen=True)
class DeepLift(Explainer):
    """Differences from a reference, handed back layer by layer (Shrikumar et al. 2017, the Rescale rule).

    The reference is a text of as many words whose vectors are all zero. Scores are those before the softmax, and add up
    to the difference between the text's and the reference's. It explains the network 'cnn'.
    """

    claim: ClassVar[Claim] = "additive"

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """What each word contributes to the difference, where it stands."""
        ask_for(model, "layers", "deeplift")
        return explain_positions(self, model, inputs, targets, _contributions(model), Cost(2, 1))


def _contributions(model: Model) -> Find:
    import numpy as np

    from verax.explain.inside.cnn_arrays import ask_for_filters
    from verax.explain.inside.relevance import chosen_targets, rate

    network, arrays = ask_for_filters(model, "deeplift")
    # Over zero vectors each filter responds with its bias everywhere, so that the place of a text's strongest response
    # has the strongest response of the reference too, and the maximum hands on all of the difference.
    reference = np.maximum(arrays.biases, 0.0)[None]
    units_there = arrays.units(reference)
    scores_there = arrays.scores(units_there)[0]

    def find(texts: Sequence[str], targets: Targets) -> list[PositionScores]:
        detected = arrays.detect(network.encoder.encode(texts))
        units = arrays.units(detected.features)
        scores = arrays.scores(units)
        chosen = chosen_targets(scores, targets)
        of_units = arrays.output[chosen] * rate(units, units_there, units > 0.0)
        responses = rate(detected.before, arrays.biases, detected.before > 0.0)
        of_words = detected.to_words((of_units @ arrays.hidden) * responses)
        return [
            PositionScores(
                target,
                words,
                {
                    "rule": "rescale",
                    "score": rounded(score[target]),
                    "reference": rounded(scores_there[target]),
                },
            )
            for target, score, words in zip(chosen, scores, of_words, strict=True)
        ]

    return find


# ---- Layer-wise relevance propagation


@explainers.register("lrp")
@dataclass(frozen=True)
class Lrp(Explainer):
    """The target's score before the softmax, handed back layer by layer to the words (Bach et al. 2015).

    What a unit got is shared among its inputs in proportion to what each added to it; its bias and epsilon keep their
    part, and their sum over the network is ``details["absorbed"]``. A maximum hands on to the place where it was taken.
    A product of a gate and a signal hands on to the signal (Arras et al. 2017); attention weights count as gates. In
    language models of the Llama family each factor of a product gets half (AttnLRP, Achtibat et al. 2024).

    Attributes:
        epsilon: added to each sum that is divided by, away from 0. By default as published: 1e-7 for the network
            'cnn' (the library that Lertvittayakumjorn and Toni used), 0.001 for 'bilstm' (Arras et al.).
    """

    epsilon: float | None = None

    claim: ClassVar[Claim] = "additive"

    def __post_init__(self) -> None:
        if self.epsilon is not None and not self.epsilon >= 0:
            raise VeraxError(f"epsilon={self.epsilon} must be 0 or more.")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """The relevance of each word, where it stands."""
        if not has(model, "gradients"):  # a language model has no layers to show and is known by these
            ask_for(model, "layers", "lrp")
        from verax.explain.inside.relevance import relevance_of

        return explain_positions(self, model, inputs, targets, relevance_of(model, self.epsilon), Cost(1, 1))


# ---- Attention rollout


@explainers.register("attention-rollout")
@dataclass(frozen=True)
class AttentionRollout(Explainer):
    """How much of what a language model's answer is read from came there from each word, by attention alone.

    The mean attention of a layer's heads, half of it replaced by each token itself for the connection around the layer,
    multiplied over all layers (Abnar and Zuidema 2020). It asks nothing about the class: all classes have the same
    scores.
    """

    claim: ClassVar[Claim] = "selective"

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """The attention that reaches the place of the answer from each word, where it stands."""
        ask_for(model, "gradients", "attention-rollout")
        from verax.explain.inside.attention import rollout_flow

        return explain_positions(self, model, inputs, targets, rollout_flow(model), Cost(2, 2))
