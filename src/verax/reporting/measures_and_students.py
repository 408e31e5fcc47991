"""The tables of comparisons with known reasons, made of their estimates: measures, and students."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from verax.benchmarks.measures.findings import (
    ABOVE,
    FALSE,
    FOOLED,
    ORDER,
    PREFERS,
    REPLACED,
    ROWS,
    SECONDS,
    SIZES,
    TAIL,
    MeasuresSummary,
    verdict_of,
)
from verax.benchmarks.planted_cells import ALL, CellsSummary
from verax.benchmarks.students.findings import (
    ACCURACY,
    EVERY,
    GAIN,
    MIDDLE,
    OVER_SHUFFLED,
    TESTS,
    StudentsSummary,
    number_name,
)
from verax.benchmarks.students.jobs import NONE
from verax.phrases import say
from verax.reporting.page import short_names
from verax.reporting.run_page import Brief, RunPage, View, findings_page
from verax.results.findings import Finding
from verax.results.tables import (
    Column,
    ColumnKind,
    Row,
    Source,
    Table,
    Value,
    build_table,
    count,
    interval,
    number,
    p_value,
    share,
    text,
)

say_measures = partial(say, "measures")
say_students = partial(say, "students")


def measures_page(found: MeasuresSummary) -> RunPage:
    """The report of a comparison."""
    return findings_page(
        title=say_measures("title"),
        asked=say_measures(
            "asked",
            measures=len(found.measures),
            cells=found.cells,
            stains=found.stains,
            models=found.models,
            explainers=list(short_names(found.explainers).values()) or "none",
        ),
        sentences=found.sentences,
        tables=measures_tables(found),
        how=say_measures("how"),
        failures=found.failures,
        left_out=found.left_out,
    )


def measures_tables(found: MeasuresSummary) -> list[Table]:
    """All tables, the one that answers the question first."""
    made = [_measures_table(found), _by_model(found)]
    made += [table for name in found.explainers for table in _above_oracle(found, name)]
    made += [_sizes(found), _by_reason(found), _replaced(found), _cost(found)]
    return [table for table in made if table.rows]


def _ordered_measures(found: MeasuresSummary) -> list[str]:
    """The measures, the best order first."""
    return sorted(found.measures, key=lambda label: -_estimate(found.row(label, ORDER)))


def _estimate(row: Finding | None) -> float:
    return float("-inf") if row is None or row.estimate is None else row.estimate


def _value(row: Finding | None) -> Value:
    return None if row is None else row.estimate


def _ends(row: Finding | None) -> Value:
    return None if row is None or row.low is None else (row.low, row.high)


def _measures_table(found: MeasuresSummary) -> Table:
    labels: list[str] = _ordered_measures(found)
    sources: list[Source[str]] = [
        text("measure", say_measures("column-measure"), lambda label: label),
        text("verdict", say_measures("column-verdict"), lambda label: _verdict(found.verdicts[label])),
        number("tau", say_measures("column-tau"), lambda label: _value(found.row(label, ORDER))),
        interval(
            "tau_interval", say_measures("column-interval"), lambda label: _ends(found.row(label, ORDER))
        ),
        p_value(
            "p", say_measures("column-p"), lambda label: getattr(found.row(label, ORDER), "p_adjusted", None)
        ),
        share("prefers", say_measures("column-prefers"), lambda label: _value(found.row(label, PREFERS))),
        interval(
            "prefers_interval",
            say_measures("column-interval"),
            lambda label: _ends(found.row(label, PREFERS)),
        ),
        share("equals", say_measures("column-equals"), lambda label: _value(found.row(label, FALSE))),
        share("fooled", say_measures("column-fooled"), lambda label: _value(found.row(label, FOOLED))),
        count("n", say_measures("column-stains"), lambda label: getattr(found.row(label, ORDER), "n", None)),
    ]
    return build_table(
        "measures",
        say_measures("table-measures"),
        labels,
        sources,
        say_measures("table-measures-means"),
    )


def _by_column(
    found: MeasuresSummary,
    key: str,
    said: str,
    columns: Sequence[str],
    name: str,
    *,
    percent: bool,
    model: bool = True,
    explainer: str = "",
) -> Table:
    """A table of one number with a column for each model, or for each part of the data; ``said`` are its phrases."""
    rows: list[Row] = []
    for label in _ordered_measures(found):
        values: dict[str, Value] = {}
        for one in columns:
            values[one] = _value(found.row(label, name, one) if model else found.row(label, f"{name}, {one}"))
        if any(value is not None for value in values.values()):
            rows.append({"measure": label, **values})
    kind: ColumnKind = "percent" if percent else "number"
    made = (
        Column("measure", say_measures("column-measure"), "text"),
        *(Column(one, one, kind) for one in columns),
    )
    title, means = (say_measures(case, explainer=explainer) for case in (said, f"{said}-means"))
    return Table(key, title, made, tuple(rows), means)


def _by_model(found: MeasuresSummary) -> Table:
    base = _by_column(found, "by-model", "table-models", found.models, ORDER, percent=False)
    rows: list[Row] = []
    for row in base.rows:
        said = {
            name: _with_verdict(row.get(name), verdict_of(found, str(row["measure"]), name))
            for name in found.models
        }
        rows.append({**row, **said})
    columns = tuple(Column(column.key, column.title, "text") for column in base.columns)
    return Table(base.key, base.title, columns, tuple(rows), base.sentence)


def _with_verdict(value: Value, verdict: str) -> str:
    if not isinstance(value, float):
        return ""
    shown = f"{value:.2f}".replace("-", "−")
    if verdict not in ("backwards", "says nothing"):
        return shown
    return say_measures("number-with-verdict", number=shown, verdict=_verdict(verdict))


def _verdict(verdict: str) -> str:
    return say_measures(f"verdict-{verdict.replace(' ', '-')}")


def _parts(found: MeasuresSummary, name: str) -> list[str]:
    """The parts of the data that a number was estimated for."""
    rows = [row for row in found.findings if row.model == ALL and row.measure.startswith(f"{name}, ")]
    return list(dict.fromkeys(row.measure.removeprefix(f"{name}, ") for row in rows))


def _by_reason(found: MeasuresSummary) -> Table:
    parts = _parts(found, ORDER)
    return _by_column(found, "by-reason", "table-reasons", parts, ORDER, percent=False, model=False)


def _above_oracle(found: MeasuresSummary, name: str) -> list[Table]:
    shown = short_names(found.explainers)[name]
    return [
        _by_column(
            found,
            f"{said}-{name}",
            f"table-{said}",
            found.models,
            f"{estimated}: {name}",
            percent=True,
            explainer=shown,
        )
        for said, estimated in (("tail", TAIL), ("above", ABOVE))
    ]


def _sizes(found: MeasuresSummary) -> Table:
    sizes = [size for size, _, _ in SIZES]
    return _by_column(found, "sizes", "table-sizes", sizes, PREFERS, percent=True, model=False)


def _replaced(found: MeasuresSummary) -> Table:
    parts = _parts(found, REPLACED)
    return _by_column(found, "replaced", "table-replaced", parts, REPLACED, percent=False, model=False)


def _cost(found: MeasuresSummary) -> Table:
    labels: list[str] = _ordered_measures(found)
    sources: list[Source[str]] = [
        text("measure", say_measures("column-measure"), lambda label: label),
        number("rows", say_measures("column-rows"), lambda label: _value(found.row(label, ROWS))),
        number("ms", say_measures("column-ms"), lambda label: 1000 * _estimate(found.row(label, SECONDS))),
    ]
    return build_table(
        "cost",
        say_measures("table-cost"),
        labels,
        sources,
        say_measures("table-cost-means"),
    )


def students_page(found: StudentsSummary) -> RunPage:
    """The report of a run with students."""
    return findings_page(
        title=say_students("title"),
        asked=say_students(
            "asked",
            students=len(found.students),
            cells=found.cells,
            stains=found.stains,
            models=found.models,
        ),
        sentences=found.sentences,
        tables=students_tables(found),
        how=say_students("how"),
        failures=found.failures,
        left_out=found.left_out,
    )


def students_tables(found: StudentsSummary) -> list[Table]:
    """All tables, the one that answers the question first."""
    made = [_gain_table(found, test) for test in TESTS]
    made += [_gain_by(found, test, "students", found.students) for test in TESTS]
    made += [_gain_by(found, test, "models", found.models) for test in TESTS]
    for test in TESTS:
        made += [_curve(found, test, student) for student in (EVERY, *found.students)]
    return [table for table in made if table.rows]


def _ordered_methods(found: StudentsSummary, test: str) -> list[str]:
    name = number_name(GAIN, test, EVERY)
    return sorted(found.methods, key=lambda method: -(getattr(found.row(method, name), "estimate", -1e9)))


def _gain_table(found: StudentsSummary, test: str) -> Table:
    name, other = number_name(GAIN, test, EVERY), number_name(OVER_SHUFFLED, test, EVERY)
    sources: list[Source[str]] = [
        text("method", say_students("column-explanation"), lambda method: method),
        number("gain", say_students("column-gain"), lambda method: _value(found.row(method, name)), "points"),
        interval(
            "interval",
            say_students("column-interval"),
            lambda method: _ends(found.row(method, name)),
            "points",
        ),
        p_value(
            "p", say_students("column-p"), lambda method: getattr(found.row(method, name), "p_adjusted", None)
        ),
        number(
            "shuffled",
            say_students("column-shuffled"),
            lambda method: _value(found.row(method, other)),
            "points",
        ),
        count("n", say_students("column-stains"), lambda method: getattr(found.row(method, name), "n", None)),
    ]
    labels: list[str] = _ordered_methods(found, test)
    return build_table(
        f"gain-{test}",
        say_students("table-gain", test=test, least=MIDDLE[0], largest=MIDDLE[1]),
        labels,
        sources,
        say_students("table-gain-means"),
    )


def _gain_by(found: StudentsSummary, test: str, by: str, names: Sequence[str]) -> Table:
    """The gain by student, or by model."""
    rows: list[Row] = []
    for method in _ordered_methods(found, test):
        values: dict[str, Value] = {"method": method}
        for one in names:
            values[one] = _value(
                found.row(method, number_name(GAIN, test, one))
                if by == "students"
                else found.row(method, number_name(GAIN, test, EVERY), one)
            )
        rows.append(values)
    columns = (
        Column("method", say_students("column-explanation"), "text"),
        *(Column(one, one, "number", "points") for one in names),
    )
    return Table(
        f"{by}-{test}",
        say_students("table-by", test=test, by=by),
        columns,
        tuple(rows),
        say_students("table-by-means", least=MIDDLE[0], largest=MIDDLE[1]),
    )


def _curve(found: StudentsSummary, test: str, student: str) -> Table:
    """The gain by the number of examples."""
    rows: list[Row] = []
    if student != EVERY:
        alone: dict[str, Value] = {"method": say_students("accuracy-alone", method=NONE)}
        for size in found.sizes:
            row = found.row(NONE, number_name(ACCURACY, test, student, size))
            alone[str(size)] = None if row is None or row.estimate is None else 100 * row.estimate
        rows.append(alone)
    for method in _ordered_methods(found, test):
        values: dict[str, Value] = {"method": method}
        for size in found.sizes:
            values[str(size)] = _value(found.row(method, number_name(GAIN, test, student, size)))
        rows.append(values)
    columns = (
        Column("method", say_students("column-explanation"), "text"),
        *(
            Column(str(size), say_students("column-examples", examples=size), "number", "points")
            for size in found.sizes
        ),
    )
    return Table(
        f"curve-{test}-{student}",
        say_students("table-curve", test=test, student=student),
        columns,
        tuple(rows),
        say_students("table-curve-means"),
    )


def _view(page: Callable[[Any], RunPage], tables: int) -> View:
    """A page of findings, of which so many tables are shown in a terminal."""

    def brief(summary: CellsSummary) -> Brief:
        made = page(summary)
        return Brief(made.verdict, made.tables[:tables])

    return View(lambda found: page(found.summary), brief)


MEASURES, STUDENTS = _view(measures_page, 1), _view(students_page, 2)
