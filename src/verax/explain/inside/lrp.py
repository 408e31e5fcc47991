"""Layer-wise relevance propagation with the epsilon rule, through the convolutional network and the BiLSTM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.inside.course import explain_positions
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for


@explainers.register("lrp")
@dataclass(frozen=True)
class Lrp(Explainer):
    """The target's score before the softmax, handed back layer by layer to the words (Bach et al. 2015).

    What a unit got is shared among its inputs in proportion to what each added to it; its bias and epsilon keep their
    part, and their sum over the network is ``details["absorbed"]``. A maximum hands on to the place where it was taken.
    A product of a gate and a signal hands on to the signal (Arras et al. 2017); attention weights count as gates.

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
        ask_for(model, "layers", "lrp")
        from verax.explain.inside.relevance import relevance_of

        return explain_positions(self, model, inputs, targets, relevance_of(model, self.epsilon), Cost(1, 1))
