"""A paper from its folder to its tables: all that needs no people is run, and printed beside what was published."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.benchmarks.rationale.findings import TargetSummary
from verax.benchmarks.staining.findings import Pair
from verax.errors import VeraxError
from verax.explain.composite import AS_PUBLISHED
from verax.phrases import say as say_phrase
from verax.results.tables import Table
from verax.run.canonical import write_json
from verax.run.progress import During, quietly
from verax.workflows.paper_files import (
    Paper,
    PaperBenchmark,
    PublishedTable,
    Rehearsal,
    read_paper,
    with_changes,
    with_data,
)

if TYPE_CHECKING:
    from verax.workflows.rationale import RationaleRun
    from verax.workflows.stain import StainRun


# By table, row and column.
Numbers = dict[str, dict[str, dict[str, str]]]
GROUND_TRUTH = "ground-truth"
BUDGETS = (2, 5, 10)


def staining_numbers(run: StainRun, groups: Sequence[str]) -> Numbers:
    """Table 2 and Figures 2 to 4 of Sippy et al. (2020).

    Args:
        run: a staining run.
        groups: what its datasets are called in the paper.
    """
    found: Numbers = {"table-2": {}, "figure-2": {}, "figure-3": {}, "figure-4": {}}
    named = dict(zip(run.summary.datasets, groups, strict=True))
    for name, about in run.summary.datasets.items():
        if about.facts is not None:
            facts = about.facts
            correlation = "" if facts.correlation is None else f"{facts.correlation:.2f}"
            positive = list(facts.balance.values())[-1]
            found["table-2"][named[name]] = {
                "size": f"{facts.inputs:,}",
                "positive": f"{100 * positive:.0f}",
                "correlation": correlation,
            }
    for pair in run.summary.pairs:
        for table, row, column, value in _pair_numbers(pair, named[pair.dataset]):
            found[table].setdefault(row, {})[column] = value
    return found


def _pair_numbers(pair: Pair, group: str) -> list[tuple[str, str, str, str]]:
    numbers = []
    if pair.accuracies is not None:
        numbers.append(("figure-2", pair.model, group, f"{100 * pair.accuracies.stained_region.mean:.1f}"))
    for label, scored in pair.explainers.items():
        if label == GROUND_TRUTH:
            numbers.append(("figure-3", pair.model, group, f"{scored.recall[1].mean:.2f}"))
        for budget in BUDGETS:
            recall = scored.recall[budget - 1].mean
            numbers.append(
                ("figure-4", f"{pair.model}/{registered(label)}", f"{group}@{budget}", f"{recall:.2f}")
            )
    return numbers


def rationale_numbers(run: RationaleRun, groups: Sequence[str]) -> Numbers:
    """Tables 1 and 2 of Camburu et al. (2020), over the inputs that the paper would keep.

    Args:
        run: a verification.
        groups: what its targets are called in the paper: its aspects.
    """
    found: Numbers = {"table-1": {}, "table-2": {}}
    rows = run.results[~run.results["added"].astype(bool)]
    for group, target in zip(groups, run.summary.targets, strict=False):
        own = rows[(rows["dataset"] == target.dataset) & (rows["target"] == target.label)]
        for label, answers in own.groupby("explainer"):
            above = answers["above"].to_numpy(dtype=np.float64)
            found["table-1"].setdefault(registered(str(label)), {}).update(
                {
                    f"{group}.first": f"{100 * answers['first'].mean():.2f}",
                    f"{group}.misranked": f"{100 * answers['misranked'].mean():.2f}",
                    f"{group}.above": f"{above.mean():.2f} ({above.std():.2f})",
                }
            )
        found["table-2"][group] = _test_set_numbers(target)
    return found


def registered(label: str) -> str:
    """An explainer's own name: one row of a table, whatever k, samples or package's defaults it was given."""
    name = label.partition("(")[0]
    return AS_PUBLISHED[name][0] if name in AS_PUBLISHED else name


def _test_set_numbers(target: TargetSummary) -> dict[str, str]:
    table = target.test_set
    spreads = {
        "words": table.words,
        "selected": table.selected,
        "relevant": table.relevant,
        "irrelevant": table.irrelevant,
    }
    numbers = {
        name: f"{spread.mean:.1f} ({spread.deviation:.1f})"
        for name, spread in spreads.items()
        if spread is not None
    }
    error = {} if target.squared_error is None else {"squared_error": f"{target.squared_error:.4f}"}
    return (
        numbers
        | error
        | {
            "kept": f"{table.kept:,}",
            "handshakes": f"{100 * table.handshakes:.1f}",
            "without_relevant": f"{100 * table.without_relevant:.1f}",
        }
    )


def study_numbers(tables: Sequence[Table]) -> Numbers:
    """The tables of an analysis of studies: a row is known by its first column."""
    return {
        table.key: {
            str(row.get(table.columns[0].key)): {
                column.key: _printed(row.get(column.key), column.kind) for column in table.columns[1:]
            }
            for row in table.rows
        }
        for table in tables
    }


def model_numbers(kind: str, models: Mapping[str, Mapping[str, Any]]) -> Numbers:
    """Accuracies of a study's models on its test part: Table 4 of Hase and Bansal (2020).

    Args:
        kind: of the inputs.
        models: see ``Study.models``; a condition's own model is called "of" the condition.
    """
    named = {"task" if name == "model" else name.removeprefix("of "): about for name, about in models.items()}
    return {
        "models": {
            name: {kind: f"{100 * about['accuracy']:.2f}"}
            for name, about in named.items()
            if "accuracy" in about
        }
    }


def _printed(value: object, kind: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if kind == "count":
            return f"{value:,.0f}"
        if kind == "percent":
            return f"{100 * value:.2f}"
        return f"{value:.3f}" if kind == "p" else f"{value:.2f}"
    return str(value)


def merged(found: Sequence[Mapping[str, Mapping[str, Mapping[str, str]]]]) -> Numbers:
    """The numbers of several runs in one."""
    made: Numbers = {}
    for numbers in found:
        for table, rows in numbers.items():
            for row, cells in rows.items():
                made.setdefault(table, {}).setdefault(row, {}).update(cells)
    return made


say = partial(say_phrase, "papers")
logger = logging.getLogger(__name__)

TABLES, AS_DATA = "tables.md", "tables.json"
NOTHING = "–"
# Studies that bots have answered: a run that is asked for again does not send them twice.
ANSWERED = "answered-by-bots"
# What the datasets of specs begin with that do not come with Verax.
OWN_DATA = "data/"


@dataclass(frozen=True)
class PaperRun:
    """A paper that was run.

    Attributes:
        folder: where it lies: a folder for each run, and the tables.
        paper: what was run.
        numbers: ours, by table, row and column.
        notes: what a reader of the tables must know: the size, missing files, bots.
        by_bots: whether our numbers are those of bots.
    """

    folder: Path
    paper: Paper
    numbers: Numbers
    notes: tuple[str, ...]
    by_bots: bool = False

    @property
    def tables(self) -> Path:
        """The page with the paper's tables, ours beside the published ones."""
        return self.folder / TABLES


def run_paper(
    name: str | Path,
    out: str | Path | None = None,
    *,
    full: bool = False,
    data: str | Path | None = None,
    jobs: int = 1,
    during: During = quietly,
    tell: Callable[[str], object] = logger.info,
) -> PaperRun:
    """Runs all of a paper that needs no people, and writes its tables with the published number beside ours.

    A run that was stopped goes on where it stopped when it is asked for again; a finished one computes nothing.

    Args:
        name: of the paper, or its folder.
        out: where everything goes; ``papers/NAME`` by default, and ``papers/NAME-full``.
        full: in the size of the paper; else small, in minutes.
        data: a folder with files that do not come with Verax; the paper's README names them.
        jobs: processes on this machine.
        during: told what is being done while it is done.
        tell: told what is left out.
    """
    paper = read_paper(name)
    folder = Path(out) if out is not None else Path("papers") / (f"{paper.name}-full" if full else paper.name)
    size = paper.about.full if full else paper.about.small
    notes = [size.note] if size.note else []
    files = None if data is None else Path(data)
    found: list[Numbers] = []
    failed: list[str] = []
    for planned in size.runs:
        run, missing = with_data(planned, files)
        for file in missing:
            notes.append(say("no-file", run=planned.name, file=file))
            tell(notes[-1])
        if run is not None:
            try:
                found.append(_benchmark(run, folder / run.name, jobs, during))
            except VeraxError as error:  # what another run of the paper finds is printed nevertheless
                failed.append(f"{run.name}: {error}")
                tell(failed[-1])
    notes += failed
    if failed and not found and size.studies is None:
        raise VeraxError(failed[0])
    if size.studies is not None:
        found.append(_rehearsed(paper, size.studies, folder, files, jobs, during))
        notes.append(say("bots"))
    done = PaperRun(folder, paper, merged(found), tuple(notes), by_bots=size.studies is not None)
    folder.mkdir(parents=True, exist_ok=True)
    done.tables.write_text(page_of(done), encoding="utf-8")
    write_json(folder / AS_DATA, {"paper": paper.name, "notes": notes, "tables": cells_of(done)})
    return done


def _benchmark(run: PaperBenchmark, folder: Path, jobs: int, during: During) -> Numbers:
    from verax.workflows.rationale import rationale
    from verax.workflows.stain import stain

    if run.benchmark == "stain":
        stained = stain(spec=run.options, out=folder, jobs=jobs, during=during)
        return staining_numbers(stained, run.groups)
    return rationale_numbers(rationale(spec=run.options, out=folder, jobs=jobs, during=during), run.groups)


