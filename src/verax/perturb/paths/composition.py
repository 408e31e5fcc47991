"""What an estimator is made of: models of trees, the steps before each, and what makes one answer of theirs.

A pipeline is separable if every number that the classifier sees comes from one column of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse

from verax.arrays import FloatArray
from verax.errors import reason
from verax.models.base import Model
from verax.models.wrappers import TableModel
from verax.perturb.paths.ensembles import Ensemble, NodeArray, in_walking_order, side_by_side
from verax.perturb.paths.tree_readers import flatten, reader_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from verax.perturb.paths.boosted_readers import Probe


# Estimators that average what others say.
AVERAGES = ("VotingClassifier", "VotingRegressor", "BaggingClassifier", "BaggingRegressor")
STACKS = ("StackingClassifier", "StackingRegressor")
# Estimators that hand on what the one inside says, and where that lies.
AROUND_ONE = {
    "GridSearchCV": "best_estimator_",
    "RandomizedSearchCV": "best_estimator_",
    "HalvingGridSearchCV": "best_estimator_",
    "FixedThresholdClassifier": "estimator_",
    "TunedThresholdClassifierCV": "estimator_",
    "FrozenEstimator": "estimator",
}
# Libraries whose models are made of trees, but for some that say so; and what an estimator keeps others in.
OF_TREES = ("lightgbm", "xgboost", "catboost")
KEPT_IN = (
    "steps", "estimators_", "calibrated_classifiers_", "best_estimator_", "estimator_", "estimator", "regressor_",
    "final_estimator_",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ModelPart:
    """A model and the fitted steps before it."""

    steps: tuple[BaseEstimator, ...]
    estimator: BaseEstimator


@dataclass(frozen=True, eq=False)
class Joined:
    """An estimator that makes one answer of those of others."""

    estimator: BaseEstimator
    parts: tuple[ModelPart | Joined, ...]


Composition: TypeAlias = ModelPart | Joined


@dataclass(frozen=True)
class Picked:
    """A step that hands on some of the columns."""

    columns: tuple[int, ...]

    def transform(self, rows: Any) -> Any:
        """The columns of an array or a frame."""
        return np.asarray(rows)[:, list(self.columns)]


def composition(estimator: BaseEstimator, before: tuple[Any, ...] = ()) -> Composition:
    """What a fitted estimator is made of; anything that is not known is one part."""
    name = type(estimator).__name__
    if not type(estimator).__module__.startswith("sklearn."):
        return ModelPart(before, estimator)
    if name == "Pipeline":
        steps = [step for _, step in estimator.steps]
        return composition(steps[-1], (*before, *steps[:-1]))
    if name in AROUND_ONE:
        return composition(getattr(estimator, AROUND_ONE[name]), before)
    if name == "CalibratedClassifierCV":
        inner = [calibrated.estimator for calibrated in estimator.calibrated_classifiers_]
        return Joined(estimator, tuple(composition(one, before) for one in inner))
    if name in ("BaggingClassifier", "BaggingRegressor"):
        pairs = zip(estimator.estimators_, estimator.estimators_features_, strict=True)
        return Joined(
            estimator, tuple(composition(one, (*before, *_picked(which, estimator))) for one, which in pairs)
        )
    if (name in AVERAGES and getattr(estimator, "voting", "soft") == "soft") or (
        name in STACKS and not estimator.passthrough and _stacks_answers(estimator)
    ):
        inner = [one for one in estimator.estimators_ if not isinstance(one, str)]
        return Joined(estimator, tuple(composition(one, before) for one in inner))
    if name == "TransformedTargetRegressor":
        return Joined(estimator, (composition(estimator.regressor_, before),))
    own = getattr(estimator, "_preprocessor", None)  # HistGradientBoosting encodes categories by itself
    return ModelPart(before if own is None else (*before, own), estimator)


def _picked(which: Any, bagging: BaseEstimator) -> tuple[Picked, ...]:
    places = tuple(np.asarray(which).tolist())
    return () if places == tuple(range(bagging.n_features_in_)) else (Picked(places),)


def _stacks_answers(stack: BaseEstimator) -> bool:
    return all(method in ("predict_proba", "predict") for method in stack.stack_method_)


def parts_of(made: Composition) -> list[ModelPart]:
    """All models that an estimator is made of."""
    return [made] if isinstance(made, ModelPart) else [part for one in made.parts for part in parts_of(one)]


def tree_model_in(thing: Any) -> str:
    """The name of a model of trees that an estimator is, or is made of, whether it can be read or not; else empty."""
    waiting, seen = [thing], set[int]()
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, list | tuple | np.ndarray):
            waiting += [*one][:100]
            continue
        if id(one) in seen or isinstance(one, str) or not hasattr(one, "__dict__"):
            continue
        seen.add(id(one))
        library = type(one).__module__.split(".", 1)[0]
        if reader_of(one) is not None or hasattr(one, "tree_") or library in OF_TREES:
            return "" if getattr(one, "booster", None) == "gblinear" else type(one).__name__
        waiting += [getattr(one, name) for name in KEPT_IN if name in vars(one)]
    return ""


def ensemble_of(made: Composition, columns: Sequence[slice], probe: Probe | None) -> Ensemble | str | None:
    """The trees of an estimator, with what is made of their sums; or why they are not read, None if there are none.

    Args:
        made: what the estimator is made of.
        columns: for each part, the columns that it is given.
        probe: asks a CatBoost model about categories.
    """
    parts = parts_of(made)
    read: list[Ensemble] = []
    for part in parts:
        found = _read(part, probe)
        if found is None:
            name = type(part.estimator).__name__
            if not tree_model_in(part.estimator):
                return f"{name}, a part of it, is not made of trees" if len(parts) > 1 else None
            return f"how the leaves of this {name} make its answer is not known"
        if isinstance(found, str):
            return found
        read.append(found)
    if isinstance(made, ModelPart):
        return read[0]
    if len({ensemble.absent_is_missing for ensemble in read}) > 1:
        return "its parts differ in what an absent column is"
    widths = [part.stop - part.start for part in columns]
    whole = side_by_side(read, widths, [part.start for part in columns])
    links = {(ensemble.link, len(ensemble.base)) for ensemble in read}
    weights = _weights(made)
    if weights is not None and len(links) == 1 and read[0].link in ("identity", "number"):
        shares = np.array(weights)
        outputs = whole.trees.values.reshape(len(whole.trees.left), len(read), -1)
        trees = whole.trees._replace(values=np.ascontiguousarray(np.einsum("npo,p->no", outputs, shares)))
        base = shares @ whole.base.reshape(len(read), -1)
        return in_walking_order(replace(whole, trees=trees, base=base, link=read[0].link))
    if isinstance(why := _unknown(made), str):
        return why
    return in_walking_order(replace(whole, join=lambda margins: _answers(made, read, margins)))


def _read(part: ModelPart, probe: Probe | None) -> Ensemble | str | None:
    if type(part.estimator).__module__.startswith("catboost."):
        from verax.perturb.paths.boosted_readers import READERS, catboost_ensemble

        known = type(part.estimator).__name__ in READERS
        return catboost_ensemble(part.estimator, None if part.steps else probe) if known else None
    return flatten(part.estimator)


def _weights(made: Composition) -> list[float] | None:
    """How much each part counts, where all that is made of them are averages."""
    if isinstance(made, ModelPart):
        return [1.0]
    if type(made.estimator).__name__ not in AVERAGES:
        return None
    own = _own_weights(made)
    inner = [_weights(one) for one in made.parts]
    if any(one is None for one in inner):
        return None
    return [share * weight for share, one in zip(own, inner, strict=True) for weight in one or ()]


def _own_weights(made: Joined) -> list[float]:
    given = getattr(made.estimator, "_weights_not_none", None)
    weights = np.ones(len(made.parts)) if given is None else np.asarray(given, dtype=np.float64)
    return list((weights / weights.sum()).tolist())


def _unknown(made: Composition) -> str | None:
    """Why an answer cannot be made of those of the parts, if so."""
    if isinstance(made, ModelPart):
        return None
    if type(made.estimator).__name__ == "CalibratedClassifierCV":
        for calibrated, part in zip(made.estimator.calibrated_classifiers_, made.parts, strict=True):
            if isinstance(part, Joined) and hasattr(calibrated.estimator, "decision_function"):
                return "what is calibrated are scores of an estimator that is made of others"
    return next((why for part in made.parts if (why := _unknown(part)) is not None), None)


def _answers(made: Composition, read: Sequence[Ensemble], margins: FloatArray) -> FloatArray:
    """What an estimator says, given the summed leaves of all its parts (rows, outputs)."""
    if isinstance(made, ModelPart):
        (ensemble,) = read
        return replace(ensemble, base=np.zeros_like(ensemble.base)).probabilities(margins.T)
    name = type(made.estimator).__name__
    told: list[FloatArray] = []
    scores: list[FloatArray] = []
    first = output = 0
    for part in made.parts:
        count = len(parts_of(part))
        some = read[first : first + count]
        width = sum(len(ensemble.base) for ensemble in some)
        here = margins[:, output : output + width]
        told.append(_answers(part, some, here))
        scores.append(here)
        first, output = first + count, output + width
    if name in AVERAGES:
        averaged: FloatArray = np.average(np.stack(told), axis=0, weights=_own_weights(made))
        return averaged
    if name == "CalibratedClassifierCV":
        return _calibrated(made, told, scores)
    if name == "StackingClassifier":
        two = len(made.estimator.classes_) == 2
        columns = np.concatenate([one[:, 1:] if two else one for one in told], axis=1)
        return np.asarray(made.estimator.final_estimator_.predict_proba(columns), dtype=np.float64)
    if name == "TransformedTargetRegressor":
        numbers = made.estimator.transformer_.inverse_transform(told[0])
        return np.asarray(numbers, dtype=np.float64).reshape(-1, 1)
    stacked = np.concatenate(told, axis=1)
    return np.asarray(made.estimator.final_estimator_.predict(stacked), dtype=np.float64).reshape(-1, 1)


def _calibrated(made: Joined, told: Sequence[FloatArray], scores: Sequence[FloatArray]) -> FloatArray:
    """The mean of calibrated answers, by scikit-learn's own calibrators."""
    answers = []
    calibrated = made.estimator.calibrated_classifiers_
    for one, part, probabilities, margins in zip(calibrated, made.parts, told, scores, strict=True):
        stand_in = copy(one)
        given = margins if hasattr(one.estimator, "decision_function") else None
        if given is not None and isinstance(part, ModelPart):
            given = given * _score_factor(part.estimator)
        stand_in.estimator = _with_answers(one.estimator, probabilities, given)
        answers.append(stand_in.predict_proba(probabilities))
    return np.asarray(np.mean(answers, axis=0), dtype=np.float64)


