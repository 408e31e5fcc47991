"""How far a share may be from what was counted: Kullback-Leibler bounds (Kaufmann and Kalyanakrishnan 2013)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import rel_entr

from verax.arrays import FloatArray

# Steps of Newton's method: exact to eleven digits, whatever the share and the level.
STEPS = 7
# A share of 0 or 1 stands for one that is so near to it that it makes no difference.
TINY = 1e-12
# Of the published code of KL-LUCB: the level grows with the rounds as log(405.5 K t^1.1 / delta), twice iterated.
ALPHA, K1 = 1.1, 405.5


def lower(share: FloatArray, level: FloatArray) -> FloatArray:
    """The lowest share whose divergence from what was counted is at most the level.

    The highest is 1 less the lowest of the rest: ``1 - lower(1 - share, level)``.
    """
    counted = np.clip(share, TINY, 1.0 - TINY)
    rest = 1.0 - counted
    # The divergence of p from q is this much less p log q + (1 - p) log (1 - q).
    own = counted * np.log(counted) + rest * np.log(rest)
    # Two shares that are surely too low (by Pinsker, and since 1 - q is at most 1): the higher one is the start. The
    # divergence is convex, so that from there Newton's steps go up to the edge and never beyond it.
    edge = np.maximum(counted - np.sqrt(level / 2.0), np.exp((own - level) / counted))
    edge = np.clip(edge, TINY, counted)
    for _ in range(STEPS):
        excess = own - level - counted * np.log(edge) - rest * np.log1p(-edge)
        slope = np.maximum(counted - edge, TINY) / (edge * (1.0 - edge))
        edge = np.minimum(edge + np.maximum(excess, 0.0) / slope, counted)
    return edge


@lru_cache(maxsize=512)
def lowest_shares(size: int, level: float) -> list[float]:
    """The lowest share for every number of hits in a sample, from none to all; searches ask for the same ones often."""
    counted = np.arange(size + 1) / size
    lowest: list[float] = lower(counted, np.full(size + 1, level / size)).tolist()
    return lowest


def divergence(share: float, other: float) -> float:
    """How far a share is from another, strictly between 0 and 1: of Kullback and Leibler, in nats."""
    return float(rel_entr(share, other) + rel_entr(1.0 - share, 1.0 - other))


def search_level(n_rules: int, rounds: int, delta: float) -> float:
    """By how much the divergence times the sample's size may exceed 0, for all rules in all rounds at once."""
    first = np.log(K1 * n_rules * rounds**ALPHA / delta)
    return float(first + np.log(first))
