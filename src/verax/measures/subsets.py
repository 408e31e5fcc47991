"""Measures of the scores: against what the model does without features, against other scores, and by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verax.arrays import BoolArray, FloatArray, tied_ranks
from verax.errors import VeraxError
from verax.explain.explanation import Explanation
from verax.measures.base import defines, measures
from verax.measures.case import Case, levels_of, ranks_of, scores_of

# A step down that is smaller than this is rounding.
STEP = 1e-9


def correlation(one: FloatArray, other: FloatArray) -> float:
    """Pearson's; 0 where one of them does not vary, so that there is nothing to correlate."""
    if len(one) < 2:
        return 0.0
    first, second = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((first @ first) * (second @ second)))
    # Rounding alone makes constant numbers vary in their last digits.
    small = 1e-12 * max(1.0, float(np.abs(one).max()) * float(np.abs(other).max())) * len(one)
    return float(np.clip(first @ second / scale, -1.0, 1.0)) if scale > small else 0.0


def rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Spearman's; ties share their mean rank, and it is 0 where one of them does not vary."""
    return (
        correlation(tied_ranks(np.round(one, 12)), tied_ranks(np.round(other, 12))) if len(one) > 1 else 0.0
    )


def _checked(name: str, value: int, least: int = 1) -> None:
    if value < least:
        raise VeraxError(f"{name}={value} is too small; give {least} or more.")


def _random_sets(case: Case, number: int, draws: int, size: int) -> BoolArray:
    """Random sets of so many features of an input (or fewer, if it has fewer); the same for all explanations."""
    n = len(case.features[number])
    keys = case.rng(number, "sets", draws, size).random((draws, n))
    # The places of the smallest keys are a set at random.
    chosen: BoolArray = keys.argsort(axis=1).argsort(axis=1) < min(size, n)
    return chosen


@measures.register("faithfulness-correlation")
@defines(better="higher", low=-1, high=1, reads="scores", constant=0.0, any_unit=True)
def faithfulness_correlation(
    case: Case, *, draws: int = 100, size: int = 0, absent: str | None = None
) -> FloatArray:
    """Over random sets of features, the correlation of their summed scores with the fall without them (Bhatt 2020).

    size= is the number of features in a set; a fifth of them if it is not given. 0 where nothing varies.
    """
    _checked("draws", draws, 2)
    _checked("size", size, 0)
    chosen = [
        _random_sets(case, number, draws, size or max(1, round(len(own) / 5)))
        for number, own in enumerate(case.features)
    ]
    whole = [np.concatenate([np.ones((1, sets.shape[1]), dtype=np.bool_), ~sets]) for sets in chosen]
    return np.array(
        [
            correlation(sets @ scores, answer[0] - answer[1:])
            for sets, scores, answer in zip(
                chosen, case.scores, case.target_probability(whole, absent), strict=True
            )
        ]
    )


@measures.register("infidelity")
@defines(better="lower", low=0, high=float("inf"), reads="scores")
def infidelity(
    case: Case, *, draws: int = 100, normalise: bool = True, absent: str | None = None
) -> FloatArray:
    """The mean squared difference between summed scores and the fall without their features (Yeh et al. 2019).

    Each feature goes with a chance of one half. With normalise=True scores are first multiplied by the number that
    makes the difference smallest, so that their unit does not matter, as the paper does and captum can.
    """
    _checked("draws", draws)
    chosen = []
    for number, own in enumerate(case.features):
        chosen.append(case.rng(number, "halves", draws).random((draws, len(own))) < 0.5)
    whole = [np.concatenate([np.ones((1, sets.shape[1]), dtype=np.bool_), ~sets]) for sets in chosen]
    values = []
    for sets, scores, answer in zip(chosen, case.scores, case.target_probability(whole, absent), strict=True):
        told, fall = sets @ scores, answer[0] - answer[1:]
        if normalise and (square := float(told @ told)) > 0:
            told = told * float(told @ fall) / square
        values.append(float(np.mean((told - fall) ** 2)))
    return np.array(values)


@measures.register("monotonicity")
@defines(better="higher", low=0, high=1, constant=1.0)
def monotonicity(case: Case, *, steps: bool = False, absent: str | None = None) -> FloatArray:
    """Whether the probability never falls while features come, the lowest score first (Arya et al. 2019).

    1 or 0, and between them where scores tie. With steps=True it is the share of the steps at which it does not fall.
    """
    orders = case.orders(reverse=True)
    present = [
        np.concatenate(list(ranks_of(own)[:, None, :] < np.arange(own.shape[1] + 1)[None, :, None]))
        for own in orders
    ]
    values = []
    for own, answer in zip(orders, case.target_probability(present, absent), strict=True):
        rises = np.diff(answer.reshape(len(own), -1), axis=1) >= -STEP
        if not rises.shape[1]:
            values.append(1.0)
        else:
            values.append(float(rises.mean() if steps else rises.all(axis=1).mean()))
    return np.array(values)


