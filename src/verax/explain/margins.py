"""The evidence margin: by how much a model's evidence for one class exceeds that for another."""

from __future__ import annotations

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.models.base import Inputs, Model
from verax.models.capabilities import Scores

# A probability of 0 or 1 counts as one so near to it: margins stay between -13.8 and 13.8.
NEAREST = 1e-6
# Scores so near to each other tie: a forest's average of 0.5 may be off by the last digit, to either side.
LEVEL = 1e-9


def class_scores(model: Model, inputs: Inputs) -> FloatArray:
    """(inputs, classes): scores before the softmax; logarithms of the probabilities of a model that gives none."""
    if isinstance(model, Scores):
        return model.scores(inputs)
    return scores_of(model.predict_proba(inputs))


def scores_of(probabilities: FloatArray) -> FloatArray:
    """Class scores of a model that gives probabilities only: their logarithms. The highest stays the highest."""
    scores: FloatArray = np.log(np.clip(probabilities, NEAREST, 1.0 - NEAREST))
    return scores


def evidence_margins(scores: FloatArray, predicted: int) -> FloatArray:
    """The margin of each row of class scores.

    With two classes it is the second's score less the first's, as Hase and Bansal (2020) have it ("positive less
    negative"). With more it is the predicted class's less the highest of the others. In both cases a difference of
    scores before a softmax is the log-odds of one class against the other, and the sign changes where the prediction
    does. At 0 two classes tie; a model then predicts the first of them.

    Args:
        scores: (inputs, classes).
        predicted: the class that is predicted for the input that is explained.
    """
    if scores.shape[1] == 2:
        two: FloatArray = scores[:, 1] - scores[:, 0]
        return two
    others = np.delete(scores, predicted, axis=1)
    many: FloatArray = scores[:, predicted] - others.max(axis=1)
    return many


def across(scores: FloatArray, predicted: int) -> BoolArray:
    """Which rows of class scores lie across the boundary: another class scores higher, not only as high."""
    others = np.delete(scores, predicted, axis=1)
    beyond: BoolArray = others.max(axis=1, initial=-np.inf) - scores[:, predicted] > LEVEL
    return beyond
