"""Table pipelines in which every number that the classifier sees comes from one column of the row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from verax.arrays import FloatArray
from verax.models.base import Model
from verax.models.tables import TableModel
from verax.perturb.paths.composition import Composition, Part, composition, parts_of
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
        made: what its estimator is made of.
        branches: parts whose steps differ; what these make of a row stands side by side.
        columns: for each part, which of all columns it is given.
        owner: for each number that a classifier sees, the column it comes from; -1 for a constant.
    """

    model: TableModel
    made: Composition
    branches: tuple[Part, ...]
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
    if not isinstance(model, TableModel):
        return None
    made = composition(model.estimator)
    branches: dict[Any, Part] = {}
    keys = []
    for part in parts_of(made):
        library = type(part.estimator).__module__.split(".", 1)[0]
        keys.append((*map(id, part.steps), library))
        branches.setdefault(keys[-1], part)
    # All that is tried is transformed at once: a pipeline takes milliseconds to be called, however few the rows are.
    tried = [_some_values(reference[:, column]) for column in range(reference.shape[1])]
    rows = np.repeat(reference[:1], 1 + sum(map(len, tried)), axis=0)
    place = 1
    for column, values in enumerate(tried):
        rows[place : place + len(values), column] = values
        place += len(values)
    try:
        parts = {key: _transform(model, branch, rows, 0.0) for key, branch in branches.items()}
    except Exception:
        # The classifier reads categories as they are, and no numbers; or a step refuses such rows.
        return None
    seen = np.concatenate(list(parts.values()), axis=1)
    owner = np.full(seen.shape[1], -1, dtype=np.int32)
    place = 1
    for column, values in enumerate(tried):
        here = seen[place : place + len(values)]
        changed = ((here != seen[0]) & ~(np.isnan(here) & np.isnan(seen[0]))).any(axis=0)
        if (owner[changed] >= 0).any():
            return None
        owner[changed] = column
        place += len(values)
    starts = dict(
        zip(parts, np.cumsum([0, *(part.shape[1] for part in parts.values())]).tolist(), strict=False)
    )
    columns = tuple(slice(starts[key], starts[key] + parts[key].shape[1]) for key in keys)
    return Separable(model, made, tuple(branches.values()), columns, owner)


def _some_values(values: FloatArray) -> FloatArray:
    distinct = np.unique(values)
    return distinct[np.unique(np.linspace(0, len(distinct) - 1, min(PROBES, len(distinct))).astype(np.intp))]


def _transform(model: TableModel, part: Part, rows: FloatArray, absent: float) -> FloatArray:
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
