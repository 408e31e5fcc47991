"""Claims about crossed scores, and the two sources of chance that they rest on, for many studies at once.

Two sources of chance in crossed scores: participants and items, as sums over pairs, for many studies at once.

For scores D_ui of participants u on items i, with x_u the mean of u's scores and R_ui = D_ui - x_u:

- participants: the variance of x_u within a method, own or pooled over methods;
- items: what two participants share. For a pair u, v with C common items of n_u and n_v, sum_i R_ui R_vi has the mean
  s² · C (1 - 1/n_u - 1/n_v + C / (n_u n_v)); the sum over pairs of one method divided by the sum of these factors is
  ``within`` (items and items x methods), over pairs of different methods ``between`` (items only).

Arrays have a leading axis of studies with the same layout; one study is a batch of one.

Three claims about crossed scores, for many studies at once: a method's mean, a difference, the mean over methods.

Each is a weighted sum of cell means (a cell: the participants of one method in one block) with the variance
V = A + B. A comes from participants, A = sum of weight² · s² / n, where s² is each cell's own variance (Welch) unless
one pooled over all cells is asked for; B from items, as above. Degrees of freedom are
Satterthwaite's: V² / (A² / df_A + the same for B), at least 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.estimate import ROUNDING, Effect, effect
from verax.stats.thresholds import FEWEST_SPREAD


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


Items = Literal["random", "fixed"]
Variance = Literal["own", "pooled"]


@dataclass(frozen=True, eq=False)
class Claims:
    """One claim in each study of a batch.

    Attributes:
        estimate: The plug-in estimate.
        variance: Its variance; NaN where none can be estimated.
        df: Degrees of freedom of that variance.
        people: The part of the variance that comes from participants; the rest comes from items.
    """

    estimate: FloatArray
    variance: FloatArray
    df: FloatArray
    people: FloatArray

    @property
    def se(self) -> FloatArray:
        """Standard error; NaN where there is none: a compared method has less than three participants.

        Also where all participants score the same: what items add would then pretend to be all the uncertainty.
        """
        return np.sqrt(np.where((self.variance > 0) & (self.people > 0), self.variance, np.nan))

    @property
    def p(self) -> FloatArray:
        """Two-sided p of "the true value is 0"; NaN where there is none."""
        return np.asarray(2 * stdtr(self.df, -np.abs(self.estimate / self.se)), dtype=np.float64)

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends; NaN where there are none."""
        margin = stdtrit(self.df, (1 + level) / 2) * self.se
        return self.estimate - margin, self.estimate + margin

    def effect(self, name: str, level: float = 0.95) -> Effect:
        """The claim of the first study, which is the only one where a study is analysed and not simulated."""
        return effect(name, self.estimate[0], self.se[0], self.df[0], level)


def change(parts: Components, method: int, items: Items = "random", variance: Variance = "own") -> Claims:
    """The mean score of one method; over the blocks where it has participants."""
    weights = np.zeros(parts.count.shape[1:])
    weights[:, method] = block_weights(parts, [method])
    return _claims(parts, weights, _change_items, items, variance)


def contrast(
    parts: Components, first: int, second: int, items: Items = "random", variance: Variance = "own"
) -> Claims:
    """How much higher the first method's mean is; over the blocks where both have participants.

    What common items add to both cancels; the part by which items suit one method better does not.
    """
    weights = np.zeros(parts.count.shape[1:])
    weights[:, first] = block_weights(parts, [first, second])
    weights[:, second] = -weights[:, first]
    return _claims(parts, weights, _contrast_items, items, variance)


def overall(parts: Components, items: Items = "random", variance: Variance = "own") -> Claims:
    """The mean over the methods that have participants; over the blocks where all of them have some."""
    methods = np.flatnonzero((parts.count > 0).any(axis=(0, 1))).tolist()
    weights = np.zeros(parts.count.shape[1:])
    weights[:, methods] = block_weights(parts, methods)[:, None] / len(methods)
    return _claims(parts, weights, _overall_items, items, variance)


def block_weights(parts: Components, methods: list[int]) -> FloatArray:
    """Each block's weight: by its number of strata, over the blocks where all these methods have participants."""
    there = np.all((parts.count[:, :, methods] > 0).any(axis=0), axis=1)
    if not there.any():
        raise VeraxError("No block holds participants of all the methods asked for: nothing can be compared.")
    weights = np.where(there, parts.block_weight, 0.0)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _claims(
    parts: Components,
    weights: FloatArray,
    item_part: Callable[[ItemPart, FloatArray], tuple[FloatArray, FloatArray]],
    items: Items,
    variance: Variance,
) -> Claims:
    """The weighted sum of cell means with its variance.

    ``item_part`` gives what a stratum's items add: their variance, and variance² / df.
    """
    used = weights != 0
    estimate = (np.where(used, parts.mean, 0.0) * weights).sum(axis=(1, 2))
    per_person = np.where(used, weights**2 / np.maximum(parts.count, 1), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        if variance == "pooled":
            people = parts.pooled * per_person.sum(axis=(1, 2))
            spread = people**2 / parts.pooled_df
        else:
            own = np.where(used, per_person * parts.variance, 0.0)
            few = (
                np.where(used.any(axis=0), (parts.count * used).sum(axis=1), np.inf).min(axis=1)
                < FEWEST_SPREAD
            )
            people = np.where(few, np.nan, own.sum(axis=(1, 2)))
            spread = np.where(used, own**2 / (parts.count - 1), 0.0).sum(axis=(1, 2))
        total = people.copy()
        if items == "random":
            added = [item_part(part, weights[part.block]) for part in parts.parts]
            total += sum(more for more, _ in added)
            spread += sum(more for _, more in added)
        df = np.maximum(total**2 / spread, 1.0)
    return Claims(estimate, total, df, people)


def _item_spread(part: ItemPart, component: FloatArray, load: FloatArray, groups: int) -> FloatArray:
    """Variance of the estimated item component, halved: mean squares of items and of the rest, in so many groups.

    It is not cut where the component is cut at 0: a little conservative with few items, on purpose.
    """
    rest = np.maximum(part.total - component, 0.0) / np.maximum(load, 1e-9)
    between_items = max(groups * (part.items - 1), 1)
    spread = (component + rest) ** 2 / between_items + rest**2 / (between_items * np.maximum(load - 1, 1.0))
    return np.asarray(spread, dtype=np.float64)


def _change_items(part: ItemPart, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Items in one method's mean: weight² · overlap · within."""
    factor = part.overlap.diagonal(axis1=1, axis2=2) @ weights**2
    component = np.maximum(part.within, 0.0)
    return factor * component, factor**2 * _item_spread(part, component, part.load, part.methods)


def _contrast_items(part: ItemPart, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Items in a difference: those that only one of the two met, and how much items suit one method better."""
    each = part.overlap.diagonal(axis1=1, axis2=2) @ weights**2
    apart = np.maximum(np.einsum("sab,a,b->s", part.overlap, weights, weights), 0.0)
    added = apart * np.maximum(part.between, 0.0) + each * np.maximum(part.within - part.between, 0.0)
    return added, added**2 / max(part.methods * (part.items - 1), 1)


def _overall_items(part: ItemPart, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Items in the mean over methods: they move all methods together, so all pairs tell of them."""
    factor = np.maximum(np.einsum("sab,a,b->s", part.overlap, weights, weights), 0.0)
    component = np.maximum(part.overall, 0.0)
    return factor * component, factor**2 * _item_spread(part, component, part.load * part.methods, 1)
