"""A dataset made ready for staining, once per process: rows for the models, values for the stains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from verax.arrays import BoolArray, IndexArray
from verax.benchmarks.explained_part import ExplainedPart, with_explained_part
from verax.benchmarks.spec_files import default_of
from verax.benchmarks.staining.copies import (
    Copy,
    copied_columns,
    copied_words,
    without_columns,
    without_words,
)
from verax.benchmarks.staining.rules import Literal, Values
from verax.benchmarks.staining.sampling import Candidates, without_copies
from verax.benchmarks.staining.spec import StainSpec
from verax.data import Bins, Dataset, Part, load_dataset
from verax.models.ready import fit_vectorizer
from verax.run.objects import fetch, is_reference

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

MIN_SHARE, AT_LEAST = default_of(StainSpec, "min_share"), default_of(StainSpec, "at_least")


@dataclass(frozen=True, eq=False)
class Compared:
    """Inputs with and without a planted stain.

    Attributes:
        places: where they stand in their part.
        planted: all of them with the stain, and its label.
        unplanted: the same without it, and their own labels.
        lacking: for each feature of the stain, the same with all of it but that feature.
    """

    places: IndexArray
    planted: Part
    unplanted: Part
    lacking: tuple[Part, ...]

    @property
    def flipped(self) -> BoolArray:
        """Which have another label of their own than the stain's."""
        return np.not_equal(self.planted.labels, self.unplanted.labels)


@dataclass(frozen=True, eq=False)
class Stainable:
    """A dataset and what every stain and model of it shares.

    Attributes:
        dataset: texts are lower-cased, as the models' words are.
        vectorizer: of texts; None for a table.
        rows: the models' sparse rows of train, validation and test texts; None for a table.
        values: what conditions look at, for train, validation and test: word counts, or bins and categories.
        bins: a table's bins.
        copies: words that were removed and columns that were evened out because they are copies, with what of.
        rehearsal: validation inputs that all have the planted stain, with its label: what the weight "auto" judges by.
            None where stains are drawn.
        compared: the inputs of the rehearsal, and inputs of the test part, with and without the planted stain.
    """

    dataset: Dataset
    vectorizer: CountVectorizer | None
    rows: tuple[Values, Values, Values] | None
    values: tuple[Values, Values, Values]
    bins: Bins | None
    copies: tuple[Copy, ...] = ()
    rehearsal: Part | None = None
    compared: tuple[Compared, Compared] | None = None

    def candidates(self, min_share: float, at_least: int) -> Candidates:
        """All conditions that hold in at least this share of the training inputs.

        Args:
            min_share: the share.
            at_least: how often a word must occur to fulfil its condition.
        """
        return without_copies(self.conditions(min_share, at_least), self.values[0])

    def conditions(self, min_share: float, at_least: int = 1) -> list[Literal]:
        """The same, copies of each other among them."""
        if self.bins is None:
            return _word_literals(self.vectorizer, self.values[0], min_share, at_least)
        return _column_literals(self.bins, min_share)


def make_stainable(
    source: Mapping[str, object], words: str, min_share: float = MIN_SHARE, at_least: int = AT_LEAST
) -> Stainable:
    """Loads a dataset and makes it ready; kept for the next job of this process.

    Args:
        source: the arguments of ``load_dataset``.
        words: "presence" or "counts": what the models read.
        min_share: features that hold in this share of the training inputs may be in a stain: no copies of them stay.
        at_least: how often a word must occur to fulfil its condition.
    """
    frozen = tuple(sorted((key, _frozen(value)) for key, value in source.items()))
    return _make(frozen, words, min_share, at_least)


@lru_cache(maxsize=4)
def _make(source: tuple[tuple[str, Any], ...], words: str, min_share: float, at_least: int) -> Stainable:
    return prepared(load_source(**dict(source)), words, min_share, at_least)


