"""Estimators that say several things of an input at once (multi-label, multi-output): one label of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.errors import VeraxError
from verax.models.base import Answer, Batch

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# Of these each label has an estimator of its own, which is explained as any other.
ONE_EACH = ("MultiOutputClassifier", "OneVsRestClassifier")


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


def label_number(label: object, names: Sequence[str], n: int) -> int:
    """The number of a label that was named; a sentence where there is none, or none was named."""
    known = list(names) or [str(number) for number in range(n)]
    listed = ", ".join(known)
    if label is None:
        raise VeraxError(
            f"The model gives {n} labels at once ({listed}), and one is explained at a time; say which: label="
            f"{known[0]!r}. verax.judge_labels(model, data) goes through all of them."
        )
    if isinstance(label, int) and 0 <= label < n:
        return label
    if str(label) in known:
        return known.index(str(label))
    raise VeraxError(f"There is no label {label!r}; the model gives {listed}.")


def of_label(
    estimator: BaseEstimator, number: int, name: str
) -> tuple[BaseEstimator | Callable[[Batch], Answer], tuple[str, ...]]:
    """What gives one label of a fitted estimator, and the names of its classes.

    An estimator of its own where the label has one, with the steps before it; else a function that picks its answers.
    """
    last = _last(estimator)
    classes = last.classes_[number] if isinstance(last.classes_, list) else np.array([0, 1])
    names = tuple(str(one) for one in classes)
    if set(names) <= {"0", "1", "False", "True"} and len(names) == 2:
        names = (f"not {name}", name)
    if type(last).__name__ in ONE_EACH:
        own = last.estimators_[number]
        if last is estimator:
            return own, names
        from sklearn.pipeline import Pipeline

        return Pipeline([*estimator.steps[:-1], (estimator.steps[-1][0], own)]), names

    def picked(batch: Batch) -> Answer:
        answers: Any = estimator.predict_proba(batch)
        if isinstance(answers, list):
            return answers[number]
        high = np.asarray(answers, dtype=np.float64)[:, number]
        return np.column_stack([1.0 - high, high])

    return picked, names


def _last(estimator: BaseEstimator) -> Any:
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator
