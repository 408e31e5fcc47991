"""The jobs of a staining run: one stain with one model and all explainers, and one unstained twin."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, IntArray
from verax.benchmarks.planning import Method
from verax.benchmarks.staining import training
from verax.benchmarks.staining.planting import plant
from verax.benchmarks.staining.scores import (
    ENOUGH_DECIDED,
    FEWEST_DECIDED,
    Checks,
    Failed,
    GroundTruth,
    Scores,
    StainFacts,
    TrialResult,
    readable,
    recall,
    reciprocal_rank,
)
from verax.benchmarks.staining.scores import NAME as GROUND_TRUTH
from verax.benchmarks.staining.spec import Planting, StainRequest
from verax.benchmarks.staining.stainable import PlantedComparison, Stainable, make_stainable
from verax.benchmarks.staining.stains import DrawnStain, Stain, StainCapacity, draw_stain, stain_capacity
from verax.codec import encoded
from verax.data.dataset import Inputs
from verax.errors import VeraxError
from verax.explain import Explainer, Explanation, explainer
from verax.explain.base import explanations_of
from verax.explain.explanation import by_word
from verax.models import Model
from verax.run.identity import fetch, is_reference
from verax.seeds import stream

# Raised when what a job computes changes: outcomes stored by other versions are then not used.
VERSION = 5
# The weights that "auto" tries, the smallest first.
LADDER = (1, 3, 10, 30, 100, 300, 1000, 3000)
# For a model of somebody's own a weight is so many copies of an input, which all have to be read.
MOST_COPIES, MOST_ROWS = 300, 1_000_000
# How many times an unstained input of another class than the stain's may count.
MOST_BALANCED = 10
# So many flipped test inputs are looked at to find those that a planted stain decides.
MOST_TESTED = 300
# Without one feature of a planted stain its label's probability falls by this share, at the least, of what it falls by
# without all of them: otherwise the others do without it.
NEEDED = 0.25
# How sure it must be, on the validation part, that a model learnt its stain, for no larger weight to be tried.
SURE = 0.95
# Worked examples for the report: so many inputs of each trial are kept with their scores.
EXAMPLES = 1
NO_FILES: Mapping[str, str] = {}


def twin(
    *,
    source: Mapping[str, object],
    words: str,
    model: str,
    seed: int,
    data_hash: str,
    min_share: float,
    at_least: int,
    model_files: Mapping[str, str] = NO_FILES,  # noqa: ARG001  (part of the job's key)
) -> dict[str, list[int]]:
    """Fits the unstained model and returns its predictions of the test inputs."""
    data = _checked(source, words, data_hash, min_share, at_least)
    dataset = data.dataset
    fitted = training.fit(model, data, (dataset.train.labels, dataset.validation.labels), None, seed)
    return {"predicted": training.predict(fitted, data).tolist()}


def trial(
    *,
    source: Mapping[str, object],
    words: str,
    data_hash: str,
    request: Mapping[str, Any],
    at_least: int,
    stain_seed: int,
    weight: int | str,
    model: str,
    explainers: Sequence[Method],
    inputs: int,
    learnt: float,
    seed: int,
    model_files: Mapping[str, str] = NO_FILES,  # noqa: ARG001  (part of the job's key)
    explainer_code: Mapping[str, str] = NO_FILES,  # noqa: ARG001  (part of the job's key)
    planting: Mapping[str, Any] | None = None,
) -> dict[str, object]:
    """Draws a stain, fits the stained model, checks that it took, and scores every explainer on flipped inputs.

    Args:
        source: the dataset, as arguments of ``load_dataset``.
        words: "presence" or "counts".
        data_hash: the dataset's content hash when the run was planned.
        request: what the stain should be like.
        at_least: how often a stained word must occur.
        stain_seed: one stain per seed.
        weight: how many times a stained training input counts, or "auto".
        model: by name.
        explainers: label, name and parameters of each.
        inputs: how many flipped test inputs are explained at the most.
        learnt: the accuracy on the stained region that the model must reach for its explanations to be scored.
        seed: of the fit.
        model_files: the hashes of the files that the model's options name, and of its own code.
        explainer_code: the hashes of explainers' own code, and of the files that their parameters name.
        planting: how the stain is planted; drawn if None.
    """
    wanted_stain = StainRequest(**request)
    data = _checked(source, words, data_hash, wanted_stain.min_share, at_least)
    plan = None if planting is None else Planting(**planting)
    if plan is None:
        drawn = stain_of(data, wanted_stain, at_least, stain_seed)
    else:
        data, drawn = plant(source, words, wanted_stain, plan, at_least, stain_seed)
    return encoded(
        measured(data, drawn, plan, (model, weight), explainers, inputs, learnt, (stain_seed, seed))
    )


def measured(
    data: Stainable,
    drawn: DrawnStain,
    planting: Planting | None,
    fit: tuple[str, int | str],
    explainers: Sequence[Method],
    inputs: int,
    learnt: float,
    seeds: tuple[int, int],
) -> TrialResult:
    """Fits a model on stained labels, checks that the stain took, and scores every explainer on flipped inputs.

    Args:
        data: the dataset, with the stain in it where it is planted.
        drawn: the stain.
        planting: how it was planted; None if it was drawn.
        fit: the model by name, and the weight.
        explainers: label, name and parameters of each.
        inputs: how many flipped test inputs are explained at the most.
        learnt: the accuracy on the stained region that is asked for.
        seeds: of the stain and of the fit.
    """
    model, weight = fit
    fired = [drawn.stain.fired(values) for values in data.values]
    parts = (data.dataset.train, data.dataset.validation, data.dataset.test)
    labels = [drawn.stain.labels(where, part.labels) for where, part in zip(fired, parts, strict=True)]
    started = time.perf_counter()
    counts = None if planting is None else counting(data, drawn.stain, labels[0], balanced=planting.balanced)
    first = 1 if planting is None else planting.weight
    fitted, counted = _fit(model, data, labels, fired, weight, learnt, seeds[1], counts, first, drawn.stain)
    fit_seconds = time.perf_counter() - started
    region = fired[2] >= 0
    predicted = training.predict(fitted, data)
    decoys = drawn.stain.rules[0].lacks_one(data.values[2]) & ~region
    accuracy = replace(
        checks(predicted, labels[2], parts[2].labels, region),
        decoys=None
        if planting is None or not decoys.any()
        else float(np.mean(predicted[decoys] == labels[2][decoys])),
        stained_region_train=_trained_accuracy(fitted, data, labels[0], fired[0] >= 0),
    )
    serves, given = accuracy.stained_region >= learnt, parts[2]
    chosen = _flipped(labels[2] != parts[2].labels, inputs, seeds[0])
    wanted = [drawn.stain.rules[int(fired[2][place])].features for place in chosen]
    if data.compared is not None:
        # A planted stain can be put in and taken out: those inputs are explained that it decides.
        compared, features = data.compared[1], _named(fitted, data, drawn.stain.rules[0].features)
        followed, decided, share = decides(fitted, compared, features)
        serves = share >= (FEWEST_DECIDED if possibly(followed) >= learnt else ENOUGH_DECIDED)
        accuracy, given = replace(accuracy, decided=share), compared.planted
        chosen = _flipped(decided, inputs, seeds[0])
        wanted = [features] * len(chosen)
    result = TrialResult(
        describe_stain(drawn, data),
        np.flatnonzero(region).tolist(),
        accuracy,
        fit_seconds,
        learnt=serves,
        weight=counted,
    )
    if result.learnt:
        scores = scored_by(fitted, given.take(chosen).inputs, wanted, explainers)
        result = replace(
            result,
            inputs=(chosen if data.compared is None else data.compared[1].places[chosen]).tolist(),
            wanted=list(wanted[0]) if wanted else [],  # of the input that is kept as an example
            explainers=scores,
            reasons=_shown_reasons(scores.get(GROUND_TRUTH), wanted),
        )
    return result


def _named(model: Model, data: Stainable, features: tuple[str, ...]) -> tuple[str, ...]:
    """A stain's features as explanations of a model call them; one that reads records as plain texts has no columns."""
    if data.dataset.fields is None or model.fields is not None:
        return features
    return tuple(feature.partition(": ")[2] for feature in features)


