"""What an analysis is given and what it finds.

The analysis of a protocol is one function from `Analysed` to `Findings`, which the protocol names in its `analysis`.
What is the same for all protocols (the flow of participants, attrition, balance, which analyses were planned) is added
by `verax.studies.analysis.analyse`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.model.spec import Condition
    from verax.studies.model.study import Study

People = Literal["participants", "bots"]
Estimator = Literal["crossed", "hase2020", "both"]


@dataclass(frozen=True)
class Options:
    """How to analyse.

    Attributes:
        estimator: whose tables of Change to report; "hase2020" is the published procedure, labelled as a reproduction.
            The primary analysis is by "crossed" in any case.
        replicates: of each bootstrap.
        seed: of everything random.
        level: coverage of intervals.
        mended: defects of the published procedure that shall be mended, by their names in
            `verax.stats.hase2020.Defects`; none of them by default.
        bots: analyse the bots instead of the people; the two are never mixed.
    """

    estimator: Estimator = "both"
    replicates: int = 5_000
    seed: int = 0
    level: float = 0.95
    mended: tuple[str, ...] = ()
    bots: bool = False


@dataclass(frozen=True, eq=False)
class Analysed:
    """The answers that an analysis works on, of people or of bots only. Columns: `verax.studies.answers.schema`.

    Attributes:
        study: the study.
        scored: the question whose answers have scores.
        parameters: of the protocol, by name.
        responses: answers in all phases of those who completed the study and are not excluded (per protocol).
        participants: these people, one row each.
        intended: answers of everybody who got a place and answered something in a test phase, exclusions ignored
            (intention to treat).
        intended_participants: these people, one row each.
        conditions: the study's conditions, in the order of the spec.
        people: whether they are people or bots.
    """

    study: Study
    scored: str
    parameters: Mapping[str, object]
    responses: pd.DataFrame
    participants: pd.DataFrame
    intended: pd.DataFrame
    intended_participants: pd.DataFrame
    conditions: tuple[Condition, ...]
    people: People = "participants"

    @property
    def control(self) -> str | None:
        """The name of the condition without explanations, if there is one."""
        return next((one.name for one in self.conditions if one.kind == "none"), None)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the conditions that show something, in the order of the spec."""
        return tuple(one.name for one in self.conditions if one.kind != "none")


@dataclass(frozen=True)
class Column:
    """A column of a table; how it is written depends on its kind.

    Attributes:
        key: its key in the rows.
        title: what readers see.
        kind: an "interval" is a pair [low, high]; a "percent" is a share from 0 to 1; "number" is written as it is.
        unit: "points", "seconds"; empty for none.
    """

    key: str
    title: str
    kind: Literal["text", "number", "interval", "p", "count", "percent"] = "number"
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """A table with the sentence that says what it means.

    Attributes:
        key: its name; a plan that has an entry of this name makes it planned.
        title: what readers see.
        columns: its columns.
        rows: a value (or None) for every column's key. A row may have a "key" too, such as "lime-vs-shap": a plan that
            has an entry of this name makes the row planned.
        sentence: what it means, in plain words.
        notes: what else a reader must know.
        planned: set by `analyse`, never by an analysis.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    sentence: str
    notes: tuple[str, ...] = ()
    planned: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **asdict(self),
            "columns": [asdict(column) for column in self.columns],
            "rows": [dict(row) for row in self.rows],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Figure:
    """A figure as data; the brief forms of ``data`` by kind are in docs/analysis.md."""

    key: str
    title: str
    kind: Literal["intervals", "curve", "bars", "distribution", "flow"]
    data: Mapping[str, Any]
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "data": dict(self.data)}


@dataclass(frozen=True)
class PrimaryEstimate:
    """One line of the primary analysis, in the unit of the primary measure.

    Attributes:
        condition: whose estimate it is.
        key: what a plan may call it, such as "lime-vs-none".
        estimate, low, high: None where they cannot be estimated.
        p: for this line alone.
        p_adjusted: for all lines of the primary analysis together.
        low_adjusted, high_adjusted: an interval that holds together with the other lines'.
        adjustment: how ("Dunnett", "Holm", "none").
        detectable: the true effect that such a study finds in 80% of cases.
        participants, items: what it rests on.
        conclusive: whether the numbers allow a claim; if not, show the estimate only.
        planned: set by `analyse`.
        notes: what must be said beside it.
    """

    condition: str
    key: str
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None = None
    low_adjusted: float | None = None
    high_adjusted: float | None = None
    adjustment: str = "none"
    detectable: float | None = None
    participants: int = 0
    items: int = 0
    conclusive: bool = True
    planned: bool = False
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "notes": list(self.notes)}


@dataclass(frozen=True)
class Primary:
    """The primary analysis of a study: one measure, one line per condition, and what it means.

    Attributes:
        stands_in: whether the study's own primary analysis could not be made and this takes its place: nobody planned
            it under the name "primary".
    """

    measure: str
    unit: str
    sentence: str
    estimates: tuple[PrimaryEstimate, ...] = ()
    stands_in: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "measure": self.measure,
            "unit": self.unit,
            "sentence": self.sentence,
            "estimates": [one.to_dict() for one in self.estimates],
        }


@dataclass(frozen=True)
class Court:
    """What the joint report compares: one line per method.

    Attributes:
        explainer: the explainer of the condition ("lime"), by which methods are matched with benchmarks.
        condition: its name in this study.
        measure: what is measured.
        unit: of the numbers.
    """

    explainer: str
    condition: str
    measure: str
    unit: str
    estimate: float | None
    low: float | None
    high: float | None
    participants: int
    items: int
    higher_is_better: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Findings:
    """What the analysis of a protocol found.

    Attributes:
        primary: the primary analysis; None where nothing of it can be estimated (``problems`` says why).
        courts: one line per method.
        tables: in the order of the report.
        figures: in the order of the report.
        estimators: by name, plain values: every estimator in full.
        sensitivity: plain values.
        problems: what could not be estimated, and why; one sentence each.
    """

    primary: Primary | None = None
    courts: tuple[Court, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    estimators: Mapping[str, Any] = field(default_factory=dict)
    sensitivity: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


Analysis = Callable[[Analysed, Options], Findings]


@dataclass(frozen=True)
class ProtocolAnalysis:
    """The analysis of one protocol.

    Attributes:
        run: the function.
        keys: the keys of all tables that it may make, so that a plan that names one which cannot be made is understood.
        pooled: makes tables over several studies whose protocols have this same function here; None if there are none.
    """

    run: Analysis
    keys: tuple[str, ...] = ()
    pooled: Callable[[Sequence[Analysed], Options], Findings] | None = None
