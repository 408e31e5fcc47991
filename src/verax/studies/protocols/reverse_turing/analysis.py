"""The Reverse Turing Test: how well people imitate the model, by condition, and whether they follow it or the truth.

Gonzalez and Sogaard (2020), Table 1 and Figure 3. Every participant meets every condition, on items of a Latin square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from verax.phrases import say as say_phrase
from verax.results.units import POINTS
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import ConditionResponses
from verax.stats.mixed.differences import linear_differences, logistic_differences
from verax.studies.analysis.plan import planned_equivalence
from verax.studies.analysis.primary import (
    FindingsCollector,
    estimate_of,
    method_lines,
    primary_figure,
    share_ends,
)
from verax.studies.analysis.sensitivity import only_intended, sensitivity_table, varied_differences
from verax.studies.analysis.within.conditions import (
    ORDER,
    answered,
    as_met,
    compared_with,
    difference_table,
    in_order,
    means_by_condition,
    mixed_table,
    primary_differences,
    references,
    tested,
    with_sessions,
)
from verax.studies.analysis.within.sessions import (
    rank_table,
    times_figure,
    times_table,
    times_taken,
    training_answers,
    training_curve,
    training_table,
)
from verax.studies.protocol.contract import Analysed, Findings, ProtocolAnalysis
from verax.studies.protocols.reverse_turing.accuracy import (
    accuracy_figure,
    accuracy_table,
    by_training,
    compares_training,
    imitated,
    judged,
    task_of,
)
from verax.studies.protocols.reverse_turing.pooled_analysis import pooled_imitation
from verax.studies.protocols.reverse_turing.strategies import strategies_of, strategy_table
from verax.studies.results.study_summary import Options, Primary, PrimaryEstimate

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "analysis")
KEYS = (
    "accuracy",
    "contrast",
    "control-contrast",
    "cross-check",
    "mann-whitney",
    "times",
    "training",
    "strategies",
    "sensitivity",
)
WHAT = "agreement with the model"


def imitation(data: Analysed, options: Options) -> Findings:
    """Accuracy against the model and against the truth, times, contrasts and the training curve."""
    data = by_training(data)
    everything = tested(data.responses, data.scored)
    if compares_training(data):
        # Who is trained was untrained before: the order is what is compared.
        everything = everything.drop(columns=ORDER, errors="ignore")
    answers, intended = answered(everything), answered(tested(data.intended, data.scored))
    if not len(answers):
        return _only_intended(data, intended)
    if options.session_term:
        answers, intended = with_sessions(answers), with_sessions(intended)
    answers = judged(answers)
    gathered = FindingsCollector()
    names = in_order(answers["condition"].unique().tolist(), data.conditions)
    gathered.problems += _absent(data, names)
    rows = as_met(answers)
    contrasts = {
        reference: compared_with(rows, reference, _beside(data, names, reference), options.level)
        for reference in references(data, names)
    }
    contrasts = {reference: lines for reference, lines in contrasts.items() if lines}
    measures = {
        value: means_by_condition(answers, value, options.level) for value in ("score", "truth", "bias")
    }
    missing = len(everything) - len(answers)
    lines = imitated(answers, names, measures, options.level)
    gathered.tables.append(accuracy_table(data, lines, missing))
    first = next(iter(contrasts), None)
    primary = _primary(contrasts, first, measures["score"], names)
    _contrast_tables(gathered, data, rows, contrasts, options)
    gathered.add(
        "Mann-Whitney's test",
        lambda: None if first is None else rank_table(answers, everything, names, first, options.level),
    )
    gathered.figures += [
        *([primary_figure(primary)] if first is not None else []),
        accuracy_figure(data, lines),
    ]
    _times(gathered, data, everything, names, first, options)
    _training(gathered, data, names, options)
    gathered.add("Strategies", lambda: strategy_table(strategies_of(data)))
    varied = None
    if first is not None:
        planned_equivalence(
            gathered,
            data.study.spec.analysis,
            contrasts[first],
            POINTS,
            f"from {first}",
            title=f"Equivalence with {first}",
            heading=f"Difference from {first}",
        )
        varied = varied_differences(answers, intended, first, list(contrasts[first]), POINTS)
        gathered.tables.append(sensitivity_table(varied))
    else:
        gathered.problems.append(_no_reference(names))
    gathered.problems += [
        say(
            "no-interval-no-test",
            name=say("against", condition=name, reference=reference),
            why=" ".join(claim.warnings),
        )
        for reference, lines in contrasts.items()
        for name, claim in lines.items()
        if claim.se is None
    ]
    gathered.estimators["crossed_within"] = {
        "unit": "share of answers",
        "accuracy": [claim.to_dict() for claim in measures["score"].values()],
        "contrasts": {
            reference: [claim.to_dict() for claim in lines.values()] for reference, lines in contrasts.items()
        },
    }
    methods = () if compares_training(data) else method_lines(primary, data.conditions, _measure(data, first))
    return gathered.findings(primary, methods, varied)


def _nobody(intended: pd.DataFrame) -> str:
    if not len(intended):
        return say("imitation-nobody")
    return say("imitation-nobody-others", people=intended["participant"].nunique())


def _only_intended(data: Analysed, intended: pd.DataFrame) -> Findings:
    """Nobody is left per protocol: the differences of everybody who answered, under sensitivity only."""
    names = in_order(intended["condition"].unique().tolist(), data.conditions)
    reference = next(iter(references(data, names)), None)
    beside = [] if reference is None else _beside(data, names, reference)
    if reference is None or not beside:
        return Findings(problems=(_nobody(intended),))
    varied = only_intended(intended, reference, beside, POINTS)
    return Findings(tables=(sensitivity_table(varied),), sensitivity=varied, problems=(_nobody(intended),))


def _absent(data: Analysed, names: Sequence[str]) -> list[str]:
    absent = [condition.name for condition in data.conditions if condition.name not in names]
    if not absent:
        return []
    return [say("scores-nobody-under", names=absent)]


def _beside(data: Analysed, names: Sequence[str], reference: str) -> list[str]:
    """What is compared with a reference: everything with no explanation, methods alone with a random control."""
    kinds = {condition.name: condition.kind for condition in data.conditions}
    if kinds[reference] == "none":
        return [name for name in names if name != reference]
    return [name for name in names if kinds[name] == "method"]


def _no_reference(names: Sequence[str]) -> str:
    if len(names) == 1:
        return say("only-condition", condition=names[0])
    return say("imitation-no-reference")


def _primary(
    contrasts: dict[str, dict[str, Crossed]],
    first: str | None,
    accuracy: dict[str, Crossed],
    names: Sequence[str],
) -> Primary:
    """Differences from the first reference; without one, the accuracies themselves, which test nothing."""
    if first is not None:
        measure = f"{WHAT}, minus that with {first!r}"
        return primary_differences(contrasts[first], first, measure, "people's " + WHAT, POINTS)
    lines = tuple(_accuracy(name, accuracy[name]) for name in names)
    parts = [
        say("difference-bare", condition=line.condition, size=f"{line.estimate or 0:.1f}%") for line in lines
    ]
    return Primary(WHAT, POINTS, say("imitation-alone", parts=parts), lines)


def _accuracy(name: str, claim: Crossed) -> PrimaryEstimate:
    """A share with a share's interval, which is not tested against 0."""
    low, high = share_ends(claim) or (None, None)
    return replace(
        estimate_of(name, f"{name}-accuracy", claim, POINTS),
        low=low,
        high=high,
        low_adjusted=low,
        high_adjusted=high,
        p=None,
        p_adjusted=None,
        detectable=None,
        adjustment="none",
    )


