"""A text in the columns of a bag-of-words model: how its words feed them, and what masking does to them.

What comes after the bag is a head: a linear model, trees or a network with one hidden layer, on all variants at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.perturb.masks import Masks, Prepared, Rows, distinct_rows, packed_numbers, packed_rows
from verax.perturb.paths.ensembles import Ensemble, Levels, NodeArray
from verax.perturb.paths.tree_readers import flatten
from verax.perturb.paths.tree_walks import sum_leaves

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


Matrix: TypeAlias = NDArray[np.floating]
Csr: TypeAlias = scipy.sparse.csr_matrix
# Sparse rows are written in strips of this many, small enough for the processor's cache.
STRIP_ROWS = 1_024


@dataclass(frozen=True)
class Weighting:
    """What a vectoriser does with counts: scikit-learn's binary, sublinear_tf, idf and norm, in this order."""

    binary: bool = False
    sublinear: bool = False
    norm: str | None = None
    signed: bool = False  # hashing may subtract

    @property
    def counts_add(self) -> bool:
        """Whether a column's value is the sum of what each word contributes."""
        return not (self.binary or self.sublinear)

    def of_counts(self, counts: FloatArray) -> FloatArray:
        """A column's value before idf and norm."""
        if self.binary:
            present: FloatArray = (counts != 0).astype(np.float64)
            return present
        if self.sublinear:
            logs: FloatArray = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1.0)), 0.0)
            return logs
        return counts


@dataclass(frozen=True, eq=False)
class Bag(Prepared):
    """A text's words in the model's columns.

    Entry ``e`` says: word ``words[e]`` adds ``counts[e]`` to column ``columns[slots[e]]``. Entries are sorted by
    slot. ``idf`` has one number per slot.
    """

    columns: IndexArray
    slots: IndexArray
    words: IndexArray
    counts: FloatArray
    idf: FloatArray
    weighting: Weighting

    @cached_property
    def single(self) -> bool:
        """Whether no two words feed one column."""
        return len(self.slots) == len(self.columns)

    @cached_property
    def one_column_each(self) -> bool:
        """Whether no word feeds two columns."""
        return len(set(self.words.tolist())) == len(self.words)

    @cached_property
    def additive(self) -> bool:
        """Whether a row before its norm is a sum over the words that are present."""
        return self.single or self.weighting.counts_add

    @cached_property
    def values(self) -> FloatArray:
        """What each entry adds to its column when rows are additive."""
        return self.weighting.of_counts(self.counts) * self.idf[self.slots]

    def column_values(self, masks: Masks) -> FloatArray:
        """The (slots, variants) values before the norm."""
        if self.single:
            return masks.dense()[self.words] * self.values[:, None]
        entries = masks.dense()[self.words] * self.counts[:, None]
        counts = np.add.reduceat(entries, self._starts, axis=0)
        return self.weighting.of_counts(counts) * self.idf[:, None]

    def columns_fed(self, masks: Masks) -> BoolArray:
        """The (slots, variants) that some present word feeds; with hashing their values may cancel to a stored 0."""
        return np.logical_or.reduceat(masks.columns()[self.words], self._starts, axis=0)

    @cached_property
    def _starts(self) -> IndexArray:
        """Where each slot's entries start."""
        return np.flatnonzero(np.diff(self.slots, prepend=-1))

    def norms(self, values: FloatArray) -> FloatArray:
        """The norm of each variant's row, 1 where the row is empty."""
        return _nonzero(np.linalg.norm(values, ord=1 if self.weighting.norm == "l1" else 2, axis=0))


def word_weights(bag: Bag, matrix: Matrix) -> FloatArray:
    """What each word adds to ``row @ matrix`` when rows are additive: a (words, outputs) array."""
    weights: FloatArray = np.zeros((len(bag.features), matrix.shape[1]), dtype=matrix.dtype)
    contributions = matrix[bag.columns[bag.slots]] * bag.values[:, None].astype(matrix.dtype)
    if bag.one_column_each:
        weights[bag.words] = contributions
    else:
        np.add.at(weights, bag.words, contributions)
    return weights


