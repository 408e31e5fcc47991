"""What students gained from explanations, over planted reasons; a whole run, and the files of its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.contract import Failure
from verax.benchmarks.measures.findings import ALL, EstimateRow, corrected, row_of
from verax.benchmarks.measures.run import executed
from verax.benchmarks.students.jobs import (
    CONTROLS,
    COUNTERFACTUAL,
    FORWARD,
    NONE,
    ORACLE,
    RANDOM,
    RANDOM_AGAIN,
    SHUFFLED,
    Cell,
    ClassResult,
    Plan,
)
from verax.codec import Record, decode
from verax.phrases import say as say_phrase
from verax.run import Progress, write_json
from verax.run.manifest import Manifest
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.means import mean_share
from verax.stats.rank_correlations import kendall_rows
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA, FEWEST_FLIPPED, FEWEST_METHODS, FEWEST_UNITS
from verax.text import percent

say = partial(say_phrase, "students")

if TYPE_CHECKING:
    import pandas as pd


BENCHMARK = "students"
ACCURACY, GAIN, OVER_SHUFFLED = "accuracy", "gain", "gain over shuffled"
TESTS = (FORWARD, COUNTERFACTUAL)
# The sizes over which the one gain of a method is averaged: fewer examples teach nothing, more teach it without help.
MIDDLE = (16, 64)
# All students together.
EVERY = "all students"
# Points; an accuracy is a share.
POINTS = 100.0
Lessons = Mapping[tuple[str, int, str], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class StudentsFindings(Record):
    """What a run found.

    Attributes:
        estimates: one row per number.
        sentences: the whole in a few sentences, the first is the answer.
        left_out: cells whose model did not learn its reason, in words.
        failures: jobs and explainers that failed.
        cells: how many could be used.
        stains: of how many planted reasons.
        models: in order.
        students: in order.
        sizes: in order.
        methods: explainers and controls, in order.
        agreement: the mean of Kendall's tau between students' orders of methods; None where there is none.
        a_a_claims: of comparisons of random explanations with other random ones, those that claim a difference.
        a_a_tests: how many such comparisons there are.
    """

    estimates: tuple[EstimateRow, ...]
    sentences: list[str]
    left_out: list[str]
    failures: tuple[Failure, ...]
    cells: int
    stains: int
    models: list[str]
    students: list[str]
    sizes: list[int]
    methods: list[str]
    agreement: float | None
    a_a_claims: int
    a_a_tests: int
    hashes: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, object] = field(default_factory=dict)

    format: ClassVar = 1
    JSON: ClassVar = (..., "format")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What a finished run found, from its folder."""
        return decode(cls, json.loads((folder / "summary.json").read_text(encoding="utf-8")))

    def row(self, method: str, name: str, model: str = ALL) -> EstimateRow | None:
        """The estimate of a number of a method; None if there is none."""
        return next(
            (
                row
                for row in self.estimates
                if row.method == method and row.measure == name and row.model == model
            ),
            None,
        )


@dataclass(frozen=True, eq=False)
class _Taught:
    cell: Cell
    lessons: Lessons


def number_name(kind: str, test: str, student: str, size: int | None = None) -> str:
    """What a number is called: a gain in a test, of a student, after so many examples (or from 16 to 64)."""
    after = f"{MIDDLE[0]} to {MIDDLE[1]}" if size is None else str(size)
    return f"{kind}, {test}, {student}, n = {after}"


