"""Several Reverse Turing Tests side by side: the paper's Table 1, a task in each study, and its Figure 3.

Gonzalez and Sogaard (2020) have five tasks, of which people know two; the others are masked. Conditions are matched by
name. People who agreed to be linked count once in what is said over several studies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from verax.results.figures import Bars, Figure, series
from verax.results.tables import BEST, Column, Table, Value, mark_key
from verax.results.units import POINTS
from verax.stats.estimate import mean_interval
from verax.stats.ranks import mann_whitney
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.primary import linked_note
from verax.studies.analysis.within.conditions import (
    answered,
    as_met,
    compared_with,
    in_order,
    means_by_condition,
    references,
    tested,
)
from verax.studies.analysis.within.sessions import length_words, rank_test, session_minutes
from verax.studies.protocol.contract import Analysed, Findings
from verax.studies.protocols.reverse_turing.accuracy import (
    by_training,
    judged,
    mean_f1,
    task_name,
    task_of,
    test_accuracy,
)
from verax.studies.results.study_summary import Options
from verax.text import listed, p_text, signed

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


ALL = "all conditions"
KINDS = ("known", "masked")


@dataclass(frozen=True, eq=False)
class _Task:
    """One study: its answers, its sessions, and what conditions are compared with."""

    name: str
    kind: str
    answers: pd.DataFrame
    sessions: pd.DataFrame
    conditions: tuple[str, ...]
    reference: str | None
    controls: tuple[str, ...]
    plain: str | None
    test_accuracy: float | None
    people: Mapping[str, str]

    @property
    def as_printed(self) -> TaskSessions:
        """What the published table takes of it."""
        methods = [name for name in self.conditions if name not in self.controls and name != self.plain]
        return TaskSessions(
            self.name, self.kind, self.answers, self.sessions, self.plain, tuple(methods), self.test_accuracy
        )


def pooled_imitation(studies: Sequence[Analysed], options: Options) -> Findings:
    """Table 1 over several studies, session times of known and masked tasks, and what cannot be told."""
    names = _names(studies)
    tasks = [_task(task, name, place) for place, (task, name) in enumerate(zip(studies, names, strict=True))]
    problems = [
        f"Nobody who is analysed answered in the study of {task.name}: it is left out of the tables over all tasks."
        for task in tasks
        if not len(task.answers)
    ]
    tasks = [task for task in tasks if len(task.answers)]
    if not tasks:
        return Findings(problems=tuple(problems))
    printed = table_1([task.as_printed for task in tasks])
    tables = [*([] if printed is None else [printed]), _table(tasks, options.level)]
    figures: list[Figure] = []
    timed = [task for task in tasks if len(task.sessions)]
    absent = [kind for kind in KINDS if kind not in {task.kind for task in timed}]
    if absent:
        problems.append(
            f"No study with times has a {listed(absent, 'or')} task: how long known and masked tasks take is not "
            "compared."
        )
    else:
        table, figure = _times(timed, options.level)
        tables.append(replace(table, notes=(*table.notes, linked_note(studies))))
        figures.append(figure)
    return Findings(tables=tuple(tables), figures=tuple(figures), problems=tuple(problems))


def _names(studies: Sequence[Analysed]) -> list[str]:
    """What the tasks are; where two are the same, with the place of the study."""
    tasks = [task_name(data) for data in studies]
    return [
        name if tasks.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(tasks, start=1)
    ]


def _task(study: Analysed, name: str, place: int) -> _Task:
    data = by_training(study)
    everything = tested(data.responses, data.scored)
    answers = judged(answered(everything)) if len(answered(everything)) else answered(everything)
    there = in_order(answers["condition"].unique().tolist(), data.conditions)
    return _Task(
        name=name,
        kind=task_of(data),
        answers=answers,
        sessions=session_minutes(everything),
        conditions=tuple(there),
        reference=next(iter(references(data, there)), None),
        controls=tuple(one.name for one in data.conditions if one.kind == "control"),
        plain=data.control if data.control in there else None,
        test_accuracy=test_accuracy(data),
        people=data.person(place),
    )


def _table(tasks: Sequence[_Task], level: float) -> Table:
    """A row for each task and condition, known tasks first."""
    rows = [row for kind in KINDS for task in tasks if task.kind == kind for row in _rows(task, level)]
    return Table(
        key="tasks",
        title=f"{len(tasks)} tasks: answers like the model's, session times, and answers like the truth",
        columns=(
            Column("task", "Task", "text"),
            Column("kind", "Known or masked", "text"),
            Column("condition", "Condition", "text"),
            Column("participants", "Participants", "count"),
            Column("model", "Like the model", "number", "%"),
            Column("difference", "Difference from the reference", "number", "points"),
            Column("p", "p, corrected", "p"),
            Column("p_ranks", "p, Mann-Whitney", "p"),
            Column("minutes", "Mean session", "number", "minutes"),
            Column("p_minutes", "p, Mann-Whitney", "p"),
            Column("f1", "F1 against the model", "number"),
            Column("model_accuracy", "Model right on these items", "number", "%"),
            Column("model_test_accuracy", "Model right on its test part", "number", "%"),
            Column("truth", "Like the true label", "number", "%"),
            Column("p_truth", "p, Mann-Whitney", "p"),
            Column("bias", "Belief bias", "number", "points"),
        ),
        rows=tuple(rows),
        sentence=_table_sentence(rows),
        notes=(
            "The paper's Table 1 with all conditions. The reference is no explanation, or the random control; "
            "differences from it are within people, with Holm's correction in each study and none over studies. "
            "Mann-Whitney's tests are those of the paper, not corrected.",
            "That a method helps clearly in one study and not in another does not show that it helps more there.",
        ),
    )


def _rows(task: _Task, level: float) -> list[dict[str, Any]]:
    means = {value: means_by_condition(task.answers, value, level) for value in ("score", "truth", "bias")}
    against = (
        {}
        if task.reference is None
        else compared_with(as_met(task.answers), task.reference, task.conditions, level)
    )
    each = task.answers.groupby(["participant", "condition"])[["score", "truth"]].mean().reset_index()
    f1 = mean_f1(task.answers, task.conditions, level)
    rows = []
    for name in task.conditions:
        own = task.answers[task.answers["condition"] == name]
        minutes = task.sessions.loc[task.sessions["condition"] == name, "minutes"]
        line = against.get(name)
        rows.append(
            {
                "task": task.name,
                "kind": task.kind,
                "condition": name,
                "participants": own["participant"].nunique(),
                "model": POINTS.of(means["score"][name].estimate),
                "difference": None if line is None else POINTS.of(line.estimate),
                "p": None if line is None or not line.enough else line.p_family,
                "p_ranks": _ranks_p(each, "score", name, task.reference),
                "minutes": float(minutes.mean()) if len(minutes) else None,
                "p_minutes": _ranks_p(task.sessions, "minutes", name, task.reference),
                "model_accuracy": 100 * float(own["model_correct"].astype("float64").mean()),
                "model_test_accuracy": POINTS.of(task.test_accuracy),
                "f1": f1[name].mean,
                "truth": POINTS.of(means["truth"][name].estimate),
                "p_truth": _ranks_p(each, "truth", name, task.reference),
                "bias": POINTS.of(means["bias"][name].estimate),
            }
        )
    return rows


def _ranks_p(sessions: pd.DataFrame, value: str, name: str, reference: str | None) -> float | None:
    if reference is None or name == reference:
        return None
    own, other = (
        sessions.loc[sessions["condition"] == place, value].to_numpy() for place in (name, reference)
    )
    return mann_whitney(own, other).p if len(own) and len(other) else None


def _table_sentence(rows: Sequence[dict[str, Any]]) -> str:
    clear = [
        f"{row['condition']} in {row['task']}, {row['kind']} ({signed(row['difference'])} points, {p_text(row['p'])})"
        for row in rows
        if row["p"] is not None and row["p"] <= ALPHA
    ]
    tested_rows = [row for row in rows if row["p"] is not None]
    if not tested_rows:
        return "Nothing could be tested."
    return f"Clear differences: {listed(clear)}." if clear else "No condition differs clearly in any task."


def _times(tasks: Sequence[_Task], level: float) -> tuple[Table, Figure]:
    """How long sessions of known and masked tasks took, by condition and over all (the paper's Figure 3).

    The figure has no bars of the random control, and over all means with and without explanations.
    """
    sessions = pd.concat(
        [
            task.sessions[~task.sessions["condition"].isin(task.controls)].assign(
                kind=task.kind,
                participant=lambda own, who=task.people: own["participant"].astype(str).map(who),
            )
            for task in tasks
        ],
        ignore_index=True,
    )
    everybody = sessions.groupby(["kind", "participant"], sort=True)["minutes"].mean().reset_index()
    order = [
        name
        for name in dict.fromkeys(name for task in tasks for name in task.conditions)
        if name in set(sessions["condition"])
    ]
    parts = {name: sessions[sessions["condition"] == name] for name in order} | {ALL: everybody}
    rows = []
    for name, part in parts.items():
        lengths = {kind: part.loc[part["kind"] == kind, "minutes"].to_numpy() for kind in KINDS}
        if not all(len(values) for values in lengths.values()):
            continue
        row: dict[str, Any] = {"condition": name, "p": mann_whitney(lengths["masked"], lengths["known"]).p}
        for kind, values in lengths.items():
            mean = mean_interval(values, level)
            row[kind] = mean.mean
            row[f"{kind}_interval"] = (
                None if mean.low is None or mean.high is None else [max(mean.low, 0.0), mean.high]
            )
            row[f"{kind}_participants"] = mean.n
        rows.append(row)
    table = Table(
        key="known-and-masked",
        title="Test sessions of known and masked tasks",
        columns=(
            Column("condition", "Condition", "text"),
            *(
                column
                for kind in KINDS
                for column in (
                    Column(kind, f"Mean session, {kind}", "number", "minutes"),
                    Column(f"{kind}_interval", "95% interval", "interval", "minutes"),
                    Column(f"{kind}_participants", "Participants", "count"),
                )
            ),
            Column("p", "p, Mann-Whitney", "p"),
        ),
        rows=tuple(rows),
        sentence=_times_sentence(rows),
        notes=(
            "The paper's Figure 3, without the random control. Over all conditions a participant counts once, with the "
            "mean of the sessions. "
            "Tasks also differ in their texts: what is longer takes longer.",
        ),
    )
    return table, _figure(rows)


def _times_sentence(rows: Sequence[dict[str, Any]]) -> str:
    whole = rows[-1]
    longer = "longer" if whole["masked"] > whole["known"] else "shorter"
    clear = f"clearly {longer}" if whole["p"] <= ALPHA else f"{longer}, but not clearly"
    return (
        f"Sessions of masked tasks were {clear}: {length_words(whole['masked'])} on average, "
        f"of known tasks {length_words(whole['known'])} ({p_text(whole['p'])})."
    )


def _figure(rows: Sequence[dict[str, Any]]) -> Figure:
    bars = tuple(
        series(f"{kind} tasks", [row[kind] for row in rows], [row[f"{kind}_interval"] for row in rows])
        for kind in KINDS
    )
    return Figure(
        "known-and-masked",
        "Test sessions of known and masked tasks",
        Bars("minutes", tuple(row["condition"] for row in rows), bars),
        "Mean length of a test session, with 95% intervals over participants.",
    )
