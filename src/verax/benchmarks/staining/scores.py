"""How much of a stain an explanation shows: recall of its features among the most important ones."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain import Attribution

BUDGETS = tuple(range(1, 11))
# Scores that differ by less than this share of the largest are ties: rounding must not decide who is named.
TIE = 1e-9


def places(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each feature, how many are certainly more important, and how many tie with it (itself included).

    Importance is the magnitude of the score.
    """
    magnitude = np.abs(scores)
    if not np.isfinite(magnitude).all():
        raise VeraxError("An explanation holds a score that is not a finite number.")
    step = TIE * magnitude.max(initial=0.0)
    levels = np.round(magnitude / step) if step > 0 else np.zeros_like(magnitude)
    ordered = np.sort(levels)
    above = len(levels) - np.searchsorted(ordered, levels, side="right")
    ties = np.searchsorted(ordered, levels, side="right") - np.searchsorted(ordered, levels, side="left")
    return above.astype(np.float64), ties.astype(np.float64)


def recall(explanation: Attribution, wanted: Collection[str]) -> FloatArray:
    """The share of the stain's features among the top b, for b = 1 to 10 (equation 2 of the paper).

    Ties are broken at random, and the expectation over that is returned: a feature that ties with others has the chance
    that a random order would give it. Up to b = |F| even a perfect explanation has at most b / |F|.
    """
    chances = _chances(explanation, wanted)
    shares: FloatArray = chances.sum(axis=0) / max(1, len(wanted))
    return shares


def reciprocal_rank(explanation: Attribution, wanted: Collection[str]) -> float:
    """The mean over the stain's features of one over their rank, ties broken at random; 0 for one that is not named."""
    above, ties = places(explanation.scores)
    total = 0.0
    for number in _numbers(explanation, wanted):
        ranks = above[number] + 1.0 + np.arange(ties[number])
        total += float(np.mean(1.0 / ranks))
    return total / max(1, len(wanted))


def ceiling(size: int) -> float:
    """The largest area under the recall curve that an explanation can have: b features hold b of |F| at the most.

    It is the same for any number of features that an explanation scores, |F| at the least.
    """
    return float(np.mean(np.minimum(1.0, np.array(BUDGETS) / max(1, size))))


def highest_reciprocal_rank(size: int) -> float:
    """The largest mean of one over the ranks of |F| features, which are then the first ones."""
    return float(np.mean(1.0 / np.arange(1, max(1, size) + 1)))


def floor(features: int) -> float:
    """The area under the recall curve of features in a random order, in expectation: recall is b of all."""
    return float(np.mean(np.minimum(1.0, np.array(BUDGETS) / max(1, features))))


def _chances(explanation: Attribution, wanted: Collection[str]) -> FloatArray:
    """The chance of each wanted feature to be among the top b: (features found, budgets)."""
    numbers = _numbers(explanation, wanted)
    above, ties = places(explanation.scores)
    budgets = np.array(BUDGETS, dtype=np.float64)
    chances: FloatArray = np.clip((budgets - above[numbers, None]) / ties[numbers, None], 0.0, 1.0)
    return chances


def _numbers(explanation: Attribution, wanted: Collection[str]) -> list[int]:
    return [number for number, feature in enumerate(explanation.features) if feature in wanted]
