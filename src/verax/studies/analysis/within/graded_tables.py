"""Tables of graded answers: conditions that may be the best, confidence, and agreement of raters.

The published tables mark what does "not differ from the best" by a test of each method against the one that came out
best, without correction. Here a condition is ruled out as the best if some other is shown to be higher: of its tests
against the k - 1 others (within people, items crossed, two-sided) the smallest p of those that came out higher, times
k - 1, is at most 5%. The truly best condition is then ruled out in at most 5% of studies, whichever it is.

What is rated is a question: one item under one condition. The paper's last row of Table 4 is "all conditions".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from verax.phrases import say as say_phrase
from verax.results.figures import Distribution, Figure, Interval, Intervals, Shares
from verax.results.tables import (
    Source,
    Sources,
    Table,
    build_table,
    count,
    interval,
    number,
    p_value,
    share,
    text,
    yes_or_no,
)
from verax.results.units import NONE, PERCENT, POINTS, SCORE, Ends
from verax.stats.agreement import Agreement, fleiss_kappa, krippendorff_alpha
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import (
    MOST_LEAD,
    ConditionResponses,
    condition_differences,
    condition_means,
    difference_claims,
    lead,
    person_differences,
)
from verax.stats.estimate import effect, two_sided_p
from verax.stats.thresholds import ALPHA, FEWEST_ITEMS, FEWEST_PEOPLE
from verax.studies.analysis.primary import share_ends
from verax.studies.analysis.within.conditions import all_and_each, as_met
from verax.studies.protocol.graded_answers import CANNOT_SAY
from verax.text import MINUS, between, p_text

if TYPE_CHECKING:
    import pandas as pd


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")


@dataclass(frozen=True)
class BesideBest:
    """How one condition stands to the best.

    Attributes:
        name: the condition.
        estimate: its mean minus that of the condition that came out best, within people; 0 for that one.
        low, high: the interval of that difference alone; it ignores that the best was picked.
        p: two-sided test of that difference alone, as published.
        p_best: of "this condition is the best", corrected; None where nothing could be tested.
        may_be_best: whether it is not ruled out.
        differs_as_published: whether ``p`` is at most 5%.
    """

    name: str
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    p_best: float | None
    may_be_best: bool
    differs_as_published: bool


def beside_best(
    rows: ConditionResponses, names: Sequence[str], means: Sequence[float], level: float
) -> list[BesideBest]:
    """Where each condition stands.

    Args:
        rows: the answers.
        names: the conditions, all with answers.
        means: their mean scores, which say which one came out best.
        level: coverage, and 1 less the share of false exclusions.
    """
    best = names[int(np.argmax(means))]
    pairs = {(name, other): _pair(rows, name, other) for name in names for other in names if name != other}
    places = []
    for name in names:
        against = [pairs[name, other] for other in names if other != name]
        tested = [pair for pair in against if pair.enough]
        # A pair speaks against the condition only where the other one came out higher.
        smallest = min((pair.p if pair.estimate < 0 else 1.0 for pair in tested), default=None)
        p_best = None if smallest is None else min(1.0, (len(names) - 1) * smallest)
        may_be_best = p_best is None or p_best > 1 - level
        if name == best:
            places.append(BesideBest(name, 0.0, None, None, None, p_best, may_be_best, False))
            continue
        alone = effect(name, *pairs[name, best].numbers, level)
        differs = alone.p is not None and alone.p <= 1 - level
        places.append(
            BesideBest(name, alone.estimate, alone.low, alone.high, alone.p, p_best, may_be_best, differs)
        )
    return places


@dataclass(frozen=True)
class _Pair:
    """The difference of two conditions, not a number where there is none."""

    estimate: float
    se: float
    df: float
    people: int
    items: int
    uneven: bool

    @property
    def numbers(self) -> tuple[float, float, float]:
        return self.estimate, self.se, self.df

    @property
    def enough(self) -> bool:
        return (
            self.people >= FEWEST_PEOPLE
            and self.items >= FEWEST_ITEMS
            and math.isfinite(self.estimate / self.se)
            and not self.uneven
        )

    @property
    def p(self) -> float:
        return two_sided_p(self.estimate / self.se, self.df)


def _pair(rows: ConditionResponses, first: str, second: str) -> _Pair:
    places = rows.conditions.index(first), rows.conditions.index(second)
    claim = difference_claims(rows, *places)
    there = ~np.isnan(person_differences(rows, *places)[0])
    used = np.isin(rows.condition, places) & ~np.isnan(rows.value[0]) & there[:, None]
    items = int(used.any(axis=0).sum())
    uneven = not rows.adjusted and lead(rows, *places) * math.sqrt(there.sum()) > MOST_LEAD
    numbers = float(claim.estimate[0]), float(claim.se[0]), float(claim.df[0])
    return _Pair(*numbers, int(there.sum()), items, uneven)


@dataclass(frozen=True)
class _BestRow:
    """A condition, its mean, and how far it is from the best."""

    name: str
    mean: float | None
    place: BesideBest


def best_table(places: dict[str, BesideBest], means: dict[str, Crossed], names: Sequence[str]) -> Table:
    """Each condition against the one that came out best, as published and corrected."""
    best = max(names, key=lambda name: means[name].estimate or 0.0)
    lines = [_BestRow(name, means[name].estimate, place) for name, place in places.items()]
    sources: Sources[_BestRow] = (
        text("condition", say_table("column-condition"), lambda line: line.name),
        number("mean", say_table("column-mean-score"), lambda line: line.mean, SCORE),
        number(
            "difference",
            say_table("column-difference-from", reference=best),
            lambda line: line.place.estimate,
            SCORE,
        ),
        interval(
            "interval",
            say_table("column-interval"),
            lambda line: SCORE.interval(line.place.low, line.place.high),
            SCORE,
        ),
        p_value("p", say_table("column-p-alone"), lambda line: line.place.p),
        text(
            "published",
            say_table("column-differs"),
            lambda line: None if line.name == best else yes_or_no(line.place.differs_as_published),
        ),
        p_value("p_best", say_table("column-p-best"), lambda line: line.place.p_best),
        text("may_be_best", say_table("column-may-be-best"), lambda line: yes_or_no(line.place.may_be_best)),
    )
    return build_table(
        "best",
        say_table("best"),
        lines,
        sources,
        _best_sentence(lines, best),
        [say_table("best-how", best=best)],
    )


def _best_sentence(lines: Sequence[_BestRow], best: str) -> str:
    left = [line.name for line in lines if line.place.may_be_best]
    same = [line.name for line in lines if line.name != best and not line.place.differs_as_published]
    alike = len({line.mean for line in lines}) == 1
    said = [say("all-scores-same") if alike else say("highest-score", condition=best)]
    if len(left) == len(lines):
        said.append(say("best-none-out"))
    else:
        said.append(say("best-left", names=left) if left else say("best-all-out"))
    if same and not alike:
        said.append(say("best-published", best=best, names=same))
    return " ".join(said)


SURE, UNSURE, UNDECIDED = "sure", "not sure", "cannot say"
LEVELS = {1.0: SURE, 0.5: UNSURE, 0.0: UNDECIDED}


@dataclass(frozen=True)
class ConfidenceGroup:
    """How often people were right at one level of confidence.

    Attributes:
        condition: where, or over all.
        confidence: how sure they were.
        answers: how many.
        share: of the condition's answers.
        right: per cent; None for those who cannot say.
        ends: of its interval.
    """

    condition: str
    confidence: str
    answers: int
    share: float
    right: float | None
    ends: Ends


def with_confidence(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with ``confidence`` (how sure) and ``right`` (1 or 0; missing for those who cannot say)."""
    right = (answers["score"] > 0).astype("float64").where(answers["score"] != 0)
    return answers.assign(confidence=answers["score"].abs().map(LEVELS), right=right)


