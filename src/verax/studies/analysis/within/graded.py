"""The three tasks with graded answers: mean scores in [-1, 1], the best conditions, agreement and confidence.

Lertvittayakumjorn and Toni (2019), Table 4 and Figure 3. Items come in blocks; a participant meets each item of a block
once, and the conditions rotate over the items, so that everybody meets every condition and every item is met by several
people under each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

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
from verax.results.units import SCORE, Ends
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import ConditionResponses
from verax.stats.mixed.differences import linear_differences
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.plan import planned_equivalence
from verax.studies.analysis.primary import (
    FindingsCollector,
    estimate_of,
    estimates_figure,
    method_lines,
    primary_figure,
)
from verax.studies.analysis.sensitivity import only_intended, sensitivity_table, varied_differences
from verax.studies.analysis.within.conditions import (
    PARTS,
    answered,
    as_met,
    compared_with,
    difference_table,
    expired,
    in_order,
    means_by_condition,
    mixed_table,
    part_of,
    primary_differences,
    references,
    tested,
    with_sessions,
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
from verax.studies.protocol.contract import Analysed, Findings, ProtocolAnalysis
from verax.studies.results.study_summary import Options, Primary, PrimaryEstimate
from verax.text import between, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "analysis")
KEYS = ("scores", "best", "contrast", "cross-check", "agreement", "confidence", "times", "sensitivity")


def graded_analysis(meaning: str) -> ProtocolAnalysis:
    """The analysis of a task with graded answers.

    Args:
        meaning: what a score above 0 means, such as "people find the true class".
    """
    return ProtocolAnalysis(partial(graded, meaning=meaning), KEYS, pooled_graded)


def graded(data: Analysed, options: Options, meaning: str) -> Findings:
    """The analysis of the three tasks; ``meaning`` is what a score above 0 means."""
    everything = tested(data.responses, data.scored)
    answers, intended = answered(everything), answered(tested(data.intended, data.scored))
    if not len(answers):
        return _only_intended(data, intended)
    if options.session_term:
        answers, intended = with_sessions(answers), with_sessions(intended)
    gathered = FindingsCollector()
    names = in_order(answers["condition"].unique().tolist(), data.conditions)
    absent = [condition.name for condition in data.conditions if condition.name not in names]
    if absent:
        gathered.problems.append(say("scores-nobody-under", names=absent))
    means = means_by_condition(answers, "score", options.level)
    reference = next(iter(references(data, names)), None) if len(names) > 1 else None
    rows = as_met(answers)
    against = {} if reference is None else compared_with(rows, reference, names, options.level)
    primary = _primary(against, reference, means, names)
    ranked = {part: _ranked(part_of(answers, part), names, options.level) for part, _ in PARTS}
    gathered.tables.append(
        scores_table(meaning, answers, names, ranked, len(everything) - len(answers), options.level)
    )
    if len(names) > 1:
        gathered.tables.append(best_table(ranked["all"], means, names))
    gathered.figures += [_scores_figure(names, means), distribution_figure(answers, names)]
    if reference is not None:
        _against(gathered, rows, against, reference, primary, options)
    _beside(gathered, everything, answers, names, reference, options)
    varied = None
    planned_equivalence(
        gathered,
        data.study.spec.analysis,
        against,
        SCORE,
        f"from {reference}",
        title=f"Equivalence with {reference}",
        heading=f"Difference from {reference}",
    )
    if reference is not None:
        varied = varied_differences(answers, intended, reference, list(against), SCORE)
        gathered.tables.append(sensitivity_table(varied))
    gathered.problems += _without_interval(means, against, reference)
    gathered.estimators["crossed_within"] = {
        "unit": "score from -1 to 1",
        "means": [mean.to_dict() for mean in means.values()],
        "contrasts": {}
        if reference is None
        else {reference: [claim.to_dict() for claim in against.values()]},
    }
    return gathered.findings(
        primary, method_lines(primary, data.conditions, _measure(data, reference)), varied
    )


def _nobody(intended: pd.DataFrame) -> str:
    if not len(intended):
        return say("nobody-answered")
    return say("nobody-answered-others", people=intended["participant"].nunique())


def _only_intended(data: Analysed, intended: pd.DataFrame) -> Findings:
    """Nobody is left per protocol: the differences of everybody who answered, under sensitivity only."""
    names = in_order(intended["condition"].unique().tolist(), data.conditions)
    reference = next(iter(references(data, names)), None)
    beside = [name for name in names if name != reference]
    if reference is None or not beside:
        return Findings(problems=(_nobody(intended),))
    varied = only_intended(intended, reference, beside, SCORE)
    return Findings(tables=(sensitivity_table(varied),), sensitivity=varied, problems=(_nobody(intended),))


def _without_interval(
    means: dict[str, Crossed], against: dict[str, Crossed], reference: str | None
) -> list[str]:
    said = [
        say("no-interval-of-mean", name=name, why=" ".join(claim.warnings))
        for name, claim in means.items()
        if claim.se is None
    ]
    said += [
        say(
            "no-interval-no-test",
            name=say("against", condition=name, reference=str(reference)),
            why=" ".join(claim.warnings),
        )
        for name, claim in against.items()
        if claim.se is None
    ]
    if len(means) == 1:
        said.append(say("only-condition", condition=next(iter(means))))
    return said


def _primary(
    against: dict[str, Crossed], reference: str | None, means: dict[str, Crossed], names: Sequence[str]
) -> Primary:
    """Differences from the control; without one, mean scores against 0."""
    if reference is not None:
        return primary_differences(
            against, reference, say("measure-score-minus", reference=reference), "the mean score", SCORE
        )
    lines = tuple(estimate_of(name, f"{name}-score", means[name], SCORE) for name in names)
    above = [
        one for one in lines if one.conclusive and one.p_adjusted is not None and one.p_adjusted <= ALPHA
    ]
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
        for part, _ in PARTS
    }
    by_name = {name: answers[answers["condition"] == name] for name in names}
    lines = [
        _ScoreRow(
            name,
            own["participant"].nunique(),
            len(own),
            {part: means[part].get(name) for part, _ in PARTS},
            {part: ranked[part].get(name) for part, _ in PARTS},
        )
        for name, own in by_name.items()
    ]
    sources: Sources[_ScoreRow] = (
        text("condition", "Condition", lambda line: line.condition),
        count("participants", "Participants", lambda line: line.participants),
        count("answers", "Answers", lambda line: line.answers),
        *(source for part, title in PARTS for source in _part_sources(part, title)),
    )
    return build_table(
        "scores", "Mean scores", lines, sources, _scores_sentence(meaning, lines), _scores_notes(missing)
    )


def _part_sources(part: str, title: str) -> Sources[_ScoreRow]:
    return (
        number(part, title, lambda line: line.mean(part), SCORE),
        interval(f"{part}_interval", "95% interval", lambda line: line.ends(part), SCORE),
        text(f"{part}_best", "May be best", lambda line: line.may_be_best(part)),
    )


def _scores_notes(missing: int) -> tuple[str, ...]:
    notes = [
        "A sure answer is worth 1 or -1, an unsure one 0.5 or -0.5, and no preference 0. Intervals take participants "
        "and items as samples.",
        "Means are over participants, who count the same however many answers they gave: the mean of all items need "
        "not lie exactly between the other two, nor equal the mean of all answers that the paper prints.",
        "May be best: no other condition is shown to be higher (within people; the smallest p against one that came "
        "out higher, times the number of other conditions, is above 5%). The truly best one is then ruled out in at "
        "most 5% of studies.",
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


def _scores_figure(names: Sequence[str], means: dict[str, Crossed]) -> Figure:
    lines = [estimate_of(name, "", means[name], SCORE) for name in names]
    return estimates_figure("scores", "Mean scores", lines, "mean score", "from -1 to 1", "nothing differs")


def _against(
    gathered: FindingsCollector,
    rows: ConditionResponses,
    against: dict[str, Crossed],
    reference: str,
    primary: Primary,
    options: Options,
) -> None:
    """Differences from the control, and the mixed model beside them."""
    gathered.tables.append(
        difference_table(
            "contrast",
            f"Mean score against {reference}",
            against,
            reference,
            "the mean score",
            SCORE,
            sessions=options.session_term,
        )
    )
    gathered.figures.insert(0, primary_figure(primary))
    pairs = [(name, reference) for name in against]
    linear = gathered.tried("The linear mixed model", lambda: linear_differences(rows, pairs, options.level))
    if linear is not None:
        gathered.estimators["linear_mixed"] = [effect.to_dict() for effect in linear]
        gathered.tables.append(mixed_table(against, {"Linear mixed model": list(linear)}, reference, SCORE))


def _beside(
    gathered: FindingsCollector,
    everything: pd.DataFrame,
    answers: pd.DataFrame,
    names: Sequence[str],
    reference: str | None,
    options: Options,
) -> None:
    """Agreement, confidence and times."""
    agreed = gathered.add(
        "Agreement", lambda: agreement_table(answers, names, options.own_replicates, options.seed)
    )
    if agreed is not None and agreed.rows[0]["kappa"] is None:
        gathered.problems.append(agreed.sentence)
    sure = gathered.tried("Confidence", lambda: confidences(answers, names, options.level))
    if sure is not None:
        gathered.tables.append(confidence_table(sure, answers, options.level))
        if any(line.right is not None for line in sure):
            gathered.figures.append(calibration_figure(sure))
    if everything["seconds"].notna().any():
        gathered.add(
            "Times",
            lambda: answer_times_table(times_taken(everything, names, reference, options.level), reference),
        )
    else:
        gathered.problems.append(say("no-times-at-all"))


def _measure(data: Analysed, reference: str | None) -> str:
    """What the lines of the joint report measure: against the control if there is one, else the mean score."""
    return "mean score" if reference is None else f"mean score, against {_what(data, reference)}"


def _what(data: Analysed, reference: str) -> str:
    return "no explanation" if data.study.spec.condition(reference).kind == "none" else "a random control"
