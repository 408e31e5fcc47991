"""Two sources of chance in crossed scores: participants and items, as sums over pairs, for many studies at once.

For scores D_ui of participants u on items i, with x_u the mean of u's scores and R_ui = D_ui - x_u:

- participants: the variance of x_u within a method, own or pooled over methods;
- items: what two participants share. For a pair u, v with C common items of n_u and n_v, sum_i R_ui R_vi has the mean
  s² · C (1 - 1/n_u - 1/n_v + C / (n_u n_v)); the sum over pairs of one method divided by the sum of these factors is
  ``within`` (items and items x methods), over pairs of different methods ``between`` (items only).

Arrays have a leading axis of studies with the same layout; one study is a batch of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.stats.checks import ROUNDING


@dataclass(frozen=True, eq=False)
class Stratum:
    """Scores of one stratum: ``values[study, row, item]``, NaN where missing; ``participant`` names the rows."""

    participant: IndexArray
    values: FloatArray


@dataclass(frozen=True, eq=False)
class ItemPart:
    """The item component of one stratum.

    Attributes:
        block: Which block of participants it belongs to.
        items: Number of items.
        methods: Number of methods that have participants here.
        overlap: (studies, methods, methods): mean over pairs (one participant from each) of the sum over items of the
            product of their weights; 1 / items where nothing is missing.
        within: Item variance from pairs of one method; may be below 0, as the next two.
        between: The same from pairs of different methods; 0 where there are none.
        overall: The same from all pairs.
        total: Variance of a score around its participant's mean.
        load: Mean number of participants per item and method.
    """

    block: int
    items: int
    methods: int
    overlap: FloatArray
    within: FloatArray
    between: FloatArray
    overall: FloatArray
    total: FloatArray
    load: FloatArray


@dataclass(frozen=True, eq=False)
class Components:
    """Both components of a batch of studies.

    Attributes:
        block_weight: Share of the strata that each block holds.
        score: (studies, participants): mean score over the strata a participant has; NaN without any.
        count: (studies, blocks, methods): participants with a score.
        mean: Their mean score; NaN without any.
        variance: Their variance (divisor n - 1); NaN with less than two.
        pooled: (studies,): variance pooled over blocks and methods; NaN without degrees of freedom.
        pooled_df: Its degrees of freedom.
        parts: The item components, one per stratum.
    """

    block_weight: FloatArray
    score: FloatArray
    count: FloatArray
    mean: FloatArray
    variance: FloatArray
    pooled: FloatArray
    pooled_df: FloatArray
    parts: tuple[ItemPart, ...]


def components(strata: Sequence[Stratum], method: IndexArray, n_methods: int) -> Components:
    """Splits the variance of scores into participants and items.

    Strata that share participants form a block: there a participant's scores are averaged first. Blocks have
    different participants, so their variances add.

    Args:
        strata: The scores.
        method: Method of each participant, over all strata.
        n_methods: Number of methods.
    """
    blocks = blocks_of(strata)
    block_of, weight = np.zeros(len(method), dtype=np.intp), np.zeros(max(blocks) + 1)
    for stratum, block in zip(strata, blocks, strict=True):
        block_of[stratum.participant] = block
        weight[block] += 1 / len(strata)
    score, attended = _scores(strata, len(method))
    count, mean, variance = _cells(score, block_of * n_methods + method, len(weight) * n_methods)
    spare = np.maximum(count - 1, 0)
    pooled_df = spare.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = np.where(spare > 0, spare * variance, 0.0).sum(axis=1) / pooled_df
    shape = (len(score), len(weight), n_methods)
    parts = tuple(
        _item_part(
            stratum, block, method[stratum.participant], n_methods, attended, count.reshape(shape)[:, block]
        )
        for stratum, block in zip(strata, blocks, strict=True)
    )
    return Components(
        block_weight=weight,
        score=score,
        count=count.reshape(shape),
        mean=mean.reshape(shape),
        variance=variance.reshape(shape),
        pooled=pooled,
        pooled_df=pooled_df,
        parts=parts,
    )


def blocks_of(strata: Sequence[Stratum]) -> list[int]:
    """The block of each stratum: strata connected by common participants, numbered in order."""
    blocks = list(range(len(strata)))
    people = [set(stratum.participant.tolist()) for stratum in strata]
    for later in range(len(strata)):
        for earlier in range(later):
            if people[later] & people[earlier]:
                old, new = blocks[later], blocks[earlier]
                blocks = [new if block == old else block for block in blocks]
    order = list(dict.fromkeys(blocks))
    return [order.index(block) for block in blocks]


def _scores(strata: Sequence[Stratum], n_participants: int) -> tuple[FloatArray, FloatArray]:
    """Per study and participant the mean over strata of the mean score, and in how many strata there is one."""
    studies = len(strata[0].values)
    total, attended = np.zeros((studies, n_participants)), np.zeros((studies, n_participants))
    for stratum in strata:
        means, counts = person_means(stratum.values)
        total[:, stratum.participant] += means
        attended[:, stratum.participant] += counts > 0
    return np.where(attended > 0, total / np.maximum(attended, 1), np.nan), attended


def person_means(values: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Per study and participant the mean of the scores, 0 without any, and their number."""
    answered = ~np.isnan(values)
    number = answered.sum(axis=2)
    return np.where(answered, values, 0.0).sum(axis=2) / np.maximum(number, 1), number


