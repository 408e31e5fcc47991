"""The Reverse Turing Test: how well people imitate the model, by condition, and whether they follow it or the truth.

Gonzalez and Sogaard (2020), Table 1 and Figure 3. Every participant meets every condition, on items of a Latin square.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from verax.phrases import say as say_phrase
from verax.results.units import POINTS, Unit
from verax.stats.crossed.result import Crossed
from verax.studies.analysis.primary import (
    FindingsCollector,
    estimate_of,
    share_ends,
)
from verax.studies.analysis.within.comparison import Compared, Task, compare_within_people
from verax.studies.analysis.within.conditions import (
    ORDER,
    means_by_condition,
    tested,
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
from verax.studies.protocol.contract import Analysed, ProtocolAnalysis
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
from verax.studies.results.study_summary import Primary, PrimaryEstimate

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
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


@dataclass(frozen=True)
class ImitationTask(Task):
    """How often people answer like the model: accuracy against it and the truth, times, the training curve."""

    case: ClassVar[str] = "imitation"
    unit: ClassVar[Unit] = POINTS
    counted: ClassVar[str] = "share of answers"
    means: ClassVar[str] = "accuracy"
    every_reference: ClassVar[bool] = True
    binary: ClassVar[bool] = True
    without_reference: ClassVar[str | None] = "imitation-no-reference"

    def prepared(self, data: Analysed) -> Analysed:
        """With training in the place of conditions, where that is what is compared."""
        return by_training(data)

    def everything(self, data: Analysed) -> pd.DataFrame:
        """The answers of the test sessions."""
        answers = tested(data.responses, data.scored)
        # Who is trained was untrained before: the order is what is compared.
        return answers.drop(columns=ORDER, errors="ignore") if compares_training(data) else answers

    def judged(self, answers: pd.DataFrame) -> pd.DataFrame:
        """With agreement with the truth."""
        return judged(answers)

    def sort(self, data: Analysed, reference: str) -> str:
        """Also "training": sessions before it are what those after it are compared with."""
        return "training" if compares_training(data) else super().sort(data, reference)

    def names_methods(self, data: Analysed) -> bool:
        """Training is no method."""
        return not compares_training(data)

    def alone(self, found: Compared) -> Primary:
        """The accuracies themselves, which test nothing."""
        lines = tuple(_accuracy(name, found.means[name]) for name in found.names)
        parts = [
            say("difference-bare", condition=line.condition, size=f"{line.estimate or 0:.1f}%")
            for line in lines
        ]
        measure = say("within-measure", task=self.case)
        return Primary(measure, POINTS, say("imitation-alone", parts=parts), lines)

    def describe(self, gathered: FindingsCollector, found: Compared) -> None:
        """Agreement with the model and with the truth."""
        level = found.options.level
        measures = {value: means_by_condition(found.answers, value, level) for value in ("truth", "bias")}
        lines = imitated(found.answers, found.names, {"score": found.means, **measures}, level)
        gathered.tables.append(accuracy_table(found.data, lines, found.missing))
        gathered.figures.append(accuracy_figure(found.data, lines))

    def add_rest(self, gathered: FindingsCollector, found: Compared) -> None:
        """The published test, times, training and strategies."""
        reference, level = found.reference, found.options.level
        gathered.add(
            say_table("what-mann-whitney"),
            lambda: (
                None
                if reference is None
                else rank_table(found.answers, found.everything, found.names, reference, level)
            ),
        )
        _times(gathered, found)
        _training(gathered, found)
        gathered.add(say_table("what-strategies"), lambda: strategy_table(strategies_of(found.data)))


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


def _times(gathered: FindingsCollector, found: Compared) -> None:
    answers, reference = found.everything, found.reference
    if not answers["seconds"].notna().any():
        gathered.problems.append(say("no-times-at-all"))
        return
    taken = gathered.tried(
        say_table("what-times"), lambda: times_taken(answers, found.names, reference, found.options.level)
    )
    if taken is not None:
        gathered.tables.append(times_table(taken, reference))
        gathered.figures.append(times_figure(taken, say_table("task", kind=task_of(found.data))))


def _training(gathered: FindingsCollector, found: Compared) -> None:
    data, level = found.data, found.options.level
    answers = training_answers(data.responses, data.scored)
    if not len(answers):
        if data.parameters["training"]:
            gathered.problems.append(say("imitation-no-training"))
        return
    gathered.add(say_table("what-training"), lambda: training_table(answers, found.names, level))
    gathered.figures.append(training_curve(answers, found.names, level))


IMITATION = ProtocolAnalysis(partial(compare_within_people, task=ImitationTask()), KEYS, pooled_imitation)
