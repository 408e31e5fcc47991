"""Rows of a table in a model's own columns: what a pipeline makes of a value is found once, then looked up.

Most pipelines prepare a table column by column (an indicator per category, a missing number filled in, a scale), and
scikit-learn takes some milliseconds for it, however few the rows are. Perturbed rows are made of values that have been
seen before, so that each value is encoded once. Trees at the end of a pipeline are then walked by all rows together.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.errors import reason
from verax.models.base import ask
from verax.models.wrappers import TableModel
from verax.perturb.paths.bags import LinearHead, from_scores, linear_head
from verax.perturb.paths.tree_readers import flatten
from verax.perturb.paths.tree_walks import HAS_NUMBA, CodedTrees, coded_trees

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

log = logging.getLogger("verax.perturb")

# Steps of scikit-learn that make of each column, without a look at the others, some columns of their own.
ONE_BY_ONE = frozenset(
    {
        "MaxAbsScaler",
        "MinMaxScaler",
        "OneHotEncoder",
        "OrdinalEncoder",
        "RobustScaler",
        "SimpleImputer",
        "StandardScaler",
    }
)
# Which columns a column feeds is told by all its categories, or all its numbers if they are no more than the first of
# these; else by as many numbers as the second says.
FEW_NUMBERS, PROBES = 256, 32
# So many rows have to come out as the pipeline has them, to the last digit.
CHECKED = 256
# How far probabilities of trees may differ: xgboost adds up in single precision.
SAME = 1e-5


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """What becomes of one column.

    Attributes:
        values: those that were seen, ascending; a missing one last.
        feeds: the columns of the pipeline's output that depend on it.
        encoded: (values, feeds): what stands there.
    """

    values: FloatArray
    feeds: IndexArray
    encoded: FloatArray

    def places(self, given: FloatArray) -> IndexArray | None:
        """The place of each value, or None if there is one that was never seen."""
        places = given.astype(np.intp) if self.codes else np.searchsorted(self.values, given)
        # A place outside is that of a value which is not there: it differs from the one at the end.
        found = self.values.take(places, mode="clip")
        same = found == given
        return places if same.all() or (same | (np.isnan(found) & np.isnan(given))).all() else None

    @cached_property
    def codes(self) -> bool:
        """Whether the values are 0, 1, 2, ...: then they are their own places."""
        return np.array_equal(self.values, np.arange(len(self.values)))


@dataclass(frozen=True, eq=False)
class EncodedColumns:
    """A pipeline whose columns are looked up, and the classifier at its end.

    Attributes:
        model: whose pipeline it is.
        columns: one for each column of the table.
        constant: the pipeline's output where nothing feeds it.
        linear: the classifier as a sum, if it is one.
        trees: the classifier as trees, if it is made of such and can be compiled.
    """

    model: TableModel
    columns: tuple[EncodedColumn, ...]
    constant: FloatArray
    linear: LinearHead | None = None
    trees: CodedTrees | None = None

    def predict(self, rows: FloatArray) -> FloatArray | None:
        """The model's probabilities, or None if a row has a value that was never seen."""
        places = self.places(rows)
        return None if places is None else self.predict_places(places)

    def predict_places(self, places: Sequence[IndexArray]) -> FloatArray:
        """The model's probabilities of rows that are given column by column, as places of their values."""
        n_rows = len(places[0])
        if n_rows == 0:
            return np.empty((0, len(self.model.class_names)))
        predict = self._classified
        if self.linear is not None:
            predict = self._linear
        elif self.trees is not None:
            predict = self.trees.probabilities
        return ask(predict, places, n_rows, len(self.model.class_names))

    def places(self, rows: FloatArray) -> list[IndexArray] | None:
        """The place of each value among those of its column, or None if there is one that was never seen."""
        found = []
        with np.errstate(
            invalid="ignore"
        ):  # a missing value has no whole number, and differs from what is there
            for column, given in zip(self.columns, np.ascontiguousarray(rows.T), strict=True):
                places = column.places(given)
                if places is None:
                    return None
                found.append(places)
        return found

    def encode(self, places: Sequence[IndexArray]) -> FloatArray:
        """What the pipeline hands to its classifier."""
        encoded = np.repeat(self.constant[None], len(places[0]), axis=0)
        for column, place in zip(self.columns, places, strict=True):
            encoded[:, column.feeds] = column.encoded[place]
        return encoded

    def _classified(self, places: Sequence[IndexArray]) -> FloatArray:
        answer: FloatArray = self.model.estimator[-1].predict_proba(self.encode(places))
        return answer

    def _linear(self, places: Sequence[IndexArray]) -> FloatArray:
        start, parts = self._sums
        scores = np.repeat(start[None], len(places[0]), axis=0)
        for part, place in zip(parts, places, strict=True):
            scores += part[place]
        return from_scores(scores)

    @cached_property
    def _sums(self) -> tuple[FloatArray, list[FloatArray]]:
        """A linear classifier's scores: where they begin, and what each value of each column adds."""
        assert self.linear is not None
        weights = self.linear.weights
        fed = np.concatenate([column.feeds for column in self.columns])
        start = self.linear.intercept + np.delete(self.constant, fed) @ np.delete(weights, fed, axis=0)
        return start, [column.encoded @ weights[column.feeds] for column in self.columns]


def encoded_columns(model: TableModel, reference: FloatArray) -> EncodedColumns | None:
    """The columns of a model that reads them one at a time, checked against its pipeline; None for any other."""
    try:
        found = _encoded_columns(model, reference)
        if isinstance(found, EncodedColumns):
            found = _agreeing(found, reference)
    except Exception as error:  # whatever a step may raise on rows that were put together
        found = f"a step of it raised {type(error).__name__} ({reason(error)}) on rows that were put together"
    if isinstance(found, str):
        log.info("Rows go through the whole pipeline of this model: %s.", found)
        return None
    return found


