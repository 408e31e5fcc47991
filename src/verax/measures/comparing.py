"""Measures of scores alone: how far two explanations agree (Krishna et al. 2022), and how simple one is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.explanation import Explanation
from verax.measures.base import defines, measures
from verax.measures.case import Case, levels_of, scores_of
from verax.measures.subsets import rank_correlation

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
@defines(better="lower", low=0, high=float("inf"), reads="scores", costs="nothing")
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
@defines(better="higher", low=0, high=1, reads="scores", costs="nothing")
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
