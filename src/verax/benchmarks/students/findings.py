"""What students gained from explanations, over planted reasons; a whole run, and the files of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.contract import Failure, Found, Planned, Stages
from verax.benchmarks.measures.findings import corrected, row_of
from verax.benchmarks.planted_cells import (
    ALL,
    Cell,
    CellsPlan,
    CellsSummary,
    cell_results,
    failed_explainers,
    left_out,
    with_origin,
)
from verax.benchmarks.students.jobs import (
    CONTROLS,
    COUNTERFACTUAL,
    FORWARD,
    NONE,
    ORACLE,
    RANDOM,
    RANDOM_AGAIN,
    SHUFFLED,
    ClassResult,
)
from verax.benchmarks.students.spec import StudentsSpec
from verax.phrases import first_of
from verax.phrases import say as say_phrase
from verax.results.findings import Finding
from verax.results.verdict import Sign
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.means import mean_share
from verax.stats.rank_correlations import kendall_rows
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA, FEWEST_FLIPPED, FEWEST_METHODS, FEWEST_UNITS
from verax.text import percent

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "students")
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


@dataclass(frozen=True, eq=False, kw_only=True)
class StudentsSummary(CellsSummary):
    """What a run with students found.

    Attributes:
        students: in order.
        sizes: in order.
        methods: explainers and controls, in order.
        agreement: the mean of Kendall's tau between students' orders of methods; None where there is none.
        a_a_claims: of comparisons of random explanations with other random ones, those that claim a difference.
        a_a_tests: how many such comparisons there are.
    """

    students: list[str]
    sizes: list[int]
    methods: list[str]
    agreement: float | None
    a_a_claims: int
    a_a_tests: int

    benchmark: ClassVar = BENCHMARK


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
) -> StudentsSummary:
    """Estimates over stains from the results of all cells."""
    taught = [
        _Taught(cell, {(one.student, one.size, one.test): one.accuracy for one in result.lessons})
        for cell, result in cells
        if not result.problem
    ]
    methods = [*CONTROLS[1:], *explainers]
    there = {size for one in taught for _, size, _ in one.lessons}
    sizes, lacking = [one for one in sizes if one in there], [one for one in sizes if one not in there]
    rows: list[Finding] = []
    for test in TESTS:
        rows += _accuracies(taught, test, students, sizes)
        for method in methods:
            rows += _gains(taught, test, method, models, students, sizes)
    claims, tests = _a_a(taught, students, sizes)
    datasets = first_of(list(dict.fromkeys(cell.dataset for cell, _ in cells)), 2)
    found = StudentsSummary(
        findings=tuple(_compared(row, datasets) for row in corrected(rows)),
        sentences=[],
        left_out=left_out(cells),
        failures=(*failures, *failed_explainers(cells)),
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
    if lacking and taught:
        found.sentences.append(say("sizes-lacking", sizes=[str(size) for size in lacking]))
    return found


def _compared(row: Finding, datasets: list[str]) -> Finding:
    """A row with what it says beside other benchmarks: a method's one gain in a test is a claim about it."""
    gains = [number_name(GAIN, test, EVERY) for test in TESTS]
    title = say("run", test=next(test for test in TESTS if f", {test}, " in row.measure), datasets=datasets)
    if row.model != ALL or row.measure not in gains:
        return replace(row, title=title)
    helps = row.p_adjusted is not None and row.p_adjusted <= ALPHA and (row.estimate or 0.0) > 0
    sign: Sign = "open" if row.p_adjusted is None else "yes" if helps else "no"
    return replace(row, title=title, scope="overall", sign=sign, compared_with=NONE)


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
) -> list[Finding]:
    """How often students are right without any explanation."""
    rows = []
    for student in students:
        for size in sizes:
            units = _per_stain(taught, test, NONE, None, [student], [size])
            if len(units):
                rows.append(
                    row_of(
                        mean_share(units), benchmark=BENCHMARK, method=NONE, unit="", better="higher",
                        measure=number_name(ACCURACY, test, student, size), counted="stains",
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
) -> list[Finding]:
    rows: list[Finding] = []

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
                counted="stains", model=model, p=p, family=f"{name}, {model}, over methods",
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


def _sentences(found: StudentsSummary, explainers: Sequence[str]) -> list[str]:
    said: list[str] = []
    for test in TESTS:
        name = number_name(GAIN, test, EVERY)
        rows = [row for method in explainers if (row := found.row(method, name)) is not None]
        sure = [
            row.p_adjusted is not None and row.p_adjusted <= ALPHA and (row.estimate or 0.0) > 0
            for row in rows
        ]
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


def planned_run(plan: CellsPlan[StudentsSpec]) -> Planned[StudentsSummary]:
    """The run of a plan."""
    return plan.planned(BENCHMARK, _stages)


def _stages(plan: CellsPlan[StudentsSpec]) -> Stages[StudentsSummary]:
    done, failures = yield from cell_results(plan, ClassResult)
    spec = plan.spec
    found = findings(done, failures, plan.explainers, spec.models, spec.students, spec.sizes)
    return Found(with_origin(found, plan), accuracies(done))


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
