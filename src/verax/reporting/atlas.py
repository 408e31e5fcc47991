"""The page of the atlas: methods by situations, coloured by what is shown, with a link to the evidence of each cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from verax.benchmarks.atlas.findings import POINTS, AtlasCell, AtlasSummary, OpenPair, sort_words
from verax.errors import VeraxError
from verax.phrases import say
from verax.reporting.explanations import page_environment
from verax.reporting.page import failed_jobs, manifest_words, page_script, page_style
from verax.results.findings import FLOOR, Finding
from verax.results.units import Unit
from verax.results.verdict import MARKS
from verax.run.manifest import Manifest
from verax.text import NOTHING, p_number

PAGE = "index.html"


class Timed(Protocol):
    """What is read here of the cost of an explanation."""

    @property
    def dataset(self) -> str:
        """Where."""

    @property
    def model(self) -> str:
        """Where."""

    @property
    def method(self) -> str:
        """The explainer with its budget."""

    @property
    def seconds(self) -> float:
        """For one explanation."""


@dataclass(frozen=True)
class Shown:
    """A cell as readers see it.

    Attributes:
        sign: of the verdict; "floor" for the control.
        mark: the same as a letter.
        number: the estimate.
        interval: in brackets; empty without one.
        words: all of it, for whoever points at the cell.
        link: to the evidence.
        row: the id of its row among all findings, where its command stands.
        model, dataset: for the filters.
    """

    sign: str
    mark: str
    number: str
    interval: str
    words: str
    link: str
    row: str
    model: str
    dataset: str


@dataclass(frozen=True)
class Grid:
    """Methods by situations.

    Attributes:
        columns: what they are called, with their model and dataset.
        rows: a method and its cells, None where it was not run.
    """

    columns: tuple[tuple[str, str, str], ...]
    rows: tuple[tuple[str, tuple[Shown | None, ...]], ...]


@dataclass(frozen=True)
class AtTime:
    """An explainer at the time that all have in one situation."""

    situation: str
    method: str
    seconds: float
    number: str
    interval: str


def write_atlas_page(
    folder: Path, summary: AtlasSummary, timings: Sequence[Timed], manifest: Manifest
) -> Path:
    """Writes the page into the atlas' folder; where it is."""
    path = folder / PAGE
    try:
        path.write_bytes(render_atlas(summary, timings, manifest, folder.name).encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The page cannot be written to {str(folder)!r} ({error.strerror}); choose another folder."
        ) from error
    return path


def render_atlas(
    summary: AtlasSummary, timings: Sequence[Timed], manifest: Manifest, name: str = "atlas"
) -> str:
    """The page as HTML, with everything in itself."""
    parts = [cell for cell in summary.cells if cell.finding.scope == "part"]
    compared = [cell for cell in parts if cell.finding.family or cell.finding.method == FLOOR]
    tests = [
        (test, _grid([cell for cell in compared if cell.finding.name == test]))
        for test in summary.spec.benchmarks
        if any(cell.finding.name == test for cell in compared)
    ]
    situations = dict.fromkeys((cell.finding.dataset, cell.finding.model) for cell in parts)
    methods = dict.fromkeys(cell.finding.method for cell in compared if cell.finding.method != FLOOR)
    return str(
        page_environment()
        .get_template("atlas.html")
        .render(
            style=page_style(),
            script=page_script(),
            summary=summary,
            answer=_grid(summary.headline),
            tests=tests,
            models=list(dict.fromkeys(model for _, model in situations)),
            datasets=list(dict.fromkeys(dataset for dataset, _ in situations)),
            rests=say(
                "atlas",
                "rests",
                runs=len({cell.run for cell in parts if cell.run}),
                methods=len(methods),
                situations=len(situations),
                samples=summary.spec.of_size("samples"),
            ),
            at_time=equal_time(parts, timings),
            pairs=pair_rows(summary.undecided),
            undecided=[
                (cell.finding, cell.needed)
                for cell in (*summary.headline, *summary.cells)
                if cell.needed is not None
            ],
            lines=[(cell, shown(cell)) for cell in (*summary.headline, *summary.cells)],
            problems=failed_jobs(summary.failures, "job"),
            folder=name,
            words=manifest_words(manifest),
            p_number=p_number,
            nothing=NOTHING,
        )
    )


def _grid(cells: Sequence[AtlasCell]) -> Grid:
    places = {(cell.finding.model, cell.finding.dataset): cell.finding for cell in cells}
    over_all = all(cell.finding.scope == "overall" for cell in cells)
    found = {(cell.finding.method, cell.finding.model, cell.finding.dataset): shown(cell) for cell in cells}
    methods = sorted(dict.fromkeys(cell.finding.method for cell in cells), key=lambda one: one == FLOOR)
    return Grid(
        tuple(
            (_heading(made, model if over_all else f"{model}, {dataset}"), model, dataset)
            for (model, dataset), made in places.items()
        ),
        tuple((method, tuple(found.get((method, *place)) for place in places)) for method in methods),
    )


