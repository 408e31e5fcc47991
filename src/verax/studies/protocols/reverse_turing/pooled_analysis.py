"""Several Reverse Turing Tests side by side: the paper's Table 1, a task in each study, and its Figure 3.

Gonzalez and Sogaard (2020) have five tasks, of which people know two; the others are masked. Conditions are matched by
name. People who agreed to be linked count once in what is said over several studies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from verax.phrases import either
from verax.results.figures import Bars, Figure, series
from verax.results.tables import BEST, Column, Table, Value, mark_key
from verax.results.units import POINTS
from verax.stats.estimate import mean_interval
from verax.stats.ranks import mann_whitney
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.pooled import Several, pool, say
from verax.studies.analysis.primary import FindingsCollector
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
from verax.text import p_text, signed

P_HAT = "p\N{COMBINING CIRCUMFLEX ACCENT}"
PAPER = "Gonzalez and Sogaard (2020)"
KINDS = ("known", "masked")


@dataclass(frozen=True, eq=False)
class _Task:
    """One study: a task of Table 1.

    Attributes:
        name: of the task.
        kind: "known" or "masked".
        answers: of the test sessions, with columns score, truth, condition, participant.
        sessions: columns participant, condition, minutes.
        conditions: that have answers.
        reference: what conditions are compared with, if anything.
        controls: the random ones among the conditions.
        plain: the condition without explanations, if any.
        test_accuracy: of the model on its test part.
        people: what participants are called over several studies.
    """

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
    def methods(self) -> tuple[str, ...]:
        """The conditions with a method's explanations."""
        return tuple(name for name in self.conditions if name not in self.controls and name != self.plain)


def _table_1(tasks: Sequence[_Task]) -> Table | None:
    """The table; None where no task has a condition without explanations and one with them."""
    there = [task for task in tasks if task.plain is not None and task.methods]
    if not there:
        return None
    methods = tuple(dict.fromkeys(name for task in there for name in task.methods))
    rows: list[dict[str, Value]] = []
    for kind in KINDS:
        own = [task for task in there if task.kind == kind]
        if own:
            rows += [{"task": say(f"kind-{kind}")}, *(_row(task) for task in own)]
    return Table(
        key="table-1",
        title=say("printed-title", tasks=len(there), paper=PAPER),
        columns=_columns(methods),
        rows=tuple(rows),
        sentence=say("printed-sentence"),
        notes=(say("printed-note"), say("printed-own")),
    )


def _columns(methods: Sequence[str]) -> tuple[Column, ...]:
    titles = {"x": "x"} | {name: f"{name.upper()}(x)" for name in methods}

    def group(key: str, heading: str) -> list[Column]:
        return [Column(f"{key}_{name}", f"{heading}, {title}", "text") for name, title in titles.items()]

    return (
        Column("task", say("column-task"), "text"),
        *group("model", f"Human acc. ({P_HAT})"),
        *group("time", f"Human time ({P_HAT})"),
        Column("model_accuracy", "Model acc. (p)", "text"),
        *group("truth", "Human acc. (p)"),
    )


