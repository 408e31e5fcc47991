"""Reasons planted for a model of numbers: rows with some values have an offset added to their number.

As in planted stains, chance decides which rows get the values, decoys get all of them but one, and nothing else tells
the rows with the offset. A copy of the model is fitted on them, and where it has learnt the offset, explainers are
scored by whether they name the columns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.benchmarks.staining import jobs
from verax.benchmarks.staining.planting import CannotPlantError, plant_in
from verax.benchmarks.staining.scores import ENOUGH_DECIDED, Scores, ceiling, floor
from verax.benchmarks.staining.spec import Planting, StainRequest, StainSpec
from verax.benchmarks.staining.stainable import PlantedComparison, Stainable, prepared
from verax.benchmarks.staining.stains import Rule
from verax.benchmarks.staining.training import unfitted
from verax.data import Dataset, Part
from verax.errors import OwnCodeError, VeraxError, reason
from verax.explain import Explainer
from verax.models import Model, as_model
from verax.models.wrappers import TableModel, encode_rows
from verax.phrases import say
from verax.run.identity import at_hand
from verax.run.threads import one_thread
from verax.seeds import stream
from verax.text import duration
from verax.workflows.given_objects import Gathered
from verax.workflows.judge_findings import FEWEST_INPUTS, OnProgress, PlantedTrial, quietly

# The offset in standard deviations of the numbers: so much that no other column makes up for it.
OFFSET = 3.0
# An offset is followed where the prediction falls by this share of it without the values.
FOLLOWED = 0.5
# Shares of rows for training and for choosing; the rest are explained.
TRAIN, VALIDATION = 0.7, 0.1
# How values are planted: as they come, and at the ends of their columns for models that see no middle.
WAYS = (Planting(), Planting(share=0.4, decoys=0.1), Planting(share=0.4, decoys=0.1, ends=True))
Fit = Callable[[FloatArray, FloatArray], Model]


def planted_offsets(
    model: TableModel,
    data: tuple[Any, Any],
    explainers: Mapping[str, Explainer],
    *,
    refit: Callable[..., object] | None = None,
    stains: int = 6,
    inputs: int = 10,
    size: int = 2,
    seed: int = 0,
    seconds: float = 60.0,
    progress: OnProgress = quietly,
) -> PlantedTrial:
    """Plants offsets in numbers, fits the model anew on them, and scores explainers by the columns that they name.

    Args:
        model: a regressor of table rows, as `verax.as_model` makes it.
        data: rows and their numbers.
        explainers: by what to call them.
        refit: from (rows, numbers) to something fitted, for a model that cannot be cloned.
        stains: how many reasons are planted, one after the other.
        inputs: how many rows are explained for each, at the most.
        size: how many columns a reason has.
        seed: of everything.
        seconds: what it may take; fewer reasons where it would take longer.
        progress: told how far it is.

    Raises:
        VeraxError: the model cannot be fitted anew, or nothing can be planted in these data.
    """
    started = time.perf_counter()
    rows, numbers = encode_rows(data[0], model.schema), _numbers(data[1])
    places = stream(seed, "parts of numbers", len(rows)).permutation(len(rows))
    ready = _ready(model, rows[places], numbers[places])
    numbers = numbers[places][: len(ready.dataset.train)]
    offset = OFFSET * float(numbers.std())
    fit = _fit_by(model, refit, seed)
    gathered = Gathered()
    methods = gathered.methods(StainSpec(explainers=gathered.add_explainers(explainers), seed=seed))
    request = StainRequest(size=size, min_flipped=1)
    trials: list[tuple[str, frozenset[str], int, dict[str, float], float]] = []
    errors: dict[str, str] = {}
    tried = 0
    with at_hand(gathered.things), one_thread():
        for number in range(stains):
            spent = time.perf_counter() - started
            if number and spent * (number + 1) / number > seconds:
                break
            progress(min(1.0, spent / seconds), f"planting reason {number + 1} of {stains}")
            tried += 1
            found = _learnt(ready, request, numbers, offset, fit, seed + number)
            if found is None:
                continue
            fitted, rule, compared, decided = found
            chosen = _some(decided, inputs, seed + number)
            wanted = [rule.features] * len(chosen)
            given = jobs.scored_by(fitted, compared.planted.take(chosen).inputs, wanted, methods)
            kept = {name: one for name, one in given.items() if isinstance(one, Scores)}
            for name, one in given.items():
                if not isinstance(one, Scores):
                    errors.setdefault(name, one.error)
            areas = {
                name: float(np.mean(kept[name].recall)) if name in kept else float("nan") for name in given
            }
            widths = np.max([one.features for one in kept.values()], axis=0) if kept else [np.nan]
            shown = " and ".join(literal.shown for literal in rule.literals)
            chance = float(np.mean([floor(int(width)) for width in widths])) if kept else float("nan")
            trials.append((shown, frozenset(rule.features), len(chosen), areas, chance))
    if not trials:
        raise VeraxError(say("judge", "offsets-not-learnt", tried=tried))
    sentences = [say("judge", "offsets-planted", offset=f"{offset:.4g}", deviations=f"{OFFSET:g}")]
    if len(trials) < stains:
        sentences.append(
            say("judge", "few-planted", tried=len(trials), wanted=stains, time=duration(seconds))
        )
    return PlantedTrial(
        areas={name: tuple(areas[name] for *_, areas, _ in trials) for name, *_ in methods},
        floor=tuple(chance for *_, chance in trials),
        ceiling=ceiling(size),
        stains=tuple(f"{shown}: {offset:+.4g}" for shown, *_ in trials),
        features=tuple(features for _, features, *_ in trials),
        inputs=tuple(count for _, _, count, *_ in trials),
        errors=errors,
        sentences=tuple(sentences),
        seconds=time.perf_counter() - started,
    )


def _numbers(given: Any) -> FloatArray:
    try:
        numbers = np.asarray(given, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise VeraxError("The model predicts a number, and the labels are none; give numbers.") from error
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise VeraxError(f"The number of row {row} is {numbers[row]}; leave that row out (counted from 0).")
    if not numbers.std() > 0:
        raise VeraxError("All rows have the same number, so that there is nothing to learn.")
    return numbers


def _ready(model: TableModel, rows: FloatArray, numbers: FloatArray) -> Stainable:
    """The rows made ready for planting; whether a number lies above the median stands for a class."""
    high = (numbers > np.median(numbers)).astype(np.int64)
    first = max(1, round(TRAIN * len(rows)))
    second = round((TRAIN + VALIDATION) * len(rows))
    parts = [slice(0, first), slice(first, second), slice(second, None)]
    train, validation, test = (Part(rows[part], high[part]) for part in parts)
    dataset = Dataset("rows and numbers", "table", ("low", "high"), train, validation, test, model.schema)
    return prepared(dataset, "presence")


def _fit_by(model: TableModel, refit: Callable[..., object] | None, seed: int) -> Fit:
    """How a copy of the model is fitted."""

    def fit(rows: FloatArray, numbers: FloatArray) -> Model:
        given = model.as_read(rows)
        try:
            if refit is None:
                estimator = unfitted(type(model.estimator).__name__, model.estimator, seed)
                return replace(model, estimator=estimator.fit(given, numbers), reference=rows)
            thing = refit(given, numbers)
        except VeraxError:
            raise
        except Exception as error:
            raise OwnCodeError(
                f"Fitting the model anew raised {type(error).__name__} ({reason(error)})."
            ) from error
        if hasattr(thing, "predict"):
            return replace(model, estimator=thing, reference=rows)
        return as_model(thing, schema=model.schema, reference=rows, output="number")

    return fit


def _learnt(
    ready: Stainable, request: StainRequest, numbers: FloatArray, offset: float, fit: Fit, stain_seed: int
) -> tuple[Model, Rule, PlantedComparison, BoolArray] | None:
    """A copy that learnt an offset, by the first way of planting that teaches it; None if none does."""
    for way in WAYS:
        try:
            planted, drawn = plant_in(ready, "presence", request, way, 1, stain_seed)
        except CannotPlantError:
            continue
        rule = drawn.stain.rules[0]
        assert planted.compared is not None
        inside = rule.holds(planted.values[0])
        fitted = fit(np.asarray(planted.dataset.train.inputs), numbers + offset * inside)
        compared = planted.compared[1]
        decided = offset_decides(fitted, compared, offset)
        if decided.any() and decided.mean() >= ENOUGH_DECIDED and len(decided) >= FEWEST_INPUTS:
            return fitted, rule, compared, decided
    return None


def offset_decides(model: Model, compared: PlantedComparison, offset: float) -> BoolArray:
    """Where predictions fall by half of the offset without the values, and by some of that without any one of them."""

    def answers(part: Part) -> FloatArray:
        return model.predict_proba(part.inputs)[:, 0]

    with_all = answers(compared.planted)
    falls = with_all - answers(compared.unplanted)
    decided: BoolArray = falls >= FOLLOWED * offset
    for part in compared.lacking:
        decided &= with_all - answers(part) >= jobs.NEEDED * falls
    return decided


def _some(decided: BoolArray, count: int, seed: int) -> IndexArray:
    places = np.flatnonzero(decided)
    if len(places) <= count:
        return places
    return np.sort(stream(seed, "offset inputs", len(places)).choice(places, count, replace=False))
