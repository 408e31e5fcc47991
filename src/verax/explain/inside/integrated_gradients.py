"""Integrated gradients: the gradient on the way from empty embeddings to the text, times the text's embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.inside.course import Found, explain_positions, rounded
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.capabilities import Embedded, Gradients, ask_for

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

        def find(texts: Sequence[str], wanted: Targets) -> list[Found]:
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
                Found(target, each, _facts(here[target], there[target], each), text.word_of)
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
