"""Scores as weights that add up, as Hase and Bansal (2020, figure 2) showed LIME to people.

The words (or values) with their weights, their sum, the baseline, and what both make: the estimated probability. With
two classes all explanations speak of the second, whatever the model predicts: signs mean the same on every page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verax.errors import VeraxError
from verax.explain.description import weights
from verax.explain.explanation import Attribution, Explanation
from verax.studies.display.table_rows import ranges_in_words
from verax.studies.model.item import Item
from verax.studies.model.screen import Bars, class_mark
from verax.studies.model.sources import Material


def weights_block(
    material: Material, item: Item, condition: str, *, title: str = "Explanation"
) -> Bars | None:
    """The weights of an item's explanation; None in a condition whose scores are shown as marks, or that has none."""
    explanation = material.explanations.get((item.id, condition, "model"))
    if explanation is None or material.spec.method_of(condition).display != "weights":
        return None
    shown = of_second_class(_additive(explanation, condition), material.class_names)
    rows = weights(shown)
    if not isinstance(item.input, str):
        rows = [(ranges_in_words(name), score) for name, score in rows]
    total = sum(score for _, score in rows)
    baseline = _baseline(shown)
    pieces = "words" if isinstance(item.input, str) else "values"
    sums = (
        (f"Sum of {pieces}", total),
        ("Baseline", baseline),
        (f"Estimated probability of {class_mark(shown.target)}", baseline + total),
    )
    return Bars((*rows, *sums), title, weights_legend(pieces, shown.target, material.class_names))


def weights_legend(pieces: str, target: int | None, class_names: Sequence[str]) -> str:
    """How weights are read; of explanations that speak of several classes (None), each of the model's answer."""
    of_class = "the model's answer" if target is None else class_mark(target)
    against = (
        f"for {class_mark(1 - target)}" if len(class_names) == 2 and target is not None else "against it"
    )
    return (
        f"The {pieces} that matter most, with their weights: above zero they speak for {of_class}, below "
        f"zero {against}. Their sum and the baseline make the estimated probability of {of_class}, which may come out "
        "below 0 or above 1."
    )


def weights_legend_of_all(pieces: str, class_names: Sequence[str]) -> str:
    """How all weights of a study are read: with two classes they speak of the second, else of the model's answer."""
    return weights_legend(pieces, 1 if len(class_names) == 2 else None, class_names)


def of_second_class(attribution: Attribution, class_names: Sequence[str]) -> Attribution:
    """The same local model of the second of two classes, whose probability is what is missing to 1."""
    baseline = attribution.details.get("intercept")
    if len(class_names) != 2 or attribution.target == 1 or not isinstance(baseline, float):
        return attribution
    return replace(
        attribution,
        scores=-attribution.scores,
        target=1,
        target_name=class_names[1],
        details={**attribution.details, "intercept": 1 - baseline},
    )


def _additive(explanation: Explanation, condition: str) -> Attribution:
    if isinstance(explanation, Attribution) and isinstance(explanation.details.get("intercept"), float):
        return explanation
    raise VeraxError(
        f"The condition {condition!r} is to be displayed as weights that add up with a baseline, but its explainer "
        'gives none; use lime, or leave display = "weights" out.'
    )


def _baseline(attribution: Attribution) -> float:
    baseline = attribution.details["intercept"]
    assert isinstance(baseline, float)
    return baseline
