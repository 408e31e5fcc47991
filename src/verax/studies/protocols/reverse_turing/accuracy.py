"""How often people answer like the model and like the truth: accuracy, F1, and the pre-experiment without training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verax.phrases import say as say_phrase
from verax.results.figures import Bars, Figure, series
from verax.results.tables import Source, Sources, Table, build_table, count, interval, number, text
from verax.results.units import PERCENT, POINTS, Ends
from verax.stats.crossed.result import Crossed
from verax.stats.estimate import Estimate
from verax.stats.means import mean_share
from verax.studies.analysis.primary import share_ends
from verax.studies.analysis.within.conditions import expired
from verax.studies.definition.spec_tables import Condition
from verax.studies.protocol.contract import Analysed
from verax.studies.results.study_facts import model_facts
from verax.text import between

if TYPE_CHECKING:
    import pandas as pd


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
UNTRAINED, TRAINED = "untrained", "trained"
# The first round has no training, in everybody's order.
WITHOUT = ("about-evaluation-1", "evaluation-1", "strategy-1")


def compares_training(data: Analysed) -> bool:
    """Whether the study is such an experiment."""
    return bool(data.parameters.get("untrained_first"))


def by_training(data: Analysed) -> Analysed:
    """The answers with training in the place of conditions, if that is what the study compares."""
    if not compares_training(data):
        return data
    return replace(
        data,
        responses=_relabelled(data.responses),
        intended=_relabelled(data.intended),
        conditions=(Condition(name=UNTRAINED), Condition(name=TRAINED, explainer="training")),
    )


def _relabelled(answers: pd.DataFrame) -> pd.DataFrame:
    named = answers["phase"].isin(WITHOUT).map({True: UNTRAINED, False: TRAINED})
    return answers.assign(condition=named.where(answers["condition"].notna(), None))


def macro_f1(said: Sequence[int], model: Sequence[int]) -> float:
    """The mean over classes of F1, 2 TP / (2 TP + FP + FN); classes that nobody named, nor the model, are left out."""
    given, wanted = np.asarray(said), np.asarray(model)
    scores = []
    for label in np.union1d(given, wanted):
        both = np.sum((given == label) & (wanted == label))
        scores.append(2 * both / (np.sum(given == label) + np.sum(wanted == label)))
    return float(np.mean(scores))


def people_f1(answers: pd.DataFrame) -> pd.DataFrame:
    """Columns participant, condition, f1: of each participant's test session under each condition."""
    sessions = answers.assign(
        said=answers["answer"].astype("int64"), model=answers["prediction"].astype("int64")
    ).groupby(["participant", "condition"], sort=True)
    return (
        sessions[["said", "model"]]
        .apply(lambda own: macro_f1(own["said"].tolist(), own["model"].tolist()))
        .rename("f1")
        .reset_index()
    )


def mean_f1(answers: pd.DataFrame, names: Sequence[str], level: float) -> dict[str, Estimate]:
    """By condition, the mean over participants with an interval inside 0 to 1; the items are taken as the only ones."""
    each = people_f1(answers)
    return {
        name: mean_share(each.loc[each["condition"] == name, "f1"].to_numpy(dtype=np.float64), level=level)
        for name in names
    }


@dataclass(frozen=True)
class Imitated:
    """How often people answered like the model and like the truth under one condition.

    Attributes:
        condition: which.
        participants, answers: what it rests on.
        model: share of answers like the model's.
        truth: share of answers like the true label.
        bias: the second minus the first.
        f1: of answers against the model's, over participants.
        model_accuracy: of the model on these items, per cent; by construction about the same in every study with as
            many right as wrong items.
    """

    condition: str
    participants: int
    answers: int
    model: Crossed
    truth: Crossed
    bias: Crossed
    f1: Estimate
    model_accuracy: float

    @property
    def model_ends(self) -> Ends:
        """Of the interval, in per cent."""
        return share_ends(self.model)

    @property
    def truth_ends(self) -> Ends:
        """Of the interval, in per cent."""
        return share_ends(self.truth)

    @property
    def f1_ends(self) -> Ends:
        """Of the interval; no F1 is below 0 or above 1."""
        low, high = self.f1.low, self.f1.high
        return None if low is None or high is None else (max(low, 0.0), min(high, 1.0))

    @property
    def bias_ends(self) -> Ends:
        """Of the interval, in points."""
        return POINTS.interval(self.bias.low, self.bias.high)


