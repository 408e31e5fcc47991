"""Comprehensiveness and sufficiency normalised by the best and the worst order that there is (NAOPC, Edin et al. 2024).

How far a probability can fall depends on the model and the input, so that values of two models cannot be compared. Here
0 is the worst order of the features and 1 the best.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.errors import VeraxError
from verax.measures.base import defines, measures
from verax.measures.case import Case, ranks_of

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