def _row(task: _Task) -> dict[str, Value]:
    shown = {"x": task.plain or ""} | {name: name for name in task.methods}
    each = task.answers.groupby(["participant", "condition"])[["score", "truth"]].mean().reset_index()
    row: dict[str, Value] = {
        "task": task.name,
        "model_accuracy": None if task.test_accuracy is None else f"{task.test_accuracy:.3f}",
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


class ImitationTasks(Several[_Task]):
    """Table 1 over several studies, and session times of known and masked tasks."""

    def title(self, data: Analysed) -> str:
        """The task."""
        return task_name(data)

    def called(self, title: str) -> str:
        """The study of a task."""
        return say("study-of", task=title)

    def study(self, data: Analysed, title: str, place: int) -> _Task:
        """One task."""
        data = by_training(data)
        everything = tested(data.responses, data.scored)
        answers = judged(answered(everything)) if len(answered(everything)) else answered(everything)
        there = in_order(answers["condition"].unique().tolist(), data.conditions)
        return _Task(
            name=title,
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

    def add(self, gathered: FindingsCollector, studies: Sequence[_Task], options: Options) -> None:
        """All tables, and the figure of times."""
        printed = _table_1(studies)
        gathered.tables += [
            *([] if printed is None else [printed]),
            _table(studies, options.level),
            people_and_model(studies, options.level),
        ]
        timed = [task for task in studies if len(task.sessions)]
        absent = [kind for kind in KINDS if kind not in {task.kind for task in timed}]
        if absent:
            gathered.problems.append(say("no-times", names=either(absent)))
            return
        table, figure = _times(timed, options.level)
        gathered.tables.append(table)
        gathered.figures.append(figure)

    def over_people(self, key: str) -> bool:
        """People of known and masked tasks are compared."""
        return key == "known-and-masked"


def pooled_imitation(studies: Sequence[Analysed], options: Options) -> Findings:
    """Table 1 over several studies, session times of known and masked tasks, and what cannot be told."""
    return pool(studies, options, ImitationTasks())


def _table(tasks: Sequence[_Task], level: float) -> Table:
    """A row for each task and condition, known tasks first."""
    rows = [row for kind in KINDS for task in tasks if task.kind == kind for row in _rows(task, level)]
    return Table(
        key="tasks",
        title=say("tasks-title", tasks=len(tasks)),
        columns=(
            Column("task", say("column-task"), "text"),
            Column("kind", say("column-kind"), "text"),
            Column("condition", say("column-condition"), "text"),
            Column("participants", say("column-participants"), "count"),
            Column("model", say("column-model"), "number", "%"),
            Column("difference", say("column-difference"), "number", "points"),
            Column("p", say("column-p"), "p"),
            Column("p_ranks", say("column-p-ranks"), "p"),
            Column("minutes", say("column-minutes"), "number", "minutes"),
            Column("p_minutes", say("column-p-ranks"), "p"),
            Column("f1", say("column-f1"), "number"),
            Column("model_accuracy", say("column-model-accuracy"), "number", "%"),
            Column("model_test_accuracy", say("column-model-test-accuracy"), "number", "%"),
            Column("truth", say("column-truth"), "number", "%"),
            Column("p_truth", say("column-p-ranks"), "p"),
            Column("bias", say("column-bias"), "number", "points"),
        ),
        rows=tuple(rows),
        sentence=_table_sentence(rows),
        notes=(say("tasks-note"), say("tasks-differ")),
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
        say(
            "differs-in",
            name=row["condition"],
            task=row["task"],
            kind=row["kind"],
            points=signed(row["difference"]),
            p=p_text(row["p"]),
        )
        for row in rows
        if row["p"] is not None and row["p"] <= ALPHA
    ]
    if all(row["p"] is None for row in rows):
        return say("nothing-tested")
    return say("differs", names=clear) if clear else say("differs-nowhere")


def people_and_model(tasks: Sequence[_Task], level: float) -> Table:
    """Are people nearer to the truth than the model that they were asked to imitate? On the same items, by task.

    The paper says so of one task (section 5: 0.706 against 0.573) and names no test.
    """
    rows: list[dict[str, Any]] = []
    for task in tasks:
        for name in task.conditions:
            own = task.answers[task.answers["condition"] == name].astype(
                {"truth": "float64", "model_correct": "float64"}
            )
            each = own.groupby("participant")[["truth", "model_correct"]].mean()
            ahead = (each["truth"] - each["model_correct"]).to_numpy()
            mean = mean_interval(ahead, level)
            rows.append(
                {
                    "task": task.name,
                    "condition": name,
                    "participants": len(each),
                    "truth": POINTS.of(float(each["truth"].mean())),
                    "model": POINTS.of(float(each["model_correct"].mean())),
                    "difference": POINTS.of(mean.mean),
                    "interval": POINTS.interval(mean.low, mean.high),
                    "p": sign_flip(ahead).p,
                }
            )
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_adjusted"] = float(p)
    clear = [
        say("ahead-in", name=row["condition"], task=row["task"]) for row in rows if row["p_adjusted"] <= ALPHA
    ]
    return Table(
        key="people-and-model",
        title=say("ahead-title"),
        columns=(
            Column("task", say("column-task"), "text"),
            Column("condition", say("column-condition"), "text"),
            Column("participants", say("column-participants"), "count"),
            Column("truth", say("column-people-right"), "number", "%"),
            Column("model", say("column-model-right"), "number", "%"),
            Column("difference", say("column-ahead"), "number", "points"),
            Column("interval", say("column-interval"), "interval", "points"),
            Column("p", say("column-p-alone"), "p"),
            Column("p_adjusted", say("column-p-holm"), "p"),
        ),
        rows=tuple(rows),
        sentence=say("ahead" if clear else "ahead-nowhere", names=clear),
        notes=(say("ahead-note"),),
    )


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
    # As the paper draws them: with explanations, without, and over both.
    plain = {task.plain for task in tasks}
    order.sort(key=lambda name: name in plain)
    parts = {name: sessions[sessions["condition"] == name] for name in order} | {ALL: everybody}
    rows = []
    for name, part in parts.items():
        lengths = {kind: 60 * part.loc[part["kind"] == kind, "minutes"].to_numpy() for kind in KINDS}
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
        title=say("times-title"),
        columns=(
            Column("condition", say("column-condition"), "text"),
            *(
                column
                for kind in KINDS
                for column in (
                    Column(kind, say("column-minutes-of", kind=kind), "number", "seconds"),
                    Column(f"{kind}_interval", say("column-interval"), "interval", "seconds"),
                    Column(f"{kind}_participants", say("column-participants"), "count"),
                )
            ),
            Column("p", say("column-p-ranks"), "p"),
        ),
        rows=tuple(rows),
        sentence=_times_sentence(rows),
        notes=(say("times-note"),),
    )
    return table, _figure(rows)


def _times_sentence(rows: Sequence[dict[str, Any]]) -> str:
    whole = rows[-1]
    longer = "longer" if whole["masked"] > whole["known"] else "shorter"
    return say(
        "times",
        case=f"clearly-{longer}" if whole["p"] <= ALPHA else longer,
        masked=length_words(whole["masked"] / 60),
        known=length_words(whole["known"] / 60),
        p=p_text(whole["p"]),
    )


def _figure(rows: Sequence[dict[str, Any]]) -> Figure:
    bars = tuple(
        series(
            say("times-bars", kind=kind),
            [row[kind] for row in rows],
            [row[f"{kind}_interval"] for row in rows],
        )
        for kind in KINDS
    )
    return Figure(
        "known-and-masked",
        say("times-title"),
        Bars("seconds", tuple(row["condition"] for row in rows), bars),
        say("times-figure"),
    )
