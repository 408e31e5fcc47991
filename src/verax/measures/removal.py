"""Measures that take the features away, or leave nothing but them; also normalised by the best and worst order."""

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
@defines(better="higher", low=-1, high=1, constant=0.0, numbers="unbounded")
def comprehensiveness(
    case: Case, *, shares: Shares = SHARES, k: int = 0, absent: str | None = None
) -> FloatArray:
    """How far the target's probability falls without the first features (ERASER, DeYoung et al. 2020).

    The mean over shares of the features (its AOPC); with k=, without the first k.
    """
    found = curves(case, lambda n: counts_of(n, shares, k), absent)
    return np.array([whole - steps.mean() for whole, steps in _of_target(case, found)])


@measures.register("sufficiency")
@defines(better="lower", low=-1, high=1, constant=0.0, numbers="unbounded")
def sufficiency(case: Case, *, shares: Shares = SHARES, k: int = 0, absent: str | None = None) -> FloatArray:
    """How far the target's probability falls with nothing but the first features (ERASER, DeYoung et al. 2020).

    The mean over shares of the features (its AOPC); with k=, with nothing but the first k.
    """
    found = curves(case, lambda n: counts_of(n, shares, k), absent, kept=True)
    return np.array([whole - steps.mean() for whole, steps in _of_target(case, found)])


@measures.register("deletion")
@defines(better="lower", low=0, high=1, numbers="unbounded")
def deletion(case: Case, *, absent: str | None = None) -> FloatArray:
    """The area under the target's probability while features go one by one, the first first (RISE, Petsiuk 2018)."""
    found = curves(case, lambda n: np.arange(n + 1), absent)
    return np.array([_area(steps) for _, steps in _of_target(case, found)])


@measures.register("insertion")
@defines(better="higher", low=0, high=1, numbers="unbounded")
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
@defines(better="lower", low=0, high=1, constant=1.0, numbers="refused")
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
@defines(better="higher", low=0, high=1, constant=0.0, numbers="refused")
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
@defines(better="lower", low=-MOST_ODDS, high=MOST_ODDS, constant=0.0, numbers="refused")
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
@defines(better="higher", low=0, high=float("inf"), reads="scores", constant=0.0, any_unit=True)
def soft_comprehensiveness(case: Case, *, draws: int = 32, absent: str | None = None) -> FloatArray:
    """How far the probability falls where features go with a chance of their score, normalised (Zhao & Aletras 2023).

    Normalised by how far it falls without all features; 0 where it does not. Here whole features go, not single numbers
    of their embeddings.
    """
    return _soft(case, draws, absent, kept=False)


@measures.register("soft-sufficiency")
@defines(better="higher", low=float("-inf"), high=1, reads="scores", constant=0.0, any_unit=True)
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


# Up to so many features all sets of them are asked for, and the best and the worst order are exact.
MOST_EXACT = 8
# Sums of falls nearer than this are the same.
SAME = 1e-12


@measures.register("naopc-comprehensiveness")
@defines(better="higher", low=0, high=1, constant=0.5)
def naopc_comprehensiveness(case: Case, *, beam: int = 5, absent: str | None = None) -> FloatArray:
    """Comprehensiveness over all numbers of features, 0 for the worst order of them and 1 for the best (Edin 2024).

    The two are found exactly up to eight features, and by beam search above. Where all orders are alike it is 0.5.
    """
    return _normalised(case, beam, absent, kept=False)


@measures.register("naopc-sufficiency")
@defines(better="higher", low=0, high=1, constant=0.5)
def naopc_sufficiency(case: Case, *, beam: int = 5, absent: str | None = None) -> FloatArray:
    """Sufficiency over all numbers of features, 0 for the worst order of them and 1 for the best (Edin 2024).

    Unlike plain sufficiency higher is better. The two are found as for naopc-comprehensiveness.
    """
    return _normalised(case, beam, absent, kept=True)