@measures.register("monotonicity-correlation")
@defines(better="higher", low=-1, high=1, reads="scores", constant=0.0, any_unit=True)
def monotonicity_correlation(case: Case, *, absent: str | None = None) -> FloatArray:
    """Spearman's correlation of the scores' sizes with squared changes without each feature (Nguyen & Martinez 2020).

    0 where nothing varies, or there are fewer than two features.
    """
    present = [
        np.concatenate([np.ones((1, len(own)), dtype=np.bool_), ~np.eye(len(own), dtype=np.bool_)])
        for own in case.features
    ]
    return np.array(
        [
            rank_correlation(np.abs(scores), (answer[0] - answer[1:]) ** 2)
            for scores, answer in zip(case.scores, case.target_probability(present, absent), strict=True)
        ]
    )


TOP = 5


def _others(name: str, case: Case, other: Sequence[Explanation]) -> list[FloatArray]:
    if isinstance(other, Explanation) or len(other) != len(case):
        raise VeraxError(
            f"The measure {name!r} compares with other explanations of the same {len(case)} inputs; give as many, in "
            "their order: other=[...]."
        )
    return [
        scores_of(name, "order", one, own, place)
        for place, (one, own) in enumerate(zip(other, case.features, strict=True))
    ]


def _top_chances(scores: FloatArray, k: int) -> FloatArray:
    """By feature and place among the first k, the chance to stand there: ties are broken at random."""
    levels = -levels_of(np.abs(scores))
    above = np.array([np.count_nonzero(levels < own) for own in levels])
    ties = np.array([np.count_nonzero(levels == own) for own in levels])
    places = np.arange(k)[None, :]
    inside = (places >= above[:, None]) & (places < (above + ties)[:, None])
    return np.asarray(inside / ties[:, None]) if len(scores) else np.zeros((0, k))


def _agreement(
    name: str, case: Case, other: Sequence[Explanation], k: int, *, places: bool, signs: bool
) -> FloatArray:
    if k < 1:
        raise VeraxError(f"k={k} is too small; give 1 or more.")
    values = []
    for mine, theirs in zip(case.scores, _others(name, case, other), strict=True):
        count = min(k, len(mine))
        first, second = _top_chances(mine, count), _top_chances(theirs, count)
        # Two orders whose ties are broken independently.
        both = (first * second).sum(axis=1) if places else first.sum(axis=1) * second.sum(axis=1)
        if signs:
            both = both * (np.sign(mine) == np.sign(theirs))
        values.append(float(both.sum() / count) if count else 1.0)
    return np.array(values)


@measures.register("feature-agreement")
@defines(better="higher", low=0, high=1, costs="nothing")
def feature_agreement(case: Case, *, other: Sequence[Explanation], k: int = TOP) -> FloatArray:
    """The share of the k first features that another explanation has among its k first too (Krishna et al. 2022)."""
    return _agreement("feature-agreement", case, other, k, places=False, signs=False)


@measures.register("rank-agreement")
@defines(better="higher", low=0, high=1, costs="nothing")
def rank_agreement(case: Case, *, other: Sequence[Explanation], k: int = TOP) -> FloatArray:
    """The share of the k first features that another explanation has at the same place (Krishna et al. 2022)."""
    return _agreement("rank-agreement", case, other, k, places=True, signs=False)


@measures.register("sign-agreement")
@defines(better="higher", low=0, high=1, costs="nothing")
def sign_agreement(case: Case, *, other: Sequence[Explanation], k: int = TOP) -> FloatArray:
    """The share of the k first features that are first, with the same sign, in another explanation (Krishna 2022)."""
    return _agreement("sign-agreement", case, other, k, places=False, signs=True)


@measures.register("rank-correlation")
@defines(better="higher", low=-1, high=1, costs="nothing")
def rank_correlation_with(case: Case, *, other: Sequence[Explanation]) -> FloatArray:
    """Spearman's correlation with the scores of another explanation (Krishna et al. 2022); 0 where one has no order."""
    theirs = _others("rank-correlation", case, other)
    return np.array([rank_correlation(one, two) for one, two in zip(case.scores, theirs, strict=True)])


@measures.register("entropy")
@defines(better="lower", low=0, high=float("inf"), reads="scores", costs="nothing", any_unit=True)
def entropy(case: Case) -> FloatArray:
    """The entropy of the scores' sizes as shares of their sum (complexity, Bhatt 2020); all 0 is as n equal ones."""
    values = []
    for scores in case.scores:
        sizes = np.abs(scores)
        shares = sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(sizes), 1 / max(1, len(sizes)))
        positive = shares[shares > 0]
        values.append(float(-(positive * np.log(positive)).sum()) + 0.0)
    return np.array(values)


@measures.register("gini")
@defines(better="higher", low=0, high=1, reads="scores", costs="nothing", any_unit=True)
def gini(case: Case) -> FloatArray:
    """The Gini index of the scores' sizes (sparseness, Chalasani et al. 2020); 0 if all are equal."""
    values = []
    for scores in case.scores:
        sizes = np.sort(np.abs(scores))
        n, total = len(sizes), float(sizes.sum())
        if total == 0:
            values.append(0.0)
            continue
        weights = (n - np.arange(1, n + 1) + 0.5) / n
        values.append(float(np.clip(1 - 2 * (sizes / total) @ weights, 0.0, 1.0)))
    return np.array(values)
