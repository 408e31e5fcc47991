"""(F) regression to the mean and (D) Change against ratings: straight lines through one point per participant."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray
from verax.stats.columns import check_lengths, coded, joint, numbers, paired_answers, zero_or_one
from verax.stats.record import Record
from verax.stats.student import t_critical, two_sided_p

# The script's limits: answers that make a participant a point.
FEWEST_FOR_MEAN = 10
FEWEST_FOR_RATING = 15
# Points that are so near to their line lie on it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Line(Record):
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
) -> Line:
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
    return _line(before[used], (after - before)[used], level, int((~used).sum()))


def change_on_rating(
    rated: tuple[ArrayLike, ArrayLike, ArrayLike],
    answered: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    level: float = 0.95,
) -> Line:
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
    return _line(x, y, level, len(changes) - len(used))


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


def _line(x: FloatArray, y: FloatArray, level: float, left_out: int) -> Line:
    """Least squares with Student's t on n - 2 degrees of freedom."""
    n = len(x)
    factor = t_critical(level, max(n - 2, 1))
    if n < 3 or x.max() == x.min():
        return Line(None, None, None, None, None, n, left_out, level)
    from_mean = x - x.mean()
    slope = float(from_mean @ y / (from_mean @ from_mean))
    intercept = float(y.mean() - slope * x.mean())
    residual = y - intercept - slope * x
    if np.abs(residual).max() <= ROUNDING * max(np.abs(y).max(), 1.0):
        return Line(slope, None, None, None, intercept, n, left_out, level)
    error = math.sqrt(residual @ residual / (n - 2) / (from_mean @ from_mean))
    p = two_sided_p(slope / error, n - 2)
    return Line(slope, slope - factor * error, slope + factor * error, p, intercept, n, left_out, level)
