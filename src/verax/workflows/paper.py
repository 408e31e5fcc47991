"""A paper from its folder to its tables: all that needs no people is run, and printed beside what was published."""

from __future__ import annotations

import logging
import re
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
    from verax.studies.definition.study import Study
    from verax.workflows.rationale import RationaleRun
    from verax.workflows.stain import StainRun
    from verax.workflows.study import BuiltStudy


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


def network_numbers(key: str, study: Study) -> Numbers:
    """Macro-F1 of a study's networks, and Table 5 of Lertvittayakumjorn and Toni (2019): the trees that mimic them.

    Args:
        key: of the study in the paper's tables.
        study: of which the explanations by decision trees say how large the trees are.
    """
    networks = {
        name: {key: f"{about['macro_f1']:.2f}"}
        for name, about in study.models.items()
        if "macro_f1" in about and name in ("model", "worse")
    }
    trees: dict[str, dict[str, str]] = {}
    for record in study.explanations:
        said = record["explanation"]
        if not isinstance(said, Mapping):
            continue
        facts = said.get("details")
        if isinstance(facts, Mapping) and "fidelity" in facts:
            trees[f"{key}/{record['model']}/{said['target']}"] = {
                "fidelity": f"{facts['fidelity']:.2f}",
                **{name: str(facts[name]) for name in ("nodes", "depth", "leaves")},
            }
    return {"networks": networks, "table-5": trees}


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
    return [in_places(study_numbers(tables), list(answered))]


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


def training_numbers(task: str, tables: Mapping[str, Table]) -> Numbers:
    """Section 4.4 of Gonzalez and Soegaard (2020): accuracy and time before people were trained and after.

    Args:
        task: what the paper calls it.
        tables: of the analysis of a pre-experiment, by their keys.
    """
    row: dict[str, str] = {}
    for line in tables["accuracy"].rows if "accuracy" in tables else ():
        if isinstance(like_model := line["model"], float):
            row[f"{line['condition']}_model"] = f"{like_model / 100:.3f}"
    for line in tables["times"].rows if "times" in tables else ():
        if isinstance(length := line["minutes"], float):
            minutes, seconds = divmod(round(60 * length), 60)
            row[f"{line['condition']}_time"] = f"{minutes:02d}:{seconds:02d}"
    return {"training": {task: row}}


def in_places(found: Numbers, places: Sequence[int]) -> Numbers:
    """Numbers of several studies with the places that these have among all of the paper's, where some are left out."""
    names = {f"s{number}": f"s{place}" for number, place in enumerate(places)}

    def renamed(key: str) -> str:
        study, mark, rest = key.partition("_")
        return f"{names[study]}_{rest}" if mark and study in names else key

    return {
        table: {row: {renamed(key): cell for key, cell in cells.items()} for row, cells in rows.items()}
        for table, rows in found.items()
    }


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
