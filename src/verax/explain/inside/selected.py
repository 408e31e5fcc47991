"""From a selector's numbers to explanations: of words where they stand, and of columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, softmax

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Explainer, Target
from verax.explain.entry import check_targets
from verax.explain.explanation import Attribution, Cost
from verax.explain.inside.course import Found, at_positions, rounded, settled
from verax.explain.perturbed import Scored, attribution
from verax.models.base import Inputs, Model
from verax.models.tables import encode_rows
from verax.models.text import check_texts
from verax.perturb.paths.tables import schema_of

if TYPE_CHECKING:
    from verax.explain.inside.selectors import Trained


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
            found = Found(about, scores, facts)
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