def confidences(answers: pd.DataFrame, names: Sequence[str], level: float) -> list[ConfidenceGroup]:
    """The share of right answers by confidence, over all conditions and under each."""
    judged = with_confidence(answers)
    return [
        line
        for name, part in all_and_each(judged, names).items()
        for line in _by_confidence(part, name, level)
    ]


def _by_confidence(part: pd.DataFrame, name: str, level: float) -> list[ConfidenceGroup]:
    decided = part[part["right"].notna()]
    shares: dict[str, Crossed] = {}
    if len(decided):
        by_level = decided.assign(condition=decided["confidence"])
        shares = {right.name: right for right in condition_means(as_met(by_level, "right"), level)}
    lines = []
    for confidence in LEVELS.values():
        answers, right = int((part["confidence"] == confidence).sum()), shares.get(confidence)
        if answers:
            lines.append(
                ConfidenceGroup(
                    name,
                    confidence,
                    answers,
                    answers / len(part),
                    None if right is None else PERCENT.of(right.estimate),
                    share_ends(right),
                )
            )
    return lines


def confidence_table(lines: Sequence[ConfidenceGroup], answers: pd.DataFrame, level: float) -> Table:
    """The share of right answers by confidence."""
    sources: Sources[ConfidenceGroup] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        text("confidence", say_table("column-confidence"), lambda line: line.confidence),
        count("answers", say_table("column-answers"), lambda line: line.answers),
        share("share", say_table("column-share"), lambda line: line.share),
        number("right", say_table("column-right"), lambda line: line.right, PERCENT),
        interval("interval", say_table("column-interval"), lambda line: line.ends, PERCENT),
    )
    return build_table(
        "confidence",
        say_table("confidence"),
        lines,
        sources,
        _confidence_sentence(lines, _difference(with_confidence(answers), level)),
        [say_table("confidence-how")],
    )


