"""DeepLIFT with the Rescale rule: how far each word moves the target's score from that of empty embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from verax.explain.base import Claim, Explainer, Target, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.inside.course import Find, Found, explain_positions, rounded
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for


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
    from verax.explain.inside.ratios import rate
    from verax.explain.inside.relevance import chosen_targets

    network, arrays = ask_for_filters(model, "deeplift")
    # Over zero vectors each filter responds with its bias everywhere, so that the place of a text's strongest response
    # has the strongest response of the reference too, and the maximum hands on all of the difference.
    reference = np.maximum(arrays.biases, 0.0)[None]
    units_there = arrays.units(reference)
    scores_there = arrays.scores(units_there)[0]

    def find(texts: Sequence[str], targets: Targets) -> list[Found]:
        detected = arrays.detect(network.encoder.encode(texts))
        units = arrays.units(detected.features)
        scores = arrays.scores(units)
        chosen = chosen_targets(scores, targets)
        of_units = arrays.output[chosen] * rate(units, units_there, units > 0.0)
        responses = rate(detected.before, arrays.biases, detected.before > 0.0)
        of_words = detected.to_words((of_units @ arrays.hidden) * responses)
        return [
            Found(
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
