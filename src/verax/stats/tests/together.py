"""Many tests on the same units as one family: any false claim in at most 5%, however many tests there are.

Where nothing is to be found, a unit's difference is as likely as its negative, in all tests together. So the sign of a
unit is flipped in all of them at once, which keeps how they go together (models share stains, measures share
explanations). How far a test's differences d lie from 0, z = |sum d| / sqrt(sum d²), is compared with the largest
distance that flipped signs give in any test of the family (Westfall and Young's step-down maximum). That works at any
number of units, needs no spread and guesses none: where all differences agree, six units are enough, since flipped
signs are as extreme in 2 of 64 cases.

Units that share parts are not independent, and flipping them one by one would be wrong. Such a test brings the p of its
own t test (`verax.stats.sharing`); its distance is the normal one with that p, and normal multipliers of what its parts
contribute stand in for flipped signs.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from verax.arrays import FloatArray

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


def together(tests: Sequence[Claim], seed: int = 0) -> list[Corrected]:
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