def _score_factor(estimator: BaseEstimator) -> float:
    """By how much an estimator's own scores differ from what softmax or the logistic function is taken of."""
    if type(estimator).__name__ == "AdaBoostClassifier" and estimator.n_classes_ > 2:
        return float(estimator.n_classes_ - 1)
    exponential = type(getattr(estimator, "_loss", None)).__name__ == "ExponentialLoss"
    return 0.5 if exponential else 1.0


def _with_answers(
    estimator: BaseEstimator, probabilities: FloatArray, scores: FloatArray | None
) -> BaseEstimator:
    """An estimator that gives known answers, in the way of another one."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class WithAnswers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """Gives the answers."""

        classes_ = estimator.classes_

        def fit(self, *_: object) -> None:
            """Has nothing to learn."""

        def predict_proba(self, _: object) -> FloatArray:
            """What it was told."""
            return probabilities

    if scores is not None:
        said = scores[:, 0] if scores.shape[1] == 1 else scores
        WithAnswers.decision_function = lambda _self, _rows: said
    return WithAnswers()


# When it is found out what depends on a column, all categories are tried, and all numbers if they are no more than the
# first of these; else as many as the second says.
FEW_NUMBERS, PROBES = 256, 64


@dataclass(frozen=True, eq=False)
class Separable:
    """A table model's preprocessing and what each of its outputs depends on.

    Attributes:
        model: the table model.
        made: what its estimator is made of.
        branches: parts whose steps differ; what these make of a row stands side by side.
        columns: for each part, which of all columns it is given.
        owner: for each number that a classifier sees, the column it comes from; -1 for a constant.
    """

    model: TableModel
    made: Composition
    branches: tuple[ModelPart, ...]
    columns: tuple[slice, ...]
    owner: NodeArray

    @property
    def classifier(self) -> BaseEstimator:
        """The last step, or the estimator that joins several."""
        return self.made.estimator

    def transform(self, rows: FloatArray, absent: float = 0.0) -> FloatArray:
        """What the classifiers see, as a dense array; ``absent`` is put where a sparse one has no entry."""
        seen = [_transform(self.model, branch, rows, absent) for branch in self.branches]
        return seen[0] if len(seen) == 1 else np.concatenate(seen, axis=1)


def separable(model: Model, reference: FloatArray) -> Separable | None:
    """The preprocessing of a table model, or None if some output depends on two columns or it cannot be told."""
    found = separable_or_why(model, reference)
    return None if isinstance(found, str) else found


def separable_or_why(model: Model, reference: FloatArray) -> Separable | str:
    """The same, or why there is none, to be put behind a colon."""
    if not isinstance(model, TableModel):
        return "it is not made of an estimator"
    made = composition(model.estimator)
    branches: dict[Any, ModelPart] = {}
    keys = []
    for part in parts_of(made):
        library = type(part.estimator).__module__.split(".", 1)[0]
        keys.append((*map(id, part.steps), library))
        branches.setdefault(keys[-1], part)
    # All that is tried is transformed at once: a pipeline takes milliseconds to be called, however few the rows are.
    tried = [
        _some_values(values, every=column.categories is not None)
        for values, column in zip(reference.T, model.schema.columns, strict=True)
    ]
    rows = np.repeat(reference[:1], 1 + sum(map(len, tried)), axis=0)
    place = 1
    for column, values in enumerate(tried):
        rows[place : place + len(values), column] = values
        place += len(values)
    try:
        parts = {key: _transform(model, branch, rows, 0.0) for key, branch in branches.items()}
    except Exception as error:
        # The classifier reads categories as they are, and no numbers; or a step refuses such rows.
        return f"a step before its trees raised {type(error).__name__} ({reason(error)}) on rows that were put together"
    seen = np.concatenate(list(parts.values()), axis=1)
    owner = np.full(seen.shape[1], -1, dtype=np.int32)
    place = 1
    for column, values in enumerate(tried):
        here = seen[place : place + len(values)]
        changed = ((here != seen[0]) & ~(np.isnan(here) & np.isnan(seen[0]))).any(axis=0)
        if (owner[changed] >= 0).any():
            other = model.schema.names[int(owner[changed].max())]
            return f"what its trees read depends on {model.schema.names[column]!r} and {other!r} at once"
        owner[changed] = column
        place += len(values)
    starts = dict(
        zip(parts, np.cumsum([0, *(part.shape[1] for part in parts.values())]).tolist(), strict=False)
    )
    columns = tuple(slice(starts[key], starts[key] + parts[key].shape[1]) for key in keys)
    return Separable(model, made, tuple(branches.values()), columns, owner)


def _some_values(values: FloatArray, *, every: bool) -> FloatArray:
    distinct = np.unique(values)
    if every or len(distinct) <= FEW_NUMBERS:
        return distinct
    return distinct[np.linspace(0, len(distinct) - 1, PROBES).astype(np.intp)]


def _transform(model: TableModel, part: ModelPart, rows: FloatArray, absent: float) -> FloatArray:
    if not part.steps and type(part.estimator).__module__.startswith("catboost."):
        return model.in_order(rows)  # categories are asked about by their codes
    seen = model.as_read(rows)
    for step in part.steps:
        seen = seen if isinstance(step, str) or step is None else step.transform(seen)  # "passthrough"
    if scipy.sparse.issparse(seen):
        entries = scipy.sparse.coo_matrix(seen)
        dense = np.full(seen.shape, absent)
        dense[entries.row, entries.col] = entries.data
        return dense
    return _numbers(seen, part.estimator) if hasattr(seen, "dtypes") else np.asarray(seen, dtype=np.float64)


def _numbers(frame: Any, estimator: BaseEstimator) -> FloatArray:
    """A frame as LightGBM and xgboost read it: categories as their places, -1 and what is gone as missing."""
    known = iter(
        (getattr(estimator, "_Booster", None) and getattr(estimator._Booster, "pandas_categorical", None))
        or ()
    )
    numbers = np.empty(frame.shape)
    for place, (_, column) in enumerate(frame.items()):
        if hasattr(column.dtype, "categories"):
            own = next(known, None)
            codes = (column if own is None else column.cat.set_categories(own)).cat.codes.to_numpy()
            numbers[:, place] = np.where(codes < 0, np.nan, codes)
        else:
            numbers[:, place] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers
