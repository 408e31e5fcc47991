"""A paper from its folder to its tables: all that needs no people is run, and printed beside what was published."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verax.errors import VeraxError
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
from verax.workflows.paper_numbers import (
    Numbers,
    in_places,
    merged,
    model_numbers,
    network_numbers,
    rating_numbers,
    rationale_numbers,
    staining_numbers,
    study_numbers,
    training_numbers,
)

if TYPE_CHECKING:
    from verax.workflows.study import BuiltStudy

say = partial(say_phrase, "papers")
logger = logging.getLogger(__name__)

TABLES, AS_DATA = "tables.md", "tables.json"
NOTHING = "–"
# A cell that can be the best of its column.
NUMBER = re.compile(r"(-?[\d.,]+)( \([\d.]+\))?")
# What files of specs begin with that do not come with Verax: datasets, and word vectors of a model.
OWN_FILE = re.compile(r"(^|=)data/([^,()]+)")


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
    name: str | Path | Paper,
    out: str | Path | None = None,
    *,
    full: bool = False,
    data: str | Path | None = None,
    bots: bool = True,
    jobs: int = 1,
    during: During = quietly,
    tell: Callable[[str], object] = logger.info,
) -> PaperRun:
    """Runs all of a paper that needs no people, and writes its tables with the published number beside ours.

    A run that was stopped goes on where it stopped when it is asked for again; a finished one computes nothing.

    Args:
        name: of the paper, its folder, or what `read_paper` made of it.
        out: where everything goes; ``papers/NAME`` by default, and ``papers/NAME-full``.
        full: in the size of the paper; else small, in minutes.
        data: a folder with files that do not come with Verax; the paper's README names them.
        bots: whether bots answer the paper's studies; otherwise these are built, and only their networks have numbers.
        jobs: processes on this machine.
        during: told what is being done while it is done.
        tell: told what is left out.
    """
    paper = name if isinstance(name, Paper) else read_paper(name)
    folder = Path(out) if out is not None else Path("papers") / (f"{paper.name}-full" if full else paper.name)
    size = paper.about.full if full else paper.about.small
    notes = [size.note] if size.note else []
    notes += size.otherwise
    files = None if data is None else Path(data)
    if files is not None and not files.is_dir():
        raise VeraxError(say("no-folder", folder=repr(str(files))))
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

    def left_out(sentence: str) -> None:
        notes.append(sentence)
        tell(sentence)

    def fails(sentence: str) -> None:
        failed.append(sentence)
        left_out(sentence)

    for rehearsal in size.rehearsals:
        built_studies = _built(paper, rehearsal, folder, files, jobs, during, left_out, fails)
        found += [_of_models(place, built) for place, built in built_studies.items()]
        if not bots:
            continue
        for built in built_studies.values():
            with during(say("bots-answer", bots=rehearsal.bots, study=built.folder.name)):
                _let_answer(built, rehearsal)
        analysed = _together if rehearsal is size.studies else _one_by_one
        found += analysed(built_studies, rehearsal, folder, during)
    if not found:
        raise VeraxError(failed[0] if failed else say("nothing"))
    by_bots = bots and bool(size.rehearsals)
    if by_bots:
        notes.append(say("bots"))
    done = PaperRun(folder, paper, merged(found), tuple(notes), by_bots=by_bots)
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


def _built(
    paper: Paper,
    asked: Rehearsal,
    folder: Path,
    data: Path | None,
    jobs: int,
    during: During,
    left_out: Callable[[str], object],
    fails: Callable[[str], object],
) -> dict[int, BuiltStudy]:
    """Builds the studies whose files are there; by their places among all of the paper's."""
    from verax.workflows.study import build_study

    studies: dict[int, BuiltStudy] = {}
    for place, name in zip(asked.places or range(len(asked.specs)), asked.specs, strict=True):
        stem = Path(name).with_suffix("").as_posix().replace("/", "-")
        spec = changed_spec(paper.folder / name, asked.changes_of(name, data), data)
        if missing := missing_files(spec):
            left_out(say("no-file", run=stem, file=missing[0]))
            continue
        try:
            studies[place] = build_study(spec, folder / stem, jobs=jobs, during=during)
        except VeraxError as error:  # the other studies are built nevertheless
            fails(f"{stem}: {error}")
    return studies


def _let_answer(study: BuiltStudy, asked: Rehearsal) -> None:
    """Sends as many bots as have not answered yet: a run that was stopped goes on, and a finished one sends none."""
    from verax.studies.store.status import overview
    from verax.workflows.analysis import opened
    from verax.workflows.study import send_bots

    with opened(study.study, study.folder) as store:
        came = overview(store).bots.came
    if came < asked.bots:
        send_bots(study.folder, asked.bots - came, asked.profile)


def _of_models(place: int, built: BuiltStudy) -> Numbers:
    study = built.study
    return merged([model_numbers(study.kind, study.models), network_numbers(f"s{place}", study)])