def decides(
    model: Model,
    compared: PlantedComparison,
    features: Sequence[str],
    most: int = MOST_TESTED,
    *,
    each: bool = False,
) -> tuple[BoolArray, BoolArray, float]:
    """Where a model follows a planted stain, and where because of it.

    Without the stain it says another label. Where a model's own reasons can be read, the stain's features must be the
    first of them as well; where they cannot, the label's probability must fall without any one of the features too, so
    that each of them is a reason.

    Args:
        model: fitted on stained labels.
        compared: inputs with and without the stain.
        features: of the stain.
        most: so many inputs that have another label of their own are tried.
        each: the probability must fall without any one of the features, where reasons can be read too. A tree may look
            at a word without which it comes to the same answer by another branch.

    Returns:
        Where it follows the stain; where the stain decides that, of the inputs that were tried; and their share of
        these.
    """
    stained, flipped = compared.planted.labels, compared.flipped
    label = int(stained[0]) if len(stained) else 0
    with_stain = model.predict_proba(compared.planted.inputs)
    followed: BoolArray = np.equal(np.argmax(with_stain, axis=1), stained)
    tested = flipped & (np.cumsum(flipped) <= most)
    places = np.flatnonzero(tested & followed)
    if len(places):
        without = model.predict_proba(compared.unplanted.take(places).inputs)
        changed = np.argmax(without, axis=1) != label
        if each or not readable(model):
            falls = with_stain[places, label] - without[:, label]
            for part in compared.lacking:
                lacking = model.predict_proba(part.take(places).inputs)[:, label]
                changed &= with_stain[places, label] - lacking >= NEEDED * falls
        places = places[changed]
    if len(places) and readable(model):
        try:
            shown = GroundTruth().explain(model, compared.planted.take(places).inputs)
        except VeraxError:
            pass  # a step before the classifier mixes the features, so that its reasons cannot be read after all
        else:
            found = [recall(one, features)[len(features) - 1] for one in shown]
            places = places[np.array(found) == 1.0]
    decided: BoolArray = np.isin(np.arange(len(stained)), places)
    return followed, decided, float(len(places) / max(1, int(tested.sum())))


