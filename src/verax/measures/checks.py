"""The contract of a measure as tests: ours pass them all; import ``check_measure`` to test yours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.explain.checks import TEXTS, additive_table_model, additive_text_model
from verax.explain.explanation import Attribution, Explanation
from verax.explain.random import Random
from verax.measures.base import Measure
from verax.models import Model, as_model
from verax.models.base import Inputs

# Values that differ by less are the same.
SAME = 1e-9


def check_measure(
    measure: Measure,
    *,
    model: Model | None = None,
    inputs: Inputs | None = None,
    explanations: Sequence[Explanation] | None = None,
    batches: bool = True,
) -> None:
    """Raises an AssertionError that says which part of the contract a measure breaks.

    One finite value per input, inside the declared range; the same again, in a batch or one by one, and in any order of
    the features; scores times a positive number are the same to what reads their order; ties do not depend on where
    features stand; a constant model has the value that is declared; inputs without features, with one, and
    explanations that score nothing have a defined value.

    Args:
        measure: a measure with its options.
        model: what it is tried on; by default models whose probability is a sum over words, or over columns.
        inputs: of this model, if one is given.
        explanations: of these inputs; random ones if not given.
        batches: whether it can be taken input by input; those that fit a model again on the inputs cannot.
    """
    if model is not None:
        assert inputs is not None, "give inputs= of the model"
        _check(measure, model, inputs, explanations, batches)
        return
    rows = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 1.0], [0.5, 0.6, 0.0]])
    _check(measure, additive_text_model(), list(TEXTS), None, batches)
    _check(measure, additive_table_model(), rows, None, batches)
    if measure.costs in ("nothing", "rows"):
        _check_odd(measure)
        _check_constant(measure)


def _check(
    measure: Measure,
    model: Model,
    inputs: Inputs,
    explanations: Sequence[Explanation] | None,
    batches: bool,
) -> None:
    given = list(explanations) if explanations is not None else list(Random(seed=1).explain(model, inputs))
    values = measure(model, inputs, given)
    name = measure.label
    assert values.shape == (len(given),), f"{name} gives {values.shape}, not one value per input"
    low, high = measure.range
    inside = (values >= low - SAME) & (values <= high + SAME)
    assert inside.all(), f"{name} gives {values}, outside of {measure.range}"
    assert measure.better in ("higher", "lower"), f"{name} does not say which direction is better"
    assert _same(values, measure(model, inputs, given)), f"{name} gives other values the second time"
    if batches:
        one_by_one = [
            float(measure(model, inputs[place : place + 1], given[place : place + 1])[0])
            for place in range(len(given))
        ]
        assert _same(values, one_by_one), f"{name} gives other values one by one: {values} and {one_by_one}"
        backwards = measure(model, inputs[::-1], given[::-1])[::-1]
        assert _same(values, backwards), f"{name} depends on the order of the inputs"
    turned = [_turned(one) for one in given]
    assert _same(values, measure(model, inputs, turned)), f"{name} depends on the order of the features"
    doubled = [_scaled(one, 2.0) for one in given]
    if measure.definition.reads == "order":
        assert _same(values, measure(model, inputs, doubled)), f"{name} reads the sizes of scores"


def _check_odd(measure: Measure) -> None:
    """Empty texts, one word, words the model does not know, scores that are all equal or all 0."""
    model = additive_text_model()
    texts = ["", " ... !", "good", "zzz", "good good"]
    for seed in (1, 2):
        assert np.isfinite(measure(model, texts, _random(model, texts, seed))).all()
    sentence = ["a fine good film", "bad dull plot"]
    for value in (0.0, 1.0, -1.0):
        level = [
            replace(one, scores=np.full(len(one.features), value))
            for one in Random().explain(model, sentence)
        ]
        values = measure(model, sentence, level)
        assert np.isfinite(values).all(), f"{measure.label} has no value where all scores are {value}"


def _check_constant(measure: Measure) -> None:
    """A model that says the same to everything."""

    def constant(texts: Sequence[str]) -> FloatArray:
        return np.tile([0.3, 0.7], (len(texts), 1))

    model = as_model(constant, kind="text", class_names=("no", "yes"))
    texts = ["a fine good film", "bad dull plot", "film"]
    values = measure(model, texts, _random(model, texts, 1))
    wanted = measure.definition.constant
    assert np.isfinite(values).all(), f"{measure.label} has no value for a constant model"
    assert wanted is None or np.allclose(values, wanted, atol=SAME), (
        f"{measure.label} declares {wanted} for a constant model and gives {values}"
    )


def _random(model: Model, texts: Sequence[str], seed: int) -> list[Explanation]:
    return list(Random(seed=seed).explain(model, list(texts)))


def _turned(explanation: Any) -> Explanation:
    """The same scores, the features in another order."""
    if not isinstance(explanation, Attribution):
        changed: Explanation = explanation
        return changed
    spans = None if explanation.spans is None else explanation.spans[::-1]
    return replace(
        explanation, features=explanation.features[::-1], scores=explanation.scores[::-1].copy(), spans=spans
    )


def _scaled(explanation: Any, factor: float) -> Explanation:
    if not isinstance(explanation, Attribution):
        changed: Explanation = explanation
        return changed
    return replace(explanation, scores=factor * explanation.scores)


def _same(one: Any, other: Any) -> bool:
    return bool(np.allclose(np.asarray(one), np.asarray(other), atol=SAME, rtol=SAME))
