"""Scales among one's own questions: scores by condition, and how well their items go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import ttest_ind, ttest_rel

from verax.arrays import FloatArray
from verax.phrases import say as say_phrase
from verax.results.tables import Table, build_table, count, interval, number, p_value, text
from verax.results.units import NONE
from verax.stats.agreement import Reliability, cronbach_alpha, mcdonald_omega
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import ALPHA, FEWEST_PEOPLE, FEWEST_SPREAD
from verax.studies.definition.own_questions import ScoredScale, scored_scales
from verax.studies.protocol.common_steps import OWN
from verax.studies.protocol.contract import Analysed
from verax.studies.results.study_summary import Options
from verax.text import between, signed

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
SCALES, RELIABILITY = "scales", "reliability"
EVERYBODY = "all"


@dataclass(frozen=True)
class Scored:
    """One scale, where it was asked: the items of each person who answered all of them, and what they make.

    Attributes:
        scale: which.
        asked: the part after which it was asked, where that was more than one; empty otherwise.
        items: one row for each person and condition, turned in one direction.
        scores: one for each row.
        people, conditions: of the rows.
    """

    scale: ScoredScale
    asked: str
    items: FloatArray
    scores: FloatArray
    people: tuple[str, ...]
    conditions: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return say("scale-after", scale=self.scale.name, part=self.asked) if self.asked else self.scale.name

    def scores_in(self, condition: str) -> dict[str, float]:
        """The scores in a condition by person."""
        rows = zip(self.people, self.conditions, self.scores, strict=True)
        return {who: float(score) for who, where, score in rows if where == condition}


@dataclass(frozen=True)
class Contrast:
    """How a condition differs from the one without explanations; nothing where either has too few people."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class _ScoreRow:
    """A scale in a condition."""

    scale: str
    condition: str
    score: Estimate
    contrast: Contrast


@dataclass(frozen=True)
class _ReliabilityRow:
    """How well a scale's items go together."""

    scale: str
    alpha: Reliability
    omega: Reliability


def scale_tables(data: Analysed, options: Options) -> tuple[Table, ...]:
    """Scores by condition, and the reliability of each scale; nothing where no scale was answered."""
    asked = list(scored(data))
    if not asked:
        return ()
    order = [condition.name for condition in data.conditions]
    lines = [line for one in asked for line in _lines(one, order, data.control)]
    tables = [
        build_table(
            SCALES,
            say_table("scales"),
            lines,
            (
                text("scale", say_table("column-scale"), lambda line: line.scale),
                text("condition", say_table("column-condition"), lambda line: line.condition),
                count("n", "n", lambda line: line.score.n),
                number("mean", say_table("column-mean"), lambda line: line.score.mean),
                interval(
                    "interval",
                    say_table("column-interval"),
                    lambda line: NONE.interval(line.score.low, line.score.high),
                ),
                number("spread", say_table("column-standard-deviation"), lambda line: line.score.spread),
                number("difference", say_table("column-difference"), lambda line: line.contrast.estimate),
                interval(
                    "ends",
                    say_table("column-interval-of-it"),
                    lambda line: NONE.interval(line.contrast.low, line.contrast.high),
                ),
                p_value("p", say_table("column-p-holm"), lambda line: line.contrast.p),
            ),
            _sentence(asked, lines, data.control),
            list(_notes(asked, data.control)),
        )
    ]
    several = [one for one in asked if len(one.scale.items) > 1]
    if several:
        tables.append(_reliability_table(several, options.seed))
    return tuple(tables)


def scored(data: Analysed) -> Iterator[Scored]:
    """The scales that people answered, in the order of the spec; where one was asked twice, each time alone."""
    answers = data.responses
    own = dict(zip(data.participants["participant"], data.participants["condition"], strict=True))
    for scale in scored_scales(data.study.spec.questions):
        rows = answers[answers["question"].isin(scale.items) & answers["answer"].notna()]
        if rows.empty:
            continue
        rows = rows.assign(
            value=rows["answer"].astype(float),
            condition=[
                place if isinstance(place, str) else own.get(who) or EVERYBODY
                for who, place in zip(rows["participant"], rows["condition"], strict=True)
            ],
            asked=rows["phase"].str.removeprefix(OWN),
        )
        # Within people a scale is asked once in each condition, wherever that stood; otherwise each time alone.
        once = not rows.duplicated(["participant", "condition", "question"]).any()
        for part, some in [("", rows)] if once else rows.groupby("asked", sort=False):
            made = _scored(scale, str(part), some)
            if made is not None:
                yield made


def _scored(scale: ScoredScale, asked: str, rows: pd.DataFrame) -> Scored | None:
    table = rows.pivot_table(
        index=["participant", "condition"], columns="question", values="value", aggfunc="first"
    )
    table = table.reindex(columns=list(scale.items)).dropna()
    if table.empty:
        return None
    items = table.to_numpy(dtype=float)
    turned = np.array([item in scale.reverse for item in scale.items])
    items = np.where(turned, scale.low + scale.high - items, items)
    people, conditions = zip(*table.index, strict=True)
    return Scored(scale, asked, items, _score(scale, items), people, conditions)