def _heading(made: Finding, place: str) -> str:
    """A column's heading; automatic measures differ from situation to situation, so each is named."""
    if made.name != "measures":
        return place
    return say(
        "atlas",
        "column-measured",
        place=place,
        measure=made.measure.partition(",")[0],
        less=made.better == "lower",
    )


def shown(cell: AtlasCell) -> Shown:
    """A cell as readers see it."""
    made = cell.finding
    floor = made.method == FLOOR
    sanity = "sanity-" if made.name == "sanity" and made.sign in ("yes", "no") else ""
    verdict = say("atlas", "sign-floor" if floor else f"sign-{sanity}{made.sign}")
    number, interval = _written(made.unit, made.estimate, made.low, made.high)
    about = [f"{made.method}, {made.place}: {verdict}.", f"{made.measure}: {number} {interval}".strip() + "."]
    if cell.above_random is not None:
        ahead, ends = _written(made.unit, cell.above_random, cell.above_low, cell.above_high)
        about.append(say("atlas", "above", number=ahead, interval=ends or NOTHING))
    if made.p_adjusted is not None:
        about.append(say("atlas", "p-corrected", p=p_number(made.p_adjusted), family=made.family))
    if cell.beaten_by:
        about.append(say("atlas", "beaten", names=list(cell.beaten_by)))
    if cell.needed is not None:
        about.append(say("atlas", "needed", n=cell.needed, counted=made.counted))
    about.append(say("atlas", "rests-cell", n=made.n, counted=made.counted))
    return Shown(
        sign="floor" if floor else made.sign,
        mark="" if floor or not made.compared_with else MARKS[made.sign],
        number=number,
        interval=interval,
        words=" ".join(about),
        link=f"runs/{cell.run}/report.html" if cell.run else f"#test-{made.name}",
        row=re.sub(r"[^\w]+", "-", f"row {made.name} {made.dataset} {made.model} {made.method}").strip("-"),
        model=made.model,
        dataset=made.dataset,
    )


def _written(unit: Unit, value: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    if value is None:
        return NOTHING, ""
    ends = "" if low is None or high is None else f"[{unit.number(low)}, {unit.number(high)}]"
    return unit.number(value), ends


def pair_rows(pairs: Sequence[OpenPair]) -> list[tuple[str, str, str, str, str]]:
    """Pairs as readers see them: the sort of model, the methods, how far the first is ahead, and what would decide.

    Methods with the same values on every reason stand together in one row.
    """
    rows: list[tuple[str, str, str, str, str]] = []
    for model in dict.fromkeys(pair.model for pair in pairs):
        own = [pair for pair in pairs if pair.model == model]
        words, n = sort_words(model), str(own[0].n)
        for names in _same(own):
            rows.append((words, say("atlas", "names", names=names), "0", n, say("atlas", "pairs-same")))
        for pair in own:
            if pair.same:
                continue
            number, interval = _written(POINTS, pair.difference, pair.low, pair.high)
            case = "alike" if pair.alike else "never"
            needed = (
                say("atlas", f"pairs-{case}") if pair.alike or pair.needed is None else f"{pair.needed:,}"
            )
            both = say("atlas", "pair", ahead=pair.ahead, behind=pair.behind)
            rows.append((words, both, f"{number} {interval}".strip(), str(pair.n), needed))
    return rows


def _same(pairs: Sequence[OpenPair]) -> list[list[str]]:
    """Groups of methods whose values are the same on every reason."""
    groups: list[list[str]] = []
    for pair in pairs:
        if pair.same:
            group = next((one for one in groups if pair.ahead in one or pair.behind in one), None)
            if group is None:
                groups.append([pair.ahead, pair.behind])
            else:
                group += [name for name in (pair.ahead, pair.behind) if name not in group]
    return groups


def equal_time(cells: Iterable[AtlasCell], timings: Sequence[Timed]) -> list[AtTime]:
    """By situation, each explainer with the largest budget that takes no longer than the median explainer.

    Args:
        cells: of single situations; those of planted reasons count.
        timings: of all budgets.
    """
    found = {
        (cell.finding.dataset, cell.finding.model, cell.finding.method): cell.finding
        for cell in cells
        if cell.finding.name == "planted" and cell.finding.method != FLOOR
    }
    known = {(one.dataset, one.model, one.method): one.seconds for one in timings}
    rows = []
    for dataset, model in dict.fromkeys(key[:2] for key in found):
        own = {key[2]: known[key] for key in found if key[:2] == (dataset, model) and key in known}
        usual = sorted(seconds for method, seconds in own.items() if "(samples=" not in method)
        if not usual:
            continue
        time = usual[(len(usual) - 1) // 2]
        for name in dict.fromkeys(method.partition("(samples=")[0] for method in own):
            budgets = {method: own[method] for method in own if method.partition("(samples=")[0] == name}
            fits = {method: seconds for method, seconds in budgets.items() if seconds <= time}
            best = (
                max(fits, key=lambda one: fits[one]) if fits else min(budgets, key=lambda one: budgets[one])
            )
            made = found[dataset, model, best]
            number, interval = _written(made.unit, made.estimate, made.low, made.high)
            rows.append(AtTime(f"{model}, {dataset}", best, own[best], number, interval))
    return rows
