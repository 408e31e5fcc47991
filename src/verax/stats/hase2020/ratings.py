"""(E) Does a rating predict a right answer? Logistic regressions over the script's bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.columns import check_lengths, coded, joint, numbers, zero_or_one
from verax.stats.hase2020.defects import AS_PUBLISHED, Defects
from verax.stats.hase2020.summary import Replicated, summarised
from verax.stats.logistic import logistic_of_counts, normalised
from verax.stats.record import Record
from verax.stats.resample import block_weights, weighted_sums

RATINGS = (2.0, 3.0, 4.0, 5.0, 6.0)
NORMALISED = (-2.0, -1.0, 0.0, 1.0, 2.0)


@dataclass(frozen=True)
class RatingCurve:
    """P(right) against a rating. The script judges by intervals: ignore each p.

    Attributes:
        slope: Change of the log-odds with 1 more rating.
        at: Ratings at which the probability is predicted.
        probability: P(right) there.
        steps: Pairs of ratings.
        change: P(right) at the second minus at the first; times 100 it is points.
        without: Replicates without a slope: all answers equal, or right and wrong ones on different sides of a rating.
    """

    slope: Replicated
    at: tuple[float, ...]
    probability: tuple[Replicated, ...]
    steps: tuple[tuple[float, float], ...]
    change: tuple[Replicated, ...]
    without: int


@dataclass(frozen=True)
class RatingAndCorrectness(Record):
    """Ratings as given, and normalised.

    Attributes:
        raw: Against the rating.
        normalised: Against (rating - mean) / standard deviation inside each "participant", see `Defects`.
        n: Answers used.
        dropped: Answers left out: no rating, no answer, or no normalised rating because all ratings of its group are
            equal. The script leaves these out of the raw regression too.
        defects: Which defects were kept.
    """

    raw: RatingCurve
    normalised: RatingCurve
    n: int
    dropped: int
    defects: Defects


def rating_and_correctness(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    rating: ArrayLike,
    right: ArrayLike,
    replicates: int = 15_000,
    seed: int = 0,
    defects: Defects = AS_PUBLISHED,
) -> RatingAndCorrectness:
    """Regresses right answers on ratings, in each replicate of participants and items.

    Args:
        participant: Who answered; one entry per answer, as in all columns.
        item: What was asked.
        method: The method whose explanations this participant saw.
        rating: The rating of the explanation shown with it, NaN or None if missing.
        right: 1 if the answer was right, 0 if wrong, NaN or None if missing. The script also leaves out answers whose
            Pre is missing: give NaN there.
        replicates: Resampled data sets.
        seed: Same seed, same result.
        defects: `items_as_participants` matters here.
    """
    check_lengths(participant=participant, item=item, method=method, rating=rating, right=right)
    items, methods = coded("item", item)[1], coded("method", method)[1]
    whose = items if defects.items_as_participants else coded("participant", participant)[1]
    people = joint(methods, whose)
    ratings, result = numbers("rating", rating), zero_or_one("right", right)
    scaled = normalised(ratings, people)
    used = ~(np.isnan(scaled) | np.isnan(result))
    if not used.any():
        raise VeraxError(
            f"None of the {len(used)} answers has a result and a rating that varies within its group: "
            "there is no slope to estimate."
        )
    keys = joint(people[used]), joint(items[used])
    raw = _curve(keys, ratings[used], result[used], RATINGS, ((3, 4), (4, 5)), replicates, seed)
    unitless = _curve(keys, scaled[used], result[used], NORMALISED, ((-1, 0), (0, 1)), replicates, seed)
    return RatingAndCorrectness(raw, unitless, int(used.sum()), int((~used).sum()), defects)


def _curve(
    keys: tuple[IndexArray, IndexArray],
    x: FloatArray,
    right: FloatArray,
    at: tuple[float, ...],
    steps: Sequence[tuple[float, float]],
    replicates: int,
    seed: int,
) -> RatingCurve:
    """One regression per replicate; a group of replicates at a time, because x may have many values."""
    values, place = np.unique(x, return_inverse=True)
    columns = np.zeros((len(x), 2 * len(values)))
    columns[np.arange(len(x)), place] = 1
    columns[np.arange(len(x)), place + len(values)] = right
    coefficients = np.vstack(
        [
            logistic_of_counts(values, *np.hsplit(weighted_sums([weights], columns), 2))
            for weights in block_weights(*keys, replicates, seed)
        ]
    )
    predicted = {point: expit(coefficients[:, 0] + coefficients[:, 1] * point) for point in at}
    return RatingCurve(
        slope=summarised(coefficients[:, 1]),
        at=at,
        probability=tuple(summarised(predicted[point]) for point in at),
        steps=tuple(steps),
        change=tuple(summarised(predicted[second] - predicted[first]) for first, second in steps),
        without=int(np.isnan(coefficients[:, 1]).sum()),
    )