def _cells(score: FloatArray, cell: IndexArray, n_cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Number, mean and variance of the scores in each cell, (studies, cells)."""
    member = np.equal.outer(cell, np.arange(n_cells)).astype(np.float64)
    present = ~np.isnan(score)
    known = np.where(present, score, 0.0)
    count = present @ member
    mean = known @ member / np.maximum(count, 1)
    deviation = without_rounding(np.where(present, known - mean[:, cell], 0.0), known)
    variance = deviation**2 @ member / np.maximum(count - 1, 1)
    return count, np.where(count > 0, mean, np.nan), np.where(count > 1, variance, np.nan)


def _item_part(
    stratum: Stratum, block: int, method: IndexArray, n_methods: int, attended: FloatArray, count: FloatArray
) -> ItemPart:
    """The item component of one stratum; ``count`` is the number of participants of each method in its block."""
    answered = ~np.isnan(stratum.values)
    number = answered.sum(axis=2)
    inverse = np.where(number > 0, 1 / np.maximum(number, 1), 0.0)
    known = np.where(answered, stratum.values, 0.0)
    own_mean = known.sum(axis=2) / np.maximum(number, 1)
    residual = without_rounding(np.where(answered, known - own_mean[:, :, None], 0.0), known)
    member = np.equal.outer(np.arange(n_methods), method).astype(np.float64)
    within, overall = _products(residual, member)
    factor_within, factor_between, factor_overall = _factors(answered, method, n_methods)
    present = (count > 0).any(axis=0).sum()
    weights = answered * (inverse / np.maximum(attended[:, stratum.participant], 1))[:, :, None]
    return ItemPart(
        block=block,
        items=stratum.values.shape[2],
        methods=int(present),
        overlap=_overlap(weights, member, count),
        within=ratio(within, factor_within),
        between=ratio(overall - within, factor_between),
        overall=ratio(overall, factor_overall),
        total=ratio((residual**2).sum(axis=(1, 2)), np.maximum(number - 1, 0).sum(axis=1)),
        load=number.sum(axis=1) / (stratum.values.shape[2] * max(present, 1)),
    )


def _products(residual: FloatArray, member: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of products over ordered pairs of one method, and of all: squares of sums less sums of squares."""
    squares = (residual**2).sum(axis=(1, 2))
    by_method = member @ residual
    sums = (by_method**2).sum(axis=(1, 2)), (by_method.sum(axis=1) ** 2).sum(axis=1)
    within, overall = (without_rounding(total - squares, total + squares) for total in sums)
    return within, overall


def _factors(
    answered: NDArray[np.bool_], method: IndexArray, n_methods: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums of the factors over pairs of one method, of different ones, and of all."""
    by_method = [item_sums(answered[:, method == number]) for number in range(n_methods)]
    together = item_sums(answered)
    alike = np.asarray(sum(pair_factor(each, each) for each in by_method))
    every, size = pair_factor(together, together), (together.people**2).sum(axis=1)
    within, between, overall = (
        without_rounding(factor, size)
        for factor in (alike - together.alone, every - alike, every - together.alone)
    )
    return within, between, overall


@dataclass(frozen=True, eq=False)
class ItemSums:
    """What sums over pairs of participants need, so that memory and time grow with participants, not with pairs.

    Attributes:
        people: (studies, items): how many answered.
        shares: The same with each participant counting 1 / n, n being the items that they answered.
        among: (studies, items, items): how many answered both, each counting 1 / n.
        alone: (studies,): the factors of participants with themselves, n - 1 each.
    """

    people: FloatArray
    shares: FloatArray
    among: FloatArray
    alone: FloatArray


def item_sums(answered: NDArray[np.bool_]) -> ItemSums:
    """The sums over some participants, from (studies, participants, items)."""
    table = answered.astype(np.float64)
    number = table.sum(axis=2)
    shared = table / np.maximum(number, 1)[:, :, None]
    return ItemSums(
        people=table.sum(axis=1),
        shares=shared.sum(axis=1),
        among=shared.transpose(0, 2, 1) @ table,
        alone=np.maximum(number - 1, 0.0).sum(axis=1),
    )


def pair_factor(first: ItemSums, second: ItemSums) -> FloatArray:
    """Sum over pairs, one participant of each, of C (1 - 1/n_u - 1/n_v + C / (n_u n_v)), C the items both answered.

    With A who answered what, C is the sum of A_ui A_vi over items i, and C² that of A_ui A_uj A_vi A_vj over pairs of
    items: in both the sums over u and over v come apart.
    """
    single = first.people * second.people - first.shares * second.people - first.people * second.shares
    return np.asarray(single.sum(axis=1) + (first.among * second.among).sum(axis=(1, 2)), dtype=np.float64)


def _overlap(weights: FloatArray, member: FloatArray, count: FloatArray) -> FloatArray:
    """Mean over pairs of participants of the sum over items of their weights' product, by their methods."""
    by_method = member @ weights
    sums = by_method @ by_method.transpose(0, 2, 1)
    pairs = count[:, :, None] * count[:, None, :]
    diagonal = np.arange(len(member))
    own = (weights**2).sum(axis=2) @ member.T
    alone = count == 1  # no pair: what another participant with the same items would share
    sums[:, diagonal, diagonal] -= np.where(alone, 0.0, own)
    pairs[:, diagonal, diagonal] -= np.where(alone, 0.0, count)
    return ratio(sums, pairs)


def without_rounding(values: FloatArray, size: FloatArray) -> FloatArray:
    """The values, 0 where they are only the rounding of numbers of that size: else a test would believe them."""
    return np.where(np.abs(values) <= ROUNDING * np.abs(size).max(initial=0.0), 0.0, values)


def ratio(above: FloatArray, below: NDArray[np.float64] | NDArray[np.intp]) -> FloatArray:
    """Their quotient, and 0 where there is nothing (up to rounding) to divide by."""
    some = below > 1e-9
    return np.asarray(np.where(some, above / np.where(some, below, 1), 0.0), dtype=np.float64)