def project(bag: Bag, masks: Masks, matrix: Matrix) -> FloatArray:
    """``rows @ matrix`` for every variant, without building the rows: a (variants, outputs) array.

    The precision is that of ``matrix``.
    """
    dense: Matrix = masks.dense32() if matrix.dtype == np.float32 else masks.dense()
    if bag.additive:
        product: FloatArray = dense.T @ word_weights(bag, matrix)
        if bag.weighting.norm is None:
            return product
        if bag.single and bag.weighting.norm == "l2":
            squares = np.zeros(len(bag.features))
            np.add.at(squares, bag.words, bag.values**2)
            norms = _nonzero(np.sqrt(masks.dense().T @ squares))
            product /= norms[:, None].astype(matrix.dtype)
            return product
    values = bag.column_values(masks)
    if bag.weighting.norm is not None:
        values /= bag.norms(values)
    projected: FloatArray = values.T.astype(matrix.dtype) @ matrix[bag.columns]
    return projected


def sparse_rows(bag: Bag, masks: Masks, n_columns: int) -> Rows[Csr]:
    """The distinct rows of the variants as a CSR matrix, exactly as the vectoriser would build them."""
    cells = None if bag.single else bag.column_values(masks)
    fed = masks.select(bag.words).columns() if cells is None else bag.columns_fed(masks)
    by_row = np.ascontiguousarray(fed.T)
    packed = packed_rows(by_row)
    if cells is None:
        first, inverse = distinct_rows(fed, packed_numbers(packed))
    else:
        first, inverse = distinct_rows(np.concatenate([fed, _as_bits(cells)]))
    indptr = np.zeros(len(first) + 1, dtype=np.int32)
    np.cumsum(np.bitwise_count(packed).sum(axis=1)[first], out=indptr[1:])
    data, indices = _entries(bag, by_row, cells, first, indptr)
    if bag.weighting.norm is not None:
        data /= _row_norms(data, indptr, bag.weighting.norm)
    return Rows(csr_of(data, indices, indptr, n_columns), len(first), inverse, len(data))


def _entries(
    bag: Bag, by_row: BoolArray, cells: FloatArray | None, first: IndexArray, indptr: NDArray[np.int32]
) -> tuple[FloatArray, NDArray[np.int32]]:
    """The stored values of the rows at the places ``first``, and their columns."""
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
    columns = np.tile(bag.columns.astype(np.int32), min(STRIP_ROWS, len(first)))
    values = np.tile(bag.values, min(STRIP_ROWS, len(first))) if cells is None else np.empty(0)
    for start in range(0, len(first), STRIP_ROWS):
        rows = first[start : start + STRIP_ROWS]
        contiguous = len(rows) == rows[-1] - rows[0] + 1
        chosen: slice | IndexArray = slice(rows[0], rows[-1] + 1) if contiguous else rows
        if cells is not None:
            values = cells[:, chosen].T.reshape(-1)
        # Flat places and take are several times faster than indexing with a two-dimensional mask; with "clip" what is
        # taken goes where it belongs at once.
        stored = np.flatnonzero(by_row[chosen])
        part = slice(indptr[start], indptr[start + len(rows)])
        np.take(values, stored, out=data[part], mode="clip")
        np.take(columns, stored, out=indices[part], mode="clip")
    return data, indices


def csr_of(data: FloatArray, indices: NDArray[np.int32], indptr: NDArray[np.int32], n_columns: int) -> Csr:
    """A CSR matrix of arrays that are known to fit: scipy's own checks take longer than building them."""
    rows = scipy.sparse.csr_matrix((len(indptr) - 1, n_columns))
    rows.data, rows.indices, rows.indptr = data, indices, indptr
    rows.has_sorted_indices = rows.has_canonical_format = True
    return rows


