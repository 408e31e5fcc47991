"""Whether chosen sets are better than random sets of the same size: an exact test at any number of inputs.

For each input the value of the chosen set stands beside the values of all sets of as many features, or of sets drawn at
random. If the choice were random, the chosen set would be as likely as any other, input by input. So p is the share of
all combinations, one set per input, whose values sum to as much as those of the chosen ones. Equal values count as
reaching it: ties make the test careful, never bold. One input is enough for a test; whether it can show anything
depends on how many sets there are, which `smallest` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.checks import finite_vector
from verax.stats.record import Record
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import ALPHA

# Combinations that are all counted; above, as many are drawn, with the observed one added. The smallest p is the same
# on both sides, so that one more input does not make it larger.
DRAWS = 19_999
MOST_COUNTED = DRAWS + 1


@dataclass(frozen=True)
class AgainstRandom(Record):
    """A test of chosen sets against random ones.

    Attributes:
        excess: Mean over inputs of the chosen set's value minus the mean of random ones.
        p: Share of combinations of random sets that reach the sum of the chosen ones, one-sided.
        smallest: The smallest p that these values allow, that of the best sets; above .05 nothing can be shown.
        exact: Whether all combinations were counted.
        n: Inputs.
    """

    excess: float
    p: float
    smallest: float
    exact: bool
    n: int


def against_random_sets(
    chosen: ArrayLike, pools: Sequence[ArrayLike], *, seed: int = 0, draws: int = DRAWS
) -> AgainstRandom:
    """Tests whether chosen sets have higher values than random sets of as many features.

    Args:
        chosen: For each input, the value of the chosen set.
        pools: For each input, the values that a random choice would have as likely as the chosen one: of all sets of as
            many features, the chosen one among them, or of drawn sets and the chosen one.
        seed: Of the combinations that are drawn where there are too many to count.
        draws: How many.
    """
    values = finite_vector(chosen)
    drawn = [finite_vector(pool) for pool in pools]
    if len(values) == 0:
        raise VeraxError("There is no input to test: give the value of at least one chosen set.")
    if len(drawn) != len(values):
        raise VeraxError(f"There are {len(drawn)} pools for {len(values)} chosen sets: give one for each.")
    scale = max(float(np.abs(pool).max(initial=0.0)) for pool in drawn) or 1.0
    # Sums of the same numbers in another order differ by rounding; such sums are equal.
    limit = float(values.sum()) - 1e-9 * scale * len(values)
    combinations = prod(len(pool) for pool in drawn)
    best = prod(float(np.mean(pool >= pool.max() - 1e-9 * scale)) for pool in drawn)
    excess = float(np.mean([value - pool.mean() for value, pool in zip(values, drawn, strict=True)]))
    if combinations <= MOST_COUNTED:
        sums = np.zeros(1)
        for pool in drawn:
            sums = np.add.outer(sums, pool).ravel()
        return AgainstRandom(excess, float(np.mean(sums >= limit)), best, True, len(values))
    rng = np.random.default_rng(seed)
    sums = np.zeros(draws)
    for pool in drawn:
        sums += pool[rng.integers(0, len(pool), draws)]
    p = (1 + int((sums >= limit).sum())) / (1 + draws)
    return AgainstRandom(excess, p, max(best, 1 / (1 + draws)), False, len(values))


def holm_of_possible(p_values: Sequence[float], smallest: Sequence[float]) -> FloatArray:
    """Holm's correction over the tests that could show anything; the p of the others becomes 1.

    A test whose smallest possible p is above its share of 5% can never make a claim, so that it takes nothing from the
    others (Tarone, 1990). Which tests these are depends on their smallest p's only, not on what was found.

    Args:
        p_values: Of one family.
        smallest: For each, the smallest p that its data allowed whatever the outcome.
    """
    least = np.asarray(smallest, dtype=np.float64)
    size = next((size for size in range(1, len(least) + 1) if np.sum(least <= ALPHA / size) <= size), 1)
    possible = least <= ALPHA / size
    corrected = np.ones(len(least))
    corrected[possible] = holm(np.asarray(p_values, dtype=np.float64)[possible])
    return corrected
