"""Dunnett's distribution (1955; any group sizes): many differences from one control, tested together.

The differences correlate, since they share the control. Holm's correction (`verax.stats.tests.multiplicity`) needs no
correlations; this one uses them and so rejects a little more often at the same share of false claims.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv, gammaln, ndtr

from verax.arrays import FloatArray
from verax.stats.student import t_critical

# Nodes of the two integrals of Dunnett's distribution, and how many normal standard deviations they reach.
_NODES, _REACH = 128, 9.0
_TAIL = 1e-13


def many_to_one_p(t: float, loadings: FloatArray, df: float) -> float:
    """P(max over j of |T_j| >= |t|), where T_j and T_l correlate by loading_j · loading_l and share one variance."""
    return min(1.0, max(0.0, 1.0 - _all_below(abs(t), loadings, df)))


def many_to_one_critical(level: float, loadings: FloatArray, df: float) -> float:
    """The t that all |T_j| stay below with probability ``level``."""
    lowest = t_critical(level, df)
    highest = t_critical(1 - (1 - level) / len(loadings), df)
    if len(loadings) == 1:
        return lowest
    return float(
        brentq(lambda t: _all_below(t, loadings, df) - level, 0.999 * lowest, 1.001 * highest, xtol=1e-10)
    )


def _all_below(t: float, loadings: FloatArray, df: float) -> float:
    """P(all |T_j| < t): given the common part z and the scale s the T_j are independent, so a double integral."""
    common, common_weight = _legendre(-_REACH, _REACH)
    common_weight = common_weight * np.exp(-(common**2) / 2) / math.sqrt(2 * math.pi)
    scale, scale_weight = _scales(float(df))
    own = np.sqrt(1 - np.asarray(loadings) ** 2)[:, None, None]
    shift = np.asarray(loadings)[:, None, None] * common
    limit = t * scale[:, None]
    inside = (ndtr((limit - shift) / own) - ndtr((-limit - shift) / own)).prod(axis=0)
    return float(scale_weight @ inside @ common_weight)


@lru_cache(maxsize=64)
def _scales(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for s = sqrt(chi²(df) / df)."""
    if df > 1e7:
        return np.ones(1), np.ones(1)
    ends = [math.sqrt(2 * gammaincinv(df / 2, share) / df) for share in (_TAIL, 1 - _TAIL)]
    scale, weight = _legendre(*ends)
    density = (
        math.log(2)
        + df / 2 * math.log(df / 2)
        - gammaln(df / 2)
        + (df - 1) * np.log(scale)
        - df * scale**2 / 2
    )
    return scale, weight * np.exp(density)


def _legendre(low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights between two ends."""
    nodes, weights = _unit_legendre()
    return (high - low) / 2 * nodes + (high + low) / 2, (high - low) / 2 * weights


@cache
def _unit_legendre() -> tuple[FloatArray, FloatArray]:
    """The same between -1 and 1."""
    return np.polynomial.legendre.leggauss(_NODES)
