"""The Reverse Turing Test: how well people imitate the model, by condition, and whether they follow it or the truth.

Gonzalez and Sogaard (2020), Table 1 and Figure 3. Every participant meets every condition, on items of a Latin square.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.tables import Column, Table, Value
from verax.results.units import POINTS, Unit
from verax.stats.crossed.result import Crossed
from verax.studies.analysis.pooled import say as say_pooled
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
from verax.studies.answers.export_files import guarded, unguarded
from verax.studies.protocol.contract import Analysed, ProtocolAnalysis
from verax.studies.protocols.reverse_turing.accuracy import (
    accuracy_figure,
    accuracy_table,
    by_training,
    compares_training,
    imitated,
    judged,
    task_name,
    task_of,
)
from verax.studies.protocols.reverse_turing.pooled_analysis import pooled_imitation
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


STRATEGY = "strategy"
COLUMNS = ("task", "kind", "condition", "participant", "strategy", "code")


@dataclass(frozen=True)
class Strategy:
    """One page of the question.

    Attributes:
        task: by name.
        kind: "known" or "masked".
        condition: of the round that was over; empty where the question came once, at the end.
        participant: the pseudonym.
        text: what was written; empty where nothing was.
        code: what somebody who read it called it; empty until then.
    """

    task: str
    kind: str
    condition: str
    participant: str
    text: str
    code: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """By what a code is found again."""
        return self.task, self.condition, self.participant


def strategies_of(data: Analysed) -> list[Strategy]:
    """All pages of the question that those who are analysed were shown, answered or not.

    A page that was left empty leaves no answer: the question comes after each round of items, so whoever has answers
    to a round's items was asked.
    """
    named = by_training(data)
    written = named.responses[named.responses["question"] == STRATEGY]
    rounds = named.responses
    if data.parameters.get("strategy"):
        rounds = rounds[rounds["phase"].str.startswith("evaluation") | (rounds["question"] == STRATEGY)]
    else:
        rounds = written
    texts = {
        (condition or "", participant): str(text or "").strip()
        for condition, participant, text in zip(
            written["condition"], written["participant"], written["answer"], strict=True
        )
    }
    shown = dict.fromkeys(
        (condition or "", participant)
        for condition, participant in zip(rounds["condition"], rounds["participant"], strict=True)
    )
    task, kind = task_name(data), task_of(data)
    return [
        Strategy(task, kind, str(condition), str(participant), texts.get((condition, participant), ""))
        for condition, participant in shown
    ]


def strategy_table(asked: Sequence[Strategy]) -> Table | None:
    """How many wrote something, by task and condition, and how many of each code; None if nobody was asked."""
    if not asked:
        return None
    codes = sorted({one.code for one in asked if one.code})
    groups: dict[tuple[str, str, str], list[Strategy]] = {}
    for one in asked:
        groups.setdefault((one.task, one.kind, one.condition), []).append(one)
    rows = [_row(key, own, codes) for key, own in groups.items()]
    wrote = sum(bool(one.text) for one in asked)
    coded = sum(bool(one.code) for one in asked)
    return Table(
        key="strategies",
        title=say_pooled("strategies-title"),
        columns=(
            Column("task", say_pooled("column-task"), "text"),
            Column("kind", say_pooled("column-kind"), "text"),
            Column("condition", say_pooled("column-condition"), "text"),
            Column("asked", say_pooled("column-asked"), "count"),
            Column("wrote", say_pooled("column-wrote"), "count"),
            *(Column(f"code_{code}", code, "count") for code in codes),
        ),
        rows=tuple(rows),
        sentence=say_pooled("strategies", wrote=wrote, asked=len(asked), coded=coded),
        notes=(say_pooled("strategies-note"),),
    )


def _row(key: tuple[str, str, str], own: Sequence[Strategy], codes: Sequence[str]) -> dict[str, Value]:
    task, kind, condition = key
    times = Counter(one.code for one in own)
    return {
        "task": task,
        "kind": kind,
        "condition": condition,
        "asked": len(own),
        "wrote": sum(bool(one.text) for one in own),
        **{f"code_{code}": times[code] for code in codes},
    }


def coded_file(path: Path, asked: Sequence[Strategy]) -> list[Strategy]:
    """Writes what people wrote to a CSV file; codes that stand there already are kept, and given back with it."""
    codes = _codes(path) if path.exists() else {}
    coded = [replace(one, code=codes.get(one.key, "")) for one in asked]
    lost = sorted(set(codes) - {one.key for one in coded if one.text})
    if lost:
        task, condition, person = lost[0]
        raise VeraxError(
            f"{str(path)!r} has a code for {person} ({task}, {condition}) who wrote nothing in these studies "
            f"({len(lost):,} such in all); name another file, or analyse the studies that it was made from."
        )
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(COLUMNS)
            for one in coded:
                if one.text:
                    texts = (one.task, one.kind, one.condition, one.participant, one.text, one.code)
                    lines.writerow(map(guarded, texts))
    except OSError as error:
        raise VeraxError(f"The strategies cannot be written to {str(path)!r} ({error.strerror}).") from error
    return coded


def _codes(path: Path) -> Mapping[tuple[str, str, str], str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise VeraxError(f"{str(path)!r} cannot be read as a CSV file ({error}).") from error
    if any(None in line.values() or set(line) != set(COLUMNS) for line in lines):
        raise VeraxError(
            f"{str(path)!r} is no file of strategies: its columns must be {', '.join(COLUMNS)}; name another file."
        )
    plain = [{name: unguarded(value) for name, value in line.items()} for line in lines]
    return {
        (line["task"], line["condition"], line["participant"]): line["code"].strip()
        for line in plain
        if line["code"].strip()
    }