def findings(
    cells: Sequence[tuple[Cell, ClassResult]],
    failures: Sequence[Failure],
    explainers: Sequence[str],
    models: Sequence[str],
    students: Sequence[str],
    sizes: Sequence[int],
) -> StudentsFindings:
    """Estimates over stains from the results of all cells."""
    taught = [
        _Taught(cell, {(one.student, one.size, one.test): one.accuracy for one in result.lessons})
        for cell, result in cells
        if not result.problem
    ]
    methods = [*CONTROLS[1:], *explainers]
    rows: list[EstimateRow] = []
    for test in TESTS:
        rows += _accuracies(taught, test, students, sizes)
        for method in methods:
            rows += _gains(taught, test, method, models, students, sizes)
    claims, tests = _a_a(taught, students, sizes)
    failed = list(failures)
    for cell, result in cells:
        failed += [Failure(f"{cell.job.name}, {name}", error) for name, error in result.failed.items()]
    found = StudentsFindings(
        estimates=tuple(corrected(rows)),
        sentences=[],
        left_out=[f"{cell.job.name}: {result.problem}" for cell, result in cells if result.problem],
        failures=tuple(failed),
        cells=len(taught),
        stains=len({(one.cell.dataset, one.cell.stain) for one in taught}),
        models=list(models),
        students=list(students),
        sizes=list(sizes),
        methods=methods,
        agreement=_agreement(taught, [ORACLE, SHUFFLED, RANDOM, *explainers], students, sizes),
        a_a_claims=claims,
        a_a_tests=tests,
    )
    found.sentences.extend(_sentences(found, explainers))
    return found


def _middle(sizes: Sequence[int]) -> list[int]:
    """The sizes that the one gain is over; all of them if none lies between."""
    return [size for size in sizes if MIDDLE[0] <= size <= MIDDLE[1]] or list(sizes)


def _per_stain(
    taught: Sequence[_Taught],
    test: str,
    method: str,
    other: str | None,
    students: Sequence[str],
    sizes: Sequence[int],
    model: str = ALL,
) -> FloatArray:
    """One value per stain: the accuracy with a method, less that with another; mean over models, students and sizes."""
    stains: dict[tuple[str, int], list[float]] = {}
    for one in taught:
        if model not in (ALL, one.cell.model):
            continue
        values = []
        for student in students:
            for size in sizes:
                accuracy = one.lessons.get((student, size, test), {})
                if method in accuracy and (other is None or other in accuracy):
                    values.append(accuracy[method] - (0.0 if other is None else accuracy[other]))
        if values:
            stains.setdefault((one.cell.dataset, one.cell.stain), []).append(float(np.mean(values)))
    return np.array([np.mean(own) for own in stains.values()])


def _interval(units: FloatArray) -> Estimate:
    found = mean_interval(POINTS * units)
    if len(units) >= FEWEST_UNITS:
        return found
    return Estimate(found.mean, None, None, found.n, found.spread, found.level)


def _accuracies(
    taught: Sequence[_Taught], test: str, students: Sequence[str], sizes: Sequence[int]
) -> list[EstimateRow]:
    """How often students are right without any explanation."""
    rows = []
    for student in students:
        for size in sizes:
            units = _per_stain(taught, test, NONE, None, [student], [size])
            if len(units):
                rows.append(
                    row_of(
                        mean_share(units), benchmark=BENCHMARK, method=NONE, unit="", better="higher",
                        measure=number_name(ACCURACY, test, student, size), counts="stains",
                    )
                )  # fmt: skip
    return rows


def _gains(
    taught: Sequence[_Taught],
    test: str,
    method: str,
    models: Sequence[str],
    students: Sequence[str],
    sizes: Sequence[int],
) -> list[EstimateRow]:
    rows: list[EstimateRow] = []

    def add(kind: str, other: str, student: str, size: int | None, model: str = ALL) -> None:
        named = students if student == EVERY else [student]
        units = _per_stain(
            taught, test, method, other, named, _middle(sizes) if size is None else [size], model
        )
        if not len(units):
            return
        p = sign_flip(units).p if len(units) >= FEWEST_FLIPPED else None
        name = number_name(kind, test, student, size)
        rows.append(
            row_of(
                _interval(units), benchmark=BENCHMARK, method=method, measure=name, unit="points", better="higher",
                counts="stains", model=model, p=p, family=f"{name}, {model}, over methods",
            )
        )  # fmt: skip

    for student in (EVERY, *students):
        add(GAIN, NONE, student, None)
        for size in sizes:
            add(GAIN, NONE, student, size)
    add(OVER_SHUFFLED, SHUFFLED, EVERY, None)
    for model in models:
        add(GAIN, NONE, EVERY, None, model)
    return rows


