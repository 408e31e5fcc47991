"""INVASE: learns which features to select, as many as each input needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution
from verax.explain.inside.selected import check_activation, explain_selected
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for

if TYPE_CHECKING:
    from verax.explain.inside.selectors import Trained


@explainers.register("invase")
@dataclass(frozen=True)
class Invase(Explainer):
    """Instance-wise variable selection (Yoon et al. 2019), for any model with reference inputs.

    An actor gives each word or column a chance to be selected. A critic predicts what the model says from a draw of
    them, a baseline from all. The actor learns (by policy gradient) chances for which the critic does as well as the
    baseline, and pays for what it selects. A feature's score is its chance; above one half it is selected.

    Attributes:
        price: of selecting, the paper's lambda.
        embedding: dimensions of the actor's word vectors.
        iterations: steps of training; 10,000 as published.
        batch: reference inputs per step; 1,000 as published for tables, 40 for texts if None.
        rate: the size of a step.
        activation: of hidden layers of tables, "relu" or "selu"; the paper has used both.
        seed: of the training.
    """

    price: float = 0.1
    embedding: int = 50
    iterations: int = 10_000
    batch: int | None = None
    rate: float = 1e-4
    activation: Literal["relu", "selu"] = "relu"
    seed: int = 0

    claim: ClassVar[Claim] = "selective"
    numbers: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.embedding, 1, "embedding")
        at_least(self.iterations, 1, "iterations")
        at_least(self.batch, 2, "batch")
        if not self.price >= 0 or not self.rate > 0:
            raise VeraxError(f"price={self.price} must be 0 or more, and rate={self.rate} above 0.")
        check_activation(self.activation)

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """The chance of each word (where it stands) or column; it is the same for all targets."""
        ask_for(model, "reference", "invase")
        return explain_selected(self, model, inputs, targets, self.trained(model), None)

    def trained(self, model: Model) -> Trained:
        """What is known of a model; learned now if nothing is known yet."""
        from verax.explain.inside.invase_learning import Settings, learn
        from verax.explain.inside.selectors import trained_selector

        settings = Settings(
            self.price, self.embedding, self.iterations, self.batch, self.rate, self.activation, self.seed
        )
        network = (self.embedding, self.activation)
        return trained_selector(
            model, "invase", repr(self), network, lambda subject, lesson: learn(subject, lesson, settings)
        )
