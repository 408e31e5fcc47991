"""How far a share may be from what was counted: Kullback-Leibler bounds (Kaufmann and Kalyanakrishnan 2013)."""

from __future__ import annotations

import numpy as np

from verax.arrays import FloatArray

# Halvings of an interval of length 1: to six digits.
HALVINGS = 20
# A share of 0 or 1 stands for one that is so near to it that it makes no difference.
TINY = 1e-12
# Of the published code of KL-LUCB: the level grows with the rounds as log(405.5 K t^1.1 / delta), twice iterated.
ALPHA, K1 = 1.1, 405.5


def lower(share: FloatArray, level: FloatArray) -> FloatArray:
    """The lowest share whose divergence from what was counted is at most the level."""
    return _edge(share, level, np.zeros_like(share))


def upper(share: FloatArray, level: FloatArray) -> FloatArray:
    """The highest share whose divergence from what was counted is at most the level."""
    return _edge(share, level, np.ones_like(share))


def _edge(share: FloatArray, level: FloatArray, end: FloatArray) -> FloatArray:
    """The share between what was counted and the end at which the divergence of the two coins is the level."""
    counted = np.clip(share, TINY, 1.0 - TINY)
    rest = 1.0 - counted
    # The divergence of p from q is this much less p log q + (1 - p) log (1 - q).
    budget = counted * np.log(counted) + rest * np.log(rest) - level
    inside, outside = counted, np.clip(end, TINY, 1.0 - TINY)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2.0
        near = counted * np.log(middle) + rest * np.log1p(-middle) >= budget
        inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
    return inside


def search_level(n_rules: int, rounds: int, delta: float) -> float:
    """By how much the divergence times the sample's size may exceed 0, for all rules in all rounds at once."""
    first = np.log(K1 * n_rules * rounds**ALPHA / delta)
    return float(first + np.log(first))
