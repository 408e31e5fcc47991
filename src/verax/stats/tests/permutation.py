"""Exact tests: participants' scores by rearrangement, and chosen sets against random sets of the same size.

Exact tests of participants' scores: flipped signs for one method, permuted labels for two, within strata.

They take the items as fixed: a small p says that other participants would show it on these items. Where all
rearrangements are too many, a sample of them with the observed one added (so p is never 0).

Whether chosen sets are better than random sets of the same size: an exact test at any number of inputs.

For each input the value of the chosen set stands beside the values of all sets of as many features, or of sets drawn at
random. If the choice were random, the chosen set would be as likely as any other, input by input. So p is the share of
all combinations, one set per input, whose values sum to as much as those of the chosen ones. Equal values count as
reaching it: ties make the test careful, never bold. One input is enough for a test; whether it can show anything
depends on how many sets there are, which `smallest` says.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verax.arrays import FloatArray
from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.estimate import finite_vector
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import ALPHA

# Signs of so many participants are all enumerated (in two halves of 2^16), labels up to so many arrangements.
MOST_FLIPPED = 32
MOST_ARRANGED = 5000
DRAWS = 9999


@dataclass(frozen=True)
class Permutation(Record):
    """A permutation test.

    Attributes:
        statistic: The mean, or the difference of means.
        p: Share of arrangements at least as far from 0, two-sided.
        smallest: The smallest p that these numbers of participants allow; above .05 the test cannot reject.
        exact: Whether all arrangements were counted.
        arrangements: How many were.
        n: Participants.
    """

    statistic: float
    p: float
    smallest: float
    exact: bool
    arrangements: int
    n: int


def sign_flip(scores: ArrayLike, seed: int = 0, draws: int = DRAWS) -> Permutation:
    """Whether participants' scores centre at 0: each is as likely as its negative.

    Exact up to 32 participants: the sums of all signs of each half are sorted and matched.

    Args:
        scores: One Change per participant.
        seed: Seed of the draws, used above 32 participants only.
        draws: How many.
    """
    values = finite_vector(scores)
    n = len(values)
    if n == 0:
        raise VeraxError("There is no score to test: give at least one participant.")
    observed = abs(values.sum())
    limit = observed - _tolerance(values)
    if n <= MOST_FLIPPED:
        p = _count_flips(values, limit) / 2**n
        return Permutation(float(values.mean()), min(p, 1.0), min(1.0, 2.0 ** (1 - n)), True, 2**n, n)
    signs = np.random.default_rng(seed).integers(0, 2, (draws, n), dtype=np.int8) * 2 - 1
    extreme = int((np.abs(signs @ values) >= limit).sum())
    return Permutation(float(values.mean()), (1 + extreme) / (1 + draws), 1 / (1 + draws), False, draws, n)


def _count_flips(values: FloatArray, limit: float) -> int:
    """How many of all signs give a sum at least ``limit`` away from 0."""
    first, second = (_signed_sums(half) for half in np.array_split(values, 2))
    second = np.sort(second)
    if limit <= 0:
        return len(first) * len(second)
    below = np.searchsorted(second, -limit - first, side="right")
    above = len(second) - np.searchsorted(second, limit - first, side="left")
    return int(below.sum() + above.sum())


def _signed_sums(values: FloatArray) -> FloatArray:
    """The sums of the values under all signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def label_permutation(
    scores: ArrayLike,
    first: ArrayLike,
    strata: Sequence[Hashable] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
) -> Permutation:
    """Whether two methods' scores differ: labels are exchanged among the participants of a stratum.

    The statistic is the difference of means, averaged over the strata that hold participants of both.

    Args:
        scores: One Change per participant.
        first: True where the participant has the first method, False for the second.
        strata: Group of each participant (a domain); None is one.
        seed: Seed of the draws, used only where there are more than 5,000 arrangements.
        draws: How many.
    """
    values, labels = finite_vector(scores), np.asarray(first, dtype=bool)
    if len(labels) != len(values):
        raise VeraxError(
            f"There are {len(labels)} labels for {len(values)} scores: give the label for each score."
        )
    groups = [
        (values[rows], labels[rows])
        for rows in _rows_of(strata, len(values))
        if labels[rows].any() and not labels[rows].all()
    ]
    if not groups:
        raise VeraxError(
            f"There are {int(labels.sum())} participants of the first method and {int((~labels).sum())} of the second: "
            "give both methods in at least one stratum."
        )
    observed = sum(_difference(group, marks[None])[0] for group, marks in groups) / len(groups)
    number = prod(comb(len(group), int(marks.sum())) for group, marks in groups)
    limit = abs(observed) - _tolerance(values)
    n = sum(len(group) for group, _ in groups)
    smallest = _smallest_share(groups) / number
    if number <= MOST_ARRANGED:
        sums = np.zeros(1)
        for group, marks in groups:
            sums = np.add.outer(sums, _difference(group, _all_labels(len(group), int(marks.sum())))).ravel()
        p = float((np.abs(sums / len(groups)) >= limit).mean())
        return Permutation(float(observed), p, smallest, True, number, n)
    rng = np.random.default_rng(seed)
    drawn = sum(
        _difference(group, rng.permuted(np.tile(marks, (draws, 1)), axis=1)) for group, marks in groups
    )
    extreme = int((np.abs(drawn / len(groups)) >= limit).sum())
    return Permutation(float(observed), (1 + extreme) / (1 + draws), 1 / (1 + draws), False, draws, n)


def _rows_of(strata: Sequence[Hashable] | None, n: int) -> list[NDArray[np.intp]]:
    """The places of each stratum."""
    if strata is None:
        return [np.arange(n)]
    if len(strata) != n:
        raise VeraxError(
            f"There are {len(strata)} strata for {n} scores: give the stratum of each participant."
        )
    return [
        np.array([place for place, name in enumerate(strata) if name == stratum])
        for stratum in dict.fromkeys(strata)
    ]


def _all_labels(n: int, k: int) -> NDArray[np.bool_]:
    """All ways to mark k of n, one per row."""
    chosen = np.array(list(combinations(range(n), k)), dtype=np.intp).reshape(comb(n, k), k)
    labels = np.zeros((len(chosen), n), dtype=bool)
    labels[np.arange(len(chosen))[:, None], chosen] = True
    return labels


def _difference(values: FloatArray, labels: NDArray[np.bool_]) -> FloatArray:
    """Mean of the marked minus mean of the others, for each row of labels."""
    k, n = int(labels[0].sum()), len(values)
    marked = labels @ values
    return np.asarray(marked / k - (values.sum() - marked) / (n - k), dtype=np.float64)


def _smallest_share(groups: list[tuple[FloatArray, NDArray[np.bool_]]]) -> int:
    """Arrangements that are as extreme as the most extreme one: two where exchanging the methods mirrors them."""
    return 2 if all(2 * int(marks.sum()) == len(group) for group, marks in groups) else 1


def _tolerance(values: FloatArray) -> float:
    """Differences below this are rounding: an arrangement that equals the observed one must count as equal."""
    return 1e-12 * float(np.abs(values).sum())


# Combinations that are all counted; above, as many are drawn, with the observed one added. The smallest p is the same
# on both sides, so that one more input does not make it larger.
COMBINATIONS_DRAWN = 19_999
MOST_COMBINATIONS = COMBINATIONS_DRAWN + 1


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
    chosen: ArrayLike, pools: Sequence[ArrayLike], *, seed: int = 0, draws: int = COMBINATIONS_DRAWN
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
    if combinations <= MOST_COMBINATIONS:
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