def _score(scale: ScoredScale, items: FloatArray) -> FloatArray:
    match scale.score:
        case "sum":
            return np.asarray(items.sum(axis=1))
        case "percent":
            return np.asarray(100 * (items.mean(axis=1) - scale.low) / (scale.high - scale.low))
    return np.asarray(items.mean(axis=1))


def _lines(one: Scored, order: Sequence[str], control: str | None) -> list[_ScoreRow]:
    by_condition = {name: one.scores_in(name) for name in (*order, EVERYBODY)}
    present = {name: scores for name, scores in by_condition.items() if scores}
    contrasts = {
        name: _contrast(scores, present.get(control or "", {}))
        for name, scores in present.items()
        if name not in (control, EVERYBODY)
    }
    p_values = holm([contrast.p for contrast in contrasts.values()])
    for (name, contrast), p in zip(list(contrasts.items()), p_values, strict=True):
        held = None if contrast.p is None else float(p)
        contrasts[name] = Contrast(contrast.estimate, contrast.low, contrast.high, held)
    return [
        _ScoreRow(one.name, name, mean_interval(list(scores.values())), contrasts.get(name, Contrast()))
        for name, scores in present.items()
    ]


def _contrast(first: dict[str, float], second: dict[str, float]) -> Contrast:
    """Welch's test between people, the paired one where the same people answered in both."""
    both = sorted(first.keys() & second.keys())
    fewest = len(both) if both else min(len(first), len(second))
    if not second or fewest < FEWEST_SPREAD:
        return Contrast()
    if both:
        pairs = [(first[who], second[who]) for who in both]
        tested = ttest_rel(*zip(*pairs, strict=True))
        estimate = float(np.mean([one - other for one, other in pairs]))
    else:
        tested = ttest_ind(list(first.values()), list(second.values()), equal_var=False)
        estimate = float(np.mean(list(first.values())) - np.mean(list(second.values())))
    if not np.isfinite(tested.pvalue):
        return Contrast(estimate)
    ends = tested.confidence_interval(0.95)
    # From few people an estimate is made, and no claim.
    p = float(tested.pvalue) if fewest >= FEWEST_PEOPLE else None
    return Contrast(estimate, float(ends.low), float(ends.high), p)


def _sentence(asked: Sequence[Scored], lines: Sequence[_ScoreRow], control: str | None) -> str:
    clear = [line for line in lines if line.contrast.p is not None and line.contrast.p <= ALPHA]
    if control is None or not any(line.contrast.p is not None for line in lines):
        return say("scales-described", scales=len(asked))
    if not clear:
        return say("scales-alike", control=control)
    said = [
        say(
            "scale-differs",
            scale=line.scale,
            condition=line.condition,
            size=signed(line.contrast.estimate or 0.0, 2),
            interval=between(line.contrast.low or 0.0, line.contrast.high or 0.0, decimals=2),
        )
        for line in clear
    ]
    return say("scales-differ", control=control, differences=said)


def _notes(asked: Sequence[Scored], control: str | None) -> Iterator[str]:
    for scale in dict.fromkeys(one.scale for one in asked):
        yield say(
            "scale-made",
            scale=scale.name,
            score=scale.score,
            items=len(scale.items),
            low=f"{scale.low:g}",
            high=f"{scale.high:g}",
            source=scale.source or "none",
        )
    if control is not None:
        yield say("scale-contrasts", control=control)


def _reliability_table(several: Sequence[Scored], seed: int) -> Table:
    lines = [
        _ReliabilityRow(one.name, cronbach_alpha(one.items), mcdonald_omega(one.items, seed=seed))
        for one in several
    ]
    weak = [line.scale for line in lines if line.alpha.estimate is not None and line.alpha.estimate < WEAK]
    return build_table(
        RELIABILITY,
        say_table("reliability"),
        lines,
        (
            text("scale", say_table("column-scale"), lambda line: line.scale),
            count("items", say_table("column-items"), lambda line: line.alpha.items),
            count("n", "n", lambda line: line.alpha.people),
            number("alpha", say_table("column-cronbachs-alpha"), lambda line: line.alpha.estimate),
            interval(
                "alpha_ends",
                say_table("column-interval"),
                lambda line: NONE.interval(line.alpha.low, line.alpha.high),
            ),
            number("omega", say_table("column-mcdonalds-omega"), lambda line: line.omega.estimate),
            interval(
                "omega_ends",
                say_table("column-interval-of-omega"),
                lambda line: NONE.interval(line.omega.low, line.omega.high),
            ),
        ),
        say("reliability-weak", scales=weak) if weak else say("reliability-fine", scales=len(lines)),
        [say("reliability-how")],
    )


# Below this a scale's items hardly measure one thing (Nunnally 1978).
WEAK = 0.7
