"""The tables of comparisons with known reasons, made of their estimates: measures, and students."""

from __future__ import annotations

from collections.abc import Sequence

from verax.benchmarks.measures.findings import (
    ABOVE,
    ALL,
    FALSE,
    FOOLED,
    ORDER,
    PREFERS,
    REPLACED,
    ROWS,
    SECONDS,
    SIZES,
    TAIL,
    EstimateRow,
    MeasuresFindings,
    verdict_of,
)
from verax.benchmarks.students.findings import (
    ACCURACY,
    EVERY,
    GAIN,
    MIDDLE,
    OVER_SHUFFLED,
    TESTS,
    StudentsFindings,
    number_name,
)
from verax.benchmarks.students.jobs import COUNTERFACTUAL, FORWARD, NONE
from verax.reporting.findings_page import Page
from verax.reporting.page import manifest_words, short_names, spec_toml
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
from verax.run.manifest import Manifest
from verax.text import counted, listed

HOW_MEASURES = (
    "Reasons are planted: words (or values) that decide a model's prediction. Explanations of known quality name them "
    "all, or change each with a chance of 25, 50 or 75% for a word that is no reason, or are random; where a model's "
    "own reasons can be read (logistic regression, trees) the oracle is what it reads, elsewhere all others tie, and "
    "ties are broken at random and averaged. How true an explanation is, is the area under the recall of the reasons "
    "among its first ten features. Tau is Kendall's, between a measure's order of the five by their means over inputs "
    "and the order of their truth. Values of a stain's models are averaged; intervals (95%) and tests by flipped signs "
    "are over stains, p is corrected by Holm over measures. Equals are two explanations corrupted alike, or two random "
    "ones; a claim is p up to 5% over the inputs of one model. The adversary names words that are no reason and whose "
    "removal moves the model most."
)


def measures_page(found: MeasuresFindings, manifest: Manifest) -> Page:
    """The report of a comparison."""
    names = list(short_names(found.explainers).values())
    return Page(
        title="Which automatic measures of explanations can be believed?",
        asked=f"{counted(len(found.measures), 'measure')} on {counted(found.cells, 'model')} with "
        f"{counted(found.stains, 'planted reason')} ({listed(found.models)}), explanations of known quality"
        + (f" and {listed(names)}." if names else "."),
        sentences=found.sentences,
        tables=measures_tables(found),
        how=HOW_MEASURES,
        spec=spec_toml(found.spec, "measures"),
        command="verax bench measures --spec spec.toml --out DIR",
        failures=found.failures,
        left_out=found.left_out,
        manifest=manifest_words(manifest),
    )


def measures_tables(found: MeasuresFindings) -> list[Table]:
    """All tables, the one that answers the question first."""
    made = [_measures_table(found), _by_model(found)]
    made += [table for name in found.explainers for table in _above_oracle(found, name)]
    made += [_sizes(found), _by_reason(found), _replaced(found), _cost(found)]
    return [table for table in made if table.rows]


def _ordered_measures(found: MeasuresFindings) -> list[str]:
    """The measures, the best order first."""
    return sorted(found.measures, key=lambda label: -_estimate(found.row(label, ORDER)))


def _estimate(row: EstimateRow | None) -> float:
    return float("-inf") if row is None else row.estimate


def _value(row: EstimateRow | None) -> Value:
    return None if row is None else row.estimate


def _ends(row: EstimateRow | None) -> Value:
    return None if row is None or row.low is None else (row.low, row.high)


