"""The three tasks with graded answers: mean scores in [-1, 1], the best conditions, agreement and confidence.

Lertvittayakumjorn and Toni (2019), Table 4 and Figure 3. Items come in blocks; a participant meets each item of a block
once, and the conditions rotate over the items, so that everybody meets every condition and every item is met by several
people under each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from verax.phrases import say as say_phrase
from verax.results.figures import Figure
from verax.results.tables import (
    Sources,
    Table,
    build_table,
    count,
    interval,
    number,
    text,
    yes_or_no,
)
from verax.results.units import SCORE, Ends, Unit
from verax.stats.crossed.result import Crossed
from verax.studies.analysis.primary import (
    FindingsCollector,
    estimate_of,
    estimates_figure,
    is_clear,
)
from verax.studies.analysis.within.comparison import Compared, Task, compare_within_people
from verax.studies.analysis.within.conditions import (
    PARTS,
    as_met,
    expired,
    means_by_condition,
    part_of,
)
from verax.studies.analysis.within.graded_tables import (
    BesideBest,
    agreement_table,
    beside_best,
    best_table,
    calibration_figure,
    confidence_table,
    confidences,
    distribution_figure,
)
from verax.studies.analysis.within.pooled_graded import pooled_graded
from verax.studies.analysis.within.sessions import answer_times_table, times_taken
from verax.studies.protocol.contract import ProtocolAnalysis
from verax.studies.results.study_summary import Primary, PrimaryEstimate
from verax.text import between, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
KEYS = ("scores", "best", "contrast", "cross-check", "agreement", "confidence", "times", "sensitivity")


def graded_analysis(meaning: str) -> ProtocolAnalysis:
    """The analysis of a task with graded answers.

    Args:
        meaning: what a score above 0 means, such as "people find the true class".
    """
    return ProtocolAnalysis(partial(compare_within_people, task=GradedTask(meaning)), KEYS, pooled_graded)


@dataclass(frozen=True)
class GradedTask(Task):
    """Answers with how sure one is; ``meaning`` is what a score above 0 means."""

    case: ClassVar[str] = "score"
    unit: ClassVar[Unit] = SCORE
    counted: ClassVar[str] = "score from -1 to 1"

    meaning: str

    def alone(self, found: Compared) -> Primary:
        """Mean scores against 0."""
        return _scores_alone(found)

    def describe(self, gathered: FindingsCollector, found: Compared) -> None:
        """Mean scores, and which conditions may be the best."""
        answers, names, level = found.answers, found.names, found.options.level
        ranked = {part: _ranked(part_of(answers, part), names, level) for part in PARTS}
        gathered.tables.append(scores_table(self.meaning, answers, names, ranked, found.missing, level))
        if len(names) > 1:
            gathered.tables.append(best_table(ranked["all"], found.means, names))
        gathered.figures += [_scores_figure(names, found.means), distribution_figure(answers, names)]

    def add_rest(self, gathered: FindingsCollector, found: Compared) -> None:
        """Agreement, confidence and times."""
        answers, names, options = found.answers, found.names, found.options
        agreed = gathered.add(
            say_table("what-agreement"),
            lambda: agreement_table(answers, names, options.own_replicates, options.seed),
        )
        if agreed is not None and agreed.rows[0]["kappa"] is None:
            gathered.problems.append(agreed.sentence)
        sure = gathered.tried(
            say_table("what-confidence"), lambda: confidences(answers, names, options.level)
        )
        if sure is not None:
            gathered.tables.append(confidence_table(sure, answers, options.level))
            if any(line.right is not None for line in sure):
                gathered.figures.append(calibration_figure(sure))
        if not found.everything["seconds"].notna().any():
            gathered.problems.append(say("no-times-at-all"))
            return
        gathered.add(
            say_table("what-times"),
            lambda: answer_times_table(
                times_taken(found.everything, names, found.reference, options.level), found.reference
            ),
        )

    def problems(self, found: Compared) -> list[str]:
        """Mean scores without an interval."""
        return [
            say("no-interval-of-mean", name=name, why=" ".join(claim.warnings))
            for name, claim in found.means.items()
            if claim.se is None
        ]


def _scores_alone(found: Compared) -> Primary:
    lines = tuple(estimate_of(name, f"{name}-score", found.means[name], SCORE) for name in found.names)
    above = [line for line in lines if is_clear(line)]
    said = [
        say(
            "score-clear",
            condition=line.condition,
            side="above" if (line.estimate or 0) > 0 else "below",
            size=signed(line.estimate or 0, 2),
            interval=between(line.low or 0, line.high or 0, 2),
            p=p_text(line.p_adjusted or 0),
            corrected="yes" if len(lines) > 1 else "no",
        )
        for line in above
    ]
    rest = [line for line in lines if line not in above]
    if rest:
        said.append(say("scores-unclear", parts=[_with_interval(line) for line in rest]))
    said.append(say("no-control"))
    return Primary(say("measure-score"), SCORE, " ".join(said), lines)


def _with_interval(line: PrimaryEstimate) -> str:
    size = signed(line.estimate or 0, 2)
    if line.low is None:
        return say("difference-bare", condition=line.condition, size=size)
    interval = between(line.low, line.high or 0, 2)
    return say("difference-part", condition=line.condition, size=size, interval=interval)


def _ranked(part: pd.DataFrame, names: Sequence[str], level: float) -> dict[str, BesideBest]:
    """Where each condition that has answers in this part stands to its best."""
    there = [name for name in names if (part["condition"] == name).any()]
    if len(there) < 2:
        return {}
    means = means_by_condition(part, "score", level)
    places = beside_best(as_met(part), there, [means[name].estimate or 0.0 for name in there], level)
    return {place.name: place for place in places}


@dataclass(frozen=True)
class _ScoreRow:
    """The mean scores of one condition, by part, and whether it may be the best there."""

    condition: str
    participants: int
    answers: int
    means: dict[str, Crossed | None]
    best: dict[str, BesideBest | None]

    def mean(self, part: str) -> float | None:
        mean = self.means[part]
        return None if mean is None else mean.estimate

    def ends(self, part: str) -> Ends:
        mean = self.means[part]
        return None if mean is None else SCORE.interval(mean.low, mean.high)

    def may_be_best(self, part: str) -> str | None:
        place = self.best[part]
        return None if place is None else yes_or_no(place.may_be_best)


def scores_table(
    meaning: str,
    answers: pd.DataFrame,
    names: Sequence[str],
    ranked: dict[str, dict[str, BesideBest]],
    missing: int,
    level: float,
) -> Table:
    """The paper's Table 4: mean scores over all items, and where the model is right and wrong."""
    means = {
        part: means_by_condition(own, "score", level) if len(own := part_of(answers, part)) else {}
        for part in PARTS
    }
    by_name = {name: answers[answers["condition"] == name] for name in names}
    lines = [
        _ScoreRow(
            name,
            own["participant"].nunique(),
            len(own),
            {part: means[part].get(name) for part in PARTS},
            {part: ranked[part].get(name) for part in PARTS},
        )
        for name, own in by_name.items()
    ]
    sources: Sources[_ScoreRow] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        count("participants", say_table("column-participants"), lambda line: line.participants),
        count("answers", say_table("column-answers"), lambda line: line.answers),
        *(source for part in PARTS for source in _part_sources(part)),
    )
    return build_table(
        "scores",
        say_table("scores"),
        lines,
        sources,
        _scores_sentence(meaning, lines),
        _scores_notes(missing),
    )