def _a_a(taught: Sequence[_Taught], students: Sequence[str], sizes: Sequence[int]) -> tuple[int, int]:
    """How many comparisons of one random method with another claim a difference, and of how many."""
    claims = tests = 0
    for test in TESTS:
        for student in students:
            for size in sizes:
                units = _per_stain(taught, test, RANDOM, RANDOM_AGAIN, [student], [size])
                if len(units) >= FEWEST_FLIPPED:
                    tests += 1
                    claims += int(sign_flip(units).p <= ALPHA)
    return claims, tests


def _agreement(
    taught: Sequence[_Taught], methods: Sequence[str], students: Sequence[str], sizes: Sequence[int]
) -> float | None:
    """The mean of Kendall's tau between students' orders of the methods, by their gains in both tests."""
    orders = []
    for student in students:
        gains = [
            float(
                np.mean(
                    [
                        units.mean()
                        for test in TESTS
                        if len(units := _per_stain(taught, test, method, NONE, [student], _middle(sizes)))
                    ]
                    or [np.nan]
                )
            )
            for method in methods
        ]
        orders.append(np.round(gains, 9))
    found = [
        float(kendall_rows(one[None, both], other[None, both])[0])
        for one, other in combinations(orders, 2)
        if (both := ~np.isnan(one) & ~np.isnan(other)).sum() >= FEWEST_METHODS
    ]
    known = [tau for tau in found if not np.isnan(tau)]
    return float(np.mean(known)) if known else None


def _sentences(found: StudentsFindings, explainers: Sequence[str]) -> list[str]:
    said: list[str] = []
    for test in TESTS:
        name = number_name(GAIN, test, EVERY)
        rows = [row for method in explainers if (row := found.row(method, name)) is not None]
        sure = [row.p_adjusted is not None and row.p_adjusted <= ALPHA and row.estimate > 0 for row in rows]
        for case, wanted in (("helping", True), ("not-shown", False)):
            names = [
                say("gain", name=row.method, gain=f"{row.estimate:+.1f}")
                for row, one in zip(rows, sure, strict=True)
                if one is wanted
            ]
            if names:
                said.append(say(case, names=names, test=test))
        oracle = found.row(ORACLE, name)
        if oracle is not None:
            said.append(say("oracle", gain=f"{oracle.estimate:+.1f}", test=test))
    if found.agreement is not None:
        said.append(say("agreement", tau=f"{found.agreement:.2f}", methods=len(explainers) + 3))
    if found.a_a_tests:
        share = percent(found.a_a_claims / found.a_a_tests)
        said.append(say("equals", tests=found.a_a_tests, share=share))
    return said or [say("too-little")]


@dataclass(frozen=True, eq=False)
class TaughtRun:
    """What a run found: what its folder holds, and what a report needs."""

    findings: StudentsFindings
    results: pd.DataFrame
    manifest: Manifest


def run_students(
    plan: Plan,
    folder: Path,
    explainers: Sequence[str],
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
) -> TaughtRun:
    """Does what is planned and not yet done, and writes everything but the report; see `run_measures`."""
    spec = {"benchmark": "students", **plan.spec.model_dump(), "methods": list(explainers)}
    done, failures, manifest = executed(
        plan, spec, plan.spec.seed, folder, ClassResult, workers=workers, cluster=cluster, progress=progress,
        retry_failed=retry_failed, fresh=fresh,
    )  # fmt: skip
    asked = plan.spec
    found = replace(
        findings(done, failures, explainers, asked.models, asked.students, asked.sizes),
        hashes=dict(plan.hashes),
        spec=asked.model_dump(),
    )
    run = TaughtRun(found, accuracies(done), manifest)
    write_json(folder / "summary.json", found.to_dict())
    run.results.to_parquet(folder / "results.parquet", index=False)
    return run


def accuracies(done: Sequence[tuple[Cell, ClassResult]]) -> pd.DataFrame:
    """One row per stain, model, student, size, test and method: the accuracy, mean over draws."""
    import pandas as pd

    rows = [
        (cell.dataset, cell.stain, cell.reason, cell.model, one.student, one.size, one.test, method, accuracy)
        for cell, result in done
        for one in result.lessons
        for method, accuracy in one.accuracy.items()
    ]
    columns = ("dataset", "stain", "reason", "model", "student", "size", "test", "method", "accuracy")
    return pd.DataFrame(rows, columns=list(columns))
