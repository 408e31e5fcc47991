"""One claim about crossed scores as a result: its interval, tests and corrections, and what is said beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from verax.stats.crossed.claims import Items
from verax.stats.crossed.sizes import Sizes, enough
from verax.stats.effect import Effect
from verax.stats.record import Record
from verax.stats.student import t_critical
from verax.stats.tests.dunnett import many_to_one_critical, many_to_one_p
from verax.stats.tests.equivalence import detectable
from verax.stats.tests.multiplicity import holm


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

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON, with the verdict."""
        return {**super().to_dict(), "warnings": list(self.warnings), "verdict": self.verdict}


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
