"""The jobs of a staining run: one stain with one model and all explainers, and one unstained twin."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from verax.arrays import IntArray
from verax.benchmarks.staining import training
from verax.benchmarks.staining.rules import Stain
from verax.benchmarks.staining.sampling import Drawn, Wish, draw_stain
from verax.benchmarks.staining.scores import recall, reciprocal_rank
from verax.benchmarks.staining.stainable import Prepared, prepare
from verax.benchmarks.staining.truth import NAME as GROUND_TRUTH
from verax.benchmarks.staining.truth import GroundTruth, readable
from verax.errors import VeraxError
from verax.explain import Attribution, Explainer, explainer
from verax.models import Model
from verax.run.objects import fetch, is_reference
from verax.seeds import stream

# An explainer as the job is told of it: what to call it, its name, its parameters.
Method = tuple[str, str, Mapping[str, Any]]

# Raised when what a job computes changes: outcomes stored by other versions are then not used.
VERSION = 2
# Worked examples for the report: so many inputs of each trial are kept with their scores.
EXAMPLES = 1


def twin(*, source: Mapping[str, Any], words: str, model: str, seed: int, data_hash: str) -> dict[str, Any]:
    """Fits the unstained model and returns its predictions of the test inputs."""
    prepared = _checked(source, words, data_hash)
    dataset = prepared.dataset
    fitted = training.fit(model, prepared, (dataset.train.labels, dataset.validation.labels), None, seed)
    return {"predicted": training.predict(fitted, prepared).tolist()}


def trial(
    *,
    source: Mapping[str, Any],
    words: str,
    data_hash: str,
    wish: Mapping[str, Any],
    at_least: int,
    stain_seed: int,
    weight: int,
    model: str,
    explainers: Sequence[Method],
    inputs: int,
    learnt: float,
    seed: int,
) -> dict[str, Any]:
    """Draws a stain, fits the stained model, checks that it took, and scores every explainer on flipped inputs.

    Args:
        source: the dataset, as arguments of ``load_dataset``.
        words: "presence" or "counts".
        data_hash: the dataset's content hash when the run was planned.
        wish: what the stain should be like.
        at_least: how often a stained word must occur.
        stain_seed: one stain per seed.
        weight: how many times a stained training input counts.
        model: by name.
        explainers: label, name and parameters of each.
        inputs: how many flipped test inputs are explained at the most.
        learnt: the accuracy on the stained region that the model must reach for its explanations to be scored.
        seed: of the fit.
    """
    prepared = _checked(source, words, data_hash)
    drawn = stain_of(prepared, wish, at_least, stain_seed)
    fired = [drawn.stain.fired(cells) for cells in prepared.cells]
    parts = (prepared.dataset.train, prepared.dataset.validation, prepared.dataset.test)
    labels = [drawn.stain.labels(where, part.labels) for where, part in zip(fired, parts, strict=True)]
    weights = np.where(fired[0] >= 0, weight, 1).astype(np.int64)
    started = time.perf_counter()
    fitted = training.fit(model, prepared, (labels[0], labels[1]), weights, seed)
    fit_seconds = time.perf_counter() - started
    predicted = training.predict(fitted, prepared)
    region = fired[2] >= 0
    result: dict[str, Any] = {
        "stain": describe_stain(drawn, prepared),
        "region": np.flatnonzero(region).tolist(),
        "checks": checks(predicted, labels[2], parts[2].labels, region)
        | {"stained_region_train": _trained_accuracy(fitted, prepared, labels[0], fired[0] >= 0)},
        "fit_seconds": fit_seconds,
        "explainers": {},
    }
    result["learnt"] = result["checks"]["stained_region"] >= learnt
    if result["learnt"]:
        chosen = _flipped(labels[2] != parts[2].labels, inputs, stain_seed)
        result["inputs"] = chosen.tolist()
        _explain(result, fitted, prepared, drawn.stain, fired[2], chosen, explainers)
    return result


def stain_of(prepared: Prepared, wish: Mapping[str, Any], at_least: int, stain_seed: int) -> Drawn:
    """The stain of a seed: the same for every model."""
    wanted = Wish(**wish)
    dataset = prepared.dataset
    return draw_stain(
        prepared.candidates(wanted.min_share, at_least),
        wanted,
        (prepared.cells[0], dataset.train.labels),
        (prepared.cells[2], dataset.test.labels),
        len(dataset.class_names),
        stream(stain_seed, "stain", wanted.size, wanted.rules, wanted.negated, at_least),
    )


def checks(
    predicted: IntArray, stained: IntArray, original: IntArray, region: NDArray[np.bool_]
) -> dict[str, float]:
    """Accuracy inside and outside the stained region, against stained and original labels (research question 1)."""

    def accuracy(labels: IntArray, where: NDArray[np.bool_]) -> float:
        return float(np.mean(predicted[where] == labels[where]))

    return {
        "stained_region": accuracy(stained, region),
        "original_region": accuracy(original, region),
        "outside": accuracy(original, ~region),
    }


def _trained_accuracy(
    model: Model, prepared: Prepared, stained: IntArray, region: NDArray[np.bool_]
) -> float:
    """Accuracy on the stained region of the training part, where the paper looks."""
    predicted = training.predict(model, prepared, part=0, where=region)
    return float(np.mean(predicted == stained[region]))


def describe_stain(drawn: Drawn, prepared: Prepared) -> dict[str, Any]:
    """A stain as plain data."""
    return {
        "rules": [
            {
                "label": prepared.dataset.class_names[rule.label],
                "literals": [literal.to_dict() for literal in rule.literals],
                "features": list(rule.features),
            }
            for rule in drawn.stain.rules
        ],
        "shown": drawn.stain.describe(prepared.dataset.class_names),
        "rejected": dict(sorted(drawn.rejected.items())),
    }


def _checked(source: Mapping[str, Any], words: str, data_hash: str) -> Prepared:
    prepared = prepare(source, words)
    if prepared.dataset.hash != data_hash:
        raise VeraxError(
            f"The dataset {prepared.dataset.name!r} is not the one that this run was planned with; start a new run."
        )
    return prepared


def _flipped(flipped: NDArray[np.bool_], count: int, stain_seed: int) -> NDArray[np.intp]:
    places = np.flatnonzero(flipped)
    if len(places) <= count:
        return places
    return np.sort(stream(stain_seed, "flipped", len(places)).choice(places, count, replace=False))


def _explain(
    result: dict[str, Any],
    model: Model,
    prepared: Prepared,
    stain: Stain,
    fired: IntArray,
    chosen: NDArray[np.intp],
    explainers: Sequence[Method],
) -> None:
    given: Any = prepared.dataset.test.inputs
    inputs = given[chosen] if isinstance(given, np.ndarray) else [given[place] for place in chosen]
    wanted = [stain.rules[int(fired[place])].features for place in chosen]
    result["wanted"] = list(wanted[0]) if wanted else []  # of the input that is kept as an example
    methods: list[tuple[str, Callable[[], Explainer]]] = [
        (label, partial(make_explainer, name, **parameters)) for label, name, parameters in explainers
    ]
    if readable(model):
        methods.append((GROUND_TRUTH, GroundTruth))
    for label, make in methods:
        try:
            method = make()
            started = time.perf_counter()
            explanations = list(method.explain(model, inputs))
            seconds = time.perf_counter() - started
            result["explainers"][label] = score(explanations, wanted, seconds)
        except Exception as error:
            reason = " ".join(str(error).split())
            result["explainers"][label] = {"error": f"{type(error).__name__}: {reason}"}


def make_explainer(name: str, **parameters: Any) -> Explainer:
    """An explainer by its name, or the object that a reference stands for."""
    if not is_reference(name):
        return explainer(name, **parameters)
    return cast("Explainer", fetch(name))  # it has a method `explain`, whatever its class


def score(explanations: Sequence[Any], wanted: Sequence[Sequence[str]], seconds: float) -> dict[str, Any]:
    """Recall, reciprocal rank and cost of one explainer on the inputs of one trial."""
    if len(explanations) != len(wanted):
        raise VeraxError(f"The explainer returned {len(explanations)} explanations for {len(wanted)} inputs.")
    for explanation in explanations:
        if not isinstance(explanation, Attribution):
            raise VeraxError(f"Staining needs scores of features, not a {type(explanation).__name__}.")
    pairs = list(zip(explanations, wanted, strict=True))
    return {
        "recall": [recall(explanation, features).tolist() for explanation, features in pairs],
        "mrr": [reciprocal_rank(explanation, features) for explanation, features in pairs],
        "features": [len(explanation.features) for explanation in explanations],
        "rows": [explanation.cost.rows for explanation in explanations],
        "seconds": seconds / max(1, len(explanations)),
        "examples": [explanation.to_dict() for explanation in explanations[:EXAMPLES]],
    }
