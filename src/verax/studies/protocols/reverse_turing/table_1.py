"""Table 1 of Gonzalez and Sogaard (2020), with the rows and columns as printed: a task in each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from verax.results.tables import BEST, Column, Table, Value, mark_key
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.within.session_ranks import rank_test

HEADINGS = {"known": "KNOWN TASKS", "masked": "UNKNOWN TASKS"}
P_HAT = "p\N{COMBINING CIRCUMFLEX ACCENT}"
NOTES = (
    "As printed: accuracy against the model's answers, mean length of a test session (minutes:seconds), the model's "
    "accuracy on its test part, and people's accuracy against the true labels. Bold is the better of a group; a star "
    "is p < .05 by Mann-Whitney's U test of participants' sessions against those without explanations, uncorrected. "
    "The random control is left out, as in the paper.",
    "Our own estimates, with intervals and for all conditions, stand in the table of tasks.",
)


@dataclass(frozen=True, eq=False)
class TaskSessions:
    """One task, as Table 1 needs it.

    Attributes:
        name: of the task.
        kind: "known" or "masked".
        answers: of the test sessions, with columns score, truth, condition, participant.
        sessions: columns participant, condition, minutes.
        plain: the condition without explanations, if any.
        methods: the conditions with a method's explanations.
        model_accuracy: of the model on its test part.
    """

    name: str
    kind: str
    answers: pd.DataFrame
    sessions: pd.DataFrame
    plain: str | None
    methods: tuple[str, ...]
    model_accuracy: float | None


def table_1(tasks: Sequence[TaskSessions]) -> Table | None:
    """The table; None where no task has a condition without explanations and one with them."""
    there = [task for task in tasks if task.plain is not None and task.methods]
    if not there:
        return None
    methods = tuple(dict.fromkeys(name for task in there for name in task.methods))
    rows: list[dict[str, Value]] = []
    for kind, heading in HEADINGS.items():
        own = [task for task in there if task.kind == kind]
        if own:
            rows += [{"task": heading}, *(_row(task) for task in own)]
    return Table(
        key="table-1",
        title=f"{len(there)} tasks, as Gonzalez and Sogaard (2020) print them (their Table 1)",
        columns=_columns(methods),
        rows=tuple(rows),
        sentence="The published table, with the published test: for claims see the table of tasks.",
        notes=NOTES,
    )


def _columns(methods: Sequence[str]) -> tuple[Column, ...]:
    titles = {"x": "x"} | {name: f"{name.upper()}(x)" for name in methods}

    def group(key: str, heading: str) -> list[Column]:
        return [Column(f"{key}_{name}", f"{heading}, {title}", "text") for name, title in titles.items()]

    return (
        Column("task", "Task", "text"),
        *group("model", f"Human acc. ({P_HAT})"),
        *group("time", f"Human time ({P_HAT})"),
        Column("model_accuracy", "Model acc. (p)", "text"),
        *group("truth", "Human acc. (p)"),
    )


def _row(task: TaskSessions) -> dict[str, Value]:
    shown = {"x": task.plain or ""} | {name: name for name in task.methods}
    each = task.answers.groupby(["participant", "condition"])[["score", "truth"]].mean().reset_index()
    row: dict[str, Value] = {
        "task": task.name,
        "model_accuracy": None if task.model_accuracy is None else f"{task.model_accuracy:.3f}",
    }
    for group, value in (("model", "score"), ("truth", "truth")):
        means = {key: _mean(task.answers, name, value) for key, name in shown.items()}
        row |= _group(group, means, _stars(each, value, shown, means, higher=True), higher=True)
    lengths = {key: _mean(task.sessions, name, "minutes") for key, name in shown.items()}
    stars = _stars(task.sessions, "minutes", shown, lengths, higher=False)
    return row | _group("time", lengths, stars, higher=False)


def _mean(rows: pd.DataFrame, condition: str, value: str) -> float | None:
    own = rows.loc[rows["condition"] == condition, value]
    return float(own.mean()) if len(own) else None


def _stars(
    sessions: pd.DataFrame,
    value: str,
    shown: Mapping[str, str],
    means: Mapping[str, float | None],
    *,
    higher: bool,
) -> set[str]:
    """Which cells have a star: the better one of a method and no explanation, where the test tells them apart."""
    found = set()
    plain = means["x"]
    for key, name in shown.items():
        own = means[key]
        test = None if key == "x" else rank_test(sessions, value, name, shown["x"])
        if test is not None and test.p < ALPHA and own is not None and plain is not None:
            found.add(key if (own > plain) == higher else "x")
    return found


def _group(
    name: str, means: Mapping[str, float | None], stars: set[str], *, higher: bool
) -> dict[str, Value]:
    """The cells of a group of columns, the best of them marked; the numbers themselves stand in the row too."""
    # What is printed alike is not better.
    seen = {
        key: round(60 * mean) if name == "time" else round(mean, 3)
        for key, mean in means.items()
        if mean is not None
    }
    best = (max if higher else min)(seen.values()) if len(set(seen.values())) > 1 else None
    row: dict[str, Value] = {}
    for key, mean in means.items():
        if mean is None:
            continue
        said = clock(mean) if name == "time" else f"{mean:.3f}"
        row[f"{name}_{key}"] = f"{'*' if key in stars else ''}{said}"
        row[f"{name}_{key}_number"] = mean
        if seen[key] == best:
            row[mark_key(f"{name}_{key}")] = BEST
    return row


def clock(minutes: float) -> str:
    """Minutes and seconds, "03:05"."""
    seconds = round(60 * minutes)
    return f"{seconds // 60:02d}:{seconds % 60:02d}"
