"""Measures that do the work again: the model is fitted again (ROAR), or the input is explained again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.data.words import split_words
from verax.errors import VeraxError, reason
from verax.explain.base import Explainer, explanations_of
from verax.explain.base import explainer as named_explainer
from verax.explain.checks import _copied, _randomise
from verax.explain.explanation import Explanation
from verax.measures.base import defines, measures
from verax.measures.case import Case, ResampledWords, _mean_row, replaced, scores_of
from verax.measures.removal import counts_of
from verax.measures.subsets import rank_correlation
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for, has
from verax.models.wrappers import TableModel, TextPipeline
from verax.perturb.counterfactual.thesaurus import thesaurus_for
from verax.perturb.paths.tables import reference_rows, schema_of
from verax.seeds import stream

SHARES = (0.1, 0.3, 0.5)
# A model is fitted on all parts of the inputs but one, and tested on that.
FOLDS = 5
Refit = Callable[[Any, IntArray], Any]


def method_of(name: str, given: Explainer | str) -> Explainer:
    """The explainer that a measure asks again."""
    method = named_explainer(given) if isinstance(given, str) else given
    if not hasattr(method, "explain"):
        raise VeraxError(
            f"The measure {name!r} explains again with explainer=, and a {type(method).__name__} is none; give the one "
            "that made the explanations."
        )
    return method


@measures.register("roar")
@defines(better="higher", low=-1, high=1, costs="fits", constant=0.0, numbers="refused")
def roar(
    case: Case,
    *,
    shares: Sequence[float] = SHARES,
    labels: Sequence[int] | None = None,
    refit: Refit | None = None,
    absent: str | None = None,
) -> FloatArray:
    """How much accuracy a model loses that is fitted again without the first features (ROAR, Hooker et al. 2019).

    The inputs are fitted and tested in five folds, with labels= or else with what the model says. An input's value is
    whether it is told right with all its features, less the share of times it is without.
    """
    known = _labels(case, labels)
    folds = _folds(case)
    present = [
        [first_removed(scores, count, case, number) for number, (scores, count) in enumerate(rows)]
        for rows in (
            [(scores, int(counts_of(len(scores), [share])[0])) for scores in case.scores] for share in shares
        )
    ]
    right = [_right(case, _reduced(case, rows, absent), known, folds, refit, "roar") for rows in present]
    whole = _right(case, case.inputs, known, folds, refit, "roar")
    return np.asarray(whole - np.mean(right, axis=0), dtype=np.float64)


@measures.register("recursive-roar")
@defines(better="higher", low=-1, high=1, costs="fits", constant=0.0, numbers="refused")
def recursive_roar(
    case: Case,
    *,
    explainer: Explainer | str,
    shares: Sequence[float] = SHARES,
    labels: Sequence[int] | None = None,
    refit: Refit | None = None,
    absent: str | None = None,
) -> FloatArray:
    """ROAR that explains the model fitted again before it removes more (Madsen et al. 2022).

    Of two copies of a feature one is found after the other is gone. explainer= is what made the explanations.
    """
    method = method_of("recursive-roar", explainer)
    known, folds = _labels(case, labels), _folds(case)
    whole = _right(case, case.inputs, known, folds, refit, "recursive-roar")
    scores = list(case.scores)
    present = [np.ones(len(own), dtype=np.bool_) for own in case.features]
    right = []
    for share in sorted(shares):
        for number, own in enumerate(scores):
            count = int(counts_of(len(own), [share])[0])
            # What went before stays away: the next ones are taken from what is left.
            left = np.where(present[number], own, -np.inf)
            gone = _order(left, case, number)[: max(0, count - int((~present[number]).sum()))]
            present[number][gone] = False
        reduced = _reduced(case, present, absent)
        right.append(_right(case, reduced, known, folds, refit, "recursive-roar"))
        again = refitted("recursive-roar", case.model, reduced, known, refit)
        made = explanations_of(method, repr(method), again, reduced, case.targets)
        scores = [
            _aligned(one, features, own)
            for one, features, own in zip(made, case.features, present, strict=True)
        ]
    return np.asarray(whole - np.mean(right, axis=0), dtype=np.float64)


def _aligned(explanation: Any, features: tuple[str, ...], present: BoolArray) -> FloatArray:
    """Scores of an input with fewer features, as scores of all of them."""
    scores = np.full(len(features), -np.inf)
    some = [place for place, there in enumerate(present) if there]
    # A table's absent column is still there; a text's absent word is not.
    whole = len(getattr(explanation.as_attribution(), "features", ())) == len(features)
    if whole:
        return scores_of("recursive-roar", "order", explanation, features)
    scores[some] = scores_of("recursive-roar", "order", explanation, tuple(features[place] for place in some))
    return scores


def first_removed(scores: FloatArray, count: int, case: Case, number: int) -> BoolArray:
    """Which features stay when the first ones go; ties in a random order."""
    present = np.ones(len(scores), dtype=np.bool_)
    present[_order(scores, case, number)[:count]] = False
    return present


def _order(scores: FloatArray, case: Case, number: int) -> Any:
    shuffled = case.rng(number, "roar").random(len(scores))
    return np.lexsort((shuffled, -scores))


def _labels(case: Case, given: Sequence[int] | None) -> IntArray:
    labels = case.model.predict_proba(case.inputs).argmax(axis=1) if given is None else np.asarray(given)
    if labels.shape != (len(case),) or labels.dtype.kind not in "iu":
        raise VeraxError(f"labels= are the numbers of the {len(case)} inputs' classes; give one for each.")
    return labels.astype(np.int64)


def _folds(case: Case) -> IntArray:
    if len(case) < 2 * FOLDS:
        raise VeraxError(
            f"ROAR fits the model again on the inputs themselves, in {FOLDS} folds, and {len(case)} are too few; give "
            f"{2 * FOLDS} or more, some hundreds for a number that means something."
        )
    return stream(0, "folds", len(case)).permutation(np.arange(len(case)) % FOLDS)


def _reduced(case: Case, present: Sequence[BoolArray], absent: str | None) -> Inputs:
    """The inputs without some features: words left out, columns at their mean, or either replaced by others' values."""
    text = case.model.kind == "text"
    usual, other = ("dropped" if text else "mean"), "resampled"
    if absent not in (None, usual, other):
        raise VeraxError(
            f"absent={absent!r} cannot be learnt from here; of {'texts' if text else 'tables'} ROAR has {usual!r} and "
            f"{other!r}."
        )
    if absent == other:
        return _resampled(case, present)
    if text:
        return [
            split_words(str(text)).keep(
                feature for feature, there in zip(features, own, strict=True) if there
            )
            for text, features, own in zip(case.inputs, case.features, present, strict=True)
        ]
    means = _mean_row(case.model)[0]
    return np.array(
        [np.where(own, row, means) for row, own in zip(np.asarray(case.inputs), present, strict=True)]
    )