def stack(parts: Sequence[Csr]) -> Csr:
    """CSR matrices with the same columns, one below the other."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(part.nnz for part in parts[:-1])]).astype(np.int32)
    ends = [part.indptr[1:] + start for part, start in zip(parts, starts, strict=True)]
    return csr_of(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([parts[0].indptr[:1], *ends]),
        parts[0].shape[1],
    )


def _as_bits(values: FloatArray) -> BoolArray:
    """Numbers as bits, equal exactly where the numbers are: (slots, variants) to (more, variants)."""
    _, codes = np.unique(values, return_inverse=True)
    bits = max(1, int(codes.max(initial=0)).bit_length())
    codes = codes.reshape(values.shape)
    return np.concatenate([(codes >> bit) & 1 == 1 for bit in range(bits)], axis=0)


def _row_norms(data: FloatArray, indptr: NDArray[np.int32], norm: str) -> FloatArray:
    """The norm of its row, for each stored value."""
    lengths = np.diff(indptr)
    row_of = np.repeat(np.arange(len(lengths)), lengths)
    if norm == "l1":
        norms: FloatArray = np.bincount(row_of, np.abs(data), minlength=len(lengths)).astype(np.float64)
    else:
        norms = np.sqrt(np.bincount(row_of, data**2, minlength=len(lengths)))
    return _nonzero(norms)[row_of]


def _nonzero(norms: FloatArray) -> FloatArray:
    """The norms, 1 instead of 0: an empty row stays as it is."""
    return np.where(norms > 0.0, norms, 1.0)


class Head(Protocol):
    """A classifier that works in a text's own columns."""

    @property
    def name(self) -> str:
        """For people: what sort of model it is."""

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""


def from_scores(scores: FloatArray) -> FloatArray:
    """Class probabilities from scores (variants, classes); a single column is the log-odds of the second class."""
    if scores.shape[1] == 1:
        positive = expit(scores[:, 0])
        return np.stack([1.0 - positive, positive], axis=1)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, eq=False)
class LinearHead:
    """Logistic regression: one product per variant."""

    weights: FloatArray
    intercept: FloatArray
    name: str = "linear"

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""
        return from_scores(project(bag, masks, self.weights) + self.intercept)


@dataclass(frozen=True, eq=False)
class MlpHead:
    """One hidden layer; the first layer, where the work is, in single precision."""

    first: NDArray[np.float32]
    first_bias: NDArray[np.float32]
    second: FloatArray
    second_bias: FloatArray
    activation: str
    name: str = "mlp"

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""
        hidden = project(bag, masks, self.first)
        hidden += self.first_bias
        if self.activation == "relu":
            np.maximum(hidden, 0.0, out=hidden)
        elif self.activation == "tanh":
            np.tanh(hidden, out=hidden)
        elif self.activation == "logistic":
            hidden = expit(hidden)
        return from_scores((hidden @ self.second.astype(np.float32)).astype(np.float64) + self.second_bias)


@dataclass(frozen=True, eq=False)
class TreeHead:
    """Trees, forests and boosted trees on rows without a norm."""

    ensemble: Ensemble
    # Scratch for the current text, set and cleared for each: which columns it has (a last entry for leaves, True),
    # and which of its slots each of them is.
    touched: BoolArray = field(repr=False)
    slot_of_column: NodeArray = field(repr=False)
    name: str = "trees"

    @classmethod
    def from_ensemble(cls, ensemble: Ensemble, n_columns: int) -> TreeHead:
        """Prepares the scratch space that all texts share."""
        touched = np.zeros(n_columns + 1, dtype=np.bool_)
        touched[-1] = True
        return cls(ensemble, touched, np.full(n_columns, -1, dtype=np.int32))

    def probabilities(self, bag: Bag, masks: Masks) -> FloatArray:
        """Class probabilities (variants, classes)."""
        self.touched[bag.columns] = True
        self.slot_of_column[bag.columns] = np.arange(len(bag.columns))
        try:
            outputs = sum_leaves(self.ensemble, self._levels(bag, masks))
        finally:
            self.touched[bag.columns] = False
            self.slot_of_column[bag.columns] = -1
        return self.ensemble.probabilities(outputs)

    def _levels(self, bag: Bag, masks: Masks) -> Levels:
        first, levels, reach = column_levels(bag, masks)
        return Levels(self.touched, self.slot_of_column, first, levels, reach, masks.n_rows)