def _measure(data: Analysed, first: str | None) -> str:
    """What the lines of the joint report measure."""
    if first is None:
        return WHAT
    return f"{WHAT}, against {_reference_words(data, first)}"


def _reference_words(data: Analysed, reference: str) -> str:
    """What a reference is, in words."""
    if compares_training(data):
        return "no training"
    return "no explanation" if reference == data.control else "a random control"


def _contrast_tables(
    gathered: FindingsCollector,
    data: Analysed,
    rows: ConditionResponses,
    contrasts: dict[str, dict[str, Crossed]],
    options: Options,
) -> None:
    """Differences from each reference, and the mixed models beside the first."""
    for reference, lines in contrasts.items():
        title = f"Agreement with the model against {_reference_words(data, reference)}"
        key = "contrast" if reference == data.control else "control-contrast"
        table = difference_table(
            key, title, lines, reference, "people's " + WHAT, POINTS, sessions=options.session_term
        )
        gathered.tables.append(table)
    if not contrasts:
        return
    reference, lines = next(iter(contrasts.items()))
    pairs = [(name, reference) for name in lines]
    linear = gathered.tried("The linear mixed model", lambda: linear_differences(rows, pairs, options.level))
    logistic = gathered.tried(
        "The logistic mixed model", lambda: logistic_differences(rows, pairs, options.level)
    )
    models = {}
    if linear is not None:
        models["Linear mixed model"] = list(linear)
        gathered.estimators["linear_mixed"] = [effect.to_dict() for effect in linear]
    if logistic is not None:
        models["Logistic mixed model"] = [effect.points for effect in logistic]
        gathered.estimators["logistic_mixed"] = [effect.to_dict() for effect in logistic]
    if models:
        gathered.tables.append(mixed_table(lines, models, reference, POINTS))


def _times(
    gathered: FindingsCollector,
    data: Analysed,
    answers: pd.DataFrame,
    names: Sequence[str],
    reference: str | None,
    options: Options,
) -> None:
    if not answers["seconds"].notna().any():
        gathered.problems.append("No answer has a time: how long people took is left out.")
        return
    taken = gathered.tried("Times", lambda: times_taken(answers, names, reference, options.level))
    if taken is not None:
        gathered.tables.append(times_table(taken, reference))
        gathered.figures.append(times_figure(taken, f"{task_of(data)} task"))


def _training(gathered: FindingsCollector, data: Analysed, names: Sequence[str], options: Options) -> None:
    answers = training_answers(data.responses, data.scored)
    if not len(answers):
        if data.parameters["training"]:
            gathered.problems.append(
                "There is no answer of a training session: the training curve is left out."
            )
        return
    gathered.add("Training", lambda: training_table(answers, names, options.level))
    gathered.figures.append(training_curve(answers, names, options.level))


IMITATION = ProtocolAnalysis(imitation, KEYS, pooled_imitation)
