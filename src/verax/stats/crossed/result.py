"""One claim about crossed scores as a result: what it rests on, its interval, tests, corrections and warnings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from verax.codec import Record
from verax.phrases import say as say_phrase
from verax.stats.crossed.claims import Items
from verax.stats.estimate import Effect, t_critical
from verax.stats.tests.differences import detectable
from verax.stats.tests.multiplicity import holm, many_to_one_critical, many_to_one_p
from verax.stats.thresholds import FEWEST_ITEMS, FEWEST_PEOPLE, FEWEST_PER_ITEM, FEWEST_SPREAD, SUSPECT_RATIO

say = partial(say_phrase, "claims")


@dataclass(frozen=True)
class Sizes:
    """What a claim rests on.

    Attributes:
        participants: Number of participants by name: of each method, or of those who met both conditions.
        items: Number of items.
        answers: Number of scores.
        has_spread: Whether there is a standard error.
        random: Whether the claim is about items in general.
        left_out: Participants without any score, by method name.
        per_item: Smallest mean number of participants per item over the claim's methods.
        pooled: Whether participants' variance is pooled over methods, because somebody asked for it.
        ratio: Where it is, the largest variance of one of the claim's methods over the pooled one.
        suspect: The method that has it.
        alike: Methods whose participants (two or more) all score the same.
        absent: Strata where some method of the claim has nobody.
        partial: Participants who miss a whole stratum.
        uneven: Whether two conditions were met so unequally early and late that practice can pass for an effect.
    """

    participants: dict[str, int]
    items: int
    answers: int
    has_spread: bool
    random: bool = True
    left_out: dict[str, int] = field(default_factory=dict)
    per_item: float = math.inf
    pooled: bool = False
    ratio: float | None = None
    suspect: str = ""
    alike: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    partial: int = 0
    uneven: bool = False


def enough(sizes: Sizes) -> bool:
    """Whether the numbers allow a claim."""
    items_suffice = sizes.items >= FEWEST_ITEMS or not sizes.random
    if not sizes.has_spread or not items_suffice or sizes.uneven:
        return False
    return min(sizes.participants.values()) >= FEWEST_PEOPLE


def warnings_of(sizes: Sizes) -> tuple[str, ...]:
    """The sentences that belong beside a claim about methods."""
    return tuple(_about_data(sizes) + _about_participants(sizes) + _about_items(sizes))


def _about_data(sizes: Sizes) -> list[str]:
    """What is not in the estimate."""
    said = [
        say("without-score", participants=count, name=name) for name, count in sizes.left_out.items() if count
    ]
    if sizes.absent:
        said.append(say("absent", strata=sizes.absent))
    if sizes.partial:
        said.append(say("partial", participants=sizes.partial))
    return said


def _about_participants(sizes: Sizes) -> list[str]:
    """What few participants allow, and what pooled variances risk."""
    name, count = min(sizes.participants.items(), key=lambda entry: entry[1])
    said = []
    if not sizes.has_spread:
        case = "few" if count < FEWEST_SPREAD else "alike"
        said.append(say("no-interval", case=case, name=name, participants=count))
    elif count < FEWEST_PEOPLE:
        said.append(say("few-participants", name=name, participants=count, needed=FEWEST_PEOPLE))
    if sizes.has_spread and sizes.alike:
        said.append(say("score-the-same", names=sizes.alike))
    if sizes.has_spread and sizes.pooled and sizes.ratio is not None and sizes.ratio > SUSPECT_RATIO:
        said.append(say("suspect", name=sizes.suspect, ratio=f"{sizes.ratio:.1f}"))
    return said


def _about_items(sizes: Sizes) -> list[str]:
    """What few items allow."""
    if not sizes.random:
        return []
    if sizes.items < FEWEST_ITEMS:
        return [say("few-items-fixed", items=sizes.items, needed=FEWEST_ITEMS)]
    if sizes.per_item < FEWEST_PER_ITEM:
        return [say("few-per-item", people=f"{sizes.per_item:.1f}".removesuffix(".0"))]
    return []


def difference_warnings(sizes: Sizes, first: str, second: str, only_one: int) -> tuple[str, ...]:
    """The sentences that belong beside a difference of two conditions, which ``only_one`` people met only one of."""
    (n,) = sizes.participants.values()
    said = []
    if only_one:
        said.append(say("met-only-one", participants=only_one, first=first, second=second))
    if n == 0:
        return (*said, say("met-by-nobody", first=first, second=second))
    if not sizes.has_spread:
        said.append(
            say("no-interval-of-difference", case="few" if n < FEWEST_SPREAD else "alike", participants=n)
        )
    elif n < FEWEST_PEOPLE:
        said.append(say("few-participants-of-difference", participants=n, needed=FEWEST_PEOPLE))
    if sizes.items < FEWEST_ITEMS:
        said.append(say("few-items", items=sizes.items, needed=FEWEST_ITEMS))
    if sizes.uneven:
        said.append(say("uneven", first=first, second=second))
    return tuple(said)


@dataclass(frozen=True)
class Crossed(Record):
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
        p_exact: Flipped signs of one method's participants, or permuted labels of two (items fixed); else None.
        ratio: Where pooled variances were asked for, that of this method's participants over the pooled one (the larger
            of two); else None.
        detectable: The true effect that this design finds in 80% of studies, by the corrected test (for Holm, its first
            step): what "not significant" leaves open.
        n_participants: Participants with a score.
        n_items: Items with a score.
        n_answers: Scores.
        items: Whether the claim is about items like these ("random") or these ("fixed").
        variance: Whether participants' variance is each method's own, or pooled over methods.
        enough: Whether the numbers allow a claim; if not, show the estimate only.
        uneven: Whether the claim is withheld because conditions were not met equally early and late.
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
    uneven: bool = False

    JSON: ClassVar = (..., "verdict")

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


def crossed(plain: Effect, sizes: Sizes, p_exact: float | None, warnings: tuple[str, ...]) -> Crossed:
    """The claim with what it rests on; not yet corrected for others."""
    return Crossed(
        name=plain.name,
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
        p_exact=p_exact,
        ratio=sizes.ratio,
        detectable=None
        if plain.se is None or plain.df is None
        else detectable(plain.se, plain.df, level=plain.level),
        n_participants=sum(sizes.participants.values()),
        n_items=sizes.items,
        n_answers=sizes.answers,
        items="random" if sizes.random else "fixed",
        variance="pooled" if sizes.pooled else "own",
        enough=enough(sizes),
        level=plain.level,
        warnings=warnings,
        uneven=sizes.uneven,
    )


def with_holm(claims: Sequence[Crossed]) -> tuple[Crossed, ...]:
    """The claims corrected together: Holm's p-values, Bonferroni's intervals."""
    tests = sum(claim.p is not None for claim in claims)
    corrected = []
    for claim, p in zip(claims, holm([claim.p for claim in claims]), strict=True):
        if claim.df is not None:
            critical = t_critical(1 - (1 - claim.level) / tests, claim.df)
            corrected.append(_in_family(claim, float(p), critical, "Holm"))
        else:
            corrected.append(claim)
    return tuple(corrected)


def with_dunnett(contrasts: Sequence[Crossed], shared: float, family: int) -> tuple[Crossed, ...]:
    """Contrasts with one control corrected together.

    Two contrasts share the control's participants: that part of their variances (``shared``) makes them correlate.
    The family has as many as the study was to make (``family``), whichever of them its answers allow: the others count
    as uncorrelated, which corrects most.
    """
    known = [min(shared / claim.se**2, 0.9999) for claim in contrasts if claim.se is not None]
    loadings = np.sqrt(known + [0.0] * (max(family, len(contrasts)) - len(known)))
    corrected = []
    for claim in contrasts:
        if claim.estimate is None or claim.se is None or claim.df is None:
            corrected.append(claim)
        else:
            p = many_to_one_p(claim.estimate / claim.se, loadings, claim.df)
            critical = many_to_one_critical(claim.level, loadings, claim.df)
            corrected.append(_in_family(claim, p, critical, "Dunnett"))
    return tuple(corrected)


def _in_family(claim: Crossed, p: float, critical: float, correction: Literal["Holm", "Dunnett"]) -> Crossed:
    """The claim with its corrected p and the interval that holds together with the others'."""
    middle, se = claim.estimate or 0.0, claim.se or 0.0
    margin, alone = critical * se, t_critical(claim.level, claim.df or 1.0) * se
    return replace(
        claim,
        p_family=p,
        low_family=middle - margin,
        high_family=middle + margin,
        detectable=None if claim.detectable is None else claim.detectable + margin - alone,
        correction=correction,
    )