def _together(
    answered: Mapping[int, BuiltStudy], asked: Rehearsal, folder: Path, during: During
) -> list[Numbers]:
    """The tables of an analysis of all studies."""
    from verax.workflows.analysis import analyze_study

    if not answered:
        return []
    first, *others = [built.folder for built in answered.values()]
    analysis = analyze_study(
        first,
        together=others,
        bots=True,
        out=folder / "analysis-bots",
        replicates=asked.replicates,
        during=during,
    )
    tables = list(analysis.summary.all_tables)
    if not others:  # what is a table over several studies has a line of the only one that is there
        tables += _over_one(next(iter(answered.values())), asked)
    kinds = [built.study.kind for built in answered.values()]
    return [in_places(study_numbers(tables), list(answered)), rating_numbers(kinds, tables)]


def _over_one(built: BuiltStudy, asked: Rehearsal) -> tuple[Table, ...]:
    from verax.studies.analysis.analyse import analysed, pooled_findings, rehearsed
    from verax.studies.answers.collect import collect
    from verax.studies.results.study_summary import Options
    from verax.workflows.analysis import answers

    with answers(built.folder, None) as store:
        collected = collect(store)
    data = rehearsed(analysed(collected, bots=True))
    return pooled_findings([data], Options(bots=True, replicates=asked.replicates)).tables


def _one_by_one(
    answered: Mapping[int, BuiltStudy],
    asked: Rehearsal,
    folder: Path,  # noqa: ARG001  (each analysis lies in its study's folder)
    during: During,
) -> list[Numbers]:
    """The tables of an analysis of each study, a row for each in the paper's."""
    from verax.workflows.analysis import analyze_study

    found = []
    for built in answered.values():
        analysis = analyze_study(built.folder, bots=True, replicates=asked.replicates, during=during)
        tables = {table.key: table for table in analysis.summary.all_tables}
        found.append(training_numbers(built.study.spec.protocol["task"], tables))
    return found


def changed_spec(path: Path, changes: Mapping[str, Any], data: Path | None = None) -> dict[str, Any]:
    """A study's spec with what is said otherwise.

    Args:
        path: of the spec.
        changes: see `with_changes`.
        data: a folder in which "data/..." of the spec's dataset and model is looked for.
    """
    import tomllib

    spec = with_changes(tomllib.loads(path.read_text(encoding="utf-8")), changes)
    if data is not None:
        for entry in ("dataset", "model"):
            spec[entry] = OWN_FILE.sub(lambda found: found[1] + str(data / found[2]), spec[entry])
    return spec


def missing_files(spec: Mapping[str, Any]) -> list[str]:
    """The files that a study's dataset and model name and that are not there."""
    dataset, model = str(spec["dataset"]), str(spec["model"])
    named = [dataset] if "/" in dataset else []
    named += re.findall(r"=([^,()]*/[^,()]*)", model)
    return [name for name in named if not Path(name).exists()]


def cells_of(run: PaperRun) -> list[dict[str, object]]:
    """The tables as data: every cell with the published number and ours."""
    return [
        {
            "key": table.key,
            "name": table.name,
            "page": table.page,
            "section": table.section,
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


def table_title(table: PublishedTable) -> str:
    """What a published table is called, where it stands, and what it says."""
    where = {"page": str(table.page or "none"), "section": table.section or "none"}
    return say("table", name=table.name, title=table.title, **where)


def pairs_of(run: PaperRun, table: PublishedTable) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """The rows of a table: a heading, and for each column the published number and ours."""
    return [
        (heading, tuple(zip(map(_text, published), _ours(run.numbers, table, row), strict=True)))
        for heading, row, published in table.rows
    ]


def _ours(numbers: Numbers, table: PublishedTable, row: str) -> list[str]:
    cells = numbers.get(table.key, {}).get(row, {})
    return [cells.get(key, "") for _, key in table.columns]


def _markdown(numbers: Numbers, table: PublishedTable) -> str:
    published = [[_text(cell) for cell in cells] for _, _, cells in table.rows]
    ours = [_ours(numbers, table, row) for _, row, _ in table.rows]
    bold = [_best(cells, table.best) for cells in (published, ours)]
    lines = [
        f"## {table_title(table)}",
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
    """The places of the lowest or the highest number of each column; all that share it.

    What is no number, with or without a deviation in brackets, is not compared: a row of agreements.
    """
    found: set[tuple[int, int]] = set()
    for column in range(len(rows[0]) if best and rows else 0):
        numbers = {place: NUMBER.fullmatch(row[column]) for place, row in enumerate(rows)}
        values = {
            place: float(number[1].replace(",", ""))
            for place, number in numbers.items()
            if number is not None
        }
        if values:
            wanted = (min if best == "low" else max)(values.values())
            found |= {(place, column) for place, value in values.items() if value == wanted}
    return found


def _shown(cell: str, is_bold: bool) -> str:
    return (f"**{cell}**" if is_bold else cell) or NOTHING


def _text(cell: float | str) -> str:
    return cell if isinstance(cell, str) else f"{cell:g}" if isinstance(cell, float) else f"{cell:,}"
