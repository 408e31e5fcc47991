"""Measures that take the features away, or leave nothing but them, from the highest score on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.errors import VeraxError
from verax.measures.base import defines, measures
from verax.measures.case import Case, ranks_of

# ERASER's bins: so large a share of the features is removed, or kept.
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
# Probabilities below are taken for this one, so that logarithms are finite.
SMALLEST = 1e-9
MOST_ODDS = float(-np.log(SMALLEST))

Shares = Sequence[float]


def counts_of(n_features: int, shares: Shares, k: int = 0) -> IndexArray:
    """How many features each share of them is: rounded up, one at the least; or k of them, if so many are there."""
    if k < 0:
        raise VeraxError(f"k={k} is too small; give 1 or more, or leave it out.")
    if not k and (not len(shares) or min(shares) <= 0 or max(shares) > 1):
        raise VeraxError(
            f"shares={tuple(shares)!r} are shares of the features; give numbers above 0, up to 1."
        )
    wanted = [k] if k else [max(1, ceil(share * n_features - 1e-9)) for share in shares]
    return np.minimum(wanted, n_features).astype(np.intp)


def curves(
    case: Case, counts: Callable[[int], IndexArray], absent: str | None, *, kept: bool = False
) -> list[tuple[FloatArray, FloatArray]]:
    """By input, the probabilities of the whole input, and those without its first features (or with nothing else).

    Args:
        case: what is measured.
        counts: from a number of features to how many of the first ones are taken, in each step.
        absent: what stands in their place.
        kept: these are kept, and all others taken away.

    Returns:
        Whole: (classes,). Steps: (orders, steps, classes); there are several orders where scores tie.
    """
    orders = case.orders()
    present: list[BoolArray] = []
    for own in orders:
        # (orders, steps, features): whether a feature is among the first ones.
        first = ranks_of(own)[:, None, :] < counts(own.shape[1])[None, :, None]
        rows = np.concatenate(list(first if kept else ~first))
        present.append(np.concatenate([np.ones((1, own.shape[1]), dtype=np.bool_), rows]))
    return [
        (answer[0], answer[1:].reshape(len(own), -1, answer.shape[1]))
        for answer, own in zip(case.ask(present, absent), orders, strict=True)
    ]


def _of_target(case: Case, found: Sequence[tuple[FloatArray, FloatArray]]) -> list[tuple[float, FloatArray]]:
    return [
        (float(whole[target]), steps[:, :, target])
        for (whole, steps), target in zip(found, case.targets, strict=True)
    ]


@measures.register("comprehensiveness")
@defines(better="higher", low=-1, high=1, constant=0.0)
def comprehensiveness(
    case: Case, *, shares: Shares = SHARES, k: int = 0, absent: str | None = None
) -> FloatArray:
    """How far the target's probability falls without the first features (ERASER, DeYoung et al. 2020).

    The mean over shares of the features (its AOPC); with k=, without the first k.
    """
    found = curves(case, lambda n: counts_of(n, shares, k), absent)
    return np.array([whole - steps.mean() for whole, steps in _of_target(case, found)])


@measures.register("sufficiency")
@defines(better="lower", low=-1, high=1, constant=0.0)
def sufficiency(case: Case, *, shares: Shares = SHARES, k: int = 0, absent: str | None = None) -> FloatArray:
    """How far the target's probability falls with nothing but the first features (ERASER, DeYoung et al. 2020).

    The mean over shares of the features (its AOPC); with k=, with nothing but the first k.
    """
    found = curves(case, lambda n: counts_of(n, shares, k), absent, kept=True)
    return np.array([whole - steps.mean() for whole, steps in _of_target(case, found)])


@measures.register("deletion")
@defines(better="lower", low=0, high=1)
def deletion(case: Case, *, absent: str | None = None) -> FloatArray:
    """The area under the target's probability while features go one by one, the first first (RISE, Petsiuk 2018)."""
    found = curves(case, lambda n: np.arange(n + 1), absent)
    return np.array([_area(steps) for _, steps in _of_target(case, found)])


@measures.register("insertion")
@defines(better="higher", low=0, high=1)
def insertion(case: Case, *, absent: str | None = None) -> FloatArray:
    """The area under the target's probability while features come one by one, the first first (RISE, Petsiuk 2018)."""
    found = curves(case, lambda n: np.arange(n + 1), absent, kept=True)
    return np.array([_area(steps) for _, steps in _of_target(case, found)])


