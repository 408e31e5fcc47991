"""Planted reasons with models, a job each: what the plans and the results of measures and students share."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from verax.benchmarks.contract import Failure, Planned, Stage, Stages, Summary
from verax.benchmarks.measures.spec import ReasonsSpec
from verax.benchmarks.planning import (
    Method,
    Objects,
    check_models,
    model_arguments,
    own_code,
    plain_methods,
    sources_of,
)
from verax.benchmarks.staining.stainable import Stainable, make_stainable
from verax.codec import Record, decode
from verax.errors import VeraxError
from verax.results.findings import FORMAT, Finding, content_key
from verax.run import Outcome
from verax.run.jobs import Job

# Sorts of reasons that can be planted in a table.
IN_TABLES = ("and", "negated")

# All models, all datasets.
ALL = "all"


class Problem(Protocol):
    """What is read here of a cell's result."""

    @property
    def problem(self) -> str:
        """Why the model cannot serve; empty if it can."""

    @property
    def failed(self) -> Mapping[str, str]:
        """Explainers that failed, with their errors."""


S = TypeVar("S", bound=ReasonsSpec)
T = TypeVar("T", bound=Summary)
R = TypeVar("R")


@dataclass(frozen=True)
class Cell:
    """One planned job: a reason of one dataset in one model."""

    dataset: str
    model: str
    stain: int
    reason: str
    job: Job


@dataclass(frozen=True)
class CellsPlan(Generic[S]):
    """Everything that a run will do.

    Attributes:
        spec: what was asked.
        explainers: labels of the real ones.
        cells: in order, reason by reason.
        hashes: the content hash of each dataset.
        objects: what the jobs refer to, by reference.
        code: hashes of code and files of somebody's own.
    """

    spec: S
    explainers: tuple[str, ...]
    cells: tuple[Cell, ...]
    hashes: Mapping[str, str]
    objects: Mapping[str, object]
    code: Mapping[str, str]

    def planned(self, benchmark: str, stages: Callable[[CellsPlan[S]], Stages[T]]) -> Planned[T]:
        """The run, from a function that begins it."""

        def begun(_: Path) -> Stages[T]:
            return stages(self)

        return Planned(benchmark, self.spec, begun, self.hashes, self.code, self.objects, self.explainers)


