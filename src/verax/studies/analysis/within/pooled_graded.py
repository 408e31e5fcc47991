"""Table 4 of Lertvittayakumjorn and Toni (2019): the three tasks on several data sets, beside each other.

Methods stand down, tasks, data sets and parts of the items across. As published, a cell is the mean of answers, the
best of a column is bold, and what does not differ from it is underlined. Our estimates stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.tables import ALIKE, BEST, Column, Row, Table, Value, mark_key
from verax.results.units import SCORE
from verax.stats.agreement import fleiss_kappa
from verax.studies.analysis.pooled import Several, pool, say
from verax.studies.analysis.primary import FindingsCollector
from verax.studies.analysis.within.conditions import (
    PARTS,
    answered,
    as_met,
    in_order,
    means_by_condition,
    part_of,
    tested,
)
from verax.studies.analysis.within.graded_tables import BesideBest, beside_best, without_confidence
from verax.studies.protocol.contract import Analysed, Findings
from verax.studies.results.study_summary import Options
from verax.text import MINUS, minus

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.result import Crossed

# The paper's numbers of the tasks; another protocol with graded answers comes behind them under its own name.
TASKS = ("model-choice", "class-from-evidence", "uncertain-case")


@dataclass(frozen=True, eq=False)
class _Study:
    """One task on one data set."""

    title: str
    answers: pd.DataFrame
    names: tuple[str, ...]


@dataclass(frozen=True)
class _Group:
    """A column: one part of one study's answers.

    Attributes:
        key: of the column.
        study: what the study is called.
        title: of the column.
        published: by condition, the mean over questions of the mean of their answers.
        estimates: by condition, our mean with its interval.
        places: by condition, how it stands to the best of the published means.
        own_places: the same to the best of our means.
    """

    key: str
    study: str
    title: str
    published: Mapping[str, float]
    estimates: Mapping[str, Crossed]
    places: Mapping[str, BesideBest]
    own_places: Mapping[str, BesideBest]


class GradedTasks(Several[_Study]):
    """The paper's table over several studies, as published and as we estimate it."""

    def order(self, data: Analysed) -> int:
        """By the number of the task."""
        name = data.study.spec.protocol["name"]
        return TASKS.index(name) if name in TASKS else len(TASKS)

    def title(self, data: Analysed) -> str:
        """Task and data set."""
        name = data.study.spec.protocol["name"]
        task = say("task", number=TASKS.index(name) + 1) if name in TASKS else name
        return say("task-on", task=task, dataset=data.study.spec.dataset)

    def study(self, data: Analysed, title: str, place: int) -> _Study:  # noqa: ARG002
        """The answers of its test phase."""
        answers = answered(tested(data.responses, data.scored))
        there = in_order(answers["condition"].unique().tolist(), data.conditions) if len(answers) else []
        return _Study(title, answers, tuple(there))

    def add(self, gathered: FindingsCollector, studies: Sequence[_Study], options: Options) -> None:
        """Both tables."""
        groups = [
            _group(study, f"s{place}_{part}", part, options.level)
            for place, study in enumerate(studies)
            for part in PARTS
            if len(part_of(study.answers, part))
        ]
        names = list(dict.fromkeys(name for study in studies for name in study.names))
        kappas: dict[str, Value] = {
            f"s{place}_all": _kappas(study.answers, options) for place, study in enumerate(studies)
        }
        gathered.tables += [_published(groups, names, kappas), _estimated(groups, names)]


def pooled_graded(studies: Sequence[Analysed], options: Options) -> Findings:
    """The three tasks on several data sets."""
    return pool(studies, options, GradedTasks())


def _group(study: _Study, key: str, part: str, level: float) -> _Group:
    own = part_of(study.answers, part)
    published = question_means(own)
    estimates = means_by_condition(own, "score", level)
    there = [name for name in study.names if name in published]
    return _Group(
        key,
        study.title,
        say("part-of-study", study=study.title, part=part),
        published,
        estimates,
        _places(own, there, [published[name] for name in there], level),
        _places(own, there, [estimates[name].estimate or 0.0 for name in there], level),
    )