def _area(steps: FloatArray) -> float:
    """The area over a width of 1, by trapezia; of an input without features, the one probability that there is."""
    if steps.shape[1] == 1:
        return float(steps.mean())
    return float(np.trapezoid(steps, dx=1 / (steps.shape[1] - 1), axis=1).mean())


@measures.register("decision-flip-fraction")
@defines(better="lower", low=0, high=1, constant=1.0)
def decision_flip_fraction(case: Case, *, absent: str | None = None) -> FloatArray:
    """The share of the features that go, the first first, until another class is predicted (Serrano & Smith 2019).

    1 where no removal changes the prediction, and 0 where the target is not predicted to begin with.
    """
    found = curves(case, lambda n: np.arange(1, n + 1), absent)
    values = []
    for (whole, steps), target in zip(found, case.targets, strict=True):
        flipped = steps.argmax(axis=2) != target
        n = max(1, flipped.shape[1])
        first = (
            np.where(flipped.any(axis=1), flipped.argmax(axis=1) + 1, n) if flipped.shape[1] else np.ones(1)
        )
        values.append(0.0 if int(whole.argmax()) != target else float(first.mean() / n))
    return np.array(values)


@measures.register("decision-flip-token")
@defines(better="higher", low=0, high=1, constant=0.0)
def decision_flip_token(case: Case, *, absent: str | None = None) -> FloatArray:
    """Whether another class is predicted without the first feature (Chrysostomou & Aletras 2021).

    Where several features are first, the share of them of which it is so; 0 where the target is not predicted.
    """
    found = curves(case, lambda n: np.array([min(1, n)], dtype=np.intp), absent)
    return np.array(
        [
            float(np.mean(steps.argmax(axis=2) != target)) if int(whole.argmax()) == target else 0.0
            for (whole, steps), target in zip(found, case.targets, strict=True)
        ]
    )


@measures.register("log-odds")
@defines(better="lower", low=-MOST_ODDS, high=MOST_ODDS, constant=0.0)
def log_odds(case: Case, *, shares: Shares = SHARES, k: int = 0, absent: str | None = None) -> FloatArray:
    """The logarithm of the target's probability without the first features over that with them (Shrikumar 2017).

    The mean over shares of the features, as in Chen et al. (2019). Probabilities below 1e-9 are taken for this.
    """
    found = curves(case, lambda n: counts_of(n, shares, k), absent)
    return np.array(
        [
            float(np.mean(np.log(np.maximum(steps, SMALLEST)) - np.log(max(whole, SMALLEST))))
            for whole, steps in _of_target(case, found)
        ]
    )


@measures.register("soft-comprehensiveness")
@defines(better="higher", low=0, high=float("inf"), reads="scores", constant=0.0)
def soft_comprehensiveness(case: Case, *, draws: int = 32, absent: str | None = None) -> FloatArray:
    """How far the probability falls where features go with a chance of their score, normalised (Zhao & Aletras 2023).

    Normalised by how far it falls without all features; 0 where it does not. Here whole features go, not single numbers
    of their embeddings.
    """
    return _soft(case, draws, absent, kept=False)


@measures.register("soft-sufficiency")
@defines(better="higher", low=float("-inf"), high=1, reads="scores", constant=0.0)
def soft_sufficiency(case: Case, *, draws: int = 32, absent: str | None = None) -> FloatArray:
    """How little the probability falls where features stay with a chance of their score (Zhao & Aletras 2023).

    1 if it does not fall, 0 if it falls as without all features (and where it does not fall without all of them). Here
    whole features stay, not single numbers of their embeddings.
    """
    return _soft(case, draws, absent, kept=True)


def _soft(case: Case, draws: int, absent: str | None, *, kept: bool) -> FloatArray:
    if draws < 1:
        raise VeraxError(f"draws={draws} is too small; give 1 or more.")
    present = []
    for number, scores in enumerate(case.scores):
        chances = np.maximum(scores, 0.0)
        chances = chances / (chances.max(initial=0.0) or 1.0)
        chosen = case.rng(number, "soft", draws).random((draws, len(scores))) < chances
        ends = np.array([[True], [False]]).repeat(len(scores), axis=1)
        present.append(np.concatenate([ends, chosen if kept else ~chosen]))
    values = []
    for answer in case.target_probability(present, absent):
        baseline = max(0.0, answer[0] - answer[1])
        fall = float(np.maximum(0.0, answer[0] - answer[2:]).mean())
        if baseline < SMALLEST:
            values.append(0.0)
        else:
            values.append(1 - fall / baseline if kept else fall / baseline)
    return np.array(values)