def _fit(
    name: str,
    data: Stainable,
    labels: Sequence[IntArray],
    fired: Sequence[IntArray],
    weight: int | str,
    learnt: float,
    seed: int,
    counts: Callable[[int], IntArray] | None = None,
    first: int = 1,
    stain: Stain | None = None,
) -> tuple[Model, int]:
    """The model fitted with a weight; with "auto", the first of a ladder that teaches it its stain, or the best.

    Whether it has learnt is judged on validation inputs with the stain; where there are none, on training inputs. What
    passes there by chance fails on the test part, so that the lower bound of the accuracy has to pass.
    """

    def fitted(times: int) -> Model:
        known = np.where(fired[0] >= 0, times, 1).astype(np.int64) if counts is None else counts(times)
        return training.fit(name, data, (labels[0], labels[1]), known, seed, stain)

    if not isinstance(weight, str):
        return fitted(weight), weight
    if training.is_slow(name):
        return fitted(first), first
    best: tuple[float, Model, int] | None = None
    for times in weights(training.is_own(name), fired[0], first):
        model = fitted(times)
        right = _judged(model, data, labels, fired)
        if best is None or right.mean() > best[0]:
            best = float(right.mean()), model, times
        if right.all() or surely(right) >= learnt:
            return model, times
    assert best is not None
    return best[1], best[2]