def _difference(judged: pd.DataFrame, level: float) -> Crossed | None:
    """How much more often the same people are right when they are sure; None where one level is not used."""
    decided = judged[judged["right"].notna()]
    if set(decided["confidence"]) != {SURE, UNSURE}:
        return None
    return condition_differences(
        as_met(decided.assign(condition=decided["confidence"]), "right"), [(SURE, UNSURE)], level
    )[0]


def _confidence_sentence(lines: Sequence[ConfidenceGroup], difference: Crossed | None) -> str:
    first = {line.confidence: line.right for line in lines if line.condition == lines[0].condition}
    parts = [
        say("confidence-part", share=f"{first[name]:.0f}", level=name)
        for name in (SURE, UNSURE)
        if first.get(name) is not None
    ]
    if not parts:
        return say("confidence-nobody")
    said = say("confidence-shares", parts=parts)
    if difference is None or difference.estimate is None:
        return said
    size = POINTS.said(100 * difference.estimate)
    ends = POINTS.interval(difference.low, difference.high)
    if difference.p is None or ends is None or not difference.enough:
        return f"{said} {say('confidence-no-claim', size=size)}"
    verdict = "open" if difference.p > ALPHA else "tells" if difference.estimate > 0 else "worse"
    told = say(
        "confidence-difference",
        size=size,
        interval=between(*ends),
        p=p_text(difference.p),
        verdict=verdict,
    )
    return f"{said} {told}"


def calibration_figure(lines: Sequence[ConfidenceGroup]) -> Figure:
    """The share of right answers by confidence."""
    rows = tuple(
        Interval(f"{line.condition}, {line.confidence}", line.right, low, high, line.confidence)
        for line in lines
        for low, high in [line.ends or (None, None)]
        if line.right is not None
    )
    return Figure(
        "confidence",
        say_table("confidence"),
        Intervals(say_table("figure-confidence-axis"), 50, rows),
        say_table("figure-confidence-says"),
    )


def distribution_figure(answers: pd.DataFrame, names: Sequence[str]) -> Figure:
    """How scores are distributed under each condition (the paper's Figure 3)."""
    undecided = bool((answers["score"] == 0).any())
    levels = (-1.0, -0.5, *((0.0,) if undecided else ()), 0.5, 1.0)
    by_name = {name: answers.loc[answers["condition"] == name, "score"] for name in names}
    rows = tuple(
        Shares(name, tuple(float((own == level).mean()) for level in levels)) for name, own in by_name.items()
    )
    return Figure(
        "scores-distribution",
        say_table("figure-distribution"),
        Distribution("score", levels, rows),
        say_table("figure-distribution-says"),
    )


# Enough for an interval; more would only take longer.
MOST_REPLICATES = 2_000


