"""How often people answer like the model and like the truth: the table and the figure of the Reverse Turing Test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verax.stats.crossed.result import Crossed
from verax.studies.analysis.contract import Analysed, Column, Figure, Table
from verax.studies.analysis.within.conditions import POINTS
from verax.text import between, counted, listed, signed

if TYPE_CHECKING:
    import pandas as pd


def judged(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with ``truth`` (1 where the true label was said) and ``bias`` (truth less agreement with the model).

    ``bias`` is 0 wherever the model is right: it can be seen on the model's errors only.
    """
    truth = (answers["answer"].astype(str) == answers["label"].astype("int64").astype(str)).astype("float64")
    return answers.assign(truth=truth, bias=truth - answers["score"])


def accuracy_table(
    data: Analysed,
    answers: pd.DataFrame,
    names: Sequence[str],
    measures: dict[str, dict[str, Crossed]],
    missing: int,
) -> Table:
    """The paper's Table 1: agreement with the model, with the truth, and the difference."""
    rows = []
    for name in names:
        own = answers[answers["condition"] == name]
        by = {value: measures[value][name] for value in measures}
        rows.append(
            {
                "condition": name,
                "task": task_of(data),
                "participants": own["participant"].nunique(),
                "answers": len(own),
                "model": POINTS.of(by["score"].estimate),
                "model_interval": _clipped(by["score"]),
                "truth": POINTS.of(by["truth"].estimate),
                "truth_interval": _clipped(by["truth"]),
                "bias": POINTS.of(by["bias"].estimate),
                "bias_interval": POINTS.interval(by["bias"].low, by["bias"].high),
                "bias_enough": by["bias"].enough,
                "model_accuracy": 100 * float(own["model_correct"].astype("float64").mean()),
            }
        )
    return Table(
        key="accuracy",
        title=f"Answers like the model's and like the truth ({task_of(data)} task)",
        columns=(
            Column("condition", "Condition", "text"),
            Column("task", "Task", "text"),
            Column("participants", "Participants", "count"),
            Column("answers", "Answers", "count"),
            Column("model", "Like the model", "number", "%"),
            Column("model_interval", "95% interval", "interval", "%"),
            Column("truth", "Like the true label", "number", "%"),
            Column("truth_interval", "95% interval", "interval", "%"),
            Column("bias", "Belief bias", "number", "points"),
            Column("bias_interval", "95% interval", "interval", "points"),
            Column("model_accuracy", "Model right on these items", "number", "%"),
        ),
        rows=tuple(rows),
        sentence=_accuracy_sentence(data, rows),
        notes=_accuracy_notes(data, missing),
    )


def _accuracy_notes(data: Analysed, missing: int) -> tuple[str, ...]:
    notes = [
        "Belief bias is the share of answers like the true label minus that like the model: above 0 people follow what "
        "they believe rather than the model. It can be seen only on items that the model gets wrong.",
        "Intervals take participants and items as samples.",
    ]
    if data.parameters["only_wrong"]:
        notes.append("Only items that the model gets wrong were shown, as in the paper's pre-experiment.")
        if len(data.study.class_names) == 2:
            notes.append(
                "With two classes, an answer is then either like the model's or like the true label."
            )
    if not data.parameters["training"]:
        notes.append("There were no training sessions, as in one half of the paper's pre-experiment.")
    if missing:
        notes.append(
            f"{counted(missing, 'page')} expired without an answer and {'is' if missing == 1 else 'are'} left out."
        )
    return tuple(notes)


def _accuracy_sentence(data: Analysed, rows: Sequence[dict[str, Any]]) -> str:
    shares = listed([f"{row['model']:.0f}% with {row['condition']}" for row in rows])
    said = f"People answered like the model in {shares}."
    if data.parameters["only_wrong"]:
        return said
    for sign, towards in (
        (1, "the true label than like the model"),
        (-1, "the model than like the true label"),
    ):
        clear = [row for row in rows if row["bias_enough"] and _excludes_zero(row, sign)]
        if clear:
            parts = listed(
                [
                    f"{row['condition']} ({signed(row['bias'])} points, {between(*row['bias_interval'])})"
                    for row in clear
                ]
            )
            said += f" They answered more like {towards} with {parts}."
    return said


def _excludes_zero(row: dict[str, Any], sign: int) -> bool:
    low, high = row["bias_interval"] or (0.0, 0.0)
    return bool(low > 0 if sign > 0 else high < 0)


def task_of(data: Analysed) -> str:
    """Whether people knew the task."""
    return "masked" if data.parameters["masked"] else "known"


def _clipped(one: Crossed) -> list[float] | None:
    """An interval of a share in per cent, within 0 and 100."""
    if one.low is None or one.high is None:
        return None
    return [100 * max(one.low, 0.0), 100 * min(one.high, 1.0)]


def accuracy_figure(table: Table) -> Figure:
    """Both accuracies by condition."""
    bars = []
    for key, label in (("model", "like the model"), ("truth", "like the true label")):
        ends = [row[f"{key}_interval"] or [None, None] for row in table.rows]
        bars.append(
            {
                "label": label,
                "values": [row[key] for row in table.rows],
                "low": [low for low, _ in ends],
                "high": [high for _, high in ends],
            }
        )
    return Figure(
        key="accuracy",
        title=table.title,
        kind="bars",
        data={"y_label": "answers (%)", "groups": [row["condition"] for row in table.rows], "bars": bars},
        sentence="Where answers are more like the true label than like the model, people follow their beliefs.",
    )
