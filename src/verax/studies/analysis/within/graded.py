"""The three tasks with graded answers: mean scores in [-1, 1], the best conditions, agreement and confidence.

Lertvittayakumjorn and Toni (2019), Table 4 and Figure 3. Items come in blocks; a participant meets each item of a block
once, and the conditions rotate over the items, so that everybody meets every condition and every item is met by several
people under each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from verax.stats.crossed.result import Crossed
from verax.stats.mixed.differences import linear_differences
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.sensitivity import sensitivity_table
from verax.studies.analysis.collector import Gathered
from verax.studies.analysis.contract import (
    Analysed,
    Column,
    Court,
    Figure,
    Findings,
    Options,
    Primary,
    ProtocolAnalysis,
    Table,
)
from verax.studies.analysis.plan import margin_of
from verax.studies.analysis.within.best import Standing, best_table, standings
from verax.studies.analysis.within.conditions import (
    SCORE,
    answered,
    as_met,
    compared_with,
    court_of,
    difference_figure,
    difference_table,
    estimate_of,
    in_order,
    means_by_condition,
    mixed_table,
    primary_of,
    references,
    tested,
)
from verax.studies.analysis.within.confidence import calibration_figure, confidence_table, distribution_figure
from verax.studies.analysis.within.rater_agreement import agreement_table
from verax.studies.analysis.within.session_times import answer_times_table
from verax.studies.analysis.within.within_equivalence import within_equivalence
from verax.studies.analysis.within.within_sensitivity import only_intended, within_sensitivity
from verax.text import between, counted, listed, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("scores", "best", "contrast", "cross-check", "agreement", "confidence", "times", "sensitivity")
UNIT = "score"
PARTS = (("all", "All"), ("right", "Model right"), ("wrong", "Model wrong"))


def graded_analysis(meaning: str) -> ProtocolAnalysis:
    """The analysis of a task with graded answers.

    Args:
        meaning: what a score above 0 means, such as "people find the true class".
    """
    return ProtocolAnalysis(partial(graded, meaning=meaning), KEYS)


def graded(data: Analysed, options: Options, meaning: str) -> Findings:
    """The analysis of the three tasks; ``meaning`` is what a score above 0 means."""
    everything = tested(data.responses, data.scored)
    answers, intended = answered(everything), answered(tested(data.intended, data.scored))
    if not len(answers):
        return _only_intended(data, intended)
    gathered = Gathered()
    names = in_order(answers["condition"].unique().tolist(), data.conditions)
    absent = [one.name for one in data.conditions if one.name not in names]
    if absent:
        gathered.problems.append(
            f"Nobody who is analysed answered under {listed(absent)}: nothing is estimated there."
        )
    means = means_by_condition(answers, "score", options.level)
    reference = next(iter(references(data, names)), None) if len(names) > 1 else None
    rows = as_met(answers)
    against = {} if reference is None else compared_with(rows, reference, names, options.level)
    primary = _primary(against, reference, means, names)
    ranked = {part: _ranked(_part(answers, part), names, options.level) for part, _ in PARTS}
    gathered.tables.append(
        scores_table(meaning, answers, names, ranked, len(everything) - len(answers), options.level)
    )
    if len(names) > 1:
        gathered.tables.append(best_table(ranked["all"], means, names))
    gathered.figures += [_scores_figure(names, means), distribution_figure(answers, names)]
    if reference is not None:
        _against(gathered, rows, against, reference, primary, options)
    _beside(gathered, everything, answers, names, reference, options)
    varied: dict[str, Any] = {}
    margin = margin_of(data.study.spec.analysis)
    if margin is not None and margin >= 1:
        gathered.problems.append(
            f"The plan's margin of equivalence is {margin:g}, but scores go from -1 to 1: equivalence was not tested; "
            "a margin here is a difference of mean scores, such as 0.1."
        )
    elif reference is not None and margin is not None:
        gathered.tables.append(within_equivalence(against, reference, margin, SCORE))
    if reference is not None:
        varied = within_sensitivity(answers, intended, reference, list(against), SCORE)
        gathered.tables.append(_in_score(sensitivity_table(varied)))
    gathered.problems += _without_interval(means, against, reference)
    gathered.estimators["crossed_within"] = {
        "unit": "score from -1 to 1",
        "means": [one.to_dict() for one in means.values()],
        "contrasts": {} if reference is None else {reference: [one.to_dict() for one in against.values()]},
    }
    return gathered.findings(primary, _courts(data, means, against, reference), varied)


def _nobody(intended: pd.DataFrame) -> str:
    said = "Nobody who is analysed answered a question: there is no primary analysis."
    if not len(intended):
        return said
    people = counted(intended["participant"].nunique(), "participant")
    return f"{said} ({people} who did not finish or are excluded answered some.)"


def _only_intended(data: Analysed, intended: pd.DataFrame) -> Findings:
    """Nobody is left per protocol: the differences of everybody who answered, under sensitivity only."""
    names = in_order(intended["condition"].unique().tolist(), data.conditions)
    reference = next(iter(references(data, names)), None)
    beside = [name for name in names if name != reference]
    if reference is None or not beside:
        return Findings(problems=(_nobody(intended),))
    varied = only_intended(intended, reference, beside, SCORE)
    return Findings(
        tables=(_in_score(sensitivity_table(varied)),), sensitivity=varied, problems=(_nobody(intended),)
    )


def _without_interval(
    means: dict[str, Crossed], against: dict[str, Crossed], reference: str | None
) -> list[str]:
    said = [
        f"{name}: no interval of the mean score. {' '.join(one.warnings)}"
        for name, one in means.items()
        if one.se is None
    ]
    said += [
        f"{name} against {reference}: no interval and no test. {' '.join(one.warnings)}"
        for name, one in against.items()
        if one.se is None
    ]
    if len(means) == 1:
        said.append(
            f"Only the condition {next(iter(means))!r} has answers: there is nothing to compare it with."
        )
    return said


def _primary(
    against: dict[str, Crossed], reference: str | None, means: dict[str, Crossed], names: Sequence[str]
) -> Primary:
    """Differences from the control; without one, mean scores against 0."""
    if reference is not None:
        return primary_of(
            against, reference, f"mean score, minus that with {reference!r}", "the mean score", SCORE, UNIT
        )
    lines = tuple(estimate_of(name, f"{name}-score", means[name], SCORE) for name in names)
    above = [
        one for one in lines if one.conclusive and one.p_adjusted is not None and one.p_adjusted <= ALPHA
    ]
    said = [
        f"The mean score with {one.condition} is {'above' if (one.estimate or 0) > 0 else 'below'} 0: "
        f"{signed(one.estimate or 0, 2)} ({between(one.low or 0, one.high or 0, 2)}; {p_text(one.p_adjusted or 0)}"
        f"{', corrected for all conditions' if len(lines) > 1 else ''})."
        for one in above
    ]
    rest = [one for one in lines if one not in above]
    if rest:
        parts = listed(
            [
                f"{one.condition} {signed(one.estimate or 0, 2)}"
                + ("" if one.low is None else f" ({between(one.low, one.high or 0, 2)})")
                for one in rest
            ]
        )
        said.append(f"Mean scores that cannot be told from 0: {parts}.")
    said.append("There is no control to compare with.")
    return Primary("mean score, from -1 to 1", UNIT, " ".join(said), lines)


def _part(answers: pd.DataFrame, part: str) -> pd.DataFrame:
    """All answers, or those to items on which the model is right or wrong."""
    if part == "all":
        return answers
    right = answers["model_correct"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    return answers[right if part == "right" else ~right]


def _ranked(part: pd.DataFrame, names: Sequence[str], level: float) -> dict[str, Standing]:
    """Where each condition that has answers in this part stands to its best."""
    there = [name for name in names if (part["condition"] == name).any()]
    if len(there) < 2:
        return {}
    means = means_by_condition(part, "score", level)
    found = standings(as_met(part), there, [means[name].estimate or 0.0 for name in there], level)
    return {one.name: one for one in found}


def scores_table(
    meaning: str,
    answers: pd.DataFrame,
    names: Sequence[str],
    ranked: dict[str, dict[str, Standing]],
    missing: int,
    level: float,
) -> Table:
    """The paper's Table 4: mean scores over all items, and where the model is right and wrong."""
    means = {
        part: means_by_condition(own, "score", level) if len(own := _part(answers, part)) else {}
        for part, _ in PARTS
    }
    rows = []
    for name in names:
        own = answers[answers["condition"] == name]
        row: dict[str, Any] = {
            "condition": name,
            "participants": own["participant"].nunique(),
            "answers": len(own),
        }
        for part, _ in PARTS:
            one, standing = means[part].get(name), ranked[part].get(name)
            row[part] = None if one is None else one.estimate
            row[f"{part}_interval"] = None if one is None else SCORE.interval(one.low, one.high)
            row[f"{part}_best"] = None if standing is None else "yes" if standing.may_be_best else "no"
        rows.append(row)
    columns = [
        Column("condition", "Condition", "text"),
        Column("participants", "Participants", "count"),
        Column("answers", "Answers", "count"),
    ]
    for part, title in PARTS:
        columns += [
            Column(part, title, "number", UNIT),
            Column(f"{part}_interval", "95% interval", "interval", UNIT),
            Column(f"{part}_best", "May be best", "text"),
        ]
    return Table(
        key="scores",
        title="Mean scores",
        columns=tuple(columns),
        rows=tuple(rows),
        sentence=_scores_sentence(meaning, rows),
        notes=_scores_notes(missing),
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
    if missing:
        verb = "is" if missing == 1 else "are"
        notes.append(f"{counted(missing, 'page')} expired without an answer and {verb} left out.")
    return tuple(notes)


def _scores_sentence(meaning: str, rows: Sequence[dict[str, Any]]) -> str:
    parts = listed([f"{row['condition']} {signed(row['all'], 2)}" for row in rows])
    said = f"Mean scores (above 0, {meaning}): {parts}."
    left = [row["condition"] for row in rows if row["all_best"] == "yes"]
    lower = [row["condition"] for row in rows if row["all_best"] == "no"]
    if len(rows) > 1 and left:
        said += (
            " None can be ruled out as the best."
            if len(left) == len(rows)
            else f" {listed(left)} may be the best; {listed(lower)} {'is' if len(lower) == 1 else 'are'} shown to "
            "be lower than another."
        )
    return said


def _scores_figure(names: Sequence[str], means: dict[str, Crossed]) -> Figure:
    lines = [estimate_of(name, "", means[name], SCORE) for name in names]
    return difference_figure("scores", "Mean scores", lines, "mean score", "from -1 to 1")


def _against(
    gathered: Gathered,
    rows: Any,
    against: dict[str, Crossed],
    reference: str,
    primary: Primary,
    options: Options,
) -> None:
    """Differences from the control, and the mixed model beside them."""
    gathered.tables.append(
        difference_table(
            "contrast", f"Mean score against {reference}", against, reference, "the mean score", SCORE
        )
    )
    gathered.figures.insert(
        0,
        difference_figure(
            "primary", "What explanations add", primary.estimates, primary.measure, primary.unit
        ),
    )
    pairs = [(name, reference) for name in against]
    linear = gathered.tried("The linear mixed model", lambda: linear_differences(rows, pairs, options.level))
    if linear is not None:
        gathered.estimators["linear_mixed"] = [one.to_dict() for one in linear]
        gathered.tables.append(mixed_table(against, {"Linear mixed model": list(linear)}, reference, SCORE))


def _beside(
    gathered: Gathered,
    everything: pd.DataFrame,
    answers: pd.DataFrame,
    names: Sequence[str],
    reference: str | None,
    options: Options,
) -> None:
    """Agreement, confidence and times."""
    agreed = gathered.add(
        "Agreement", lambda: agreement_table(answers, names, options.replicates, options.seed)
    )
    if agreed is not None and agreed.rows[0]["kappa"] is None:
        gathered.problems.append(agreed.sentence)
    table = gathered.add("Confidence", lambda: confidence_table(answers, names, options.level))
    if table is not None and any(row["right"] is not None for row in table.rows):
        gathered.figures.append(calibration_figure(table))
    if everything["seconds"].notna().any():
        gathered.add("Times", lambda: answer_times_table(everything, names, reference, options.level))
    else:
        gathered.problems.append("No answer has a time: how long people took is left out.")


def _courts(
    data: Analysed, means: dict[str, Crossed], against: dict[str, Crossed], reference: str | None
) -> tuple[Court, ...]:
    """One line per condition that shows something: against the control if there is one, else its mean score."""
    lines = means if reference is None else against
    measure = "mean score" if reference is None else f"mean score, against {_what(data, reference)}"
    return tuple(
        court_of(one, lines[one.name], measure, SCORE, UNIT)
        for one in data.conditions
        if one.kind != "none" and one.name in lines
    )


def _what(data: Analysed, reference: str) -> str:
    return "no explanation" if data.study.spec.condition(reference).kind == "none" else "a random control"


def _in_score(table: Table) -> Table:
    """The table with differences of scores instead of points."""
    return replace(
        table,
        columns=tuple(replace(one, unit=UNIT) if one.unit == "points" else one for one in table.columns),
    )
