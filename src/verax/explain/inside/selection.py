"""L2X and INVASE: methods that learn which features to select, words where they stand or columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.special import expit, softmax

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.inside.word_scores import PositionScores, at_positions, rounded, settled
from verax.explain.perturbed import Scored, attribution
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for
from verax.models.wrappers import check_texts, encode_rows
from verax.perturb.paths.tables import schema_of

if TYPE_CHECKING:
    from verax.explain.inside.selectors import Trained


# ---- From a selector's numbers to explanations


def check_activation(name: str) -> None:
    """Refuses an activation that there is not."""
    if name not in ("relu", "selu"):
        raise VeraxError(f"activation={name!r} must be 'relu' or 'selu'.")


def explain_selected(
    explainer: Explainer,
    model: Model,
    inputs: Inputs,
    targets: Sequence[Target] | None,
    trained: Trained,
    k: int | None,
) -> list[Attribution]:
    """Explains inputs by what a selector says of them.

    Args:
        explainer: whose selector it is.
        model: what is explained.
        inputs: texts or rows.
        targets: the class that each explanation is said to be about.
        trained: the selector.
        k: how many features it selects: scores are shares in the selection. None if each is selected or not by itself:
            scores are the chances of that.
    """
    started = time.perf_counter()
    rows = None if model.schema is None else encode_rows(inputs, schema_of(model))
    given = check_texts(inputs) if rows is None else rows
    wanted = check_targets(model, inputs, targets)
    if None in wanted and len(inputs):
        predicted = model.predict_proba(given).argmax(axis=1).tolist()
        wanted = [
            guess if target is None else target for guess, target in zip(predicted, wanted, strict=True)
        ]
    logits = trained.logits(given)
    asked = 1 if targets is None else 0
    cost = Cost(asked, asked, (time.perf_counter() - started) / max(1, len(inputs)))
    explanations = []
    for number, (values, target) in enumerate(zip(logits, wanted, strict=True)):
        scores = _scores(values, k)
        chosen = _chosen(scores, k)
        facts: dict[str, object] = {"selected": chosen, "agreement": rounded(trained.agreement)}
        about = target or 0
        if rows is None:
            found = PositionScores(about, scores, facts)
            explanations.append(at_positions(repr(explainer), model, given[number], found, cost))
        else:
            scored = Scored(settled(scores), facts)
            explanations.append(
                attribution(
                    repr(explainer), model, inputs[number], schema_of(model).names, about, scored, cost
                )
            )
    return explanations


def _scores(logits: FloatArray, k: int | None) -> FloatArray:
    if k is None:
        return np.asarray(expit(logits))
    return np.asarray(softmax(logits)) if len(logits) else logits


def _chosen(scores: FloatArray, k: int | None) -> list[int]:
    """The numbers of the selected features, in their order."""
    if k is None:
        return np.flatnonzero(scores > 0.5).tolist()
    best: list[int] = np.argsort(-settled(scores), kind="stable")[:k].tolist()
    return sorted(best)


# ---- L2X


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
    records: ClassVar[bool] = False

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
        from verax.explain.inside.selector_training import L2xSettings, learn_l2x
        from verax.explain.inside.selectors import trained_selector

        settings = L2xSettings(self.k, self.embedding, self.epochs, self.activation, self.seed)
        network = (self.embedding, self.activation)
        return trained_selector(
            model, "l2x", repr(self), network, lambda subject, lesson: learn_l2x(subject, lesson, settings)
        )


# ---- INVASE


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
    records: ClassVar[bool] = False

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
        from verax.explain.inside.selector_training import InvaseSettings, learn_invase
        from verax.explain.inside.selectors import trained_selector

        settings = InvaseSettings(
            self.price, self.embedding, self.iterations, self.batch, self.rate, self.activation, self.seed
        )
        network = (self.embedding, self.activation)
        return trained_selector(
            model,
            "invase",
            repr(self),
            network,
            lambda subject, lesson: learn_invase(subject, lesson, settings),
        )
