"""Conditions that everybody meets, compared within people: the one course of every such analysis.

A task says what its answers are worth and what it adds in tables of its own; the rest is the same for all: who is
counted, the primary differences from a reference, mixed models beside them, equivalence, sensitivity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from verax.phrases import say as say_phrase
from verax.results.units import Unit
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import ConditionResponses
from verax.stats.estimate import Effect
from verax.stats.mixed.differences import linear_differences, logistic_differences
from verax.studies.analysis.plan import planned_equivalence
from verax.studies.analysis.primary import FindingsCollector, method_lines, primary_figure
from verax.studies.analysis.sensitivity import only_intended, sensitivity_table, varied_differences
from verax.studies.analysis.within.conditions import (
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
from verax.studies.protocol.contract import Analysed, Findings
from verax.studies.results.study_summary import Options, Primary

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "analysis")


@dataclass(frozen=True, eq=False)
class Compared:
    """The answers of one study and the comparisons of its conditions.

    Attributes:
        data: the study with its answers.
        options: of the analysis.
        everything: the answers of the test phases; pages that expired have no score.
        answers: those with a score.
        names: the conditions that have answers, in order.
        means: the mean score under each.
        contrasts: by reference, the differences of other conditions from it.
    """

    data: Analysed
    options: Options
    everything: pd.DataFrame
    answers: pd.DataFrame
    names: tuple[str, ...]
    means: dict[str, Crossed]
    contrasts: Mapping[str, dict[str, Crossed]]

    @property
    def reference(self) -> str | None:
        """What the primary analysis compares with, if there is something."""
        return next(iter(self.contrasts), None)

    @property
    def against(self) -> dict[str, Crossed]:
        """The differences from it."""
        return next(iter(self.contrasts.values()), {})

    @property
    def missing(self) -> int:
        """How many pages expired without an answer."""
        return len(self.everything) - len(self.answers)


class Task(ABC):
    """What tells one analysis within people from another.

    Attributes:
        case: what phrases call the task.
        unit: of its values.
        counted: what the values are, in the JSON of the estimators.
        means: under which name the means stand there.
        every_reference: whether methods are compared with a random control too, besides no explanation.
        binary: whether answers are 0 or 1, so that there is a logistic mixed model.
        without_reference: the phrase for a study with nothing to compare with, if the primary analysis does not say it.
    """

    case: ClassVar[str]
    unit: ClassVar[Unit]
    counted: ClassVar[str]
    means: ClassVar[str] = "means"
    every_reference: ClassVar[bool] = False
    binary: ClassVar[bool] = False
    without_reference: ClassVar[str | None] = None

    def prepared(self, data: Analysed) -> Analysed:
        """The data as they are compared."""
        return data

    def everything(self, data: Analysed) -> pd.DataFrame:
        """The answers of the test phases."""
        return tested(data.responses, data.scored)

    def judged(self, answers: pd.DataFrame) -> pd.DataFrame:
        """The answers with columns that the task's own tables need."""
        return answers

    def sort(self, data: Analysed, reference: str) -> str:
        """What a reference is, as phrases call it: "none", "control" or something of the task's own."""
        return "none" if _kinds(data)[reference] == "none" else "control"

    def names_methods(self, data: Analysed) -> bool:  # noqa: ARG002
        """Whether the conditions are methods, which the joint report has lines for."""
        return True

    def problems(self, found: Compared) -> list[str]:  # noqa: ARG002
        """What cannot be told, beside differences without an interval."""
        return []

    @abstractmethod
    def alone(self, found: Compared) -> Primary:
        """The primary analysis where there is nothing to compare with."""

    @abstractmethod
    def describe(self, gathered: FindingsCollector, found: Compared) -> None:
        """Adds the tables and figures that stand before the comparisons."""

    @abstractmethod
    def add_rest(self, gathered: FindingsCollector, found: Compared) -> None:
        """Adds those that stand behind them."""


def compare_within_people(data: Analysed, options: Options, task: Task) -> Findings:
    """The analysis of one study."""
    data = task.prepared(data)
    everything = task.everything(data)
    answers, intended = answered(everything), answered(tested(data.intended, data.scored))
    if not len(answers):
        return _only_intended(data, intended, task)
    if options.session_term:
        answers, intended = with_sessions(answers), with_sessions(intended)
    answers = task.judged(answers)
    gathered = FindingsCollector()
    names = in_order(answers["condition"].unique().tolist(), data.conditions)
    absent = [condition.name for condition in data.conditions if condition.name not in names]
    if absent:
        gathered.problems.append(say("scores-nobody-under", names=absent))
    rows = as_met(answers)
    contrasts = {
        reference: lines
        for reference in _references(data, names, task)
        if (lines := compared_with(rows, reference, _beside(data, names, reference, task), options.level))
    }
    means = means_by_condition(answers, "score", options.level)
    found = Compared(data, options, everything, answers, tuple(names), means, contrasts)
    primary = _primary(found, task)
    task.describe(gathered, found)
    _add_contrasts(gathered, found, task)
    if found.reference is not None:
        gathered.figures.insert(0, primary_figure(primary))
        _add_mixed_models(gathered, rows, found, task)
    task.add_rest(gathered, found)
    varied = None
    planned_equivalence(
        gathered,
        data.study.spec.analysis,
        found.against,
        task.unit,
        say("equivalence-from", reference=found.reference or ""),
        title=say("equivalence-with", reference=found.reference or ""),
        heading=say("difference-from", reference=found.reference or ""),
    )
    if found.reference is not None:
        varied = varied_differences(answers, intended, found.reference, list(found.against), task.unit)
        gathered.tables.append(sensitivity_table(varied))
    gathered.problems += [*task.problems(found), *_without_interval(found), *_without_reference(found, task)]
    gathered.estimators["crossed_within"] = {
        "unit": task.counted,
        task.means: [mean.to_dict() for mean in means.values()],
        "contrasts": {
            reference: [claim.to_dict() for claim in lines.values()] for reference, lines in contrasts.items()
        },
    }
    methods = (
        method_lines(primary, data.conditions, _measure(found, task)) if task.names_methods(data) else ()
    )
    return gathered.findings(primary, methods, varied)


