"""Conditions compared within people: everybody meets several conditions, each item in one of them, by a design.

With x_uc the mean score of participant u under condition c, the difference of two conditions a and b is the mean over
participants of d_u = x_ua - x_ub. Its variance is

    V = s² / n + C,    s² the variance of the d_u, C the mean of their covariances over pairs of participants,

and two participants share nothing but items. An item that two met under the same condition adds within · w w', one that
they met under a and b takes away between · w w' (w = 1 / answers under that condition). ``within`` (items, and items x
conditions) and ``between`` (items) are those of `verax.stats.crossed.claims`, from the answers of different
participants under a and b; other conditions do not come in, since an item may suit one of them more than another. In a
balanced design C is below 0 where items differ: what makes the d_u differ there cancels in their mean. Degrees of
freedom are Satterthwaite's.

Practice and tiredness cancel where every condition is met equally early and late. Where rows of the design are filled
unequally they do not: then ``session`` says in which session an item was met, and the difference is the intercept of
the regression of d_u on how much more of a than of b was met in each session. The weights of participants are then
those of the regression instead of 1 / n; all else stays.

Without that, practice adds to the difference the sum over sessions of its size there times the mean over participants
of how much more of a than of b they met in it: nothing, whatever practice does, where these means are 0, and at most
the practice between any two sessions times half the sum of their sizes, the ``lead`` of one condition. No claim is made
where lead · √n is above a third: practice as large as the standard deviation of the d_u then moves the difference by
more than a third of its standard error, and 5% of false claims become more than 6%.

In 2,000 simulated studies without an effect it claims one in 3.5 to 5.9% where 5% is promised (Latin squares of 12 to
120 people and 45 items, blocks of 18 to 90 people and 60 items), and in 1.1% with 6 people (see docs/results).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.stats.crossed.between import changes
from verax.stats.crossed.claims import Claims, item_sums, pair_factor, person_means, ratio, without_rounding
from verax.stats.crossed.result import Crossed, Sizes, crossed, difference_warnings, with_holm
from verax.stats.responses import check_lengths, chosen_pairs, coded, first_repeat, numbers, responses
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import FEWEST_SPREAD

say = partial(say_phrase, "claims")

# What common items take away is estimated: never more than this part of the variance.
MOST_TAKEN = 0.5
# The largest lead of one condition, times the root of the number of participants, with which a claim is made.
MOST_LEAD = 1 / 3
NOT_SHOWN = -1


@dataclass(frozen=True, eq=False)
class ConditionResponses:
    """Who met what under which condition, with what score.

    Attributes:
        participants: Names, one per row.
        items: Names, one per column.
        conditions: Names.
        condition: (participants, items): place of the condition, -1 where the item was not shown.
        value: (studies, participants, items): scores, NaN where missing; one study is a batch of one.
        session: (participants, items): place of the session in which the item was met; None where that is not known.
        adjusted: Whether differences are those that are left when sessions are accounted for; if not, sessions only
            tell whether a claim can be made without that.
    """

    participants: tuple[Hashable, ...]
    items: tuple[Hashable, ...]
    conditions: tuple[Hashable, ...]
    condition: IndexArray
    value: FloatArray
    session: IndexArray | None = None
    adjusted: bool = True


def met(
    participant: ArrayLike,
    item: ArrayLike,
    condition: ArrayLike,
    value: ArrayLike,
    session: ArrayLike | None = None,
    *,
    adjusted: bool = True,
) -> ConditionResponses:
    """Checks and lays out one study, one entry per answer; NaN or None is a missing score.

    With ``session`` (in which of a participant's sessions it was, in any coding) differences are those that are left
    when sessions are accounted for; with ``adjusted=False`` they are as they are, and claims are withheld where the
    sessions of two conditions differ so much that practice could pass for an effect.
    """
    check_lengths(participant=participant, item=item, condition=condition, value=value)
    if session is not None:
        check_lengths(participant=participant, session=session)
    participants, row = coded("participant", participant)
    items, column = coded("item", item)
    conditions, code = coded("condition", condition)
    repeat = first_repeat(row * len(items) + column)
    if repeat is not None:
        raise VeraxError(
            f"Participant {participants[row[repeat.at]]} has item {items[column[repeat.at]]} more than once "
            f"({repeat.such} such pairs in all): give one entry for each."
        )
    shown = np.full((len(participants), len(items)), NOT_SHOWN, dtype=np.intp)
    shown[row, column] = code
    scores = np.full((1, *shown.shape), np.nan)
    scores[0, row, column] = numbers("value", value)
    if session is None:
        return ConditionResponses(participants, items, conditions, shown, scores)
    sessions = np.full(shown.shape, NOT_SHOWN, dtype=np.intp)
    sessions[row, column] = coded("session", session)[1]
    return ConditionResponses(participants, items, conditions, shown, scores, sessions, adjusted)


def condition_means(rows: ConditionResponses, level: float = 0.95) -> tuple[Crossed, ...]:
    """The mean score of each condition over the participants who met it, by `crossed.changes`.

    Every condition stands on its own answers and its own variance: those of one participant under two conditions are
    not independent, so that nothing is pooled. P-values (of "the mean is 0") are corrected together by Holm.
    """
    means: list[Crossed] = []
    for number, name in enumerate(rows.conditions):
        person, item = np.nonzero((rows.condition == number) & ~np.isnan(rows.value[0]))
        if not len(person):
            continue
        score = rows.value[0][person, item]
        means += changes(responses(person, item, [str(name)] * len(person), score), "random", "own", level)
    if not means:
        raise VeraxError("None of the answers has a score: there is nothing to estimate.")
    return with_holm(means)


def condition_differences(
    rows: ConditionResponses, pairs: Sequence[tuple[Hashable, Hashable]] | None = None, level: float = 0.95
) -> tuple[Crossed, ...]:
    """How much higher the first condition of each pair is than the second, within people; corrected by Holm.

    Args:
        rows: The answers.
        pairs: Names of the conditions; None is all pairs.
        level: Coverage of the intervals.
    """
    chosen = chosen_pairs(pairs, rows.conditions, "condition")
    return with_holm([_difference(rows, first, second, level) for first, second in chosen])


def person_differences(rows: ConditionResponses, first: int, second: int) -> FloatArray:
    """d_u of each study and participant; NaN where one of the two conditions has no score."""
    higher, lower = (_means(_under(rows, number)) for number in (first, second))
    return np.asarray(higher - lower, dtype=np.float64)


def difference_claims(rows: ConditionResponses, first: int, second: int) -> Claims:
    """The difference of two conditions (places in ``conditions``) in each study of a batch."""
    under = [_under(rows, number) for number in (first, second)]
    difference = _means(under[0]) - _means(under[1])
    there = ~np.isnan(difference)
    n = there.sum(axis=1)
    weights, fitted, rest = _weights(rows.session if rows.adjusted else None, under, difference)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = (weights * np.where(there, difference, 0.0)).sum(axis=1)
        residual = np.where(there, difference - fitted, 0.0)
        enough = (n >= FEWEST_SPREAD) & (rest >= 1)
        each = (residual**2).sum(axis=1) / np.maximum(rest, 1)
        people = np.where(enough, each * (weights**2).sum(axis=1), np.nan)
    within, between = item_components(under)
    same, opposite = _shared(under[0], under[1], there, weights)
    common = np.maximum(between, 0.0) * (same - opposite)
    suits = same * np.maximum(within - between, 0.0)
    variance = np.maximum(people + common + suits, (1 - MOST_TAKEN) * people)
    spare = max(2 * (rows.condition.shape[1] - 1), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = people**2 / np.maximum(rest, 1) + (common**2 + suits**2) / spare
        df = np.maximum(variance**2 / spread, 1.0)
    return Claims(estimate, variance, df, people)


def _weights(
    session: IndexArray | None, under: Sequence[FloatArray], difference: FloatArray
) -> tuple[FloatArray, FloatArray, IndexArray]:
    """How much each participant counts, what is expected of each, and how many are left for the spread.

    Without sessions all count the same and the mean is expected of all. With them it is a regression; where the
    difference cannot be told from that of sessions the weights are NaN.
    """
    there = ~np.isnan(difference)
    n = there.sum(axis=1)
    if session is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = there / n[:, None]
            mean = np.where(there, difference, 0.0).sum(axis=1) / n
        return weights, np.broadcast_to(mean[:, None], difference.shape), n - 1
    weights, fitted = np.zeros(difference.shape), np.zeros(difference.shape)
    rest = np.zeros(len(difference), dtype=np.intp)
    for study, own in enumerate(there):
        design = np.hstack(
            [np.ones((own.sum(), 1)), _timing(session, [scores[study] for scores in under])[own]]
        )
        inverse = np.linalg.pinv(design)
        rest[study] = own.sum() - np.linalg.matrix_rank(design) if own.any() else 0
        told = own.any() and np.allclose(inverse[0] @ design, np.eye(design.shape[1])[0], atol=1e-6)
        weights[study, own] = inverse[0] if told else np.nan
        fitted[study, own] = design @ (inverse @ difference[study, own])
        if not told:
            weights[study] = np.nan
    return weights, fitted, rest


def lead(rows: ConditionResponses, first: int, second: int) -> float:
    """How unequally early and late two conditions were met: half the sum over sessions of the mean differences.

    0 where both were met equally often in every session by all participants together; 1 where one always came first.
    """
    if rows.session is None:
        return 0.0
    under = [_under(rows, number) for number in (first, second)]
    there = ~np.isnan(_means(under[0]) - _means(under[1]))[0]
    if not there.any():
        return 0.0
    later = _timing(rows.session, [scores[0] for scores in under])[there].mean(axis=0)
    return float(np.abs(np.append(later, later.sum())).sum() / 2)


def _timing(session: IndexArray, under: Sequence[FloatArray]) -> FloatArray:
    """(participants, sessions but one): the share of the first condition's answers in a session, less the second's."""
    places = np.unique(session[session != NOT_SHOWN])[1:]
    shares = []
    for scores in under:
        answered = ~np.isnan(scores)
        number = np.maximum(answered.sum(axis=1), 1)
        shares.append(
            np.stack([(answered & (session == place)).sum(axis=1) / number for place in places], axis=1)
        )
    return np.asarray(shares[0] - shares[1], dtype=np.float64)


def item_components(under: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """``within`` and ``between`` of each study, from the scores under each condition (NaN elsewhere).

    A participant meets an item under one condition only, so that all pairs are of different participants.
    """
    answered = [~np.isnan(scores) for scores in under]
    residual = [
        np.where(there, scores - _means(scores)[:, :, None], 0.0)
        for scores, there in zip(under, answered, strict=True)
    ]
    sums = [part.sum(axis=1) for part in residual]
    within = sum(
        (total**2).sum(axis=1) - (part**2).sum(axis=(1, 2))
        for total, part in zip(sums, residual, strict=True)
    )
    met_by = [item_sums(there) for there in answered]
    within_factor = sum(
        without_rounding(pair_factor(each, each) - each.alone, (each.people**2).sum(axis=1))
        for each in met_by
    )
    between, between_factor = np.zeros(len(sums[0])), np.zeros(len(sums[0]))
    for a, b in combinations(range(len(under)), 2):
        between += (sums[a] * sums[b]).sum(axis=1)
        size = (met_by[a].people * met_by[b].people).sum(axis=1)
        between_factor += without_rounding(pair_factor(met_by[a], met_by[b]), size)
    return ratio(np.asarray(within), np.asarray(within_factor)), ratio(between, between_factor)


def _under(rows: ConditionResponses, condition: int) -> FloatArray:
    """The scores under one condition, NaN elsewhere."""
    return np.where(rows.condition == condition, rows.value, np.nan)


def _means(scores: FloatArray) -> FloatArray:
    """The mean score of each study's participants; NaN without any."""
    means, number = person_means(scores)
    return np.where(number > 0, means, np.nan)


def _shared(
    first: FloatArray, second: FloatArray, there: NDArray[np.bool_], people: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means over pairs of weighted participants of sums of w w': of items met alike, and of items met both ways."""
    weights = []
    for scores in (first, second):
        answered = ~np.isnan(scores) & there[:, :, None]
        share = answered / np.maximum(answered.sum(axis=2), 1)[:, :, None]
        weights.append(share * people[:, :, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        own = (people**2).sum(axis=1)
        pairs = np.where(own < 1, 1 - own, np.nan)
    sums = [weight.sum(axis=1) for weight in weights]
    alike = sum(
        (total**2).sum(axis=1) - (weight**2).sum(axis=(1, 2))
        for total, weight in zip(sums, weights, strict=True)
    )
    return np.asarray(alike / pairs), np.asarray(2 * (sums[0] * sums[1]).sum(axis=1) / pairs)


def _difference(rows: ConditionResponses, first: Hashable, second: Hashable, level: float) -> Crossed:
    """One pair, not yet corrected."""
    if first == second:
        raise VeraxError(f"{first} is compared with itself: name two conditions.")
    places = [rows.conditions.index(name) for name in (first, second)]
    each = person_differences(rows, *places)[0]
    there = ~np.isnan(each)
    scored = ~np.isnan(rows.value[0]) & np.isin(rows.condition, places)
    used = scored & there[:, None]
    name = f"{first} - {second}"
    plain = difference_claims(rows, *places).effect(name, level)
    sizes = Sizes(
        participants={name: int(there.sum())},
        items=int(used.any(axis=0).sum()),
        answers=int(used.sum()),
        has_spread=plain.se is not None,
        uneven=not rows.adjusted and lead(rows, *places) * np.sqrt(there.sum()) > MOST_LEAD,
    )
    only_one = int((scored.any(axis=1) & ~there).sum())
    # Signs are flipped as if sessions did not matter: with them there is no such test.
    adjusted = rows.session is not None and rows.adjusted
    exact = sign_flip(each[there]).p if there.any() and not adjusted else None
    said = difference_warnings(sizes, str(first), str(second), only_one)
    if plain.estimate is None and there.any():
        said = (
            say("neither", first=str(first), second=str(second)),
            *said,
        )
    return crossed(plain, sizes, exact, said)