def column_levels(bag: Bag, masks: Masks) -> tuple[NodeArray, FloatArray, NDArray[np.uint64]]:
    """The values that each column takes over the variants, and which variants reach them; see :class:`Levels`."""
    n_words = masks.words.shape[1]
    if bag.single:
        n_slots = len(bag.columns)
        levels = np.zeros((n_slots, 2))
        levels[:, 1] = bag.values.astype(np.float32)
        reach = np.empty((n_slots, 2, n_words), dtype=np.uint64)
        reach[:, 0] = ~np.uint64(0)
        reach[:, 1] = masks.words[bag.words]
        first = np.arange(0, 2 * n_slots + 1, 2, dtype=np.int32)
        return first, levels.reshape(-1), reach.reshape(-1, n_words)
    values = bag.column_values(masks).astype(np.float32)
    first_of: list[int] = [0]
    all_levels: list[FloatArray] = []
    all_reach: list[NDArray[np.uint64]] = []
    for slot in range(len(bag.columns)):
        # A column's value in single precision, as trees compare it; 0 is always a level, the one of "absent".
        levels = np.union1d(np.zeros(1, dtype=np.float32), values[slot])
        if len(levels) == 1:
            levels = np.array([0.0, np.inf], dtype=np.float32)
        all_levels.append(levels.astype(np.float64))
        all_reach.append(Masks.from_columns(values[slot] >= levels[:, None]).words)
        first_of.append(first_of[-1] + len(levels))
    return np.array(first_of, dtype=np.int32), np.concatenate(all_levels), np.concatenate(all_reach)


def head_for(classifier: BaseEstimator, weighting: Weighting, n_columns: int) -> Head | str:
    """The head for a fitted classifier, or why there is none."""
    module, name = type(classifier).__module__, type(classifier).__name__
    if module.startswith("sklearn.") and name in ("LogisticRegression", "LogisticRegressionCV"):
        return linear_head(classifier)
    if name in ("MLPClassifier", "MlpClassifier"):
        return _mlp(classifier)
    if weighting.norm is not None or weighting.signed:
        return f"{name} on rows with a norm or with negative values has no fast path"
    ensemble = flatten(classifier)
    # Texts are walked in single precision; where that would round what the model compares, the model is asked.
    if (
        ensemble is None
        or ensemble.link not in ("identity", "logistic", "softmax")
        or ensemble.sets is not None
        or not (ensemble.single or module.startswith("verax."))
    ):
        return f"{name} has no fast path"
    return TreeHead.from_ensemble(ensemble, n_columns)


def linear_head(classifier: BaseEstimator) -> LinearHead | str:
    """The head for scikit-learn's logistic regression, or why there is none."""
    weights = np.ascontiguousarray(np.asarray(classifier.coef_, dtype=np.float64).T)
    if getattr(classifier, "multi_class", None) == "ovr" and weights.shape[1] > 1:
        return "one-versus-rest logistic regression has no fast path"
    return LinearHead(weights, np.asarray(classifier.intercept_, dtype=np.float64))


def _mlp(classifier: BaseEstimator) -> Head | str:
    activation = getattr(classifier, "activation", "relu")  # our own has no other
    if len(classifier.coefs_) != 2 or activation not in ("relu", "tanh", "logistic", "identity"):
        return "a network with more than one hidden layer has no fast path"
    return MlpHead(
        np.ascontiguousarray(classifier.coefs_[0], dtype=np.float32),
        np.asarray(classifier.intercepts_[0], dtype=np.float32),
        np.asarray(classifier.coefs_[1], dtype=np.float64),
        np.asarray(classifier.intercepts_[1], dtype=np.float64),
        activation,
    )
