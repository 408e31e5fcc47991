"""Measures that explain again: neighbours of the input (sensitivity, stability), and a model that knows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Explainer, explanations_of
from verax.explain.checks import _copied, _randomise
from verax.explain.explanation import Explanation
from verax.measures.base import defines, measures
from verax.measures.case import Case, scores_of
from verax.measures.refitting import method_of, refitted
from verax.measures.subsets import rank_correlation
from verax.models.base import Model
from verax.models.capabilities import ask_for, has
from verax.perturb.counterfactual.thesaurus import thesaurus_for
from verax.perturb.paths.tables import reference_rows, schema_of
from verax.seeds import stream

# So many of the most similar words may stand in a word's place.
SIMILAR = 10


@measures.register("max-sensitivity")
@defines(better="lower", low=0, high=float("inf"), reads="scores", costs="explanations")
def max_sensitivity(
    case: Case, *, explainer: Explainer | str, versions: int = 5, radius: float = 0.1
) -> FloatArray:
    """The largest change of the scores among versions of the input that mean the same, relative to them (Yeh 2019).

    Versions of texts have one word replaced by a similar one; of rows, numbers moved by up to radius standard
    deviations. Only versions of which the model predicts the same count; 0 where there is none.
    """
    method = method_of("max-sensitivity", explainer)
    values = np.zeros(len(case))
    for number, mine, others in _versions("max-sensitivity", case, method, versions, radius):
        size = float(np.linalg.norm(mine)) or 1.0
        values[number] = max((float(np.linalg.norm(one - mine)) / size for one in others), default=0.0)
    return values


@measures.register("stability")
@defines(better="higher", low=-1, high=1, costs="explanations")
def stability(
    case: Case, *, explainer: Explainer | str, versions: int = 5, radius: float = 0.1
) -> FloatArray:
    """The mean rank correlation of the scores with those of versions of the input that mean the same.

    Versions are those of max-sensitivity; 1 where there is none.
    """
    method = method_of("stability", explainer)
    values = np.ones(len(case))
    for number, mine, others in _versions("stability", case, method, versions, radius):
        if others:
            values[number] = float(np.mean([_same_order(mine, one) for one in others]))
    return values


def _same_order(mine: FloatArray, other: FloatArray) -> float:
    """The rank correlation; two explanations without any order agree."""
    if np.ptp(mine) == 0 and np.ptp(other) == 0:
        return 1.0
    return rank_correlation(mine, other)


def _versions(
    name: str, case: Case, method: Explainer, versions: int, radius: float
) -> list[tuple[int, FloatArray, list[FloatArray]]]:
    """By input: its number, its scores, and those of its versions with the same prediction, feature by feature."""
    if versions < 1 or radius <= 0:
        raise VeraxError(f"versions={versions} and radius={radius} must be above 0.")
    made = [
        (number, version)
        for number in range(len(case))
        for version in (
            _texts(name, case, number, versions)
            if case.model.kind == "text"
            else _rows(case, number, versions, radius)
        )
    ]
    kept: list[list[FloatArray]] = [[] for _ in range(len(case))]
    if made:
        inputs: Any = [version for _, version in made]
        inputs = inputs if case.model.kind == "text" else np.array(inputs)
        targets = [case.targets[number] for number, _ in made]
        own = case.model.predict_proba(case.inputs).argmax(axis=1)
        same = case.model.predict_proba(inputs).argmax(axis=1) == own[[number for number, _ in made]]
        explanations = explanations_of(method, repr(method), case.model, inputs, targets)
        for (number, version), stays, explanation in zip(made, same, explanations, strict=True):
            if stays:
                features = (
                    split_words(str(version)).distinct if isinstance(version, str) else case.features[number]
                )
                kept[number].append(scores_of(name, "order", explanation, features, number))
    # A word that is replaced stands where the other stood, so that scores can be compared place by place.
    return [
        (number, mine, [one for one in kept[number] if len(one) == len(mine)])
        for number, mine in enumerate(case.scores)
    ]


def _texts(name: str, case: Case, number: int, versions: int) -> list[str]:
    """The text with one distinct word replaced by a similar one that it does not have, wherever it stands."""
    words = split_words(str(case.inputs[number]))
    options = thesaurus_for(case.model, "trained", name).candidates(words, SIMILAR).options
    there = {word.casefold() for word in words.distinct}
    pairs = {
        (words.words[place], after): None
        for place, after in zip(options.places.tolist(), options.after, strict=True)
        if after.casefold() not in there and words.counts[words.words[place]] == 1
    }
    usable = sorted(pairs)
    if not usable:
        return []
    chosen = case.rng(number, "versions").permutation(len(usable))[:versions]
    texts = []
    for place in chosen:
        before, after = usable[place]
        at = words.words.index(before)
        texts.append(words.text[: words.starts[at]] + after + words.text[words.ends[at] :])
    return texts


def _rows(case: Case, number: int, versions: int, radius: float) -> list[FloatArray]:
    """The row with its numbers moved a little."""
    schema = schema_of(case.model)
    spread = np.nanstd(reference_rows(case.model), axis=0)
    numeric = np.array([column.is_numeric for column in schema.columns])
    if not numeric.any():
        return []
    moves = case.rng(number, "versions").uniform(-radius, radius, (versions, len(numeric)))
    row = np.asarray(case.inputs[number], dtype=np.float64)
    return list(row + np.where(numeric, moves * np.nan_to_num(spread), 0.0))


@measures.register("model-randomisation")
@defines(better="lower", low=-1, high=1, costs="explanations")
def model_randomisation(case: Case, *, explainer: Explainer | str, seed: int = 0) -> FloatArray:
    """The rank correlation of the scores with those for a model that knows nothing (Adebayo et al. 2018).

    Of a network all layers are given random weights; any other model is fitted again on shuffled labels (the paper's
    second test). Scores that stay the same do not depend on what the model learnt.
    """
    method = method_of("model-randomisation", explainer)
    ignorant = _randomised(case, seed)
    again: Sequence[Explanation] = explanations_of(method, repr(method), ignorant, case.inputs, case.targets)
    return np.array(
        [
            rank_correlation(mine, scores_of("model-randomisation", "order", one, own, place))
            for place, (mine, one, own) in enumerate(zip(case.scores, again, case.features, strict=True))
        ]
    )


def _randomised(case: Case, seed: int) -> Model:
    if has(case.model, "layers"):
        network = _copied(case.model)
        for name, layer in ask_for(network, "layers", "model-randomisation").layers().items():
            _randomise(layer, seed, name)
        return network
    reference: Any = getattr(case.model, "reference", None)
    if reference is None:
        raise VeraxError(
            "The measure 'model-randomisation' fits the model again on shuffled labels, and it has no training inputs; "
            "give some: verax.as_model(..., reference=inputs)."
        )
    inputs = reference if isinstance(reference, np.ndarray) else list(reference)
    labels = case.model.predict_proba(inputs).argmax(axis=1)
    shuffled = stream(seed, "shuffled labels").permutation(labels)
    return refitted("model-randomisation", case.model, inputs, shuffled)
