"""(C) accuracy before explanations and (D) tables of ratings: means with the script's bootstrap of plain means."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.columns import check_lengths, coded, joint, numbers, paired_answers, zero_or_one
from verax.stats.hase2020.defects import AS_PUBLISHED, Defects
from verax.stats.hase2020.summary import Replicated, summarised
from verax.stats.record import Record
from verax.stats.resample import block_weights, grid_weights, weighted_sums


@dataclass(frozen=True)
class GridMean(Record):
    """A mean over answers.

    Attributes:
        n: Answers.
        mean: Their mean, in the data.
        spread: Standard deviation over answers; None with one answer.
        absolute_deviation: Mean distance from the mean.
        boot: The bootstrap over participants and items.
    """

    n: int
    mean: float
    spread: float | None
    absolute_deviation: float
    boot: Replicated


@dataclass(frozen=True)
class RatingRow:
    """One method's ratings."""

    method: Hashable
    rating: GridMean


@dataclass(frozen=True)
class RatingByCorrectness(Record):
    """Ratings of explanations of right and of wrong predictions.

    Attributes:
        right: Where the model's prediction is the true label; None without such answers.
        wrong: Where it is not; None without such answers.
        difference: Mean where right minus mean where wrong, replicate by replicate.
        dropped: Answers without a rating or without the model's correctness.
    """

    right: GridMean | None
    wrong: GridMean | None
    difference: Replicated
    dropped: int


def user_average(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    pre: ArrayLike,
    post: ArrayLike,
    replicates: int = 10_000,
    seed: int = 0,
) -> GridMean:
    """(C) The row "User Avg.": accuracy before explanations over all methods, on answers that have Pre and Post."""
    answers = paired_answers(participant, item, method, pre, post)
    people = joint(answers.method, answers.participant)
    return _grid_mean(people, answers.item, answers.pre, replicates, seed)


def rating_table(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    rating: ArrayLike,
    replicates: int = 10_000,
    seed: int = 0,
) -> list[RatingRow]:
    """(D) Ratings per method, highest mean first; answers without a rating are left out (n says how many are in)."""
    people, items, methods, names, ratings, known = _rated(participant, item, method, rating)
    rows = []
    for place, name in enumerate(names):
        own = known & (methods == place)
        if own.any():
            rows.append(RatingRow(name, _grid_mean(people[own], items[own], ratings[own], replicates, seed)))
    return sorted(rows, key=lambda row: -row.rating.mean)


def rating_by_correctness(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    rating: ArrayLike,
    model_right: ArrayLike,
    replicates: int = 10_000,
    seed: int = 0,
    defects: Defects = AS_PUBLISHED,
) -> RatingByCorrectness:
    """(D) Ratings where the model was right and where it was wrong, and their difference.

    Args:
        participant: Who rated; one entry per rating, as in all columns.
        item: The item whose explanation was rated.
        method: The method that explained it.
        rating: The rating, NaN or None if missing.
        model_right: 1 where the model's prediction is the true label, else 0.
        replicates: Resampled data sets.
        seed: Same seed, same result.
        defects: `shared_names` applies to the two means only; the script's difference tells participants apart.
    """
    check_lengths(rating=rating, model_right=model_right)
    people, items, methods, _, ratings, known = _rated(participant, item, method, rating)
    right = zero_or_one("model_right", model_right)
    known &= ~np.isnan(right)
    if not known.any():
        raise VeraxError(f"None of the {len(known)} answers has a rating and the model's correctness.")
    unique = joint(methods, people)
    grid_people = people if defects.shared_names else unique
    means = []
    for wanted in (1, 0):
        own = known & (right == wanted)
        mean = _grid_mean(grid_people[own], items[own], ratings[own], replicates, seed) if own.any() else None
        means.append(mean)
    weights = block_weights(_dense(unique[known]), _dense(items[known]), replicates, seed)
    isright, value = right[known], ratings[known]
    sums = weighted_sums(
        weights, np.stack([isright, isright * value, 1 - isright, (1 - isright) * value], axis=1)
    )
    with np.errstate(invalid="ignore"):  # a replicate without one of the two has no difference
        differences = sums[:, 1] / sums[:, 0] - sums[:, 3] / sums[:, 2]
    return RatingByCorrectness(means[0], means[1], summarised(differences), int((~known).sum()))


def _rated(
    participant: ArrayLike, item: ArrayLike, method: ArrayLike, rating: ArrayLike
) -> tuple[IndexArray, IndexArray, IndexArray, tuple[Hashable, ...], FloatArray, NDArray[np.bool_]]:
    """IndexArray of participants, items and methods, the methods' names, the ratings, and which are not missing."""
    check_lengths(participant=participant, item=item, method=method, rating=rating)
    names, methods = coded("method", method)
    ratings = numbers("rating", rating)
    return (
        coded("participant", participant)[1],
        coded("item", item)[1],
        methods,
        names,
        ratings,
        ~np.isnan(ratings),
    )


def _grid_mean(
    participant: IndexArray, item: IndexArray, value: FloatArray, replicates: int, seed: int
) -> GridMean:
    """The mean of the values and its bootstrap."""
    weights = grid_weights(_dense(participant), _dense(item), replicates, seed)
    sums = weighted_sums(weights, np.stack([value, np.ones(len(value))], axis=1))
    mean = float(value.mean())
    return GridMean(
        n=len(value),
        mean=mean,
        spread=float(value.std(ddof=1)) if len(value) > 1 else None,
        absolute_deviation=float(np.abs(value - mean).mean()),
        boot=summarised(sums[:, 0] / sums[:, 1]),
    )


def _dense(codes: IndexArray) -> IndexArray:
    """IndexArray without gaps: a block that is not there must not be drawn."""
    return np.unique(codes, return_inverse=True)[1].reshape(-1)
