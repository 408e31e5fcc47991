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
from verax.text import MINUS, listed, minus

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.result import Crossed

# The paper's numbers of the tasks; another protocol with graded answers comes behind them under its own name.
TASKS = {"model-choice": "Task 1", "class-from-evidence": "Task 2", "uncertain-case": "Task 3"}
KAPPA = "Fleiss' kappa"


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
        title: of the column.
        published: by condition, the mean over questions of the mean of their answers.
        estimates: by condition, our mean with its interval.
        places: by condition, how it stands to the best of the published means.
        own_places: the same to the best of our means.
    """

    key: str
    title: str
    published: Mapping[str, float]
    estimates: Mapping[str, Crossed]
    places: Mapping[str, BesideBest]
    own_places: Mapping[str, BesideBest]


def pooled_graded(studies: Sequence[Analysed], options: Options) -> Findings:
    """The paper's table over several studies, as published and as we estimate it, and what cannot be told."""
    ordered = sorted(studies, key=_task_order)
    made = [_study(data, title) for data, title in zip(ordered, _titles(ordered), strict=True)]
    problems = [
        f"Nobody who is analysed answered in {study.title}: it is left out of the tables over all tasks."
        for study in made
        if not len(study.answers)
    ]
    made = [study for study in made if len(study.answers)]
    if not made:
        return Findings(problems=tuple(problems))
    groups = [
        _group(study, f"s{place}_{part}", part, title, options.level)
        for place, study in enumerate(made)
        for part, title in PARTS
        if len(part_of(study.answers, part))
    ]
    names = list(dict.fromkeys(name for study in made for name in study.names))
    kappas: dict[str, Value] = {
        f"s{place}_all": _kappas(study.answers, options) for place, study in enumerate(made)
    }
    return Findings(
        tables=(_published(groups, names, kappas), _estimated(groups, names)), problems=tuple(problems)
    )


def _task_order(data: Analysed) -> int:
    order = list(TASKS)
    name = data.study.spec.protocol["name"]
    return order.index(name) if name in order else len(order)


def _titles(studies: Sequence[Analysed]) -> list[str]:
    """Task and data set; where two studies share both, with their place among them."""
    plain = [
        f"{TASKS.get(name := data.study.spec.protocol['name'], name)}, {data.study.spec.dataset}"
        for data in studies
    ]
    return [
        title if plain.count(title) == 1 else f"{title} ({plain[: place + 1].count(title)})"
        for place, title in enumerate(plain)
    ]


def _study(data: Analysed, title: str) -> _Study:
    answers = answered(tested(data.responses, data.scored))
    there = in_order(answers["condition"].unique().tolist(), data.conditions) if len(answers) else []
    return _Study(title, answers, tuple(there))


def _group(study: _Study, key: str, part: str, title: str, level: float) -> _Group:
    own = part_of(study.answers, part)
    published = question_means(own)
    estimates = means_by_condition(own, "score", level)
    there = [name for name in study.names if name in published]
    return _Group(
        key,
        f"{study.title}: {title.lower()}",
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
    rows.append({"condition": KAPPA, **kappas})
    return Table(
        key="table-4",
        title="Mean scores of all tasks, as published",
        columns=(
            Column("condition", "Method", "text"),
            *(Column(group.key, group.title, "number", SCORE) for group in groups),
        ),
        rows=tuple(rows),
        sentence=_sentence(groups),
        notes=(
            "A cell is the mean over questions (an item in a condition) of the mean of their answers. The best of a "
            "column is bold; underlined is what does not differ from it at 5%, tested against it alone and within "
            "people. The paper does not say which test it used, and does not correct for picking the best.",
            "The last row has Fleiss' kappa with confidence levels / without them, over all items.",
        ),
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
        title="Mean scores of all tasks, as we estimate them",
        columns=(
            Column("condition", "Method", "text"),
            *(Column(group.key, group.title, "text") for group in groups),
        ),
        rows=tuple(rows),
        sentence="The same cells as means over participants with 95% intervals, which take participants and items "
        "as samples.",
        notes=(
            "Bold is the highest of a column, underlined what may be the best: it is not shown to be lower than any "
            "other, corrected for the number of methods. The truly best one is left unmarked in at most 5% of studies.",
        ),
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
        rest = f"; not different from it: {listed(alike)}" if alike else "; all others differ from it"
        parts.append(
            f"{group.title.removesuffix(': all')}: {best} {SCORE.signed(group.published[best])}{rest}."
        )
    return "Highest means over all items. " + " ".join(parts)
