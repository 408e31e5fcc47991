"""Many tests at once: corrections with which one false claim in the whole family stays rare.

Dunnett's distribution (1955; any group sizes): many differences from one control, tested together.

The differences correlate, since they share the control. Holm's correction (`holm`) needs no
correlations; this one uses them and so rejects a little more often at the same share of false claims.

Many tests on the same units as one family: any false claim in at most 5%, however many tests there are.

Where nothing is to be found, a unit's difference is as likely as its negative, in all tests together. So the sign of a
unit is flipped in all of them at once, which keeps how they go together (models share stains, measures share
explanations). How far a test's differences d lie from 0, z = |sum d| / sqrt(sum d²), is compared with the largest
distance that flipped signs give in any test of the family (Westfall and Young's step-down maximum). That works at any
number of units, needs no spread and guesses none: where all differences agree, six units are enough, since flipped
signs are as extreme in 2 of 64 cases.

Units that share parts are not independent, and flipping them one by one would be wrong. Such a test brings the p of its
own t test (`verax.stats.means`); its distance is the normal one with that p, and normal multipliers of what its parts
contribute stand in for flipped signs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaincinv, gammaln, ndtr, ndtri

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.estimate import t_critical


def holm(p_values: Sequence[float | None] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's correction: the j-th smallest of m becomes max over i <= j of min(1, (m - i + 1) · p_i).

    Args:
        p_values: The p-values of one family. None and NaN are tests that could not be made: they stay NaN and do not
            count in m.
    """
    raw = np.array([np.nan if p is None else p for p in p_values], dtype=np.float64)
    made = np.flatnonzero(~np.isnan(raw))
    outside = made[(raw[made] < 0) | (raw[made] > 1)]
    if len(outside):
        raise VeraxError(
            f"P-value {outside[0] + 1} of {len(raw)} is {raw[outside[0]]}: give numbers from 0 to 1."
        )
    ascending = made[np.argsort(raw[made], kind="stable")]
    multipliers = np.arange(len(made), 0, -1)
    corrected = np.full(len(raw), np.nan)
    corrected[ascending] = np.maximum.accumulate(np.minimum(1.0, multipliers * raw[ascending]))
    return corrected


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


# All signs of so many units are enumerated; of more, so many are drawn.
MOST_ENUMERATED = 14
DRAWN = 9_999
# Flipped at a time, so that memory stays bounded whatever the number of tests.
AT_ONCE = 1_000
# Distances that differ by less are equal: an arrangement that equals the observed one must count as equal.
EQUAL = 1e-9


@dataclass(frozen=True)
class Claim:
    """One test of a family.

    Attributes:
        differences: of each unit; or, where units share parts, what each part contributes, less its mean.
        p: of the test alone, where units share parts; None where signs are flipped.
    """

    differences: Mapping[Hashable, float]
    p: float | None = None


@dataclass(frozen=True)
class Corrected:
    """How a test came out: p of the test alone, and corrected for the family."""

    p: float
    p_family: float


def westfall_young(tests: Sequence[Claim], seed: int = 0) -> list[Corrected]:
    """Tests sums of differences against 0, as one family.

    Args:
        tests: the family; a unit has the same name in all of its tests.
        seed: of the draws, where there are more units than can be enumerated.
    """
    if not tests:
        return []
    names = list(dict.fromkeys(name for test in tests for name in test.differences))
    place = {name: number for number, name in enumerate(names)}
    differences = np.zeros((len(names), len(tests)))
    flips = np.ones(len(names), dtype=bool)
    for column, test in enumerate(tests):
        for name, value in test.differences.items():
            differences[place[name], column] = value
            flips[place[name]] &= test.p is None
    lengths = np.sqrt((differences**2).sum(axis=0))
    # Where all is 0 there is nothing to flip: every arrangement is as far from 0 as the observed one.
    scaled = differences / np.where(lengths > 0, lengths, 1.0)
    given = np.array([1.0 if test.p is None else max(test.p, np.finfo(float).tiny) for test in tests])
    shared = np.array([test.p is not None for test in tests])
    observed = np.where(shared, -ndtri(given / 2), np.abs(scaled.sum(axis=0))) - EQUAL
    order = np.argsort(-observed, kind="stable")
    enumerated = len(names) <= MOST_ENUMERATED and bool(flips.all())
    # Drawn ones do not hold the observed arrangement: it is counted beside them.
    alone, jointly = (np.full(len(tests), 0.0 if enumerated else 1.0) for _ in range(2))
    arrangements = 0 if enumerated else 1
    for multipliers in _enumerated(len(names)) if enumerated else _drawn(flips, seed):
        distances = np.abs(multipliers @ scaled)[:, order]
        alone += (distances >= observed[order]).sum(axis=0)
        # Step-down: a test is compared with those that are no farther from 0 than it.
        largest = np.maximum.accumulate(distances[:, ::-1], axis=1)[:, ::-1]
        jointly += (largest >= observed[order]).sum(axis=0)
        arrangements += len(multipliers)
    p, p_family = np.empty(len(tests)), np.empty(len(tests))
    p[order] = alone / arrangements
    p_family[order] = np.maximum.accumulate(jointly / arrangements)
    p = np.where(shared, given, p)
    return [Corrected(*each) for each in zip(p.tolist(), np.maximum(p, p_family).tolist(), strict=True)]


def _enumerated(units: int) -> list[FloatArray]:
    """All rows of signs in blocks; mirror images are left out, since they are as far from 0."""
    rows = np.arange(2 ** max(units - 1, 0))
    signs = np.asarray(1 - 2 * (rows[:, None] >> np.arange(units) & 1), dtype=np.float64)
    return [signs[start : start + AT_ONCE] for start in range(0, len(signs), AT_ONCE)]


def _drawn(flips: np.ndarray[tuple[int], np.dtype[np.bool_]], seed: int) -> list[FloatArray]:
    """Rows of signs, and of normal multipliers for what is not flipped, in blocks."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((DRAWN, len(flips)))
    drawn = np.where(flips, np.sign(normal), normal)
    return [drawn[start : start + AT_ONCE] for start in range(0, DRAWN, AT_ONCE)]
