"""Calibrating what a language model says: by a prompt without content, or on validation texts with known classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray, IntArray
from verax.errors import VeraxError

# What Zhao et al. (2021) put in the place of the text to see what a model says to nothing.
CONTENT_FREE = ("N/A", "", "[MASK]")
# A weak pull of the fit towards no change, as if this many texts had been right without it.
PRIOR = 1.0


@dataclass(frozen=True)
class Calibration:
    """Class scores from log-probabilities: ``scale * log p + offsets``.

    Attributes:
        scale: what log-probabilities are multiplied by; above 0, so that it changes no order within a class.
        offsets: what is added for each class; () adds nothing.
    """

    scale: float = 1.0
    offsets: tuple[float, ...] = ()

    def apply(self, log_probabilities: FloatArray) -> FloatArray:
        """(texts, classes) scores, whose softmax are the probabilities."""
        offsets = np.array(self.offsets) if self.offsets else 0.0
        return np.asarray(self.scale * log_probabilities + offsets)


def contextual(log_probabilities: FloatArray) -> Calibration:
    """Takes away what the model says to texts without content (Zhao et al. 2021); one row for each of these."""
    shares = np.exp(log_probabilities - log_probabilities.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return Calibration(1.0, tuple((-np.log(shares.mean(axis=0))).tolist()))


def fitted(log_probabilities: FloatArray, labels: ArrayLike) -> Calibration:
    """The scale and the offsets with the largest likelihood of known classes: for two classes, a threshold.

    Args:
        log_probabilities: of validation texts, (texts, classes).
        labels: the number of each text's class.
    """
    from scipy.optimize import minimize

    n, classes = log_probabilities.shape
    known: IntArray = np.asarray(labels, dtype=np.int64)
    if known.shape != (n,):
        raise VeraxError(
            f"calibrate= has {n} texts but labels of shape {known.shape}; give one label per text."
        )
    if n == 0 or known.min() < 0 or known.max() >= classes or len(np.unique(known)) < classes:
        raise VeraxError(
            f"calibrate= needs texts of each of the {classes} classes, with labels from 0 to {classes - 1}; give "
            "validation texts of all of them, or calibrate='contextual'."
        )
    centred = log_probabilities - log_probabilities.mean(axis=1, keepdims=True)

    def loss(parameters: FloatArray) -> float:
        scores = np.exp(parameters[0]) * centred + parameters[1:]
        top = scores.max(axis=1, keepdims=True)
        normaliser = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
        missed = float((normaliser - scores[np.arange(n), known]).sum())
        return missed + 0.5 * PRIOR * float(parameters[0] ** 2 + 0.01 * parameters[1:] @ parameters[1:])

    found = minimize(loss, np.zeros(1 + classes), method="L-BFGS-B").x
    return Calibration(float(np.exp(found[0])), tuple((found[1:] - found[1:].mean()).tolist()))


def pair_of(given: object) -> tuple[Sequence[str], ArrayLike]:
    """Validation texts and the numbers of their classes, from a pair of them or a dataset's part."""
    from verax.data.dataset import Part

    if isinstance(given, Part):
        return list(given.inputs), given.labels
    if isinstance(given, tuple) and len(given) == 2:
        return list(given[0]), given[1]
    raise VeraxError(
        f"calibrate={given!r} is not known; give 'contextual', or validation texts with the numbers of their classes: "
        "calibrate=(texts, labels), or calibrate=data.validation."
    )