def _measures_table(found: MeasuresFindings) -> Table:
    labels: list[str] = _ordered_measures(found)
    sources: list[Source[str]] = [
        text("measure", "measure", lambda label: label),
        text("verdict", "verdict", lambda label: found.verdicts[label]),
        number("tau", "tau", lambda label: _value(found.row(label, ORDER))),
        interval("tau_interval", "95% interval", lambda label: _ends(found.row(label, ORDER))),
        p_value("p", "p, corrected", lambda label: getattr(found.row(label, ORDER), "p_adjusted", None)),
        share("prefers", "prefers the truer", lambda label: _value(found.row(label, PREFERS))),
        interval("prefers_interval", "95% interval", lambda label: _ends(found.row(label, PREFERS))),
        share("equals", "claims between equals", lambda label: _value(found.row(label, FALSE))),
        share("fooled", "prefers the adversary", lambda label: _value(found.row(label, FOOLED))),
        count("n", "stains", lambda label: getattr(found.row(label, ORDER), "n", None)),
    ]
    return build_table(
        "measures",
        "Does a measure order explanations as the truth does?",
        labels,
        sources,
        "Tau is 1 if a measure orders explanations of known quality as the truth does, and -1 if it does so backwards. "
        "Beside it: how often it prefers the truer of two explanations of one input (chance is 50%), how often a test "
        "says that one of two equals is better (5% are allowed), and how often it prefers the adversary to the oracle.",
    )


def _by_column(
    found: MeasuresFindings,
    key: str,
    title: str,
    columns: Sequence[str],
    name: str,
    sentence: str,
    *,
    percent: bool,
    model: bool = True,
) -> Table:
    """A table of one number with a column for each model, or for each part of the data."""
    rows: list[Row] = []
    for label in _ordered_measures(found):
        values: dict[str, Value] = {}
        for one in columns:
            values[one] = _value(found.row(label, name, one) if model else found.row(label, f"{name}, {one}"))
        if any(value is not None for value in values.values()):
            rows.append({"measure": label, **values})
    kind: ColumnKind = "percent" if percent else "number"
    made = (Column("measure", "measure", "text"), *(Column(one, one, kind) for one in columns))
    return Table(key, title, made, tuple(rows), sentence)


def _by_model(found: MeasuresFindings) -> Table:
    base = _by_column(
        found,
        "by-model",
        "By model: tau with the truth's order",
        found.models,
        ORDER,
        "Where a number is marked with a word, that is what may be said of the measure on this model alone.",
        percent=False,
    )
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
    return f"{shown} {verdict}" if verdict in ("backwards", "says nothing") else shown


def _parts(found: MeasuresFindings, name: str) -> list[str]:
    """The parts of the data that a number was estimated for."""
    rows = [row for row in found.estimates if row.model == ALL and row.measure.startswith(f"{name}, ")]
    return list(dict.fromkeys(row.measure.removeprefix(f"{name}, ") for row in rows))


def _by_reason(found: MeasuresFindings) -> Table:
    return _by_column(
        found,
        "by-reason",
        "By sort of reason: tau with the truth's order",
        _parts(found, ORDER),
        ORDER,
        "and: both words are needed. or: either is enough. negated: one word, without another. counts: each twice.",
        percent=False,
        model=False,
    )


def _above_oracle(found: MeasuresFindings, name: str) -> list[Table]:
    shown = short_names(found.explainers)[name]
    return [
        _by_column(
            found,
            f"tail-{name}",
            f"How often {shown} is preferred to the same explanation with the true reasons put first",
            found.models,
            f"{TAIL}: {name}",
            f"Of the inputs on which {shown} does not name the reasons first. The two differ in nothing else, so that "
            "a measure above 50% prefers what is less true. Empty where there is no such input.",
            percent=True,
        ),
        _by_column(
            found,
            f"above-{name}",
            f"How often {shown} scores above the oracle",
            found.models,
            f"{ABOVE}: {name}",
            f"The share of stains on which the mean value of {shown} is better than that of the oracle. Where a "
            "model's reasons cannot be read, the oracle's other features tie, and a real explainer may win by those.",
            percent=True,
        ),
    ]


def _sizes(found: MeasuresFindings) -> Table:
    return _by_column(
        found,
        "sizes",
        "By how much truer one explanation is: how often it is preferred",
        [size for size, _, _ in SIZES],
        PREFERS,
        "Pairs of explanations of one input, which is what a user compares; chance is 50%.",
        percent=True,
        model=False,
    )


def _replaced(found: MeasuresFindings) -> Table:
    return _by_column(
        found,
        "replaced",
        "With something else in the place of absent features: tau with the usual order",
        _parts(found, REPLACED),
        REPLACED,
        "Usually absent words are left out, and columns take values of other rows. resampled: words of other texts; "
        "masked: a network's mask; mean: a column's mean.",
        percent=False,
        model=False,
    )