def judged(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with ``truth`` (1 where the true label was said) and ``bias`` (truth less agreement with the model).

    ``bias`` is 0 wherever the model is right: it can be seen on the model's errors only.
    """
    truth = (answers["answer"].astype(str) == answers["label"].astype("int64").astype(str)).astype("float64")
    return answers.assign(truth=truth, bias=truth - answers["score"])


def imitated(
    answers: pd.DataFrame,
    names: Sequence[str],
    measures: dict[str, dict[str, Crossed]],
    level: float = 0.95,
) -> list[Imitated]:
    """One line per condition.

    Args:
        answers: as `judged` gives them.
        names: the conditions.
        measures: means by condition of "score", "truth" and "bias".
        level: coverage of the interval of F1.
    """
    f1 = mean_f1(answers, names, level)
    by_name = {name: answers[answers["condition"] == name] for name in names}
    return [
        Imitated(
            name,
            own["participant"].nunique(),
            len(own),
            measures["score"][name],
            measures["truth"][name],
            measures["bias"][name],
            f1[name],
            100 * float(own["model_correct"].astype("float64").mean()),
        )
        for name, own in by_name.items()
    ]


def accuracy_table(data: Analysed, lines: Sequence[Imitated], missing: int) -> Table:
    """The paper's Table 1: agreement with the model, with the truth, and the difference."""
    task = task_of(data)
    sources: Sources[Imitated] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        text("task", say_table("column-task"), lambda _: task),
        count("participants", say_table("column-participants"), lambda line: line.participants),
        count("answers", say_table("column-answers"), lambda line: line.answers),
        number(
            "model", say_table("column-like-the-model"), lambda line: PERCENT.of(line.model.estimate), PERCENT
        ),
        interval("model_interval", say_table("column-interval"), lambda line: line.model_ends, PERCENT),
        number(
            "truth",
            say_table("column-like-the-true-label"),
            lambda line: PERCENT.of(line.truth.estimate),
            PERCENT,
        ),
        interval("truth_interval", say_table("column-interval"), lambda line: line.truth_ends, PERCENT),
        number("bias", say_table("column-belief-bias"), lambda line: POINTS.of(line.bias.estimate), POINTS),
        interval("bias_interval", say_table("column-interval"), lambda line: line.bias_ends, POINTS),
        Source("bias_enough", lambda line: line.bias.enough),
        number("f1", say_table("column-f1"), lambda line: line.f1.mean),
        interval("f1_interval", say_table("column-interval"), lambda line: line.f1_ends),
        number(
            "model_accuracy", say_table("column-model-accuracy"), lambda line: line.model_accuracy, PERCENT
        ),
        number(
            "model_test_accuracy",
            say_table("column-model-test-accuracy"),
            lambda _: PERCENT.of(test_accuracy(data)),
            PERCENT,
        ),
    )
    return build_table(
        "accuracy",
        _title(data),
        lines,
        sources,
        _accuracy_sentence(data, lines),
        _accuracy_notes(data, missing),
    )


def _title(data: Analysed) -> str:
    return say_table("accuracy", task=task_of(data))


def _accuracy_notes(data: Analysed, missing: int) -> list[str]:
    notes = [
        say_table("accuracy-bias"),
        say_table("accuracy-intervals"),
        say_table("accuracy-half"),
    ]
    if data.parameters["only_wrong"]:
        del notes[2]
        notes.append(say_table("accuracy-only-wrong"))
        if len(data.study.class_names) == 2:
            notes.append(say_table("accuracy-two-classes"))
    if not data.parameters["training"]:
        notes.append(say_table("accuracy-no-training"))
    return [*notes, *expired(missing)]


def _accuracy_sentence(data: Analysed, lines: Sequence[Imitated]) -> str:
    shares = [
        say("imitation-part", share=f"{100 * (line.model.estimate or 0.0):.0f}", condition=line.condition)
        for line in lines
    ]
    said = say("imitation-shares", parts=shares)
    if data.parameters["only_wrong"]:
        return said
    for sign, towards in ((1, "truth"), (-1, "model")):
        parts = [
            say(
                "effect-part",
                condition=line.condition,
                size=POINTS.said(100 * (line.bias.estimate or 0.0)),
                interval=between(*line.bias_ends),
            )
            for line in lines
            if line.bias.enough and line.bias_ends is not None and _side(*line.bias_ends) == sign
        ]
        if parts:
            said += f" {say('imitation-bias', towards=towards, parts=parts)}"
    return said


def _side(low: float, high: float) -> int:
    """On which side of 0 an interval lies, 0 if it holds it."""
    return int(low > 0) - int(high < 0)


def task_of(data: Analysed) -> str:
    """Whether people knew the task."""
    return "masked" if data.parameters.get("masked") else "known"


def task_name(data: Analysed) -> str:
    """What the task is called in tables: as the protocol says, else by its data, and never by where a file lies."""
    named = data.parameters.get("task")
    if named:
        return str(named)
    spec = data.study.spec
    sort = spec.source.get("format")
    # Files of the probing tasks are named by their task; folders and files of other formats by anything.
    return str(sort) if sort and sort != "senteval-probing" else Path(spec.dataset).stem


def test_accuracy(data: Analysed) -> float | None:
    """The share of the test part that the model gets right: the paper's "Model acc."; None if nobody knows it."""
    return model_facts(data.study.models, data.study.spec.model).accuracy


def accuracy_figure(data: Analysed, lines: Sequence[Imitated]) -> Figure:
    """Both accuracies by condition."""
    bars = (
        series(
            say_table("like-the-model"),
            [PERCENT.of(line.model.estimate) for line in lines],
            [line.model_ends for line in lines],
        ),
        series(
            say_table("like-the-true-label"),
            [PERCENT.of(line.truth.estimate) for line in lines],
            [line.truth_ends for line in lines],
        ),
    )
    return Figure(
        "accuracy",
        _title(data),
        Bars(say_table("figure-accuracy-axis"), tuple(line.condition for line in lines), bars),
        say_table("figure-accuracy-says"),
    )
