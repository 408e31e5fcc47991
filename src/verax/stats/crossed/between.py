"""Change of accuracy when participants and items are crossed: the default estimator, its contrasts and its limits.

A closed form with two sources of chance (participants, items) and Satterthwaite's degrees of freedom; formulas in
`verax.stats.crossed.components` and `verax.stats.crossed.claims`. In simulated studies of three sizes without any
effect it claims one
in 4.6 to 5.0% where 5% is promised; tests of rows claim in 7 to 11%, the plain bootstrap of participants and items in
0.7 to 1.1% (docs/results/calibration.md, made by perf/calibration.py).

``items="random"`` speaks about items like these, ``items="fixed"`` about these items only; both speak about other
participants. The claims are about points of accuracy: no change in log-odds is not no change in points.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.columns import listed
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Claims, Items, Variance
from verax.stats.crossed.layout import Layout, lay_out
from verax.stats.crossed.notes import enough, sizes_of, warnings_of
from verax.stats.effect import effect
from verax.stats.responses import Responses
from verax.stats.student import t_critical
from verax.stats.tests.equivalence import detectable
from verax.stats.tests.families import many_to_one_critical, many_to_one_p
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import label_permutation, sign_flip


@dataclass(frozen=True)
class Crossed:
    """One claim: a method's mean, a difference of two methods, or the mean over methods.

    Attributes:
        name: The method, or "first - second", or "mean of all methods".
        estimate: Mean over participants of their mean score (Post - Pre); None where nobody has one.
        se: Standard error; None where there is none (all participants score the same, or nobody to compare with).
        df: Satterthwaite's degrees of freedom.
        low: Lower end of the interval, for this claim alone.
        high: Upper end.
        p: Two-sided test that the true value is 0, for this claim alone.
        p_family: The same, corrected for all claims of the call.
        low_family: Lower end of an interval that holds together with those of the other claims.
        high_family: Upper end.
        correction: How the family was corrected.
        p_own: With each method's own variance; None where that is what ``p`` has, or where it cannot be had.
        p_exact: Flipped signs of one method's participants, or permuted labels of two (items fixed); else None.
        ratio: Where the variance is pooled, that of this method's participants over the pooled one (the larger of two).
        detectable: The true effect that this design finds in 80% of studies, by the corrected test (for Holm, its first
            step): what "not significant" leaves open.
        n_participants: Participants with a score.
        n_items: Items with a score.
        n_answers: Scores.
        items: Whether the claim is about items like these ("random") or these ("fixed").
        variance: Whether participants' variance is pooled over methods or each method's own.
        enough: Whether the numbers allow a claim; if not, show the estimate only.
        level: Coverage of the intervals.
        warnings: What a reader must know, one sentence each.
    """

    name: str
    estimate: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    p: float | None
    p_family: float | None
    low_family: float | None
    high_family: float | None
    correction: Literal["none", "Holm", "Dunnett"]
    p_own: float | None
    p_exact: float | None
    ratio: float | None
    detectable: float | None
    n_participants: int
    n_items: int
    n_answers: int
    items: Items
    variance: Literal["pooled", "own"]
    enough: bool
    level: float = 0.95
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Literal["higher", "lower", "none"]:
        """Whether the family's test finds the value above or below 0; "none" is too little evidence, not equality."""
        if (
            not self.enough
            or self.estimate is None
            or self.p_family is None
            or self.p_family > 1 - self.level
        ):
            return "none"
        return "higher" if self.estimate > 0 else "lower"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the verdict."""
        return {**asdict(self), "warnings": list(self.warnings), "verdict": self.verdict}


def changes(
    rows: Responses, items: Items = "random", variance: Variance = "auto", level: float = 0.95
) -> tuple[Crossed, ...]:
    """The mean score (Post - Pre) of each method, corrected together by Holm.

    Over strata, the mean of the strata's values. A Change without a control includes practice: where the study has a
    condition without explanations, `contrasts_with` it is the claim about the explanations.

    Args:
        rows: The study's responses.
        items: "random" or "fixed".
        variance: "auto" pools participants' variance over methods if some method has less than ten (in a block).
        level: Coverage of the intervals.
    """
    asked = _ask(rows, items, variance, level)
    return with_holm([_change(asked, m) for m in range(len(rows.methods))])


def contrasts(
    rows: Responses,
    pairs: Sequence[tuple[Hashable, Hashable]] | None = None,
    items: Items = "random",
    variance: Variance = "auto",
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
    chosen = list(combinations(rows.methods, 2)) if pairs is None else pairs
    asked = _ask(rows, items, variance, level)
    return with_holm(
        [_contrast(asked, _place(rows, first), _place(rows, second)) for first, second in chosen]
    )


def contrasts_with(
    rows: Responses,
    control: Hashable,
    items: Items = "random",
    variance: Variance = "auto",
    level: float = 0.95,
) -> tuple[Crossed, ...]:
    """How much higher each method is than the control, corrected together by Dunnett's distribution."""
    second = _place(rows, control)
    asked = _ask(rows, items, variance, level)
    found = [_contrast(asked, m, second) for m in range(len(rows.methods)) if m != second]
    if not found:
        raise VeraxError(f"There is no method beside {control}: nothing can be compared with it.")
    if not asked.has([second]):
        return tuple(found)
    # Two contrasts share the control's participants: that part of their variances makes them correlate.
    shared = claims.change(asked.layout.parts, second, "fixed", variance).variance[0]
    loadings = np.sqrt([min(shared / one.se**2, 0.9999) for one in found if one.se is not None])
    return tuple(_with_dunnett(one, loadings) for one in found)