def _encoded_columns(model: TableModel, reference: FloatArray) -> EncodedColumns | str:
    from sklearn.pipeline import Pipeline

    estimator = model.estimator
    if not isinstance(estimator, Pipeline) or len(estimator.steps) < 2:
        return "it is not a pipeline"
    if not all(_one_by_one(step) for _, step in estimator.steps[:-1]):
        return "not all of its steps take one column at a time"
    ours = type(estimator[-1]).__module__.startswith(("sklearn.", "verax."))
    if not ours and hasattr(estimator[:-1].transform(model.as_read(reference[:1])), "toarray"):
        return "its rows are sparse, and a classifier of others may take what is absent for missing"
    seen = [np.unique(reference[:, column]) for column in range(reference.shape[1])]
    constant, feeds = _probe(model, reference[0], seen)
    # Row r has the r-th value of each column: one pass encodes them all.
    longest = max(len(values) for values in seen)
    rows = np.stack([values[np.minimum(np.arange(longest), len(values) - 1)] for values in seen], axis=1)
    encoded = _transformed(model, rows)
    columns = tuple(
        EncodedColumn(values, fed, encoded[: len(values), fed])
        for values, fed in zip(seen, feeds, strict=True)
    )
    made = EncodedColumns(model, columns, constant)
    every = made.places(rows)
    if every is None or not np.array_equal(made.encode(every), encoded, equal_nan=True):
        return "a value changes what no other value of its column changes"
    rows = _mixed(reference)
    places = made.places(rows)
    if places is None or not np.array_equal(made.encode(places), _transformed(model, rows), equal_nan=True):
        return "its columns depend on one another"
    classifier = estimator[-1]
    head = linear_head(classifier) if type(classifier).__name__ == "LogisticRegression" else "not linear"
    if isinstance(head, LinearHead):
        return replace(made, linear=head)
    return replace(made, trees=_trees(made, places)) if HAS_NUMBA else made


def _agreeing(found: EncodedColumns, reference: FloatArray) -> EncodedColumns | str:
    """The same columns if they give some rows the model's own probabilities."""
    rows = _mixed(reference)
    answers, own = found.predict(rows), found.model.predict_proba(rows)
    if answers is None or not np.allclose(answers, own, rtol=0.0, atol=SAME):
        return "its columns, looked up, give other probabilities"
    return found


def _one_by_one(step: BaseEstimator | str) -> bool:
    """Whether a fitted step makes its output of one column at a time; so does one that is made of such steps."""
    if isinstance(step, str) or step is None:  # "passthrough", "drop"
        return True
    if not type(step).__module__.startswith("sklearn."):
        return False
    if type(step).__name__ == "ColumnTransformer":
        return all(_one_by_one(part) for _, part, _ in step.transformers_)
    if type(step).__name__ == "Pipeline":
        return all(_one_by_one(part) for _, part in step.steps)
    if type(step).__name__ == "FunctionTransformer":  # what becomes of "passthrough" in a ColumnTransformer
        return step.func is None
    return type(step).__name__ in ONE_BY_ONE


def _transformed(model: TableModel, rows: FloatArray) -> FloatArray:
    """What the pipeline hands to its classifier."""
    pipeline: Pipeline = model.estimator
    made = pipeline[:-1].transform(model.as_read(rows))
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)


def _probe(model: TableModel, row: FloatArray, seen: list[FloatArray]) -> tuple[FloatArray, list[IndexArray]]:
    """A row's output, and which columns of the output each column of the table feeds."""
    tried = []
    for column, values in enumerate(seen):
        some = np.arange(len(values))
        if model.schema.columns[column].is_numeric and len(values) > FEW_NUMBERS:
            some = np.unique(np.linspace(0, len(values) - 1, PROBES).astype(np.intp))
        rows = np.repeat(row[None], len(some), axis=0)
        rows[:, column] = values[some]
        tried.append(rows)
    made = _transformed(model, np.concatenate([row[None], *tried]))
    parts = np.split(made[1:], np.cumsum([len(rows) for rows in tried])[:-1])
    return made[0], [np.flatnonzero(_differs(part, made[0]).any(axis=0)) for part in parts]


def _differs(some: FloatArray, others: FloatArray) -> BoolArray:
    """Where numbers differ; a missing one differs from all but another."""
    differs: BoolArray = (some != others) & ~(np.isnan(some) & np.isnan(others))
    return differs


def _mixed(reference: FloatArray) -> FloatArray:
    """Rows, each of whose values is from another training row."""
    drawn = np.random.default_rng(0).integers(len(reference), size=(CHECKED, reference.shape[1]))
    return np.take_along_axis(reference, drawn, axis=0)


def _trees(made: EncodedColumns, places: Sequence[IndexArray]) -> CodedTrees | None:
    """A classifier of trees, if it can be walked as such and then says of some rows what it says itself."""
    classifier = made.model.estimator[-1]
    ensemble = flatten(classifier)
    if ensemble is None:
        return None
    if ensemble.sets is not None:
        log.info("The trees of this model are not walked together: they split by sets of categories.")
        return None
    encoded = [ensemble.read(column.encoded) for column in made.columns]
    trees = coded_trees(ensemble, [column.feeds for column in made.columns], encoded, made.constant)
    if trees is None:
        log.info("The trees of this model are not walked together: they ask too many different questions.")
        return None
    own = np.asarray(classifier.predict_proba(made.encode(places)))
    if not np.allclose(trees.probabilities(places), own, rtol=0.0, atol=SAME):
        log.info(
            "The trees of this model are not walked together: it makes something else of them than their sum."
        )
        return None
    return trees