def _resampled(case: Case, present: Sequence[BoolArray]) -> Inputs:
    """The inputs with values of training inputs where features are absent, the same at every share of an input."""
    if case.model.kind == "text":
        path = ResampledWords(case.model)
        pool = path.pool
        made = []
        for number, (ready, own) in enumerate(zip(path.prepare(case.inputs), present, strict=True)):
            drawn = case.rng(number, "roar words").integers(len(pool), size=len(ready.features))
            made += replaced(ready, own[None], [pool[place] for place in drawn])
        return made
    rows = reference_rows(case.model)
    others = [rows[case.rng(number, "roar row").integers(len(rows))] for number in range(len(case))]
    return np.array(
        [
            np.where(own, row, other)
            for row, own, other in zip(np.asarray(case.inputs), present, others, strict=True)
        ]
    )


def _right(
    case: Case, inputs: Inputs, labels: IntArray, folds: IntArray, refit: Refit | None, name: str
) -> FloatArray:
    """Whether each input is told right by a model fitted on the other folds."""
    right = np.zeros(len(case))
    for fold in range(FOLDS):
        learnt, tested = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = refitted(name, case.model, _some(inputs, learnt), labels[learnt], refit)
        right[tested] = model.predict_proba(_some(inputs, tested)).argmax(axis=1) == labels[tested]
    return right


def _some(inputs: Inputs, places: Any) -> Inputs:
    return inputs[places] if isinstance(inputs, np.ndarray) else [inputs[place] for place in places]


