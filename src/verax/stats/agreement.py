"""Agreement of raters, and of a scale's items: Fleiss' kappa, Krippendorff's and Cronbach's alpha, McDonald's omega.

Of raters there are intervals over items and over raters.

Both allow unequal numbers of raters per item. Ratings come as three columns (item, rater, value), one entry per rating;
what was not rated is simply not there. Items with a single rating say nothing about agreement and are counted.

Both are computed from pairs of ratings of one item by different raters. An item's pairs of values (c, k) are

    pairs(c, k) = n_c n_k - [c = k] · sum over raters with value c of w²

with n_c the number of ratings c. In the data every weight w is 1; a bootstrap over raters gives a rater who was drawn
twice the weight 2, and a rater is never paired with himself, who would always agree. With three or four raters there
are few ways to draw them: that interval is then only a hint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f as f_distribution

from verax.arrays import FloatArray, IndexArray
from verax.codec import Record
from verax.errors import VeraxError
from verax.seeds import stream
from verax.stats.estimate import check_level
from verax.stats.resample import pigeonhole_weights
from verax.stats.responses import check_lengths, check_replicates, coded, first_repeat, numbers

Scale = Literal["nominal", "ordinal", "interval"]

# Counts of (replicate, item, value) held at a time.
MOST_COUNTS = 2_000_000


@dataclass(frozen=True)
class Agreement(Record):
    """A coefficient of agreement: 1 is perfect, 0 what chance gives.

    Attributes:
        value: The coefficient; None where it does not exist: nothing to pair, or only one value ever used.
        observed: Share of agreeing pairs (kappa), or disagreement found (alpha).
        expected: The same by chance.
        items_low: Lower end of the percentile bootstrap interval over items: other items, these raters.
        items_high: Upper end.
        raters_low: Lower end over raters: these items, other raters.
        raters_high: Upper end.
        n_items: Items with at least two ratings.
        n_raters: Raters of these items.
        n_ratings: Their ratings.
        single: Items left out because they have one rating.
        items_boots: Replicates over items in which the coefficient exists.
        raters_boots: The same over raters.
        level: Coverage that the intervals aim at.
    """

    value: float | None
    observed: float | None
    expected: float | None
    items_low: float | None
    items_high: float | None
    raters_low: float | None
    raters_high: float | None
    n_items: int
    n_raters: int
    n_ratings: int
    single: int
    items_boots: int
    raters_boots: int
    level: float = 0.95


@dataclass(frozen=True, eq=False)
class _Ratings:
    """Ratings of items that have at least two, sorted by item and value; names as codes without gaps."""

    item: IndexArray
    rater: IndexArray
    value: IndexArray
    items: int
    raters: int
    values: int
    single: int


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Replicates of the ratings.

    Attributes:
        count: (replicates, items, values): sum of the weights of an item's raters who gave the value.
        square: The same of squared weights.
        item: (replicates, items): weights of the items.
    """

    count: FloatArray
    square: FloatArray
    item: FloatArray


# (replicates, 3): the coefficient, what was observed, what chance gives.
Coefficient = Callable[[_Weighed], FloatArray]


def fleiss_kappa(
    item: ArrayLike,
    rater: ArrayLike,
    value: ArrayLike,
    replicates: int = 2_000,
    seed: int = 0,
    level: float = 0.95,
) -> Agreement:
    """Fleiss' kappa, (observed - expected) / (1 - expected), of categories without an order.

    observed is the mean over items of the share of its pairs that agree; expected the sum over values of the square of
    the mean over items of the value's share. With as many raters for every item this is Fleiss' own formula.

    Args:
        item: What was rated; one entry per rating, as in all columns.
        rater: Who rated it, once.
        value: The category chosen.
        replicates: Replicates of each bootstrap.
        seed: Same seed, same intervals.
        level: Coverage that the intervals aim at.
    """
    check_lengths(item=item, rater=rater, value=value)
    ratings = _ratings(item, rater, coded("value", value)[1])[0]
    return _agreement(ratings, _kappa, replicates, seed, level)