def _kinds(data: Analysed) -> dict[str, str]:
    return {condition.name: condition.kind for condition in data.conditions}


def _references(data: Analysed, names: Sequence[str], task: Task) -> list[str]:
    found = references(data, names)
    return found if task.every_reference else found[:1]


def _beside(data: Analysed, names: Sequence[str], reference: str, task: Task) -> list[str]:
    """What is compared with a reference: all others; methods alone where a random control is one of several."""
    kinds = _kinds(data)
    if kinds[reference] == "none" or not task.every_reference:
        return [name for name in names if name != reference]
    return [name for name in names if kinds[name] == "method"]


def _only_intended(data: Analysed, intended: pd.DataFrame, task: Task) -> Findings:
    """Nobody is left per protocol: the differences of everybody who answered, under sensitivity only."""
    if len(intended):
        nobody = say("nobody-answered-others", task=task.case, people=intended["participant"].nunique())
    else:
        nobody = say("nobody-answered", task=task.case)
    names = in_order(intended["condition"].unique().tolist(), data.conditions)
    reference = next(iter(references(data, names)), None)
    beside = [] if reference is None else _beside(data, names, reference, task)
    if reference is None or not beside:
        return Findings(problems=(nobody,))
    varied = only_intended(intended, reference, beside, task.unit)
    return Findings(tables=(sensitivity_table(varied),), sensitivity=varied, problems=(nobody,))


def _primary(found: Compared, task: Task) -> Primary:
    if found.reference is None:
        return task.alone(found)
    measure = say("within-minus", task=task.case, reference=found.reference)
    return primary_differences(
        found.against, found.reference, measure, say("within-what", task=task.case), task.unit
    )


def _measure(found: Compared, task: Task) -> str:
    """What the lines of the joint report measure: against the reference if there is one, else the mean."""
    if found.reference is None:
        return say("within-measure", task=task.case)
    return say("within-against", task=task.case, sort=task.sort(found.data, found.reference))


def _add_contrasts(gathered: FindingsCollector, found: Compared, task: Task) -> None:
    """Differences from each reference."""
    kinds = _kinds(found.data)
    for reference, lines in found.contrasts.items():
        apart = task.every_reference and kinds[reference] != "none"
        gathered.tables.append(
            difference_table(
                "control-contrast" if apart else "contrast",
                say(
                    "within-title",
                    task=task.case,
                    reference=reference,
                    sort=task.sort(found.data, reference),
                ),
                lines,
                reference,
                say("within-what", task=task.case),
                task.unit,
                sessions=found.options.session_term,
            )
        )


def _add_mixed_models(
    gathered: FindingsCollector, rows: ConditionResponses, found: Compared, task: Task
) -> None:
    """The differences from the first reference again, by mixed models."""
    reference, level = found.reference or "", found.options.level
    pairs = [(name, reference) for name in found.against]
    models: dict[str, list[Effect]] = {}
    linear = gathered.tried(say("the-linear-model"), lambda: linear_differences(rows, pairs, level))
    if linear is not None:
        models[say("linear-model")] = list(linear)
        gathered.estimators["linear_mixed"] = [effect.to_dict() for effect in linear]
    if task.binary:
        logistic = gathered.tried(say("the-logistic-model"), lambda: logistic_differences(rows, pairs, level))
        if logistic is not None:
            models[say("logistic-model")] = [effect.points for effect in logistic]
            gathered.estimators["logistic_mixed"] = [effect.to_dict() for effect in logistic]
    if models:
        gathered.tables.append(mixed_table(found.against, models, reference, task.unit))


def _without_interval(found: Compared) -> list[str]:
    return [
        say(
            "no-interval-no-test",
            name=say("against", condition=name, reference=reference),
            why=" ".join(claim.warnings),
        )
        for reference, lines in found.contrasts.items()
        for name, claim in lines.items()
        if claim.se is None
    ]


def _without_reference(found: Compared, task: Task) -> list[str]:
    if len(found.names) == 1:
        return [say("only-condition", condition=found.names[0])]
    if found.reference is None and task.without_reference is not None:
        return [say(task.without_reference)]
    return []
