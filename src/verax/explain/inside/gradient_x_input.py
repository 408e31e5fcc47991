"""Gradient times input: how the target's score changes with each word's vector, times that vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verax.explain.base import Claim, Explainer, Target, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.inside.course import Found, explain_positions, rounded
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for


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

        def find(texts: Sequence[str], wanted: Targets) -> list[Found]:
            embedded = network.embed(texts)
            scores = network.scores_from(embedded)
            chosen = [
                int(row.argmax()) if target is None else target
                for row, target in zip(scores, wanted, strict=True)
            ]
            slopes = network.gradients(embedded, chosen)
            return [
                Found(
                    target,
                    (text.vectors.astype(np.float64) * slope).sum(axis=1),
                    {"score": rounded(row[target])},
                    text.word_of,
                )
                for text, slope, target, row in zip(embedded, slopes, chosen, scores, strict=True)
            ]

        return explain_positions(self, model, inputs, targets, find, Cost(1, 1))