def _part_sources(part: str) -> Sources[_ScoreRow]:
    return (
        number(part, say_table(f"part-{part}"), lambda line: line.mean(part), SCORE),
        interval(f"{part}_interval", say_table("column-interval"), lambda line: line.ends(part), SCORE),
        text(f"{part}_best", say_table("column-may-be-best"), lambda line: line.may_be_best(part)),
    )


def _scores_notes(missing: int) -> tuple[str, ...]:
    notes = [
        say_table("scores-worth"),
        say_table("scores-means"),
        say_table("scores-may-be-best"),
    ]
    return (*notes, *expired(missing))


def _scores_sentence(meaning: str, lines: Sequence[_ScoreRow]) -> str:
    parts = [
        say("difference-bare", condition=line.condition, size=SCORE.signed(line.mean("all") or 0.0))
        for line in lines
    ]
    said = say("scores", meaning=meaning, parts=parts)
    left = [line.condition for line in lines if line.may_be_best("all") == "yes"]
    lower = [line.condition for line in lines if line.may_be_best("all") == "no"]
    if len(lines) < 2 or not left:
        return said
    if len(left) == len(lines):
        return f"{said} {say('none-ruled-out')}"
    return f"{said} {say('may-be-best', names=left, lower=lower)}"


def _scores_figure(names: Sequence[str], means: Mapping[str, Crossed]) -> Figure:
    lines = [estimate_of(name, "", means[name], SCORE) for name in names]
    return estimates_figure(
        "scores",
        say_table("scores"),
        lines,
        say_table("figure-scores-axis"),
        say_table("figure-scores-ends"),
        say_table("nothing-differs"),
    )
