"""Table pipelines in which every number that the classifier sees comes from one column of the row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from verax.arrays import FloatArray
from verax.models.base import Model
from verax.models.tables import TableModel
from verax.perturb.paths.ensembles import NodeArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# So many different values of each column are tried when it is found out what depends on it.
PROBES = 64


@dataclass(frozen=True, eq=False)
class Separable:
    """A table model's preprocessing and what each of its outputs depends on.

    Attributes:
        model: the table model.
        steps: the fitted steps before the classifier; may be empty.
        classifier: the last step.
        owner: for each number that the classifier sees, the column it comes from; -1 for a constant.
    """

    model: TableModel
    steps: tuple[BaseEstimator, ...]
    classifier: BaseEstimator
    owner: NodeArray

    def transform(self, rows: FloatArray, absent: float = 0.0) -> FloatArray:
        """What the classifier sees, as a dense array; ``absent`` is put where a sparse one has no entry."""
        return _transform(self.model, self.steps, rows, absent)


def separable(model: Model, reference: FloatArray) -> Separable | None:
    """The preprocessing of a table model, or None if some output depends on two columns or it cannot be told."""
    if not isinstance(model, TableModel):
        return None
    steps = _steps(model.estimator)
    before, classifier = tuple(steps[:-1]), steps[-1]
    base = reference[:1]
    try:
        seen = _transform(model, before, base, 0.0)
        owner = np.full(seen.shape[1], -1, dtype=np.int32)
        for column in range(reference.shape[1]):
            values = _some_values(reference[:, column])
            rows = np.repeat(base, len(values), axis=0)
            rows[:, column] = values
            made = _transform(model, before, rows, 0.0)
            changed = ((made != seen) & ~(np.isnan(made) & np.isnan(seen))).any(axis=0)
            if (owner[changed] >= 0).any():
                return None
            owner[changed] = column
    except Exception:
        return (
            None  # the classifier reads categories as they are, and no numbers; or a step refuses such rows
        )
    return Separable(model, before, classifier, owner)


def _steps(estimator: BaseEstimator) -> list[BaseEstimator]:
    from sklearn.pipeline import Pipeline

    steps = [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    own = getattr(steps[-1], "_preprocessor", None)  # HistGradientBoosting encodes categories by itself
    return steps if own is None else [*steps[:-1], own, steps[-1]]


def _some_values(values: FloatArray) -> FloatArray:
    distinct = np.unique(values)
    return distinct[np.unique(np.linspace(0, len(distinct) - 1, min(PROBES, len(distinct))).astype(np.intp))]


def _transform(
    model: TableModel, steps: tuple[BaseEstimator, ...], rows: FloatArray, absent: float
) -> FloatArray:
    seen = model.as_read(rows)
    for step in steps:
        seen = seen if isinstance(step, str) or step is None else step.transform(seen)  # "passthrough"
    if scipy.sparse.issparse(seen):
        entries = scipy.sparse.coo_matrix(seen)
        dense = np.full(seen.shape, absent)
        dense[entries.row, entries.col] = entries.data
        return dense
    return np.asarray(seen, dtype=np.float64)