def prepared(
    dataset: Dataset, words: str, min_share: float = MIN_SHARE, at_least: int = AT_LEAST
) -> Stainable:
    """A dataset made ready; the arguments are those of `make_stainable`."""
    data = stainable_of(dataset if dataset.kind == "table" else lower_cased(dataset), words)
    literals = data.conditions(min_share, at_least)
    if data.bins is not None:
        copies = copied_columns(literals, data.bins, data.values[0])
        changed = without_columns(data.dataset, [name for name, _ in copies], data.bins)
    else:
        assert data.vectorizer is not None
        copies = copied_words(literals, data.vectorizer.get_feature_names_out(), data.values[0])
        changed = without_words(data.dataset, [name for name, _ in copies])
    return replace(stainable_of(changed, words), copies=tuple(copies)) if copies else data


def stainable_of(dataset: Dataset, words: str, bins: Bins | None = None) -> Stainable:
    """A dataset, of texts in lower case or of rows, with what stains and models share.

    Args:
        dataset: texts or a table.
        words: "presence" or "counts".
        bins: of a table whose rows were changed, those that its stains are made of; learnt from it if None.
    """
    if dataset.kind == "table":
        schema = dataset.schema
        assert schema is not None
        known = bins or Bins.learn(schema, dataset.train.inputs)
        return Stainable(
            dataset,
            None,
            None,
            _each(dataset, lambda part: known.assign(part.inputs).astype(np.float64)),
            known,
        )
    from sklearn.base import clone

    vectorizer = fit_vectorizer(list(dataset.train.inputs), words)
    # The texts are read once more, not once for the models' rows and once for counts.
    counter = clone(vectorizer).set_params(binary=False, vocabulary=vectorizer.vocabulary_)
    train, validation, test = _each(dataset, lambda part: counter.transform(list(part.inputs)))
    counted = words == "counts"
    rows = (
        (train, validation, test) if counted else (_presence(train), _presence(validation), _presence(test))
    )
    return Stainable(
        dataset,
        vectorizer,
        rows,
        (scipy.sparse.csc_matrix(train), scipy.sparse.csc_matrix(validation), scipy.sparse.csc_matrix(test)),
        None,
    )


def _presence(counts: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """1 where a word occurs, as a vectoriser with ``binary=True`` makes it."""
    present = counts.copy()
    present.data.fill(1.0)
    return present


def load_source(name_or_path: str, *, part: ExplainedPart = "test", **options: Any) -> Dataset:
    """A dataset by its source, with the part that is explained in the place of its test part."""
    dataset = fetch(name_or_path) if is_reference(name_or_path) else load_dataset(name_or_path, **options)
    assert isinstance(dataset, Dataset)
    return with_explained_part(dataset, part)


def lower_cased(dataset: Dataset) -> Dataset:
    """The same texts in lower case: the models' words are, and "The" and "the" would be two features of one word."""

    def lower(part: Part) -> Part:
        return Part([str(text).lower() for text in part.inputs], part.labels)

    return replace(
        dataset, train=lower(dataset.train), validation=lower(dataset.validation), test=lower(dataset.test)
    )


def _each(dataset: Dataset, make: Callable[[Part], Values]) -> tuple[Values, Values, Values]:
    """The same for train, validation and test."""
    return make(dataset.train), make(dataset.validation), make(dataset.test)


def _word_literals(
    vectorizer: CountVectorizer, counts: Values, min_share: float, at_least: int
) -> list[Literal]:
    names = vectorizer.get_feature_names_out()
    low = float(at_least - 1)
    shares = np.asarray((counts > low).sum(axis=0)).reshape(-1) / counts.shape[0]
    times = "" if at_least == 1 else f" {at_least} times"
    return [
        Literal(int(column), str(names[column]), low, np.inf, shown=f"“{names[column]}”{times}")
        for column in np.flatnonzero(shares >= min_share)
    ]


def _column_literals(bins: Bins, min_share: float) -> list[Literal]:
    literals = []
    for column, name in enumerate(bins.schema.names):
        for value, share in zip(bins.values[column], bins.frequencies[column], strict=True):
            if min_share <= share < 1.0:
                shown = bins.names[column][int(value)]
                literals.append(Literal(column, name, float(value) - 1.0, float(value), shown=shown))
    return literals


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