def _cost(found: MeasuresFindings) -> Table:
    labels: list[str] = _ordered_measures(found)
    sources: list[Source[str]] = [
        text("measure", "measure", lambda label: label),
        number("rows", "rows asked of the model", lambda label: _value(found.row(label, ROWS))),
        number("ms", "milliseconds", lambda label: 1000 * _estimate(found.row(label, SECONDS))),
    ]
    return build_table(
        "cost",
        "Cost of one explanation's value",
        labels,
        sources,
        "Means over models. What measures share (the best order of an input) is counted once for all explanations.",
    )


TITLES = {FORWARD: "New inputs", COUNTERFACTUAL: "Changed inputs"}
HOW_STUDENTS = (
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


def students_page(found: StudentsFindings, manifest: Manifest) -> Page:
    """The report of a run with students."""
    return Page(
        title="Which explanations help a learner predict the model?",
        asked=f"{counted(len(found.students), 'student')} on {counted(found.cells, 'model')} with "
        f"{counted(found.stains, 'planted reason')} ({listed(found.models)}).",
        sentences=found.sentences,
        tables=students_tables(found),
        how=HOW_STUDENTS,
        spec=spec_toml(found.spec, "students"),
        command="verax bench students --spec spec.toml --out DIR",
        failures=found.failures,
        left_out=found.left_out,
        manifest=manifest_words(manifest),
    )


def students_tables(found: StudentsFindings) -> list[Table]:
    """All tables, the one that answers the question first."""
    made = [_gain_table(found, test) for test in TESTS]
    made += [_gain_by(found, test, "students", found.students) for test in TESTS]
    made += [_gain_by(found, test, "models", found.models) for test in TESTS]
    for test in TESTS:
        made += [_curve(found, test, student) for student in (EVERY, *found.students)]
    return [table for table in made if table.rows]


def _ordered_methods(found: StudentsFindings, test: str) -> list[str]:
    name = number_name(GAIN, test, EVERY)
    return sorted(found.methods, key=lambda method: -(getattr(found.row(method, name), "estimate", -1e9)))


def _gain_table(found: StudentsFindings, test: str) -> Table:
    name, other = number_name(GAIN, test, EVERY), number_name(OVER_SHUFFLED, test, EVERY)
    sources: list[Source[str]] = [
        text("method", "explanation", lambda method: method),
        number("gain", "gain", lambda method: _value(found.row(method, name)), "points"),
        interval("interval", "95% interval", lambda method: _ends(found.row(method, name)), "points"),
        p_value("p", "p, corrected", lambda method: getattr(found.row(method, name), "p_adjusted", None)),
        number("shuffled", "over shuffled", lambda method: _value(found.row(method, other)), "points"),
        count("n", "stains", lambda method: getattr(found.row(method, name), "n", None)),
    ]
    labels: list[str] = _ordered_methods(found, test)
    return build_table(
        f"gain-{test}",
        f"{TITLES[test]}: what students gain from {MIDDLE[0]} to {MIDDLE[1]} examples with explanations",
        labels,
        sources,
        "Accuracy with explanations less accuracy without, mean over students; and less that with shuffled ones.",
    )


def _gain_by(found: StudentsFindings, test: str, by: str, names: Sequence[str]) -> Table:
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
        Column("method", "explanation", "text"),
        *(Column(one, one, "number", "points") for one in names),
    )
    return Table(
        f"{by}-{test}", f"{TITLES[test]}: the gain by {by.removesuffix('s')}", columns, tuple(rows),
        f"From {MIDDLE[0]} to {MIDDLE[1]} examples, in points.",
    )  # fmt: skip


def _curve(found: StudentsFindings, test: str, student: str) -> Table:
    """The gain by the number of examples."""
    rows: list[Row] = []
    if student != EVERY:
        alone: dict[str, Value] = {"method": f"{NONE} (accuracy, %)"}
        for size in found.sizes:
            row = found.row(NONE, number_name(ACCURACY, test, student, size))
            alone[str(size)] = None if row is None else 100 * row.estimate
        rows.append(alone)
    for method in _ordered_methods(found, test):
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