def krippendorff_alpha(
    item: ArrayLike,
    rater: ArrayLike,
    value: ArrayLike,
    scale: Scale = "nominal",
    replicates: int = 2_000,
    seed: int = 0,
    level: float = 0.95,
) -> Agreement:
    """Krippendorff's alpha, 1 - observed / expected disagreement.

    Args:
        item: What was rated; one entry per rating, as in all columns.
        rater: Who rated it, once.
        value: The value given: any names for "nominal", numbers for the other two.
        scale: "nominal" counts different values, "ordinal" how many ratings lie between two, "interval" their
            difference; the last two are squared.
        replicates: Replicates of each bootstrap.
        seed: Same seed, same intervals.
        level: Coverage that the intervals aim at.
    """
    check_lengths(item=item, rater=rater, value=value)
    if scale not in ("nominal", "ordinal", "interval"):
        raise VeraxError(f"The scale {scale!r} is not known: choose nominal, ordinal or interval.")
    given = value if scale == "nominal" else numbers("value", value)
    names, codes = coded("value", given)
    ratings, used = _ratings(item, rater, codes)
    position = None
    if scale == "interval":
        position = np.array(names, dtype=np.float64)[used]
    return _agreement(ratings, partial(_alpha, scale, position), replicates, seed, level)


def _ratings(item: ArrayLike, rater: ArrayLike, value: IndexArray) -> tuple[_Ratings, IndexArray]:
    """The ratings that can be paired, and which of the values occur in them."""
    items, item_codes = coded("item", item)
    raters, rater_codes = coded("rater", rater)
    place = item_codes * len(raters) + rater_codes
    repeat = first_repeat(place)
    if repeat is not None:
        rater_code, item_code = rater_codes[repeat.at], item_codes[repeat.at]
        raise VeraxError(
            f"Rater {raters[rater_code]} rated item {items[item_code]} several times "
            f"({repeat.such} such pairs in all): give one rating for each."
        )
    number = np.bincount(item_codes)
    paired = np.flatnonzero(number[item_codes] > 1)
    order = paired[np.lexsort((value[paired], item_codes[paired]))]
    kept_items, item_place = np.unique(item_codes[order], return_inverse=True)
    kept_raters, rater_place = np.unique(rater_codes[order], return_inverse=True)
    used, value_place = np.unique(value[order], return_inverse=True)
    sizes = len(kept_items), len(kept_raters), len(used)
    return _Ratings(item_place, rater_place, value_place, *sizes, single=int((number == 1).sum())), used