@dataclass(frozen=True)
class RaterAgreement:
    """How far people agree under one condition (or all), with how sure they are or without."""

    condition: str
    answers: str
    kappa: Agreement
    alpha: Agreement


def without_confidence(answer: str, score: float) -> str:
    """An answer without how sure it is: its class, or, where the answer is a choice of two models, the better or worse.

    Args:
        answer: what is stored: "1:certain", "none", or the worth of a choice ("-0.5").
        score: what it is worth.
    """
    if answer == CANNOT_SAY or score == 0:
        return CANNOT_SAY
    number_of_class, colon, _ = answer.partition(":")
    if colon:
        return number_of_class
    return "better" if score > 0 else "worse"


def agreement_table(answers: pd.DataFrame, names: Sequence[str], replicates: int, seed: int) -> Table:
    """Agreement over all conditions and under each, with confidence levels and without."""
    kept = min(replicates, MOST_REPLICATES)
    bare = [
        without_confidence(str(answer), float(score))
        for answer, score in zip(answers["answer"], answers["score"], strict=True)
    ]
    rated = answers.assign(
        question=answers["item"].astype(str) + " / " + answers["condition"].astype(str),
        full=answers["answer"].astype(str),
        bare=bare,
    )
    lines = [
        _agreed(part, name, title, column, kept, seed)
        for name, part in all_and_each(rated, names).items()
        for title, column in (("with confidence", "full"), ("without confidence", "bare"))
    ]
    sources: Sources[RaterAgreement] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        text("answers", say_table("column-answers"), lambda line: line.answers),
        number("kappa", say_table("column-fleiss-kappa"), lambda line: line.kappa.value),
        interval("kappa_items", say_table("column-over-questions"), lambda line: _over_items(line.kappa)),
        interval(
            "kappa_raters", say_table("column-over-participants"), lambda line: _over_raters(line.kappa)
        ),
        number("alpha", say_table("column-krippendorffs-alpha"), lambda line: line.alpha.value),
        interval("alpha_items", say_table("column-over-questions"), lambda line: _over_items(line.alpha)),
        interval(
            "alpha_raters", say_table("column-over-participants"), lambda line: _over_raters(line.alpha)
        ),
        count("questions", say_table("column-questions"), lambda line: line.kappa.n_items),
        count("raters", say_table("column-participants"), lambda line: line.kappa.n_raters),
        count("ratings", say_table("column-answers"), lambda line: line.kappa.n_ratings),
        Source("single", lambda line: line.kappa.single),
        Source("observed", lambda line: line.kappa.observed),
    )
    return build_table(
        "agreement",
        say_table("agreement"),
        lines,
        sources,
        _agreement_sentence(lines),
        _notes(lines[0].kappa.single, kept),
    )


def _agreed(
    part: pd.DataFrame, name: str, title: str, column: str, replicates: int, seed: int
) -> RaterAgreement:
    given = part["question"].tolist(), part["participant"].tolist(), part[column].tolist()
    return RaterAgreement(
        name,
        title,
        fleiss_kappa(*given, replicates=replicates, seed=seed),
        krippendorff_alpha(*given, scale="nominal", replicates=replicates, seed=seed),
    )


def _over_items(agreement: Agreement) -> Ends:
    return NONE.interval(agreement.items_low, agreement.items_high)


def _over_raters(agreement: Agreement) -> Ends:
    return NONE.interval(agreement.raters_low, agreement.raters_high)


def _agreement_sentence(lines: Sequence[RaterAgreement]) -> str:
    full, bare = lines[0], lines[1]
    if full.kappa.n_items == 0:
        return say_table("agreement-none")
    if bare.kappa.value is None and full.kappa.value is None:
        return say_table("agreement-all")
    parts = [
        say_table("agreement-part", kappa=f"{line.kappa.value:.2f}".replace("-", MINUS), answers=line.answers)
        for line in (full, bare)
        if line.kappa.value is not None
    ]
    return say_table("agreement-says", parts=parts)


def _notes(single: int, replicates: int) -> list[str]:
    notes = [
        say_table("agreement-how"),
        say_table("agreement-intervals", replicates=replicates),
    ]
    if single:
        notes.append(say_table("agreement-single", single=single))
    return notes