@dataclass(frozen=True, eq=False, kw_only=True)
class CellsSummary(Record):
    """What every run with planted reasons found.

    Attributes:
        findings: one row per number.
        sentences: the whole in a few sentences, the first is the answer.
        left_out: cells whose model did not learn its reason, in words.
        failures: jobs and explainers that failed.
        cells: how many could be used.
        stains: of how many planted reasons.
        models: in order.
        hashes: of the datasets' content.
        spec: what was asked.
    """

    findings: tuple[Finding, ...]
    sentences: list[str]
    left_out: list[str]
    failures: tuple[Failure, ...]
    cells: int
    stains: int
    models: list[str]
    hashes: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, object] = field(default_factory=dict)

    benchmark: ClassVar[str]
    format: ClassVar = 2
    findings_format: ClassVar = FORMAT
    JSON: ClassVar = (..., "benchmark", "format", "findings_format")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What a finished run found, from its folder."""
        return decode(cls, json.loads((folder / "summary.json").read_text(encoding="utf-8")))

    def row(self, method: str, measure: str, model: str = ALL) -> Finding | None:
        """What was found of a method by a measure with a model; None if there is nothing."""
        wanted = method, measure, model
        return next((one for one in self.findings if (one.method, one.measure, one.model) == wanted), None)

    def value(self, method: str, measure: str, model: str = ALL) -> float | None:
        """The estimate alone."""
        found = self.row(method, measure, model)
        return None if found is None else found.estimate


C = TypeVar("C", bound=CellsSummary)


def with_origin(found: C, plan: CellsPlan[S]) -> C:
    """What was found, with what it was computed from."""
    spec = plan.spec.model_dump(mode="json")
    key = content_key(found.benchmark, spec, dict(plan.hashes))
    rows = tuple(replace(row, key=key) for row in found.findings)
    return replace(found, findings=rows, hashes=dict(plan.hashes), spec=spec)


def left_out(cells: Sequence[tuple[Cell, Problem]]) -> list[str]:
    """Cells whose model cannot serve, with the reason."""
    return [f"{cell.job.name}: {result.problem}" for cell, result in cells if result.problem]


def failed_explainers(cells: Sequence[tuple[Cell, Problem]]) -> list[Failure]:
    """Explainers that failed in single cells."""
    return [
        Failure(f"{cell.job.name}, {name}", error)
        for cell, result in cells
        for name, error in result.failed.items()
    ]


def plan_cells(
    spec: S,
    methods: Sequence[Method],
    objects: Objects,
    job: Callable[[str, dict[str, object]], Job],
    *,
    own: Mapping[str, object],
    code: Mapping[str, str] | None = None,
    sort_of: Callable[[str], str | None] = lambda _: None,
    check: Callable[[str, Stainable], None] = lambda _name, _data: None,
) -> CellsPlan[S]:
    """Plans a run; datasets are loaded and names are checked, so that mistakes are told before anything is fitted.

    Args:
        spec: what is asked.
        methods: the real explainers.
        objects: what of the rest is no name.
        job: from its name and arguments.
        own: arguments of the benchmark's own.
        code: hashes of more code that jobs depend on.
        sort_of: the reasons of a model that has its own, which nothing is planted in.
        check: refuses a dataset that the benchmark cannot use.
    """
    check_models(spec, objects)
    code = own_code(methods) | dict(code or {})
    cells: list[Cell] = []
    hashes = {}
    for dataset, source in sources_of(spec, objects).items():
        data = make_stainable(source, "presence")
        hashes[dataset] = data.dataset.hash
        check(dataset, data)
        reasons = [one for one in spec.reasons if data.bins is None or one in IN_TABLES]
        if not reasons:
            raise VeraxError(
                f"{dataset} is a table, in which reasons of the sorts 'and' and 'negated' can be planted; name one "
                "of them in reasons=."
            )
        for stain in range(spec.stains):
            for model in spec.models:
                reason = sort_of(model) or reasons[stain % len(reasons)]
                arguments: dict[str, object] = {
                    "source": source,
                    "data_hash": hashes[dataset],
                    "reason": reason,
                    **model_arguments(model, objects),
                    "explainers": plain_methods(methods),
                    "inputs": spec.inputs,
                    "learnt": spec.learnt,
                    "stain_seed": spec.seed + stain,
                    "first_seed": spec.seed,
                    **own,
                    **({"code": code} if code else {}),
                }
                name = f"{dataset}, stain {stain} ({reason}), {model}"
                cells.append(Cell(dataset, model, stain, reason, job(name, arguments)))
    labels = tuple(label for label, _, _ in methods)
    return CellsPlan(spec, labels, tuple(cells), hashes, objects.things, code)


def cell_results(
    plan: CellsPlan[S], kind: type[R]
) -> Generator[Stage, list[Outcome], tuple[list[tuple[Cell, R]], list[Failure]]]:
    """Does a plan's jobs: the cells with their results, and what failed."""
    outcomes = yield Stage([cell.job for cell in plan.cells], "stains x models")
    failures = [Failure(outcome.name, outcome.error or "") for outcome in outcomes if outcome.failed]
    done = [
        (cell, decode(kind, outcome.value, outcome.name))
        for cell, outcome in zip(plan.cells, outcomes, strict=True)
        if outcome.value is not None
    ]
    if not done:
        raise VeraxError(
            (failures[0].error if failures else "Nothing was done.").removeprefix("VeraxError: ")
        )
    return done, failures