def _normalised(case: Case, beam: int, absent: str | None, *, kept: bool) -> FloatArray:
    """The place of each order's sum of falls between the smallest and the largest such sum."""
    if beam < 1:
        raise VeraxError(f"beam={beam} is too small; give 1 or more.")
    # To keep the first k is to remove the last ones: sufficiency is the sum of falls of the reversed order.
    orders = [own[:, ::-1] if kept else own for own in case.orders()]
    present = [
        np.concatenate(list(ranks_of(own)[:, None, :] >= np.arange(1, own.shape[1] + 1)[None, :, None]))
        for own in orders
    ]
    sums = [
        answer.reshape(len(own), -1).sum(axis=1)
        for answer, own in zip(case.target_probability(present, absent), orders, strict=True)
    ]
    about = ("naopc", beam, absent)
    if about not in case.shared:
        case.shared[about] = _ends(case, beam, absent)
    lowest, highest = case.shared[about]
    values = []
    for own, lowest_found, highest_found in zip(sums, lowest, highest, strict=True):
        # What search misses the order itself may know.
        low, high = min(lowest_found, *own), max(highest_found, *own)
        place = 0.5 if high - low < SAME else float((own.mean() - low) / (high - low))
        # A low sum of probabilities is a large fall: good for what is removed first, bad for what is kept.
        values.append(place if kept else 1 - place)
    return np.array(values)


def _ends(case: Case, beam: int, absent: str | None) -> tuple[list[float], list[float]]:
    """By input, the smallest and the largest sum of probabilities over the steps of an order."""
    lowest, highest = [0.0] * len(case), [0.0] * len(case)
    few = [number for number, own in enumerate(case.features) if len(own) <= MOST_EXACT]
    if few:
        answers = _asked(case, {number: _all_sets(len(case.features[number])) for number in few}, absent)
        for number in few:
            lowest[number] = _best_chain(answers[number], len(case.features[number]), np.minimum)
            highest[number] = _best_chain(answers[number], len(case.features[number]), np.maximum)
    many = [number for number in range(len(case)) if number not in set(few)]
    for ends, sign in ((lowest, 1.0), (highest, -1.0)):
        for number, found in _search(case, many, beam, sign, absent).items():
            ends[number] = found
    return lowest, highest


def _all_sets(n: int) -> BoolArray:
    """All 2**n sets, set s holding feature f where bit f of s is 1."""
    sets: BoolArray = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    return sets


def _best_chain(values: FloatArray, n: int, better: np.ufunc) -> float:
    """The best sum of values along a chain from the full set (not counted) to the empty one."""
    if n == 0:
        return 0.0
    sets = _all_sets(n)
    sizes = sets.sum(axis=1)
    best = np.zeros(2**n)
    best[0] = values[0]
    for size in range(1, n + 1):
        for one in np.flatnonzero(sizes == size):
            smaller = [best[one & ~(1 << feature)] for feature in range(n) if one >> feature & 1]
            best[one] = better.reduce(smaller) + (values[one] if size < n else 0.0)
    return float(best[-1])


def _asked(case: Case, present: dict[int, BoolArray], absent: str | None) -> dict[int, FloatArray]:
    """The target's probabilities for variants of some of the inputs."""
    rows = [
        present.get(number, np.zeros((0, len(own)), dtype=np.bool_))
        for number, own in enumerate(case.features)
    ]
    return dict(enumerate(case.target_probability(rows, absent)))


def _search(
    case: Case, numbers: Sequence[int], beam: int, sign: float, absent: str | None
) -> dict[int, float]:
    """Beam search for the order with the smallest sum (sign 1) or the largest (sign -1), of several inputs at once."""
    states = {
        number: (np.ones((1, len(case.features[number])), dtype=np.bool_), np.zeros(1)) for number in numbers
    }
    for _ in range(max((len(case.features[number]) for number in numbers), default=0)):
        grown: dict[int, tuple[BoolArray, FloatArray]] = {}
        for number, (sets, sums) in states.items():
            which, gone = np.nonzero(sets)
            if len(which):
                children = sets[which].copy()
                children[np.arange(len(which)), gone] = False
                children = np.unique(children, axis=0)
                # Two ways to a set differ in the sum so far: the better one counts.
                totals = np.array([sums[_parents(sets, child)].min() for child in children])
                grown[number] = children, totals
        if not grown:
            break
        answers = _asked(case, {number: sets for number, (sets, _) in grown.items()}, absent)
        for number, (sets, sums) in grown.items():
            total = sums + sign * answers[number]
            kept = np.argsort(total, kind="stable")[:beam]
            states[number] = sets[kept], total[kept]
    return {number: sign * float(sums.min()) for number, (_, sums) in states.items()}


def _parents(sets: BoolArray, child: BoolArray) -> BoolArray:
    parents: BoolArray = (sets | child == sets).all(axis=1)
    return parents
