"""(C) to (F): accuracy before explanations, ratings and right answers, and lines through participants."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from verax.arrays import FloatArray, IndexArray
from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.estimate import t_critical, two_sided_p
from verax.stats.hase2020.changes import AS_PUBLISHED, Defects, Replicated, summarised
from verax.stats.logistic import logistic_of_counts, normalised
from verax.stats.resample import block_weights, grid_weights, weighted_sums
from verax.stats.responses import check_lengths, coded, joint, numbers, paired_answers, zero_or_one


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


# The script's limits: answers that make a participant a point.
FEWEST_FOR_MEAN = 10
FEWEST_FOR_RATING = 15
# Points that are so near to their line lie on it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class RegressionLine(Record):
    """y = intercept + slope · x by least squares. Everything but n is None with less than three points or one x.

    Attributes:
        slope: Change of y with 1 more x.
        low: Lower end of the slope's t interval; None where all points lie on the line, which shows no spread.
        high: Upper end.
        p: Two-sided t test of slope 0; None likewise.
        intercept: y at x = 0.
        n: Points.
        left_out: Points with too few answers (or, for regression to the mean, no right answer in Pre).
        level: Coverage of the interval.
    """

    slope: float | None
    low: float | None
    high: float | None
    p: float | None
    intercept: float | None
    n: int
    left_out: int = 0
    level: float = 0.95


def regression_to_mean(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    test: ArrayLike,
    pre: ArrayLike,
    post: ArrayLike,
    level: float = 0.95,
) -> RegressionLine:
    """(F) Change against Pre, one point per participant and test with at least 10 paired answers.

    Chance alone gives a negative slope, because Pre is in both: it says nothing about explanations. Points with no
    right answer in Pre are left out: all that is left of the script's "Pre above .45", which compares percentages.

    Args:
        participant: Who answered; one entry per answer, as in all columns. Told apart between methods.
        item: What was asked.
        method: The method whose explanations this participant saw.
        test: The test, such as domain and kind.
        pre: 1 if right before explanations, 0 if wrong, NaN or None if missing.
        post: The same after explanations.
        level: Coverage wanted.
    """
    check_lengths(participant=participant, test=test)
    answers = paired_answers(participant, item, method, pre, post)
    both = ~np.isnan(numbers("pre", pre) + numbers("post", post))
    tests = coded("test", np.asarray(test)[both])[1]
    point = joint(answers.method, answers.participant, tests)
    n = np.bincount(point)
    before = np.bincount(point, weights=answers.pre) / n
    after = np.bincount(point, weights=answers.post) / n
    used = (n >= FEWEST_FOR_MEAN) & (100 * before > 0.45)
    return _regression_line(before[used], (after - before)[used], level, int((~used).sum()))


def change_on_rating(
    rated: tuple[ArrayLike, ArrayLike, ArrayLike],
    answered: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    level: float = 0.95,
) -> RegressionLine:
    """(D) A participant's Change against the mean of his ratings, for participants with at least 15 paired answers.

    Args:
        rated: Columns participant, method, rating: one entry per rating.
        answered: Columns participant, method, pre, post: one entry per answer.
        level: Coverage wanted.
    """
    participant, method, pre, post = answered
    check_lengths(participant=rated[0], method=rated[1], rating=rated[2])
    check_lengths(participant=participant, method=method, pre=pre, post=post)
    ratings = _by_participant(rated[0], rated[1], numbers("rating", rated[2]))
    changes = _by_participant(participant, method, zero_or_one("post", post) - zero_or_one("pre", pre))
    used = [who for who, own in changes.items() if len(own) >= FEWEST_FOR_RATING and who in ratings]
    x = np.array([np.mean(ratings[who]) for who in used], dtype=np.float64)
    y = np.array([np.mean(changes[who]) for who in used], dtype=np.float64)
    return _regression_line(x, y, level, len(changes) - len(used))


def _by_participant(
    participant: ArrayLike, method: ArrayLike, values: FloatArray
) -> dict[tuple[Hashable, Hashable], list[float]]:
    """The values of each (method, participant) that are not missing."""
    by_participant: dict[tuple[Hashable, Hashable], list[float]] = {}
    people, methods = np.asarray(participant).tolist(), np.asarray(method).tolist()
    for who, how, value in zip(people, methods, values.tolist(), strict=True):
        if not math.isnan(value):
            by_participant.setdefault((how, who), []).append(value)
    return by_participant


def _regression_line(x: FloatArray, y: FloatArray, level: float, left_out: int) -> RegressionLine:
    """Least squares with Student's t on n - 2 degrees of freedom."""
    n = len(x)
    factor = t_critical(level, max(n - 2, 1))
    if n < 3 or x.max() == x.min():
        return RegressionLine(None, None, None, None, None, n, left_out, level)
    from_mean = x - x.mean()
    slope = float(from_mean @ y / (from_mean @ from_mean))
    intercept = float(y.mean() - slope * x.mean())
    residual = y - intercept - slope * x
    if np.abs(residual).max() <= ROUNDING * max(np.abs(y).max(), 1.0):
        return RegressionLine(slope, None, None, None, intercept, n, left_out, level)
    error = math.sqrt(residual @ residual / (n - 2) / (from_mean @ from_mean))
    p = two_sided_p(slope / error, n - 2)
    return RegressionLine(
        slope, slope - factor * error, slope + factor * error, p, intercept, n, left_out, level
    )
