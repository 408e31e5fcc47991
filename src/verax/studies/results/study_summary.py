"""How a study is analysed, and the summary of its analysis, typed to the end.

`Summary.to_dict` is what stands in summary.json, and `Summary.from_dict` reads it; a later version is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

from verax.codec import NOT_WRITTEN, Record, decode, written
from verax.options import default_of
from verax.results.figures import Figure, Flow
from verax.results.findings import FORMAT, Finding
from verax.results.tables import Table
from verax.results.units import POINTS, Unit
from verax.results.verdict import Sign
from verax.stats.thresholds import ALPHA
from verax.studies.definition.options import AnalyzeSpec, Estimator
from verax.studies.results.study_facts import Attrition, Balance, ItemResult, ModelFacts

People = Literal["participants", "bots"]
USUAL: Estimator = default_of(AnalyzeSpec, "estimator")

OWN_REPLICATES = 5_000
# What Hase and Bansal (2020) drew.
PUBLISHED_CHANGE, PUBLISHED_MEANS, PUBLISHED_REGRESSION = 25_000, 10_000, 15_000


@dataclass(frozen=True)
class Options:
    """How to analyse.

    Attributes:
        estimator: whose tables of Change to report; "hase2020" is the published procedure, labelled as a reproduction.
            The primary analysis is by "crossed" in any case.
        replicates: of each bootstrap. None gives 5,000 to our own, and to the published procedure what was published:
            25,000 for Change, 10,000 for means, 15,000 for the regression on ratings.
        seed: of everything random.
        level: coverage of intervals.
        mended: defects of the published procedure that shall be mended, by their names in
            `verax.stats.hase2020.Defects`; none of them by default.
        bots: analyse the bots instead of the people; the two are never mixed.
        session_term: within people, account for the session in which a condition was met.
        methods_only: in the tables as published, count people who saw a method's explanations and nobody else: without
            conditions that the paper had not, in "User Avg." and in the fit of Pre too.
        refuse_unequal: within people, refuse to analyse where rows of the design are filled unequally.
    """

    estimator: Estimator = USUAL
    replicates: int | None = None
    seed: int = 0
    level: float = 0.95
    mended: tuple[str, ...] = ()
    bots: bool = False
    session_term: bool = False
    refuse_unequal: bool = False
    methods_only: bool = False

    @property
    def own_replicates(self) -> int:
        """Of the bootstraps that are not a published procedure."""
        return self.replicates or OWN_REPLICATES

    @property
    def change_replicates(self) -> int:
        """Of Change as published."""
        return self.replicates or PUBLISHED_CHANGE

    @property
    def mean_replicates(self) -> int:
        """Of means as published: accuracy before explanations, and ratings."""
        return self.replicates or PUBLISHED_MEANS

    @property
    def regression_replicates(self) -> int:
        """Of the published regression of right answers on ratings."""
        return self.replicates or PUBLISHED_REGRESSION


# Endings of the names of lines that are differences: from a reference, or of after and before.
AGAINST, CHANGE = "-vs-", "-change"


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
        uneven: whether there is no claim because conditions were not met equally early and late.
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
    uneven: bool = False

    @property
    def is_difference(self) -> bool:
        """Whether the estimate is a difference: from a reference, or of after and before."""
        return AGAINST in self.key or self.key.endswith(CHANGE)

    @property
    def reference(self) -> str:
        """The condition that it is a difference from; empty if there is none."""
        return self.key.split(AGAINST, 1)[1] if AGAINST in self.key else ""

    @property
    def sign(self) -> Sign:
        """Whether a difference is clear after correction, and which way."""
        clear = self.conclusive and self.p_adjusted is not None and self.p_adjusted <= ALPHA
        if not self.is_difference or not clear or self.estimate is None:
            return "open"
        return "yes" if self.estimate > 0 else "no"


@dataclass(frozen=True)
class Primary:
    """The primary analysis of a study: one measure, one line per condition, and what it means.

    Attributes:
        stands_in: whether the study's own primary analysis could not be made and this takes its place: nobody planned
            it under the name "primary".
    """

    measure: str
    unit: Unit
    sentence: str
    estimates: tuple[PrimaryEstimate, ...] = ()
    # It decides on the marks of the plan, which are made when it is written.
    stands_in: bool = field(default=False, metadata=NOT_WRITTEN)


@dataclass(frozen=True)
class MethodLine:
    """What the joint report compares: one line per method.

    Attributes:
        explainer: the explainer of the condition ("lime"), by which methods are matched with benchmarks.
        condition: its name in this study.
        measure: what is measured.
        unit: of the numbers.
    """

    explainer: str | None
    condition: str
    measure: str
    unit: Unit
    estimate: float | None
    low: float | None
    high: float | None
    participants: int
    items: int
    higher_is_better: bool = True


@dataclass(frozen=True)
class Variant:
    """An estimate of the primary analysis under another decision, and whether the conclusion turns with it."""

    variant: str
    condition: str
    estimate: float | None
    interval: Sequence[float] | None
    turns: bool


@dataclass(frozen=True)
class LeftOut:
    """The estimates of a condition with each item, or each participant, left out in turn.

    Attributes:
        left_out: "item" or "participant".
        tried: how many were left out.
        turns: whether the conclusion turns without one of them.
        turned_by: without whom, the first ten.
    """

    left_out: str
    condition: str
    estimate: float | None
    lowest: float | None
    highest: float | None
    tried: int
    turns: bool
    turned_by: tuple[str, ...]


AS_ANALYSED = "as analysed"
EVERYBODY = "everybody who answered (intention to treat)"
WITHOUT_LATE = "late answers left out"


def _has_turning(one: Sensitivity) -> bool:
    return one.turning is not None


@dataclass(frozen=True)
class Sensitivity:
    """The primary estimates in all variants.

    Attributes:
        late_answers: how many there are.
        variants: by variant and condition.
        leave_one_out: empty where nobody is analysed per protocol.
        turning: when a conclusion turns, where it is not by the interval of one line alone.
        without_change: how many people have no change, where there are changes.
        unit: of the estimates.
    """

    late_answers: int
    variants: tuple[Variant, ...] = ()
    leave_one_out: tuple[LeftOut, ...] = ()
    turning: str | None = field(default=None, metadata=written(when=_has_turning))
    without_change: int | None = field(default=None, metadata=written(when=_has_turning))
    # That of the primary analysis, and written where there is none.
    unit: Unit = field(
        default=POINTS, metadata=written(when=lambda one: not (_has_turning(one) or one.leave_one_out))
    )


@dataclass(frozen=True)
class Summary(Record):
    """What the answers of a study say.

    Attributes:
        title, protocol, hash, dataset, model: the study.
        people: whether its answers are of people or of bots.
        frozen: when it was frozen, if it was.
        source: where the answers come from.
        flow, attrition, balance: who took part.
        procedure: how they were treated, one sentence each.
        primary: None where nothing of it can be estimated; ``problems`` says why.
        methods: what the joint report compares.
        tables, figures: in the order of the report.
        sensitivity: None where there is nothing to vary.
        estimators: by name, plain values: every estimator in full.
        problems: what could not be estimated, and why; one sentence each.
        items: what became of single items, where that is told.
        analysis_plan: what was planned, by name, in words.
        options: how it was analysed.
        versions: of the libraries.
    """

    title: str
    protocol: str
    hash: str
    dataset: str
    flow: Flow
    model: ModelFacts = field(default_factory=ModelFacts)
    people: People = "participants"
    frozen: str | None = None
    source: str = ""
    attrition: Attrition | None = None
    balance: Balance | None = None
    procedure: tuple[str, ...] = ()
    primary: Primary | None = None
    methods: tuple[MethodLine, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    sensitivity: Sensitivity | None = field(default=None, metadata=written(none={}))
    estimators: Mapping[str, object] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    items: tuple[ItemResult, ...] = ()
    analysis_plan: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    versions: Mapping[str, str | None] = field(default_factory=dict)

    format: ClassVar = 3
    kind: ClassVar = "study"
    findings_format: ClassVar = FORMAT
    JSON: ClassVar = (..., "format", "kind", "findings_format", "findings")

    @property
    def all_tables(self) -> list[Table]:
        """Those on who took part, and those of the analysis."""
        return [table for table in (self.attrition, self.balance, *self.tables) if table is not None]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each method, as rows."""
        primary = self.primary
        lines = {} if primary is None else {line.condition: line for line in primary.estimates}
        found = []
        for line in self.methods:
            tested = lines.get(line.condition) if primary and line.measure == primary.measure else None
            made = Finding(
                method=line.explainer or "none",
                label=line.condition,
                measure=line.measure,
                estimate=line.estimate,
                low=line.low,
                high=line.high,
                unit=line.unit,
                n=line.participants,
                counted="participants",
                better="higher" if line.higher_is_better else "lower",
                source="study",
                name=self.protocol,
                title=self.title,
                dataset=self.dataset,
                model=self.model.name,
                simulated=self.people == "bots",
                rests_on=f"{line.participants} participants, {line.items} items",
                key=self.hash,
            )
            found.append(made if tested is None else _tested(made, tested))
        return tuple(found)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """The summary that summary.json holds; its sensitivity analysis has the unit of its primary analysis."""
        varied, primary = data.get("sensitivity"), data.get("primary")
        if isinstance(varied, dict) and varied and isinstance(primary, dict) and "unit" in primary:
            data = {**data, "sensitivity": {"unit": primary["unit"], **varied}}
        return decode(cls, data)


def _tested(made: Finding, line: PrimaryEstimate) -> Finding:
    """A finding with the test of the primary analysis."""
    against = line.reference or ("before" if line.key.endswith(CHANGE) else "")
    return replace(
        made,
        p=line.p,
        p_adjusted=line.p_adjusted,
        family=f"the primary analysis, by {line.adjustment}" if line.adjustment != "none" else "",
        compared_with=against,
        sign=line.sign,
    )