def refitted(name: str, model: Model, inputs: Inputs, labels: IntArray, refit: Refit | None = None) -> Model:
    """A model of the same sort fitted anew; a sentence if it cannot be.

    Args:
        name: of the measure, for the sentence.
        model: what is fitted again, as far as it is scikit-learn's.
        inputs: to learn from.
        labels: the numbers of their classes.
        refit: a function from inputs and labels to something fitted, for any other model.
    """
    if refit is not None:
        made = refit(inputs, labels)
        if isinstance(made, Model):
            return made
        from verax.models import as_model

        # A function from texts to probabilities needs to be told its classes; a pipeline knows them.
        return (
            as_model(made)
            if hasattr(made, "predict_proba")
            else as_model(made, class_names=model.class_names)
        )
    if len(set(labels.tolist())) < len(model.class_names):
        raise VeraxError(
            f"The measure {name!r} fits the model again, and the inputs do not have all of its "
            f"{len(model.class_names)} classes among them; give inputs of every class."
        )
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    try:
        if isinstance(model, TextPipeline):
            steps = [clone(step) for step in (model.vectorizer, *model.transforms, model.classifier)]
            fitted = make_pipeline(*steps).fit(list(inputs), labels)
            middle = tuple(step for _, step in fitted.steps[1:-1])
            return TextPipeline(
                fitted.steps[0][1], middle, fitted.steps[-1][1], model.class_names, reference=list(inputs)
            )
        if isinstance(model, TableModel):
            rows = np.asarray(inputs)
            estimator = clone(model.estimator).fit(model.as_read(rows), labels)
            return TableModel(
                estimator, model.schema, model.class_names, reference=rows, columns=model.columns
            )
    except (TypeError, ValueError) as error:
        if isinstance(error, VeraxError):
            raise
        raise VeraxError(
            f"The measure {name!r} could not fit the model again ({reason(error)}); give more inputs, or "
            "refit=, a function from (inputs, labels) to a fitted model."
        ) from error
    raise VeraxError(
        f"The measure {name!r} fits the model again, and a {type(model).__name__} cannot be; give refit=, a function "
        "from (inputs, labels) to a fitted model."
    )


# So many of the most similar words may stand in a word's place.
SIMILAR = 10


@measures.register("max-sensitivity")
@defines(better="lower", low=0, high=float("inf"), reads="scores", costs="explanations")
def max_sensitivity(
    case: Case,
    *,
    explainer: Explainer | str,
    versions: int = 5,
    radius: float = 0.1,
    vectors: str = "trained",
) -> FloatArray:
    """The largest change of the scores among versions of the input that mean the same, relative to them (Yeh 2019).

    Versions of texts have one word replaced by a similar one; of rows, numbers moved by up to radius standard
    deviations. Only versions of which the model predicts the same count; 0 where there is none. Which words are similar
    is learnt from the texts that the model was trained on, or told by vectors="minilm" or a GloVe file.
    """
    method = method_of("max-sensitivity", explainer)
    values = np.zeros(len(case))
    for number, mine, others in _versions("max-sensitivity", case, method, versions, radius, vectors):
        size = float(np.linalg.norm(mine)) or 1.0
        values[number] = max((float(np.linalg.norm(one - mine)) / size for one in others), default=0.0)
    return values


@measures.register("stability")
@defines(better="higher", low=-1, high=1, costs="explanations")
def stability(
    case: Case,
    *,
    explainer: Explainer | str,
    versions: int = 5,
    radius: float = 0.1,
    vectors: str = "trained",
) -> FloatArray:
    """The mean rank correlation of the scores with those of versions of the input that mean the same.

    Versions are those of max-sensitivity; 1 where there is none.
    """
    method = method_of("stability", explainer)
    values = np.ones(len(case))
    for number, mine, others in _versions("stability", case, method, versions, radius, vectors):
        if others:
            values[number] = float(np.mean([_same_order(mine, one) for one in others]))
    return values


def _same_order(mine: FloatArray, other: FloatArray) -> float:
    """The rank correlation; two explanations without any order agree, but for their last digits."""
    if max(np.ptp(mine), np.ptp(other)) < 1e-12:
        return 1.0
    return rank_correlation(mine, other)


def _versions(
    name: str, case: Case, method: Explainer, versions: int, radius: float, vectors: str
) -> list[tuple[int, FloatArray, list[FloatArray]]]:
    """By input: its number, its scores, and those of its versions with the same prediction, feature by feature."""
    if versions < 1 or radius <= 0:
        raise VeraxError(f"versions={versions} and radius={radius} must be above 0.")
    made = [
        (number, version)
        for number in range(len(case))
        for version in (
            _texts(name, case, number, versions, vectors)
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


def _texts(name: str, case: Case, number: int, versions: int, vectors: str) -> list[str]:
    """The text with one distinct word replaced by a similar one that it does not have, wherever it stands."""
    words = split_words(str(case.inputs[number]))
    options = thesaurus_for(case.model, vectors, name).candidates(words, SIMILAR).options
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
@defines(better="lower", low=-1, high=1, costs="explanations", numbers="refused")
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
