"""The tables of a run with students, made of its estimates."""

from __future__ import annotations

from collections.abc import Sequence

from verax.benchmarks.measures.estimates import EstimateRow
from verax.benchmarks.students.findings import (
    ACCURACY,
    EVERY,
    GAIN,
    MIDDLE,
    OVER_SHUFFLED,
    TESTS,
    Findings,
    number_name,
)
from verax.benchmarks.students.jobs import COUNTERFACTUAL, FORWARD, NONE
from verax.report.common.run_facts import manifest_words, spec_toml
from verax.report.measures.findings_page import Page
from verax.results.tables import (
    Column,
    Row,
    Source,
    Table,
    Value,
    build_table,
    count,
    interval,
    number,
    p_value,
    text,
)
from verax.run.manifest import Manifest
from verax.text import counted, listed

TITLES = {FORWARD: "New inputs", COUNTERFACTUAL: "Changed inputs"}
HOW = (
    "A student is given examples, what the model says of each, and an explanation of each; the names of the "
    "classes are hidden, and the reasons are planted words, so that nothing can be known beforehand. Explanations "
    "say which features matter: such features are stretched, or the others left out, as far as the student finds "
    "good on its own examples, not at all among the choices. All methods have the same examples. It is tested "
    "without explanations. Half of the inputs have the planted reason, and others a part of it. Changed inputs "
    "have lost the reason, or as many other features. The gain is the accuracy with explanations less that "
    "without, in points. Models and draws of a stain are averaged; intervals (95%) and tests by flipped signs are "
    "over stains, p is corrected by Holm over methods. The oracle names the features of the planted reason; "
    "shuffled explanations are the oracle's on other features of the same input."
)


def students_page(found: Findings, manifest: Manifest) -> Page:
    """The report of a run with students."""
    return Page(
        title="Which explanations help a learner predict the model?",
        asked=f"{counted(len(found.students), 'student')} on {counted(found.cells, 'model')} with "
        f"{counted(found.stains, 'planted reason')} ({listed(found.models)}).",
        sentences=found.sentences,
        tables=tables(found),
        how=HOW,
        spec=spec_toml(found.spec, "students"),
        command="verax bench students --spec spec.toml --out DIR",
        failures=found.failures,
        left_out=found.left_out,
        manifest=manifest_words(manifest),
    )


def tables(found: Findings) -> list[Table]:
    """All tables, the one that answers the question first."""
    made = [_whole(found, test) for test in TESTS]
    made += [_wide(found, test, "students", found.students) for test in TESTS]
    made += [_wide(found, test, "models", found.models) for test in TESTS]
    for test in TESTS:
        made += [_curve(found, test, student) for student in (EVERY, *found.students)]
    return [table for table in made if table.rows]


def _value(row: EstimateRow | None) -> Value:
    return None if row is None else row.estimate


def _ends(row: EstimateRow | None) -> Value:
    return None if row is None or row.low is None else (row.low, row.high)


def _ordered(found: Findings, test: str) -> list[str]:
    name = number_name(GAIN, test, EVERY)
    return sorted(found.methods, key=lambda method: -(getattr(found.row(method, name), "estimate", -1e9)))


def _whole(found: Findings, test: str) -> Table:
    name, other = number_name(GAIN, test, EVERY), number_name(OVER_SHUFFLED, test, EVERY)
    sources: list[Source[str]] = [
        text("method", "explanation", lambda method: method),
        number("gain", "gain", lambda method: _value(found.row(method, name)), "points"),
        interval("interval", "95% interval", lambda method: _ends(found.row(method, name)), "points"),
        p_value("p", "p, corrected", lambda method: getattr(found.row(method, name), "p_adjusted", None)),
        number("shuffled", "over shuffled", lambda method: _value(found.row(method, other)), "points"),
        count("n", "stains", lambda method: getattr(found.row(method, name), "n", None)),
    ]
    labels: list[str] = _ordered(found, test)
    return build_table(
        f"gain-{test}",
        f"{TITLES[test]}: what students gain from {MIDDLE[0]} to {MIDDLE[1]} examples with explanations",
        labels,
        sources,
        "Accuracy with explanations less accuracy without, mean over students; and less that with shuffled ones.",
    )


def _wide(found: Findings, test: str, by: str, names: Sequence[str]) -> Table:
    """The gain by student, or by model."""
    rows: list[Row] = []
    for method in _ordered(found, test):
        values: dict[str, Value] = {"method": method}
        for one in names:
            values[one] = _value(
                found.row(method, number_name(GAIN, test, one))
                if by == "students"
                else found.row(method, number_name(GAIN, test, EVERY), one)
            )
        rows.append(values)
    columns = (
        Column("method", "explanation", "text"),
        *(Column(one, one, "number", "points") for one in names),
    )
    return Table(
        f"{by}-{test}", f"{TITLES[test]}: the gain by {by.removesuffix('s')}", columns, tuple(rows),
        f"From {MIDDLE[0]} to {MIDDLE[1]} examples, in points.",
    )  # fmt: skip


def _curve(found: Findings, test: str, student: str) -> Table:
    """The gain by the number of examples."""
    rows: list[Row] = []
    if student != EVERY:
        alone: dict[str, Value] = {"method": f"{NONE} (accuracy, %)"}
        for size in found.sizes:
            row = found.row(NONE, number_name(ACCURACY, test, student, size))
            alone[str(size)] = None if row is None else 100 * row.estimate
        rows.append(alone)
    for method in _ordered(found, test):
        values: dict[str, Value] = {"method": method}
        for size in found.sizes:
            values[str(size)] = _value(found.row(method, number_name(GAIN, test, student, size)))
        rows.append(values)
    columns = (
        Column("method", "explanation", "text"),
        *(Column(str(size), f"n = {size}", "number", "points") for size in found.sizes),
    )
    return Table(
        f"curve-{test}-{student}", f"{TITLES[test]}: {student}, by the number of examples", columns, tuple(rows),
        "The gain over no explanation, in points.",
    )  # fmt: skip
