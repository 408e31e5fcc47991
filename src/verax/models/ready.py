"""The five ready-made classifiers by name, and how they are fitted on rows of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.models.base import check_weights
from verax.registry import Registry

# By name: a function from a seed to an unfitted classifier, with fit(rows, labels, sample_weight) and
# predict_proba.
models: Registry[Callable[[int], Any]] = Registry("model", "verax.models", home="verax.models")


@models.register("logistic")
def logistic(seed: int) -> Any:
    """scikit-learn's logistic regression, allowed 1,000 iterations: its default 100 may end too early."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(random_state=seed, max_iter=1000)


@models.register("tree")
def tree(seed: int) -> Any:
    """scikit-learn's decision tree."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed)


@models.register("forest")
def forest(seed: int) -> Any:
    """scikit-learn's random forest: 100 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


@models.register("fast-forest")
def fast_forest(seed: int) -> Any:
    """The same forest grown for bags of words: some eight times faster, needs numba and texts."""
    from verax.models.forest import SparseForest

    return SparseForest(random_state=seed)


@models.register("xgboost")
def xgboost(seed: int) -> Any:
    """Gradient boosted trees, xgboost's defaults; in one thread, so that the machine does not matter."""
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise VeraxError(
            "The model 'xgboost' needs the xgboost package; pip install 'verax[trees]'."
        ) from error
    return XGBClassifier(random_state=seed, n_jobs=1)


@models.register("mlp")
def mlp(seed: int) -> Any:
    """One hidden layer of 100 units, SGD with early stopping; see :class:`verax.models.mlp.MlpClassifier`."""
    from verax.models.mlp import MlpClassifier

    return MlpClassifier(random_state=seed)


def fit_classifier(
    name: str,
    rows: Any,
    labels: Any,
    *,
    sample_weight: Any = None,
    validation: tuple[Any, Any] | None = None,
    seed: int = 0,
    n_classes: int | None = None,
) -> Any:
    """Fits a ready-made classifier on rows of numbers, sparse or dense.

    Args:
        name: one of ``models``.
        rows: an array or a sparse matrix; sparse rows stay sparse, where absent means missing to xgboost.
        labels: the number of each row's class, 0 to ``n_classes - 1``.
        sample_weight: a weight per row. Rows of weight 0 are left out, whatever the classifier.
        validation: rows and labels for a classifier that watches them (``mlp``); others do not see them.
        seed: of all that is random in the fit.
        n_classes: how many classes there are; by default the largest label says it.
    """
    classifier = models.get(name)(seed)
    rows, numbers, weights = check_training(rows, labels, sample_weight, n_classes)
    if name == "forest" and weights is not None and (weights == np.round(weights)).all():
        from verax.models.weighted_forest import fit_weighted_forest

        return fit_weighted_forest(rows, numbers, weights.astype(np.int64), seed)
    options: dict[str, Any] = {}
    if weights is not None:
        if not _fit_takes(classifier, "sample_weight"):
            raise VeraxError(f"The model {name!r} does not take sample weights; leave sample_weight out.")
        options["sample_weight"] = weights
    if validation is not None and len(validation[1]) and _fit_takes(classifier, "validation"):
        options["validation"] = validation
    return classifier.fit(rows, numbers, **options)


def check_training(
    rows: Any, labels: Any, sample_weight: Any, n_classes: int | None = None
) -> tuple[Any, NDArray[np.int64], FloatArray | None]:
    """The rows with a weight above 0, their labels and weights; a sentence if they do not fit together."""
    numbers = np.asarray(labels)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if numbers.shape != (n_rows,):
        raise VeraxError(
            f"There are {n_rows} rows but labels of shape {numbers.shape}; give one label per row."
        )
    if numbers.dtype.kind not in "iub":
        raise VeraxError(f"The labels are {numbers.dtype}s; give the number of each row's class, from 0.")
    numbers = numbers.astype(np.int64)
    weights = None
    if sample_weight is not None:
        weights = check_weights(sample_weight, n_rows)
        kept = np.flatnonzero(weights)
        if len(kept) < n_rows:
            rows = [rows[place] for place in kept] if isinstance(rows, list) else rows[kept]
            numbers, weights = numbers[kept], weights[kept]
    _check_labels(numbers, n_classes)
    return rows, numbers, weights


def _check_labels(numbers: NDArray[np.int64], n_classes: int | None) -> None:
    if len(numbers) == 0:
        raise VeraxError("There is no row to fit a model on; give at least one row of each class.")
    expected = max(int(numbers.max()) + 1, 2) if n_classes is None else n_classes
    if numbers.min() < 0 or numbers.max() >= expected:
        wrong = int(numbers.min() if numbers.min() < 0 else numbers.max())
        raise VeraxError(
            f"A row has the label {wrong}; with {expected} classes labels are 0 to {expected - 1}."
        )
    absent = np.setdiff1d(np.arange(expected), numbers)
    if len(absent):
        raise VeraxError(
            f"No row (of weight above 0) has the class {absent[0]} of {expected}; "
            "give at least one row of each class."
        )


def _fit_takes(classifier: Any, parameter: str) -> bool:
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(classifier, parameter))
