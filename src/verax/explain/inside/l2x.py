"""L2X: learns to select the k features that tell most about a model's prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution
from verax.explain.inside.selected import check_activation, explain_selected
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for

if TYPE_CHECKING:
    from verax.explain.inside.selectors import Trained


@explainers.register("l2x")
@dataclass(frozen=True)
class L2x(Explainer):
    """Learning to explain (Chen et al. 2018), for any model with reference inputs, of texts or of tables.

    A selector learns to choose k words or columns (by Gumbel-softmax samples) such that a second network can tell from
    these alone what the model says: a lower bound on their mutual information with the prediction is maximised. A
    feature's score is its share in the selection, between 0 and 1; there is no evidence against. A text of fewer than k
    words is selected as a whole.

    Attributes:
        k: how many features are selected; 10 for the papers' film reviews. Where people marked what matters, take as
            many as they did: 23, 18 and 13 for the beer reviews' look, smell and palate.
        embedding: dimensions of the selector's word vectors.
        epochs: passes over the reference inputs. As published if None: 5 for texts; for tables until a million rows
            were read.
        activation: of hidden layers of tables, "relu" or "selu"; the paper has used both.
        seed: of the training.
    """

    k: int = 10
    embedding: int = 50
    epochs: int | None = None
    activation: Literal["relu", "selu"] = "relu"
    seed: int = 0

    claim: ClassVar[Claim] = "selective"
    numbers: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.k, 1, "k")
        at_least(self.embedding, 1, "embedding")
        at_least(self.epochs, 1, "epochs")
        check_activation(self.activation)

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """The share of each word (where it stands) or column in the selection; it is the same for all targets."""
        ask_for(model, "reference", "l2x")
        return explain_selected(self, model, inputs, targets, self.trained(model), self.k)

    def trained(self, model: Model) -> Trained:
        """What is known of a model; learned now if nothing is known yet."""
        from verax.explain.inside.l2x_learning import Settings, learn
        from verax.explain.inside.selectors import trained_selector

        settings = Settings(self.k, self.embedding, self.epochs, self.activation, self.seed)
        network = (self.embedding, self.activation)
        return trained_selector(
            model, "l2x", repr(self), network, lambda subject, lesson: learn(subject, lesson, settings)
        )