def mean_change(
    rows: Responses, items: Items = "random", variance: Variance = "auto", level: float = 0.95
) -> Crossed:
    """The mean over methods of their mean scores: chance of participants averages out, that of items does not."""
    asked = _ask(rows, items, variance, level)
    every = [m for m in range(len(rows.methods)) if asked.has([m])]
    return _crossed(
        asked, "mean of all methods", every, lambda how: claims.overall(asked.layout.parts, items, how), None
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
            raise VeraxError(f"{name} is {given!r}: it must be one of {listed(allowed)}.")
    t_critical(level, 1)  # says what is wrong with a level
    return _Asked(lay_out(rows), items, variance, level)


def _place(rows: Responses, name: Hashable) -> int:
    """The place of a method."""
    if name not in rows.methods:
        raise VeraxError(f"There is no method {name}: it must be one of {listed(rows.methods)}.")
    return rows.methods.index(name)


def _change(asked: _Asked, method: int) -> Crossed:
    """One method, not yet corrected."""
    scores, parts = asked.layout.scores, asked.layout.parts
    name = str(asked.layout.rows.methods[method])
    if not asked.has([method]):
        return _nothing(asked, name, f"No participant of {name} has a score.")
    own = scores.method == method
    share = claims.block_weights(parts, [method])[scores.block] / parts.count[0, scores.block, method].clip(1)
    exact = sign_flip((scores.score * share)[own]).p
    return _crossed(asked, name, [method], lambda how: claims.change(parts, method, asked.items, how), exact)


def _contrast(asked: _Asked, first: int, second: int) -> Crossed:
    """Two methods, not yet corrected."""
    names = [str(asked.layout.rows.methods[m]) for m in (first, second)]
    if first == second:
        raise VeraxError(f"{names[0]} is compared with itself: name two methods.")
    if not asked.has([first, second]):
        lacking = f"No stratum has participants of both {names[0]} and {names[1]} with a score."
        return _nothing(asked, " - ".join(names), lacking)
    parts, scores = asked.layout.parts, asked.layout.scores
    two = (scores.method == first) | (scores.method == second)
    exact = label_permutation(scores.score[two], scores.method[two] == first, scores.block[two].tolist()).p
    return _crossed(
        asked,
        " - ".join(names),
        [first, second],
        lambda how: claims.contrast(parts, first, second, asked.items, how),
        exact,
    )


def _nothing(asked: _Asked, name: str, why: str) -> Crossed:
    """A claim that cannot be made."""
    nothing = dict.fromkeys(
        ("estimate", "se", "df", "low", "high", "p", "p_family", "low_family", "high_family")
    )
    return Crossed(
        name=name,
        **nothing,
        correction="none",
        p_own=None,
        p_exact=None,
        ratio=None,
        detectable=None,
        n_participants=0,
        n_items=0,
        n_answers=0,
        items=asked.items,
        variance="own",
        enough=False,
        level=asked.level,
        warnings=(why,),
    )


def _crossed(
    asked: _Asked, name: str, methods: list[int], make: Callable[[Variance], Claims], exact: float | None
) -> Crossed:
    """One claim as plain values, with what must be said beside it; not yet corrected."""
    found = make(asked.variance)
    pooled = bool(found.pooled[0]) and int((asked.layout.parts.count[0] > 0).sum()) > 1
    plain = effect(name, found.estimate[0], found.se[0], found.df[0], asked.level)
    own = _own_p(make) if pooled else None
    sizes = sizes_of(asked.layout, methods, asked.items == "random", pooled, own, plain.se is not None)
    least = (
        None if plain.se is None or plain.df is None else detectable(plain.se, plain.df, level=asked.level)
    )
    return Crossed(
        name=name,
        estimate=plain.estimate,
        se=plain.se,
        df=plain.df,
        low=plain.low,
        high=plain.high,
        p=plain.p,
        p_family=plain.p,
        low_family=plain.low,
        high_family=plain.high,
        correction="none",
        p_own=own,
        p_exact=exact,
        ratio=sizes.ratio,
        detectable=least,
        n_participants=sum(sizes.participants.values()),
        n_items=sizes.items,
        n_answers=int(asked.layout.answered[methods].sum()),
        items=asked.items,
        variance="pooled" if pooled else "own",
        enough=enough(sizes),
        level=asked.level,
        warnings=warnings_of(sizes),
    )


def _own_p(make: Callable[[Variance], Claims]) -> float | None:
    """The p-value with each method's own variance."""
    p = float(make("own").p[0])
    return None if np.isnan(p) else p


def with_holm(found: list[Crossed]) -> tuple[Crossed, ...]:
    """The claims corrected together: Holm's p-values, Bonferroni's intervals."""
    tests = sum(one.p is not None for one in found)
    corrected = []
    for one, p in zip(found, holm([one.p for one in found]), strict=True):
        if one.df is not None:
            critical = t_critical(1 - (1 - one.level) / tests, one.df)
            corrected.append(_in_family(one, float(p), critical, "Holm"))
        else:
            corrected.append(one)
    return tuple(corrected)


def _with_dunnett(one: Crossed, loadings: FloatArray) -> Crossed:
    """A contrast with the control, corrected for the others that share the control's participants."""
    if one.estimate is None or one.se is None or one.df is None:
        return one
    p = many_to_one_p(one.estimate / one.se, loadings, one.df)
    return _in_family(one, p, many_to_one_critical(one.level, loadings, one.df), "Dunnett")


def _in_family(one: Crossed, p: float, critical: float, correction: Literal["Holm", "Dunnett"]) -> Crossed:
    """The claim with its corrected p and the interval that holds together with the others'."""
    middle, se = one.estimate or 0.0, one.se or 0.0
    margin, alone = critical * se, t_critical(one.level, one.df or 1.0) * se
    return replace(
        one,
        p_family=p,
        low_family=middle - margin,
        high_family=middle + margin,
        detectable=None if one.detectable is None else one.detectable + margin - alone,
        correction=correction,
    )
