"""A dataset made ready for staining: rows for the models, values for the stains, no copies of what they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from verax.arrays import BoolArray, IndexArray
from verax.benchmarks.spec_files import ExplainedPart, with_explained_part
from verax.benchmarks.staining.spec import StainSpec
from verax.benchmarks.staining.stains import Candidates, Literal, Values, column_of, without_copies
from verax.data import Bins, Dataset, Part, load_dataset
from verax.data.dataset import Inputs
from verax.data.words import split_words
from verax.models.ready import fit_vectorizer
from verax.options import default_of
from verax.run.identity import fetch, is_reference

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer


Copy = tuple[str, str]


def copied_words(literals: Sequence[Literal], names: Sequence[str], counts: Values) -> list[Copy]:
    """Words that stand in exactly the training texts of a condition's word (or in exactly all others), with that word.

    Args:
        literals: the conditions that stains may be made of, in order: of two of them the earlier stays.
        names: all words.
        counts: how often each stands in each training text, by columns.
    """
    n_texts = counts.shape[0]
    copies: dict[str, str] = {}
    presence = (counts > 0).tocsc()
    presence.sort_indices()
    lengths = np.diff(presence.indptr)
    for literal in literals:
        if literal.name in copies:
            continue
        own = _texts(presence, literal.column)
        alike = (lengths == len(own)) | (lengths == n_texts - len(own))
        for column in np.flatnonzero(alike).tolist():
            if column == literal.column or str(names[column]) in copies:
                continue
            texts = _texts(presence, column)
            same = len(texts) == len(own) and np.array_equal(texts, own)
            if same or len(np.union1d(texts, own)) == len(texts) + len(own) == n_texts:
                copies[str(names[column])] = literal.name
    return list(copies.items())


def _texts(presence: Values, column: int) -> NDArray[np.int32]:
    texts: NDArray[np.int32] = presence.indices[presence.indptr[column] : presence.indptr[column + 1]]
    return texts


def copied_columns(literals: Sequence[Literal], bins: Bins, values: Values) -> list[Copy]:
    """Columns of which a value is a copy of a condition on an earlier column (or its opposite), with that condition.

    A column's own values are no copies of each other: one that says Male wherever another does not say Female is one.
    """
    copies: dict[str, str] = {}
    names = bins.schema.names
    for literal in literals:
        if literal.name in copies:
            continue
        own = literal.holds(values)
        for column in range(literal.column + 1, len(names)):
            if names[column] in copies:
                continue
            other = column_of(values, column)
            for value in bins.values[column]:
                agree = np.count_nonzero((other == value) == own)
                if agree in (0, len(own)):
                    copies[names[column]] = literal.shown
    return list(copies.items())


def without_words(dataset: Dataset, words: Sequence[str]) -> Dataset:
    """The texts without some words."""
    return _each_part(dataset, lambda inputs: [taken(str(text), words) for text in inputs])


def without_columns(dataset: Dataset, columns: Sequence[str], bins: Bins) -> Dataset:
    """The rows with the commonest value of the training rows in some columns, everywhere."""
    names = list(bins.schema.names)
    commonest = {}
    for name in columns:
        values, counts = np.unique(np.asarray(dataset.train.inputs)[:, names.index(name)], return_counts=True)
        commonest[names.index(name)] = values[np.argmax(counts)]

    def even(inputs: Inputs) -> Inputs:
        rows = np.array(inputs, dtype=np.float64)
        for place, value in commonest.items():
            rows[:, place] = value
        return rows

    return _each_part(dataset, even)


def taken(text: str, words: Sequence[str]) -> str:
    """A text without some words, as the bag of words tells words apart."""
    if not words:
        return text
    listed = "|".join(re.escape(word) for word in words)
    return re.sub(rf"(?<!\w)(?:{listed})(?!\w) ?", "", text)


def _each_part(dataset: Dataset, change: Callable[[Inputs], Inputs]) -> Dataset:
    train, validation, test = (
        Part(change(part.inputs), part.labels) for part in (dataset.train, dataset.validation, dataset.test)
    )
    return replace(dataset, train=train, validation=validation, test=test)


MIN_SHARE, AT_LEAST = default_of(StainSpec, "min_share"), default_of(StainSpec, "at_least")


@dataclass(frozen=True, eq=False)
class PlantedComparison:
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
    compared: tuple[PlantedComparison, PlantedComparison] | None = None

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
            found = _word_literals(self.vectorizer, self.values[0], min_share, at_least)
            fields = self.dataset.fields
            # The names of a record's columns stand in all of them.
            names = set() if fields is None else set(split_words(" ".join(fields.names).lower()).words)
            return [literal for literal in found if literal.name not in names]
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


@dataclass(frozen=True)
class Facts:
    """A dataset in a line.

    Attributes:
        inputs: in all three parts.
        balance: the share of each class.
        correlation: the highest between two features that stains may be made of; None if there are not two.
        correlated: these two, in words.
    """

    inputs: int
    balance: Mapping[str, float]
    correlation: float | None = None
    correlated: tuple[str, ...] = ()


def facts_of(data: Stainable, min_share: float, at_least: int, whole: Dataset | None = None) -> Facts:
    """The facts of a dataset; correlations are those of the training inputs, by magnitude.

    Args:
        data: the dataset made ready.
        min_share: of a feature that stains may be made of.
        at_least: how often it must occur.
        whole: the dataset as it was split, if another part is explained in the place of its test part.
    """
    dataset = whole or data.dataset
    labels = np.concatenate([part.labels for part in dataset.parts.values()])
    shares = np.bincount(labels, minlength=len(dataset.class_names)) / len(labels)
    balance = dict(zip(dataset.class_names, shares.tolist(), strict=True))
    literals = data.candidates(min_share, at_least).literals
    holds = np.array([literal.holds(data.values[0]) for literal in literals], dtype=np.float64)
    if len({literal.name for literal in literals}) < 2:
        return Facts(len(labels), balance)
    with np.errstate(invalid="ignore"):  # a condition that always holds is correlated with nothing
        found = np.abs(np.nan_to_num(np.corrcoef(holds)))
    names = np.array([literal.name for literal in literals])
    found[names[:, None] == names] = -1.0  # the values of one column exclude each other
    one, other = (literals[place] for place in divmod(int(np.argmax(found)), len(literals)))
    return Facts(len(labels), balance, float(found.max()), (one.shown, other.shown))
