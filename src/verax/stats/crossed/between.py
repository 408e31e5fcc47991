"""Change of accuracy when participants and items are crossed: the default estimator, its contrasts and its limits.

A closed form with two sources of chance (participants, items) and Satterthwaite's degrees of freedom; formulas in
`verax.stats.crossed.claims`. Every method has the variance of its own
participants, and a claim needs six of them in each of the compared methods. How often it claims an effect where there
is none is in docs/results/calibration.md, made by perf/calibration.py.

``items="random"`` speaks about items like these, ``items="fixed"`` about these items only; both speak about other
participants. The claims are about points of accuracy: no change in log-odds is not no change in points.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Claims, Components, Items, Stratum, Variance, blocks_of, components
from verax.stats.crossed.result import Crossed, Sizes, crossed, warnings_of, with_dunnett, with_holm
from verax.stats.estimate import check_level, effect
from verax.stats.responses import Responses, chosen_pairs
from verax.stats.tests.permutation import label_permutation, sign_flip

say = partial(say_phrase, "claims")


@dataclass(frozen=True, eq=False)
class Layout:
    """A study ready to be analysed; ``score``, ``method``, ``block`` and ``partial`` are of participants with a score.

    Attributes:
        rows: What it was made from.
        strata: Names of the strata that hold a score.
        parts: Its two components of variance.
        answered: (methods, strata): scores.
        score: Mean score (Post - Pre) of each participant who has any, averaged over strata.
        method: Place of each one's method among the study's.
        block: Strata that share participants are one block; blocks have different participants.
        partial: Whether a participant has no score in some stratum of the block.
        left_out: Participants of each method without a single score.
    """

    rows: Responses
    strata: tuple[str, ...]
    parts: Components
    answered: IndexArray
    score: FloatArray
    method: IndexArray
    block: IndexArray
    partial: NDArray[np.bool_]
    left_out: tuple[int, ...]


def lay_out(rows: Responses) -> Layout:
    """Lays out a study; refuses one without any score."""
    held = np.unique(rows.stratum[~np.isnan(rows.value)])
    if not len(held):
        raise VeraxError(
            f"None of the {len(rows.post)} responses has a score (Post, and Pre where it was asked): "
            "there is nothing to estimate."
        )
    strata = [_stratum(rows, number) for number in held]
    method = rows.method_of
    parts = components(strata, method, len(rows.methods))
    blocks = blocks_of(strata)
    block, attendance = np.zeros((2, len(method)), dtype=np.intp)
    answered = np.zeros((len(rows.methods), len(strata)), dtype=np.intp)
    for number, stratum in enumerate(strata):
        there = ~np.isnan(stratum.values[0])
        block[stratum.participant] = blocks[number]
        attendance[stratum.participant] += there.any(axis=1)
        np.add.at(answered[:, number], method[stratum.participant], there.sum(axis=1))
    some = attendance > 0
    return Layout(
        rows=rows,
        strata=tuple(str(rows.strata[number]) for number in held),
        parts=parts,
        answered=answered,
        score=parts.score[0][some],
        method=method[some],
        block=block[some],
        partial=(attendance < np.bincount(blocks)[block])[some],
        left_out=tuple(np.bincount(method[~some], minlength=len(rows.methods)).tolist()),
    )


def _stratum(rows: Responses, number: int) -> Stratum:
    """One stratum as a table; an item nobody has a score for is no item."""
    here = rows.stratum == number
    value = rows.value[here]
    people, row = np.unique(rows.participant[here], return_inverse=True)
    known = ~np.isnan(value)
    names, column = np.unique(rows.item[here][known], return_inverse=True)
    values = np.full((1, len(people), len(names)), np.nan)
    values[0, row[known], column] = value[known]
    return Stratum(people, values)


def changes(
    rows: Responses, items: Items = "random", variance: Variance = "own", level: float = 0.95
) -> tuple[Crossed, ...]:
    """The mean score (Post - Pre) of each method, corrected together by Holm.

    Over strata, the mean of the strata's values. A Change without a control includes practice: where the study has a
    condition without explanations, `contrasts_with` it is the claim about the explanations.

    Args:
        rows: The study's responses.
        items: "random" or "fixed".
        variance: "own" gives each method the variance of its own participants; "pooled" supposes that all methods'
            participants vary alike, and claims falsely in up to 18% where they do not.
        level: Coverage of the intervals.
    """
    asked = _ask(rows, items, variance, level)
    return with_holm([_change(asked, m) for m in range(len(rows.methods))])


def contrasts(
    rows: Responses,
    pairs: Sequence[tuple[Hashable, Hashable]] | None = None,
    items: Items = "random",
    variance: Variance = "own",
    level: float = 0.95,
) -> tuple[Crossed, ...]:
    """How much higher the first method of each pair is than the second, corrected together by Holm.

    Args:
        rows: The study's responses.
        pairs: Names of the methods to compare; None is all pairs.
        items: "random" or "fixed"; what common items add to both methods cancels, so they differ little.
        variance: As in `changes`; "own" is Welch's test.
        level: Coverage of the intervals.
    """
    chosen = chosen_pairs(pairs, rows.methods, "method")
    asked = _ask(rows, items, variance, level)
    return with_holm([_contrast(asked, *map(rows.methods.index, pair)) for pair in chosen])


def contrasts_with(
    rows: Responses,
    control: Hashable,
    items: Items = "random",
    variance: Variance = "own",
    level: float = 0.95,
    family: int | None = None,
) -> tuple[Crossed, ...]:
    """How much higher each method is than the control, corrected together by Dunnett's distribution.

    Args:
        rows: The study's responses.
        control: The method that the others are compared with.
        items: "random" or "fixed".
        variance: As in `changes`.
        level: Coverage of the intervals.
        family: How many methods the study was to compare with the control; None is all that have responses. What a
            study was to compare does not depend on who came, so give the number of its design.
    """
    others = [(name, control) for name in rows.methods if name != control]
    asked = _ask(rows, items, variance, level)
    chosen = chosen_pairs(others, rows.methods, "method")
    if not chosen:
        raise VeraxError(f"There is no method beside {control}: nothing can be compared with it.")
    against = [_contrast(asked, *map(rows.methods.index, pair)) for pair in chosen]
    second = rows.methods.index(control)
    if not asked.has([second]):
        return tuple(against)
    shared = claims.change(asked.layout.parts, second, "fixed", variance).variance[0]
    return with_dunnett(against, shared, len(against) if family is None else family)


def mean_change(
    rows: Responses, items: Items = "random", variance: Variance = "own", level: float = 0.95
) -> Crossed:
    """The mean over methods of their mean scores: chance of participants averages out, that of items does not."""
    asked = _ask(rows, items, variance, level)
    every = [m for m in range(len(rows.methods)) if asked.has([m])]
    return _crossed(
        asked, "mean of all methods", every, claims.overall(asked.layout.parts, items, variance), None
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """A study and how it is to be analysed."""

    layout: Layout
    items: Items
    variance: Variance
    level: float

    def has(self, methods: list[int]) -> bool:
        """Whether there is a block where all these methods have participants with a score."""
        return bool((self.layout.parts.count[0][:, methods] > 0).all(axis=1).any())


def _ask(rows: Responses, items: Items, variance: Variance, level: float) -> _Asked:
    """Checks what is asked and lays out the study."""
    for name, given, allowed in (
        ("items", items, get_args(Items)),
        ("variance", variance, get_args(Variance)),
    ):
        if given not in allowed:
            raise VeraxError(f"{name} is {given!r}: it must be one of {', '.join(allowed)}.")
    check_level(level)
    return _Asked(lay_out(rows), items, variance, level)


def _change(asked: _Asked, method: int) -> Crossed:
    """One method, not yet corrected."""
    layout, parts = asked.layout, asked.layout.parts
    name = str(layout.rows.methods[method])
    if not asked.has([method]):
        return _nothing(asked, name, say("nobody-of", name=name))
    own = layout.method == method
    share = claims.block_weights(parts, [method])[layout.block] / parts.count[0, layout.block, method].clip(1)
    exact = sign_flip((layout.score * share)[own]).p
    return _crossed(asked, name, [method], claims.change(parts, method, asked.items, asked.variance), exact)


def _contrast(asked: _Asked, first: int, second: int) -> Crossed:
    """Two methods, not yet corrected."""
    names = [str(asked.layout.rows.methods[m]) for m in (first, second)]
    if first == second:
        raise VeraxError(f"{names[0]} is compared with itself: name two methods.")
    if not asked.has([first, second]):
        lacking = say("no-stratum-of-both", first=names[0], second=names[1])
        return _nothing(asked, " - ".join(names), lacking)
    layout, parts = asked.layout, asked.layout.parts
    two = (layout.method == first) | (layout.method == second)
    exact = label_permutation(layout.score[two], layout.method[two] == first, layout.block[two].tolist()).p
    return _crossed(
        asked,
        " - ".join(names),
        [first, second],
        claims.contrast(parts, first, second, asked.items, asked.variance),
        exact,
    )


def _nothing(asked: _Asked, name: str, why: str) -> Crossed:
    """A claim that cannot be made."""
    sizes = Sizes({}, 0, 0, has_spread=False, random=asked.items == "random")
    return crossed(effect(name, None, None, None, asked.level), sizes, None, (why,))


def _crossed(asked: _Asked, name: str, methods: list[int], claim: Claims, exact: float | None) -> Crossed:
    """One claim with what must be said beside it; not yet corrected."""
    plain = claim.effect(name, asked.level)
    sizes = _sizes(asked, methods, plain.se is not None)
    return crossed(plain, sizes, exact, warnings_of(sizes))


def _sizes(asked: _Asked, methods: list[int], has_spread: bool) -> Sizes:
    """What the claim rests on."""
    layout, parts = asked.layout, asked.layout.parts
    names = [str(name) for name in layout.rows.methods]
    used = layout.answered[methods].min(axis=0) > 0
    there = {name for name, use in zip(layout.strata, used, strict=True) if use}
    pooled = asked.variance == "pooled" and int((parts.count[0] > 0).sum()) > 1
    ratios = _ratios(parts.variance[0][:, methods], parts.count[0][:, methods], float(parts.pooled[0]))
    has_ratio = pooled and not np.isnan(ratios).all()
    items = np.array([part.items for part in parts.parts])[used]
    return Sizes(
        participants={names[m]: int((layout.method == m).sum()) for m in methods},
        items=int(items.sum()),
        answers=int(layout.answered[methods].sum()),
        has_spread=has_spread,
        random=asked.items == "random",
        left_out={names[m]: layout.left_out[m] for m in methods},
        per_item=float((layout.answered[methods][:, used] / items.clip(1)).min(initial=np.inf)),
        pooled=pooled,
        ratio=float(np.nanmax(ratios)) if has_ratio else None,
        suspect=names[methods[int(np.nanargmax(ratios))]] if has_ratio else "",
        alike=tuple(names[m] for m in methods if (parts.variance[0][:, m] == 0).any()),
        absent=tuple(str(name) for name in layout.rows.strata if str(name) not in there),
        partial=int(layout.partial[np.isin(layout.method, methods)].sum()),
    )


def _ratios(variance: FloatArray, count: FloatArray, pooled: float) -> FloatArray:
    """Each method's variance, pooled over blocks, in units of the one pooled over all; NaN where there is none."""
    spare = np.maximum(count - 1, 0)
    sums = np.where(spare > 0, spare * variance, 0.0).sum(axis=0)
    df = spare.sum(axis=0)
    return np.where((df > 0) & (pooled > 0), sums / np.maximum(df, 1) / (pooled or 1.0), np.nan)
