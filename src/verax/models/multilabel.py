"""Estimators that say several things of an input at once (labels, or numbers): one of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.errors import VeraxError
from verax.models.base import Answer, Batch

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# Of these each label has an estimator of its own, which is explained as any other.
ONE_EACH = ("MultiOutputClassifier", "MultiOutputRegressor", "OneVsRestClassifier")


@dataclass(frozen=True, eq=False)
class PickedLabel:
    """One label, or one number, of what an estimator says of each input.

    Attributes:
        estimator: says several.
        number: which of them.
    """

    estimator: BaseEstimator
    number: int

    def __call__(self, batch: Batch) -> Answer:
        """Class probabilities of the label; the number."""
        if n_numbers(self.estimator):
            return np.asarray(self.estimator.predict(batch), dtype=np.float64)[:, self.number]
        answers: Any = self.estimator.predict_proba(batch)
        if isinstance(answers, list):
            return answers[self.number]
        high = np.asarray(answers, dtype=np.float64)[:, self.number]
        return np.column_stack([1.0 - high, high])


def n_numbers(estimator: BaseEstimator) -> int:
    """How many numbers a fitted regressor predicts at once; 0 for one that predicts one, and for a classifier."""
    from sklearn.base import is_regressor

    last = _last(estimator)
    if not type(last).__module__.startswith("sklearn.") or not is_regressor(last):
        return 0
    weights = getattr(last, "coef_", None)
    if type(last).__name__ in (*ONE_EACH, "RegressorChain"):
        count = len(last.estimators_)
    elif isinstance(weights, np.ndarray) and weights.ndim == 2:
        count = len(weights)
    else:
        count = getattr(last, "n_outputs_", 1)
    return int(count) if count > 1 else 0


def n_labels(estimator: BaseEstimator) -> int:
    """How many labels a fitted estimator gives at once; 0 for one that predicts one class of several."""
    last = _last(estimator)
    classes = getattr(last, "classes_", None)
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray):
        return len(classes)
    several = getattr(last, "multilabel_", False)
    if type(last).__name__ == "MLPClassifier":
        several = getattr(last._label_binarizer, "y_type_", "").startswith("multilabel")
    return len(classes) if several and classes is not None else 0


def label_number(label: object, names: Sequence[str], n: int, *, numbers: bool = False) -> int:
    """The number of a label that was named; a sentence where there is none, or none was named.

    Args:
        label: its name or number.
        names: of all labels; their numbers are their names if there are none.
        n: how many labels there are.
        numbers: whether these are numbers that a regressor predicts.
    """
    known = list(names) or [str(number) for number in range(n)]
    listed = ", ".join(known)
    if label is None:
        all_of_them = "" if numbers else " verax.judge_labels(model, data) goes through all of them."
        raise VeraxError(
            f"The model gives {n} {'numbers' if numbers else 'labels'} at once ({listed}), and one is explained at a "
            f"time; say which: label={known[0]!r}.{all_of_them}"
        )
    if isinstance(label, int) and 0 <= label < n:
        return label
    if str(label) in known:
        return known.index(str(label))
    raise VeraxError(f"There is no label {label!r}; the model gives {listed}.")


def of_label(
    estimator: BaseEstimator, number: int, name: str
) -> tuple[BaseEstimator | PickedLabel, tuple[str, ...]]:
    """What gives one label of a fitted estimator, and the names of its classes; of a number the name of the number.

    An estimator of its own where the label has one, with the steps before it; else a function that picks its answers.
    """
    last = _last(estimator)
    if n_numbers(estimator):
        names: tuple[str, ...] = (name,)
    else:
        classes = last.classes_[number] if isinstance(last.classes_, list) else np.array([0, 1])
        names = tuple(str(one) for one in classes)
        if set(names) <= {"0", "1", "False", "True"} and len(names) == 2:
            names = (f"not {name}", name)
    if type(last).__name__ not in ONE_EACH:
        return PickedLabel(estimator, number), names
    own = last.estimators_[number]
    if last is estimator:
        return own, names
    from sklearn.pipeline import Pipeline

    return Pipeline([*estimator.steps[:-1], (estimator.steps[-1][0], own)]), names


def _last(estimator: BaseEstimator) -> Any:
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator
