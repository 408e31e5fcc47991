"""A paper from its folder to its tables: all that needs no people is run, and printed beside what was published."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verax.errors import VeraxError
from verax.run.canonical import write_json
from verax.run.progress import During, quietly
from verax.workflows.paper_files import (
    BenchmarkRun,
    Paper,
    PublishedTable,
    Rehearsal,
    read_paper,
    with_changes,
    with_data,
)
from verax.workflows.paper_numbers import (
    Numbers,
    merged,
    model_numbers,
    rationale_numbers,
    staining_numbers,
    study_numbers,
)

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
            notes.append(f"{planned.name}: {file} is not there (--data FOLDER), so it is left out.")
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
        notes.append(
            "Our numbers are those of bots, which were told how to answer: they say nothing about people."
        )
    done = PaperRun(folder, paper, merged(found), tuple(notes), by_bots=size.studies is not None)
    folder.mkdir(parents=True, exist_ok=True)
    done.tables.write_text(page_of(done), encoding="utf-8")
    write_json(folder / AS_DATA, {"paper": paper.name, "notes": notes, "tables": cells_of(done)})
    return done


def _benchmark(run: BenchmarkRun, folder: Path, jobs: int, during: During) -> Numbers:
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
            with during(f"{asked.bots} bots answer {Path(name).stem}"):
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
    whose = "bots, which are no people" if run.by_bots else "ours"
    parts = [
        f"# {about.title}",
        f"{about.citation}. Every cell: published · {whose}; {NOTHING} where there is none.",
    ]
    parts.append("\n".join(f"- {note}" for note in run.notes))
    parts += [_markdown(run.numbers, table) for table in run.paper.published]
    parts += ["## What is not as published", "\n".join(f"- {sentence}" for sentence in about.differences)]
    parts.append(f"Could be re-run by its authors: {about.rerun}")
    return "\n\n".join(parts) + "\n"


def _ours(numbers: Numbers, table: PublishedTable, row: str) -> list[str]:
    cells = numbers.get(table.key, {}).get(row, {})
    return [cells.get(key, "") for _, key in table.columns]


def _markdown(numbers: Numbers, table: PublishedTable) -> str:
    published = [[_text(cell) for cell in cells] for _, _, cells in table.rows]
    ours = [_ours(numbers, table, row) for _, row, _ in table.rows]
    bold = [_best(cells, table.best) for cells in (published, ours)]
    lines = [
        f"## {table.name}{'' if table.page is None else f', page {table.page}'}: {table.title}",
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