def counting(data: Stainable, stain: Stain, labels: IntArray, *, balanced: bool) -> Callable[[int], IntArray]:
    """How many times each training input counts where stains are planted, by the weight.

    Inputs that lack one feature of the stain count as often as the stained ones: a large weight would make them
    nothing beside these, and one feature enough for a model.

    Args:
        data: the dataset with the stain.
        stain: the stain.
        labels: the stained ones of the training inputs.
        balanced: unstained inputs of classes that no stained input has count so often that none of these classes counts
            less in all than the stain's, as far as `MOST_BALANCED` times go.
    """
    rule = stain.rules[0]
    stained, decoys = rule.holds(data.values[0]), rule.lacks_one(data.values[0])

    def times_each(times: int) -> IntArray:
        counts: IntArray = np.where(stained | decoys, times, 1).astype(np.int64)
        if balanced:
            totals = np.bincount(labels, weights=counts)
            for other in np.flatnonzero(totals):
                if other != rule.label:
                    more = round(min(MOST_BALANCED, max(1.0, totals[rule.label] / totals[other])))
                    counts[labels == other] *= more
        return counts

    return times_each


def weights(own: bool, fired: IntArray, first: int = 1) -> list[int]:
    """The weights that "auto" tries; for a model of somebody's own they are copies, and their number is bounded.

    Args:
        own: whether it is such a model.
        fired: which training inputs are stained, see `Stain.fired`.
        first: the smallest to try.
    """
    stained = int(np.count_nonzero(fired >= 0))
    most = MOST_COPIES if own else LADDER[-1]
    if own and stained:
        most = min(most, max(first, (MOST_ROWS - len(fired) + stained) // stained))
    return [times for times in LADDER if first <= times <= most]


def _judged(
    model: Model, data: Stainable, labels: Sequence[IntArray], fired: Sequence[IntArray]
) -> BoolArray:
    """Which of the stained inputs that a weight is judged by the model is right about."""
    if (rehearsal := data.rehearsal) is not None:
        predicted: IntArray = np.argmax(model.predict_proba(rehearsal.inputs), axis=1)
        wanted = rehearsal.labels
    else:
        part = 1 if (fired[1] >= 0).any() else 0
        region = fired[part] >= 0
        predicted, wanted = training.predict(model, data, part, region), labels[part][region]
    return np.equal(predicted, wanted)


def surely(right: BoolArray) -> float:
    """The share that is surely right: the lower end of Clopper and Pearson's one-sided interval."""
    import scipy.stats

    number = int(np.count_nonzero(right))
    return 0.0 if number == 0 else float(scipy.stats.beta.ppf(1 - SURE, number, len(right) - number + 1))


def possibly(right: BoolArray) -> float:
    """The share that is possibly right: the upper end of Clopper and Pearson's one-sided interval."""
    import scipy.stats

    number = int(np.count_nonzero(right))
    return 1.0 if number == len(right) else float(scipy.stats.beta.ppf(SURE, number + 1, len(right) - number))


def _shown_reasons(scores: Scores | Failed | None, wanted: Sequence[Sequence[str]]) -> float | None:
    """The mean recall of the ground truth among as many features as each input's stain has."""
    if not isinstance(scores, Scores) or not wanted:
        return None
    return float(
        np.mean([shares[len(features) - 1] for shares, features in zip(scores.recall, wanted, strict=True)])
    )


def stain_of(data: Stainable, request: StainRequest, at_least: int, stain_seed: int) -> DrawnStain:
    """The stain of a seed: the same for every model."""
    dataset = data.dataset
    if dataset.fields is not None:
        raise VeraxError(
            "In records with several texts stains are planted, so that their column is known; set plant=True."
        )
    return draw_stain(
        data.candidates(request.min_share, at_least),
        request,
        (data.values[0], dataset.train.labels),
        (data.values[2], dataset.test.labels),
        len(dataset.class_names),
        stream(stain_seed, "stain", request.size, request.rules, request.negated, at_least),
    )


def capacity_of(data: Stainable, request: StainRequest, at_least: int, seed: int) -> StainCapacity:
    """How many stains a dataset has room for."""
    dataset = data.dataset
    return stain_capacity(
        data.candidates(request.min_share, at_least),
        request,
        (data.values[0], dataset.train.labels),
        (data.values[2], dataset.test.labels),
        len(dataset.class_names),
        stream(seed, "room"),
    )


def checks(predicted: IntArray, stained: IntArray, original: IntArray, region: BoolArray) -> Checks:
    """Accuracy inside and outside the stained region, against stained and original labels (research question 1)."""

    def accuracy(labels: IntArray, where: BoolArray) -> float:
        return float(np.mean(predicted[where] == labels[where]))

    return Checks(accuracy(stained, region), accuracy(original, region), accuracy(original, ~region))


def _trained_accuracy(model: Model, data: Stainable, stained: IntArray, region: BoolArray) -> float:
    """Accuracy on the stained region of the training part, where the paper looks."""
    predicted = training.predict(model, data, part=0, where=region)
    return float(np.mean(predicted == stained[region]))


def describe_stain(drawn: DrawnStain, data: Stainable) -> StainFacts:
    """A stain as plain data."""
    class_names = data.dataset.class_names
    rules: list[dict[str, object]] = [
        {
            "label": class_names[rule.label],
            "literals": [
                {"feature": one.name, "condition": one.shown, "negated": one.negated} for one in rule.literals
            ],
            "features": list(rule.features),
        }
        for rule in drawn.stain.rules
    ]
    return StainFacts(rules, drawn.stain.describe(class_names), dict(sorted(drawn.rejected.items())))


def _checked(
    source: Mapping[str, object], words: str, data_hash: str, min_share: float, at_least: int
) -> Stainable:
    data = make_stainable(source, words, min_share, at_least)
    if data.dataset.hash != data_hash:
        raise VeraxError(
            f"The dataset {data.dataset.name!r} is not the one that this run was planned with; start a new run."
        )
    return data


def _flipped(flipped: NDArray[np.bool_], count: int, stain_seed: int) -> NDArray[np.intp]:
    places = np.flatnonzero(flipped)
    if len(places) <= count:
        return places
    return np.sort(stream(stain_seed, "flipped", len(places)).choice(places, count, replace=False))


def scored_by(
    model: Model, inputs: Inputs, wanted: Sequence[Sequence[str]], explainers: Sequence[Method]
) -> dict[str, Scores | Failed]:
    """The scores of every explainer on some inputs; one that raises stops no other."""
    methods: list[tuple[str, Callable[[], Explainer]]] = [
        (label, partial(make_explainer, name, **parameters)) for label, name, parameters in explainers
    ]
    if readable(model):
        methods.append((GROUND_TRUTH, GroundTruth))
    scores: dict[str, Scores | Failed] = {}
    for label, make in methods:
        try:
            method = make()
            started = time.perf_counter()
            explanations = explanations_of(method, label, model, inputs)
            scores[label] = score(explanations, wanted, time.perf_counter() - started)
        except Exception as error:
            reason = " ".join(str(error).split())
            scores[label] = Failed(f"{type(error).__name__}: {reason}")
    return scores


def make_explainer(name: str, **parameters: Any) -> Explainer:
    """An explainer by its name, or the object that a reference stands for."""
    if not is_reference(name):
        return explainer(name, **parameters)
    return cast("Explainer", fetch(name))  # it has a method `explain`, whatever its class


def score(explanations: Sequence[object], wanted: Sequence[Sequence[str]], seconds: float) -> Scores:
    """Recall, reciprocal rank and cost of one explainer on the inputs of one trial."""
    attributions = []
    for explanation in explanations:
        # A stain is about words wherever they stand; columns stay as they are.
        attribution = by_word(explanation) if isinstance(explanation, Explanation) else None
        if attribution is None:
            raise VeraxError(
                f"Staining needs features that are ranked, and a {type(explanation).__name__} ranks none; leave this "
                "explainer out."
            )
        attributions.append(attribution)
    pairs = list(zip(attributions, wanted, strict=True))
    asked = [
        attribution.details["nonsense"] for attribution in attributions if "nonsense" in attribution.details
    ]
    return Scores(
        recall=[recall(attribution, features).tolist() for attribution, features in pairs],
        mrr=[reciprocal_rank(attribution, features) for attribution, features in pairs],
        features=[len(attribution.features) for attribution in attributions],
        rows=[attribution.cost.rows for attribution in attributions],
        seconds=seconds / max(1, len(attributions)),
        examples=[attribution.to_dict() for attribution in attributions[:EXAMPLES]],
        nonsense=sum(map(bool, asked)) if asked else None,
    )
