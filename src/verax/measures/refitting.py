"""Measures that fit the model again on inputs without their first features: ROAR, and its recursive version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.data.words import split_words
from verax.errors import VeraxError, reason
from verax.explain.base import Explainer, explanations_of
from verax.explain.base import explainer as named_explainer
from verax.measures.base import defines, measures
from verax.measures.case import Case, _mean_row, scores_of
from verax.measures.removal import counts_of
from verax.models.base import Inputs, Model
from verax.models.wrappers import TableModel, TextPipeline
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
@defines(better="higher", low=-1, high=1, costs="fits", constant=0.0)
def roar(
    case: Case,
    *,
    shares: Sequence[float] = SHARES,
    labels: Sequence[int] | None = None,
    refit: Refit | None = None,
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
    right = [_right(case, _reduced(case, rows), known, folds, refit, "roar") for rows in present]
    whole = _right(case, case.inputs, known, folds, refit, "roar")
    return np.asarray(whole - np.mean(right, axis=0), dtype=np.float64)


@measures.register("recursive-roar")
@defines(better="higher", low=-1, high=1, costs="fits", constant=0.0)
def recursive_roar(
    case: Case,
    *,
    explainer: Explainer | str,
    shares: Sequence[float] = SHARES,
    labels: Sequence[int] | None = None,
    refit: Refit | None = None,
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
        reduced = _reduced(case, present)
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


def _reduced(case: Case, present: Sequence[BoolArray]) -> Inputs:
    """The inputs without some features: words left out, columns at their mean."""
    if case.model.kind == "text":
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
