"""A network with one hidden layer in numpy: mini-batch SGD that only touches the words of each batch.

This is the multi-layer perceptron of the data staining paper (Sippy et al. 2020, section 4): one hidden
layer, trained by SGD, with early stopping and a learning rate that falls when the validation loss stops falling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.models.base import check_weights


@dataclass
class Layers:
    """The weights: ``softmax(relu(rows @ W1 + b1) @ W2 + b2)``."""

    W1: FloatArray
    b1: FloatArray
    W2: FloatArray
    b2: FloatArray

    def copy(self) -> Layers:
        """The same weights in memory of their own."""
        return Layers(self.W1.copy(), self.b1.copy(), self.W2.copy(), self.b2.copy())


class MlpClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One hidden layer of rectified units and a softmax, for sparse or dense rows.

    Args:
        hidden_units: the width of the hidden layer.
        learning_rate: the first step size, for rows of length one: it is divided by the root mean squared
            length of the training rows, so that one value serves short texts, long texts and tables.
        batch_size: rows per step.
        max_epochs: passes over the rows at most.
        plateau: epochs without a better validation loss before the learning rate falls.
        decay: what the learning rate is multiplied by when it falls.
        patience: epochs without a better validation loss before training stops.
        tolerance: how much lower, as a share of it, a validation loss must be to count as better.
        validation_fraction: the share of rows held out when ``fit`` is given no validation rows.
        random_state: the seed of the first weights, the held-out rows and the order of rows.

    Attributes:
        coefs_: ``[W1 (features x hidden), W2 (hidden x classes)]``, as in scikit-learn's MLPClassifier.
        intercepts_: ``[b1, b2]``.
        validation_losses_: the mean validation loss after each epoch.
        learning_rates_: the learning rate of each epoch.
    """

    def __init__(
        self,
        *,
        hidden_units: int = 100,
        learning_rate: float = 0.25,
        batch_size: int = 32,
        max_epochs: int = 200,
        plateau: int = 1,
        decay: float = 0.25,
        patience: int = 4,
        tolerance: float = 1e-3,
        validation_fraction: float = 0.1,
        random_state: int = 0,
    ) -> None:
        self.hidden_units = hidden_units
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.plateau = plateau
        self.decay = decay
        self.patience = patience
        self.tolerance = tolerance
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, validation: tuple[Any, Any] | None = None
    ) -> Self:
        """Trains on rows and labels; the weights with the best validation loss are kept.

        Args:
            X: rows, sparse or dense.
            y: a label per row.
            sample_weight: a weight per row; a row of weight 2 counts as two, one of weight 0 is not seen.
            validation: rows and labels that decide when the learning rate falls and when to stop; held out
                of X by default.
        """
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
        weights = check_weights(sample_weight, len(y))
        seen = np.flatnonzero(weights)
        rows, weights = _as_rows(X)[seen], weights[seen]
        self.classes_, labels = np.unique(y[seen], return_inverse=True)
        self.n_features_in_ = rows.shape[1]
        rng = np.random.default_rng(self.random_state)
        if validation is None:
            kept, held_out = self._hold_out(len(labels), rng)
            watched = rows[held_out], labels[held_out]
            rows, labels, weights = rows[kept], labels[kept], weights[kept]
        else:
            watched = _as_rows(validation[0]), self._label_numbers(validation[1])
        self._train(rows, labels, weights / weights.mean(), watched, rng)
        return self

    def _train(
        self,
        rows: Any,
        labels: NDArray[np.intp],
        weights: FloatArray,
        validation: tuple[Any, NDArray[np.intp]],
        rng: np.random.Generator,
    ) -> None:
        layers = self._first_weights(rng)
        best = layers.copy()
        rate = self.learning_rate / max(_length(rows, weights), 1e-12)
        lowest = to_beat = np.inf
        stale = 0  # epochs since the loss was last clearly lower
        self.validation_losses_: list[float] = []
        self.learning_rates_: list[float] = []
        while len(self.validation_losses_) < self.max_epochs and stale < self.patience:
            order = rng.permutation(len(labels))
            with np.errstate(over="ignore", invalid="ignore"):
                _epoch(layers, rows[order], labels[order], weights[order], rate, self.batch_size)
                validation_loss = loss(layers, *validation)
            self.validation_losses_.append(validation_loss)
            self.learning_rates_.append(rate)
            if validation_loss < lowest:
                best, lowest = layers.copy(), validation_loss
            if validation_loss < to_beat:
                stale, to_beat = 0, validation_loss * (1 - self.tolerance)
            else:
                stale += 1
                rate *= self.decay if stale % self.plateau == 0 else 1.0
        if not np.isfinite(lowest):
            raise VeraxError(
                f"MlpClassifier did not learn with learning_rate={self.learning_rate}: its loss is not finite; "
                "lower the learning rate, or bring the columns to one scale."
            )
        self.coefs_, self.intercepts_ = [best.W1, best.W2], [best.b1, best.b2]
        self.n_iter_ = len(self.validation_losses_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, one row per row."""
        check_is_fitted(self)
        rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        if rows.shape[1] != self.n_features_in_:
            raise VeraxError(
                f"The rows have {rows.shape[1]} columns but MlpClassifier was fitted on {self.n_features_in_}; "
                "give rows of the same columns."
            )
        layers = Layers(self.coefs_[0], self.intercepts_[0], self.coefs_[1], self.intercepts_[1])
        probabilities: FloatArray = softmax(forward(layers, _as_rows(rows))[1], axis=1)
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        predicted: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted

    def _first_weights(self, rng: np.random.Generator) -> Layers:
        """Uniform within 1/sqrt(inputs of the layer), as torch.nn.Linear begins."""
        features, hidden, classes = self.n_features_in_, self.hidden_units, len(self.classes_)
        first, second = 1 / np.sqrt(features), 1 / np.sqrt(hidden)
        return Layers(
            rng.uniform(-first, first, (features, hidden)),
            rng.uniform(-first, first, hidden),
            rng.uniform(-second, second, (hidden, classes)),
            rng.uniform(-second, second, classes),
        )

    def _hold_out(self, n_rows: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of the rows to train on, and of those to watch."""
        size = round(self.validation_fraction * n_rows)
        if not 0 < size < n_rows:
            raise VeraxError(
                f"MlpClassifier cannot hold out {self.validation_fraction} of {n_rows} rows to watch its loss; "
                "give validation=(rows, labels) or more rows."
            )
        shuffled = rng.permutation(n_rows)
        return np.sort(shuffled[size:]), np.sort(shuffled[:size])

    def _label_numbers(self, y: Any) -> NDArray[np.intp]:
        values = np.asarray(y)
        unknown = ~np.isin(values, self.classes_)
        if unknown.any():
            raise VeraxError(
                f"The validation rows hold the label {values[unknown][0]!r}, which no training row has; "
                "leave them out or add training rows of that class."
            )
        return np.searchsorted(self.classes_, values)


def forward(layers: Layers, rows: Any) -> tuple[FloatArray, FloatArray]:
    """The hidden units after rectification, and the scores before the softmax."""
    hidden = rows @ layers.W1
    hidden += layers.b1
    np.maximum(hidden, 0.0, out=hidden)
    return hidden, hidden @ layers.W2 + layers.b2


def loss(layers: Layers, rows: Any, labels: NDArray[np.intp]) -> float:
    """The mean cross-entropy."""
    scores = forward(layers, rows)[1]
    return float(-log_softmax(scores, axis=1)[np.arange(len(labels)), labels].mean())


def _epoch(
    layers: Layers, rows: Any, labels: NDArray[np.intp], weights: FloatArray, rate: float, batch_size: int
) -> None:
    for start in range(0, len(labels), batch_size):
        batch = slice(start, start + batch_size)
        descend(layers, _slice(rows, batch), labels[batch], weights[batch], rate)


def _slice(rows: Any, batch: slice) -> Any:
    if not sparse.issparse(rows):
        return rows[batch]
    # By hand, because scipy's own slicing takes a fifth of the whole training time.
    indptr = rows.indptr[batch.start : batch.stop + 1]
    entries = slice(indptr[0], indptr[-1])
    shape = (len(indptr) - 1, rows.shape[1])
    return sparse.csr_array((rows.data[entries], rows.indices[entries], indptr - indptr[0]), shape=shape)


def descend(layers: Layers, rows: Any, labels: NDArray[np.intp], weights: FloatArray, rate: float) -> None:
    """One step of gradient descent on the mean of weight x cross-entropy, in place.

    The gradient of W1 is zero outside the columns that occur in the rows, so only those of sparse rows are
    touched.
    """
    columns: Any = slice(None)
    if sparse.issparse(rows):
        columns, places = np.unique(rows.indices, return_inverse=True)
        rows = sparse.csr_array((rows.data, places, rows.indptr), shape=(rows.shape[0], len(columns)))
    W1 = layers.W1[columns]
    hidden, scores = forward(Layers(W1, layers.b1, layers.W2, layers.b2), rows)
    errors = softmax(scores, axis=1)
    errors[np.arange(len(labels)), labels] -= 1.0
    errors *= (weights / len(labels))[:, None]
    hidden_errors = (errors @ layers.W2.T) * (hidden > 0)
    layers.W2 -= rate * (hidden.T @ errors)
    layers.b2 -= rate * errors.sum(axis=0)
    layers.W1[columns] = W1 - rate * (rows.T @ hidden_errors)
    layers.b1 -= rate * hidden_errors.sum(axis=0)


def _as_rows(X: Any) -> Any:
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    return np.asarray(X, dtype=np.float64)


def _length(rows: Any, weights: FloatArray) -> float:
    """The root mean squared length of weighted rows."""
    squares = rows.multiply(rows) if sparse.issparse(rows) else np.square(rows)
    return float(np.sqrt(weights @ squares.sum(axis=1) / weights.sum()))