def _agreement(
    ratings: _Ratings, coefficient: Coefficient, replicates: int, seed: int, level: float
) -> Agreement:
    """The coefficient in the data and in two bootstraps."""
    check_level(level)
    check_replicates(replicates)
    sizes = {
        "n_items": ratings.items,
        "n_raters": ratings.raters,
        "n_ratings": len(ratings.item),
        "single": ratings.single,
    }
    if ratings.items == 0:
        return Agreement(
            None, None, None, None, None, None, None, **sizes, items_boots=0, raters_boots=0, level=level
        )
    one_rater, one_item = np.ones((1, ratings.raters)), np.ones((1, ratings.items))
    value, observed, expected = coefficient(_weighed(ratings, one_rater, one_item))[0].tolist()
    over_items, over_raters = [], []
    nobody = np.zeros(ratings.raters, dtype=np.intp), np.zeros(ratings.items, dtype=np.intp)
    for of_raters, of_items in pigeonhole_weights(*nobody, replicates, seed):
        step = max(1, MOST_COUNTS // (ratings.items * ratings.values))
        for start in range(0, len(of_items), step):
            some = slice(start, start + step)
            over_items.append(coefficient(_weighed(ratings, one_rater, of_items[some]))[:, 0])
            over_raters.append(coefficient(_weighed(ratings, of_raters[some], one_item))[:, 0])
    items_low, items_high, items_boots = _interval(np.concatenate(over_items), level)
    raters_low, raters_high, raters_boots = _interval(np.concatenate(over_raters), level)
    return Agreement(
        None if math.isnan(value) else value,
        observed,
        expected,
        items_low,
        items_high,
        raters_low,
        raters_high,
        **sizes,
        items_boots=items_boots,
        raters_boots=raters_boots,
        level=level,
    )


def _interval(boots: FloatArray, level: float) -> tuple[float | None, float | None, int]:
    """Percentile interval of the replicates in which there is a coefficient; none where all of them give the same."""
    known = boots[~np.isnan(boots)]
    if not len(known):
        return None, None, 0
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return (low, high, len(known)) if low < high else (None, None, len(known))


def _weighed(ratings: _Ratings, of_raters: FloatArray, of_items: FloatArray) -> _Weighed:
    """Sums of the raters' weights per item and value; ratings are sorted so that a cell's stand together."""
    cell = ratings.item * ratings.values + ratings.value
    start = np.flatnonzero(np.r_[True, np.diff(cell) > 0])
    count = np.zeros((len(of_raters), ratings.items * ratings.values))
    square = np.zeros_like(count)
    weights = of_raters[:, ratings.rater]
    count[:, cell[start]] = np.add.reduceat(weights, start, axis=1)
    square[:, cell[start]] = np.add.reduceat(weights**2, start, axis=1)
    shape = len(of_raters), ratings.items, ratings.values
    return _Weighed(count.reshape(shape), square.reshape(shape), of_items)


def _kappa(weighed: _Weighed) -> FloatArray:
    """Kappa of each replicate, over the items that still have a pair of raters."""
    total = weighed.count.sum(axis=2)
    pairs = total**2 - weighed.square.sum(axis=2)
    agreeing = (weighed.count**2 - weighed.square).sum(axis=2)
    weight = weighed.item * (pairs > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = weight.sum(axis=1)
        observed = (weight * (agreeing / np.where(pairs > 0, pairs, 1))).sum(axis=1) / whole
        share = weighed.count / np.where(total > 0, total, 1)[:, :, None]
        mean_share = (weight[:, :, None] * share).sum(axis=1) / whole[:, None]
        expected = (mean_share**2).sum(axis=1)
        value = np.where(expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan)
    return np.stack([value, observed, expected], axis=1)


def _alpha(scale: Scale, position: FloatArray | None, weighed: _Weighed) -> FloatArray:
    """Alpha of each replicate from its coincidences, in which every item counts as often as it has ratings."""
    total = weighed.count.sum(axis=2)
    pairs = total**2 - weighed.square.sum(axis=2)
    factor = weighed.item * np.where(pairs > 0, total / np.where(pairs > 0, pairs, 1), 0.0)
    count = np.broadcast_to(weighed.count, (len(factor), *weighed.count.shape[1:]))
    products = (count * factor[:, :, None]).transpose(0, 2, 1) @ count
    diagonal = np.arange(products.shape[1])
    products[:, diagonal, diagonal] -= (weighed.square * factor[:, :, None]).sum(axis=1)
    values = products.sum(axis=2)
    distance = _distances(scale, position, values)
    n = values.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (products * distance).sum(axis=(1, 2)) / n
        expected = (values[:, :, None] * values[:, None, :] * distance).sum(axis=(1, 2)) / (n * (n - 1))
        value = np.where(expected > 0, 1 - observed / np.where(expected > 0, expected, 1), np.nan)
    return np.stack([value, observed, expected], axis=1)


def _distances(scale: Scale, position: FloatArray | None, values: FloatArray) -> FloatArray:
    """Squared distances of the values: (replicates, values, values)."""
    if scale == "nominal":
        return np.asarray(1 - np.eye(values.shape[1])[None])
    # Between two ranks lie half the ratings of each and all of those between them.
    place = np.cumsum(values, axis=1) - values / 2 if position is None else position[None]
    return np.asarray((place[:, :, None] - place[:, None, :]) ** 2)


DRAWS = 1000
SWEEPS, TOLERANCE = 2000, 1e-9
FEWEST_ITEMS = 3  # that determine one factor
FEWEST_PEOPLE = 10  # of whom people can be drawn again


@dataclass(frozen=True)
class Reliability:
    """A coefficient with its interval; None where there is nothing to compute it from.

    Attributes:
        estimate: at most 1.
        low, high: of the interval.
        people: that answered all items.
        items: how many there are.
    """

    estimate: float | None
    low: float | None
    high: float | None
    people: int
    items: int


def cronbach_alpha(answers: ArrayLike, level: float = 0.95) -> Reliability:
    """Cronbach's (1951) alpha with Feldt's (1965) interval, which is exact for normal, equally correlated items.

    Args:
        answers: one row for each person, one column for each item, all in one direction.
        level: of the interval.
    """
    table = _table(answers)
    check_level(level)
    people, items = table.shape
    if people < 2 or items < 2 or table.sum(axis=1).var(ddof=1) == 0:
        return Reliability(None, None, None, people, items)
    of_items = table.var(axis=0, ddof=1).sum()
    alpha = items / (items - 1) * (1 - of_items / table.sum(axis=1).var(ddof=1))
    if people < 3:
        return Reliability(float(alpha), None, None, people, items)
    lower, upper = f_distribution.ppf(
        [(1 + level) / 2, (1 - level) / 2], people - 1, (people - 1) * (items - 1)
    )
    return Reliability(
        float(alpha),
        float(1 - (1 - alpha) * lower),
        float(min(1.0, 1 - (1 - alpha) * upper)),
        people,
        items,
    )


def mcdonald_omega(answers: ArrayLike, level: float = 0.95, seed: int = 0) -> Reliability:
    """McDonald's (1999) omega of one factor: the share of the total's variance that the factor makes.

    The factor's loadings are those of least squares over all correlations (minimum residuals). The interval is the
    percentile interval over people drawn again; there is none for fewer than ten of them.

    Args:
        answers: one row for each person, one column for each item, all in one direction.
        level: of the interval.
        seed: of the draws.
    """
    table = _table(answers)
    check_level(level)
    people, items = table.shape
    if people < 3 or items < FEWEST_ITEMS or (table.var(axis=0) == 0).any():
        return Reliability(None, None, None, people, items)
    omega = float(_omegas(_covariances(table[np.newaxis]))[0])
    if people < FEWEST_PEOPLE:
        return Reliability(omega, None, None, people, items)
    drawn = stream(seed, "omega", people, items).integers(people, size=(DRAWS, people))
    covariances = _covariances(table[drawn])
    spread = np.diagonal(covariances, axis1=1, axis2=2)
    some = _omegas(covariances[(spread > 0).all(axis=1)])
    low, high = np.quantile(some, [(1 - level) / 2, (1 + level) / 2])
    return Reliability(omega, float(low), float(high), people, items)


def _table(answers: ArrayLike) -> FloatArray:
    table = np.asarray(answers, dtype=float)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise VeraxError(
            "A scale needs a number for each person and item: leave out people with a missing one."
        )
    return table


def _covariances(tables: FloatArray) -> FloatArray:
    """By table, the covariances of its columns."""
    centred = tables - tables.mean(axis=1, keepdims=True)
    return np.asarray(np.einsum("bpi,bpj->bij", centred, centred) / (tables.shape[1] - 1))


def _omegas(covariances: FloatArray) -> FloatArray:
    """By covariance matrix: the total variance that one factor makes, of what factor and rests make together."""
    sd = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    correlations = covariances / (sd[:, :, np.newaxis] * sd[:, np.newaxis, :])
    loadings = _loadings(correlations)
    common = (loadings * sd).sum(axis=1) ** 2
    rest = ((1 - loadings**2) * sd**2).sum(axis=1)
    return np.asarray(common / (common + rest))


def _loadings(correlations: FloatArray) -> FloatArray:
    """The loadings of one factor that leave the smallest squared residuals off the diagonal, one item after the other.

    Each step has a closed form, since all but one loading are held.
    """
    values, vectors = np.linalg.eigh(correlations)
    loadings = np.clip(vectors[:, :, -1] * np.sqrt(values[:, -1:]), -1, 1)
    items = loadings.shape[1]
    for _ in range(SWEEPS):
        before = loadings.copy()
        for item in range(items):
            others = np.arange(items) != item
            rest = loadings[:, others]
            explained = (correlations[:, item, others] * rest).sum(axis=1)
            size = (rest**2).sum(axis=1)
            loadings[:, item] = np.clip(
                np.divide(explained, size, out=np.zeros_like(size), where=size > 0), -1, 1
            )
        if np.abs(loadings - before).max() < TOLERANCE:
            break
    return np.asarray(loadings)