def question_means(answers: pd.DataFrame) -> dict[str, float]:
    """By condition, the mean over its questions of the mean of the answers to each, as the paper averages."""
    by_question = answers.assign(score=answers["score"].astype("float64")).groupby(["condition", "item"])[
        "score"
    ]
    means = by_question.mean().groupby("condition").mean()
    # Scores of opposite sign add up to a rounding error, not to 0.
    return {str(name): round(float(mean), 12) + 0.0 for name, mean in means.items()}


def _places(
    part: pd.DataFrame, names: Sequence[str], means: Sequence[float], level: float
) -> dict[str, BesideBest]:
    if len(names) < 2:
        return {}
    return {place.name: place for place in beside_best(as_met(part), names, means, level)}


def _kappas(answers: pd.DataFrame, options: Options) -> str | None:
    """Agreement with confidence levels and without, as in the paper's last row; None where nobody shares a question."""
    questions = (answers["item"].astype(str) + " / " + answers["condition"].astype(str)).tolist()
    raters = answers["participant"].tolist()
    bare = [
        without_confidence(str(answer), float(score))
        for answer, score in zip(answers["answer"], answers["score"], strict=True)
    ]
    values = [
        fleiss_kappa(questions, raters, said, replicates=100, seed=options.seed).value
        for said in (answers["answer"].astype(str).tolist(), bare)
    ]
    return None if None in values else " / ".join(minus(f"{value:.3f}") for value in values)


def _published(groups: Sequence[_Group], names: Sequence[str], kappas: Mapping[str, Value]) -> Table:
    rows: list[Row] = []
    for name in names:
        row: dict[str, Value] = {"condition": name}
        for group in groups:
            if name in group.published:
                row[group.key] = group.published[name]
                row[mark_key(group.key)] = _mark(
                    group.places.get(name), max(group.published.values()), name, group
                )
        rows.append(row)
    rows.append({"condition": say("kappa"), **kappas})
    return Table(
        key="table-4",
        title=say("published-title"),
        columns=(
            Column("condition", say("column-method"), "text"),
            *(Column(group.key, group.title, "number", SCORE) for group in groups),
        ),
        rows=tuple(rows),
        sentence=_sentence(groups),
        notes=(say("published-note"), say("published-kappa")),
    )


def _mark(place: BesideBest | None, best: float, name: str, group: _Group) -> str:
    if group.published[name] == best:
        return BEST
    return ALIKE if place is not None and not place.differs_as_published else ""


def _estimated(groups: Sequence[_Group], names: Sequence[str]) -> Table:
    rows: list[Row] = []
    for name in names:
        row: dict[str, Value] = {"condition": name}
        for group in groups:
            mean, place = group.estimates.get(name), group.own_places.get(name)
            if mean is None or mean.estimate is None:
                continue
            row[group.key] = _with_interval(mean)
            highest = max(other.estimate or -1.0 for other in group.estimates.values())
            alike = place is not None and place.may_be_best
            row[mark_key(group.key)] = BEST if mean.estimate == highest else ALIKE if alike else ""
        rows.append(row)
    return Table(
        key="table-4-estimates",
        title=say("estimates-title"),
        columns=(
            Column("condition", say("column-method"), "text"),
            *(Column(group.key, group.title, "text") for group in groups),
        ),
        rows=tuple(rows),
        sentence=say("estimates-sentence"),
        notes=(say("estimates-note"),),
    )


def _with_interval(mean: Crossed) -> str:
    said = f"{mean.estimate:.2f}"
    if mean.low is not None and mean.high is not None:
        said += f" [{mean.low:.2f}, {mean.high:.2f}]"
    return said.replace("-", MINUS)


def _sentence(groups: Sequence[_Group]) -> str:
    """Who is best over all items in each task."""
    parts = []
    for group in groups:
        if not group.key.endswith("_all"):
            continue
        best = max(group.published, key=lambda name: group.published[name])
        alike = [
            name for name, place in group.places.items() if name != best and not place.differs_as_published
        ]
        parts.append(
            say(
                "highest-alike" if alike else "highest-alone",
                study=group.study,
                name=best,
                mean=SCORE.signed(group.published[best]),
                names=alike,
            )
        )
    return say("highest", best=" ".join(parts))