def _rehearsed(
    paper: Paper, asked: Rehearsal, folder: Path, data: Path | None, jobs: int, during: During
) -> Numbers:
    """Builds the studies, lets bots answer each, and analyses them together."""
    from verax.workflows.analysis import analyze_study
    from verax.workflows.study import build_study, send_bots

    built: list[Path] = []
    accuracies: list[Numbers] = []
    for name in asked.specs:
        changes = with_changes(asked.changes, asked.own.get(name, {}))
        spec = changed_spec(paper.folder / name, changes, data)
        study = build_study(spec, folder / Path(name).stem, jobs=jobs, during=during)
        mark = study.folder / ANSWERED
        if not mark.exists():
            with during(say("bots-answer", bots=asked.bots, study=Path(name).stem)):
                send_bots(study.folder, asked.bots, asked.profile)
            mark.touch()
        built.append(study.folder)
        accuracies.append(model_numbers(study.study.kind, study.study.models))
    first, *others = built
    analysis = analyze_study(
        first,
        together=others,
        bots=True,
        out=folder / "analysis-bots",
        replicates=asked.replicates,
        during=during,
    )
    return merged([study_numbers(list(analysis.summary.all_tables)), *accuracies])


def changed_spec(path: Path, changes: Mapping[str, Any], data: Path | None = None) -> dict[str, Any]:
    """A study's spec with what is said otherwise.

    Args:
        path: of the spec.
        changes: see `with_changes`.
        data: a folder in which "data/..." of the spec is looked for.
    """
    import tomllib

    spec = with_changes(tomllib.loads(path.read_text(encoding="utf-8")), changes)
    if data is not None and spec["dataset"].startswith(OWN_DATA):
        spec["dataset"] = str(data / spec["dataset"].removeprefix(OWN_DATA))
    return spec


def cells_of(run: PaperRun) -> list[dict[str, object]]:
    """The tables as data: every cell with the published number and ours."""
    return [
        {
            "key": table.key,
            "name": table.name,
            "page": table.page,
            "cells": [
                {"row": heading, "column": title, "published": printed, "ours": ours}
                for heading, row, published in table.rows
                for (title, _), printed, ours in zip(
                    table.columns, published, _ours(run.numbers, table, row), strict=True
                )
            ],
        }
        for table in run.paper.published
    ]


def page_of(run: PaperRun) -> str:
    """The page: what was run, the tables, and what is not as published."""
    about = run.paper.about
    parts = [
        f"# {about.title}",
        say("cells", citation=about.citation, bots=run.by_bots, nothing=NOTHING),
    ]
    parts.append("\n".join(f"- {note}" for note in run.notes))
    parts += [_markdown(run.numbers, table) for table in run.paper.published]
    parts += [f"## {say('differences')}", "\n".join(f"- {sentence}" for sentence in about.differences)]
    parts.append(say("rerun", answer=about.rerun))
    return "\n\n".join(parts) + "\n"


def _ours(numbers: Numbers, table: PublishedTable, row: str) -> list[str]:
    cells = numbers.get(table.key, {}).get(row, {})
    return [cells.get(key, "") for _, key in table.columns]


def _markdown(numbers: Numbers, table: PublishedTable) -> str:
    published = [[_text(cell) for cell in cells] for _, _, cells in table.rows]
    ours = [_ours(numbers, table, row) for _, row, _ in table.rows]
    bold = [_best(cells, table.best) for cells in (published, ours)]
    lines = [
        f"## {say('table', name=table.name, page=str(table.page or 'none'), title=table.title)}",
        "",
        "| | " + " | ".join(title for title, _ in table.columns) + " |",
        "|---|" + "---:|" * len(table.columns),
    ]
    for place, (heading, _, _) in enumerate(table.rows):
        cells = [
            f"{_shown(printed, (place, column) in bold[0])} · {_shown(own, (place, column) in bold[1])}"
            for column, (printed, own) in enumerate(zip(published[place], ours[place], strict=True))
        ]
        lines.append(f"| {heading} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def _best(rows: Sequence[Sequence[str]], best: str) -> set[tuple[int, int]]:
    """The places of the lowest or the highest number of each column; all that share it."""
    found: set[tuple[int, int]] = set()
    for column in range(len(rows[0]) if best and rows else 0):
        values = {
            place: float(row[column].split(" ")[0].replace(",", ""))
            for place, row in enumerate(rows)
            if row[column]
        }
        if values:
            wanted = (min if best == "low" else max)(values.values())
            found |= {(place, column) for place, value in values.items() if value == wanted}
    return found


def _shown(cell: str, is_bold: bool) -> str:
    return (f"**{cell}**" if is_bold else cell) or NOTHING


def _text(cell: float | str) -> str:
    return cell if isinstance(cell, str) else f"{cell:g}" if isinstance(cell, float) else f"{cell:,}"
