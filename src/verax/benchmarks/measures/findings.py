"""What a comparison of measures found: by measure, whether it orders explanations as their known truth does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.contract import Failure
from verax.benchmarks.measures.jobs import Cell, CellResult, MeasureValues
from verax.benchmarks.measures.reasons import ADVERSARY, EQUALS, KNOWN, ORACLE, RUNGS, WITH_TAIL
from verax.codec import Record, decode
from verax.measures import measure
from verax.phrases import say as say_phrase
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.means import mean_share
from verax.stats.rank_correlations import kendall_rows
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA, FEWEST_FLIPPED, FEWEST_UNITS

say = partial(say_phrase, "measures")
ALL = "all"


@dataclass(frozen=True)
class EstimateRow(Record):
    """An estimate.

    Attributes:
        benchmark: that found it.
        dataset: of the models, or "all".
        model: the model, or "all".
        method: what is estimated: a measure, an explainer.
        measure: which number of it.
        unit: what the number is counted in.
        estimate: the number.
        low: lower end of its interval; None without one.
        high: upper end.
        level: of the interval.
        n: how many independent units it is over.
        counts: what n counts.
        p: of the test, None where none was made.
        p_adjusted: after the correction for its family.
        family: which tests were corrected together.
        better: "higher" or "lower"; empty for neither.
        simulated: whether people or models were simulated for it.
        key: by which a reader finds it.
    """

    benchmark: str
    dataset: str
    model: str
    method: str
    measure: str
    unit: str
    estimate: float
    low: float | None
    high: float | None
    level: float
    n: int
    counts: str
    p: float | None
    p_adjusted: float | None
    family: str
    better: str
    simulated: bool
    key: str


def row_of(
    found: Estimate,
    *,
    benchmark: str,
    method: str,
    measure: str,
    unit: str,
    better: str,
    counts: str,
    model: str = ALL,
    dataset: str = ALL,
    group: str = "",
    p: float | None = None,
    family: str = "",
) -> EstimateRow:
    """A row from an estimate; ``group`` tells rows of parts of the data apart (a sort of reason, a size)."""
    parts = [benchmark, measure, method, *(part for part in (dataset, model) if part != ALL), group]
    return EstimateRow(
        benchmark=benchmark,
        dataset=dataset,
        model=model,
        method=method,
        measure=f"{measure}, {group}" if group else measure,
        unit=unit,
        estimate=found.mean,
        low=found.low,
        high=found.high,
        level=found.level,
        n=found.n,
        counts=counts,
        p=p,
        p_adjusted=None,
        family=family,
        better=better,
        simulated=False,
        key=":".join(part for part in parts if part),
    )


def corrected(rows: Sequence[EstimateRow]) -> list[EstimateRow]:
    """The rows with Holm's correction inside each family."""
    adjusted: dict[int, float] = {}
    for family in dict.fromkeys(row.family for row in rows if row.family):
        places = [place for place, row in enumerate(rows) if row.family == family and row.p is not None]
        for place, p in zip(places, holm([rows[place].p for place in places]), strict=True):
            adjusted[place] = float(p)
    return [
        replace(row, p_adjusted=adjusted[place])
        if place in adjusted and not np.isnan(adjusted[place])
        else row
        for place, row in enumerate(rows)
    ]


BENCHMARK = "measures"
# The numbers of a measure.
ORDER, PREFERS, FALSE, FOOLED, ABOVE, TAIL, REPLACED = (
    "order as the truth",
    "prefers the truer",
    "prefers one of two equals",
    "prefers the adversary to the oracle",
    "puts it above the oracle",
    "prefers it to the oracle with the same tail",
    "same order with another replacement",
)
ROWS, SECONDS = "rows", "seconds"
# Differences in truth of two explanations of an input, from 0 to 1.
SIZES = (("a little truer", 0.0, 0.25), ("truer", 0.25, 0.6), ("far truer", 0.6, 1.01))
# Values that differ by less are equal: rounding is no preference.
SAME = 1e-9
# A tau from here on is an order that can be believed, as far as its interval lies above.
GOOD_ORDER = 0.6


@dataclass(frozen=True, eq=False)
class MeasuredCell:
    """One cell: the values of every measure, turned so that larger is better, and the truth."""

    cell: Cell
    result: CellResult
    truth: Mapping[str, FloatArray]

    def goodness(self, scored: MeasureValues) -> dict[str, FloatArray]:
        """By explainer, one value per input, larger is better."""
        made = measure(scored.measure)
        return {name: made.goodness(np.array(values)) for name, values in scored.values.items()}


@dataclass(frozen=True, eq=False)
class MeasuresFindings(Record):
    """What a run found.

    Attributes:
        estimates: one row per number.
        verdicts: by measure, what may be said of it, in words.
        sentences: the whole in a few sentences, the first is the answer.
        left_out: cells whose model did not learn its reason, in words.
        failures: jobs and explainers that failed.
        cells: how many could be used.
        stains: of how many planted reasons.
        models: in order.
        measures: in order.
        explainers: real ones, in order.
    """

    estimates: tuple[EstimateRow, ...]
    verdicts: dict[str, str]
    sentences: list[str]
    left_out: list[str]
    failures: tuple[Failure, ...]
    cells: int
    stains: int
    models: list[str]
    measures: list[str]
    explainers: list[str]
    hashes: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, object] = field(default_factory=dict)

    format: ClassVar = 1
    JSON: ClassVar = (..., "format")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What a finished run found, from its folder."""
        return decode(cls, json.loads((folder / "summary.json").read_text(encoding="utf-8")))

    def row(self, method: str, name: str, model: str = ALL) -> EstimateRow | None:
        """The estimate of a number of a measure; None if there is none."""
        return next(
            (
                row
                for row in self.estimates
                if row.method == method and row.measure == name and row.model == model
            ),
            None,
        )


def findings(
    cells: Sequence[tuple[Cell, CellResult]],
    failures: Sequence[Failure],
    measures: Sequence[str],
    explainers: Sequence[str],
    models: Sequence[str],
) -> MeasuresFindings:
    """Estimates over stains from the results of all cells."""
    used = [
        MeasuredCell(cell, result, {name: np.array(values) for name, values in result.truth.items()})
        for cell, result in cells
        if not result.problem
    ]
    labels = [measure(name).label for name in measures]
    rows: list[EstimateRow] = []
    for label in labels:
        rows += _rows_of(label, used, explainers, models)
    rows = corrected(rows)
    failed = list(failures)
    for cell, result in cells:
        failed += [Failure(f"{cell.job.name}, {name}", error) for name, error in result.failed.items()]
    found = MeasuresFindings(
        estimates=tuple(rows),
        verdicts={},
        sentences=[],
        left_out=[f"{cell.job.name}: {result.problem}" for cell, result in cells if result.problem],
        failures=tuple(failed),
        cells=len(used),
        stains=len({(one.cell.dataset, one.cell.stain) for one in used}),
        models=list(models),
        measures=labels,
        explainers=list(explainers),
    )
    found.verdicts.update({label: verdict_of(found, label) for label in labels})
    found.sentences.extend(_sentences(found))
    return found


def _rows_of(
    label: str, used: Sequence[MeasuredCell], explainers: Sequence[str], models: Sequence[str]
) -> list[EstimateRow]:
    usual = [(one, scored) for one in used for scored in one.result.scored if _is(scored, label, "")]
    rows: list[EstimateRow] = []

    def add(
        values: Sequence[tuple[MeasuredCell, float | None]],
        name: str,
        *,
        shares: bool,
        better: str,
        chance: float | None = None,
        unit: str = "",
        model: str = ALL,
        group: str = "",
        family: str = "",
    ) -> None:
        units = per_stain([(one, value) for one, value in values if value is not None])
        if not len(units):
            return
        found = mean_share(units) if shares else interval(units, 1.0 if unit == "tau" else None)
        p = None
        if chance is not None and len(units) >= FEWEST_FLIPPED:
            p = sign_flip(units - chance).p
        rows.append(
            row_of(
                found, benchmark=BENCHMARK, method=label, measure=name, unit=unit, better=better, counts="stains",
                model=model, group=group, p=p, family=family,
            )
        )  # fmt: skip

    parts: list[tuple[str, str, list[tuple[MeasuredCell, MeasureValues]]]] = [(ALL, "", usual)]
    parts += [(model, "", [pair for pair in usual if pair[0].cell.model == model]) for model in models]
    reasons = dict.fromkeys(one.cell.reason for one in used)
    parts += [(ALL, reason, [pair for pair in usual if pair[0].cell.reason == reason]) for reason in reasons]
    for model, reason, pairs in parts:
        whole = model == ALL and not reason
        of_part = {"model": model, "group": reason}
        part = "" if whole else f", {model}{reason}"
        taus = [(one, tau(one.goodness(scored), one.truth, RUNGS)) for one, scored in pairs]
        add(
            taus, ORDER, shares=False, better="higher", chance=0.0, unit="tau", **of_part,
            family=f"{ORDER}, over measures{part}",
        )  # fmt: skip
        prefers = [(one, preferred(one, scored, 0.0, 1.01)) for one, scored in pairs]
        add(
            prefers, PREFERS, shares=True, better="higher", chance=0.5, **of_part,
            family=f"{PREFERS}, over measures{part}",
        )  # fmt: skip
        if reason:
            continue
        for name in explainers:
            above = [(one, _above(one.goodness(scored), name, ORACLE)) for one, scored in pairs]
            add(above, f"{ABOVE}: {name}", shares=True, better="lower", model=model)
            wrongly = [(one, _wrongly(one, scored, name)) for one, scored in pairs]
            add(wrongly, f"{TAIL}: {name}", shares=True, better="lower", model=model)
    for size, low, high in SIZES:
        values = [(one, preferred(one, scored, low, high)) for one, scored in usual]
        add(values, PREFERS, shares=True, better="higher", group=size)
    add([(one, _claims(one.goodness(scored))) for one, scored in usual], FALSE, shares=True, better="lower")
    fooled = [(one, _fooled(one.goodness(scored))) for one, scored in usual]
    add(fooled, FOOLED, shares=True, better="lower")
    for absent in dict.fromkeys(
        scored.absent for one in used for scored in one.result.scored if scored.absent
    ):
        same = [
            (one, _same_order(one, label, absent))
            for one in used
            if any(_is(scored, label, absent) for scored in one.result.scored)
        ]
        add(same, REPLACED, shares=False, better="higher", unit="tau", group=absent)
    for name, value in ((ROWS, "rows"), (SECONDS, "seconds")):
        costs = [(one, float(getattr(scored, value))) for one, scored in usual]
        add(costs, name, shares=False, better="lower", unit=name)
    return rows


def _is(scored: MeasureValues, label: str, absent: str) -> bool:
    return scored.measure == label and scored.absent == absent and bool(scored.values)


def per_stain(values: Sequence[tuple[MeasuredCell, float]]) -> FloatArray:
    """One value per stain: the mean over its models."""
    stains: dict[tuple[str, int], list[float]] = {}
    for one, value in values:
        stains.setdefault((one.cell.dataset, one.cell.stain), []).append(value)
    return np.array([np.mean(own) for own in stains.values()])


def interval(units: FloatArray, most: float | None = None) -> Estimate:
    """The mean over stains with its interval, inside the scale; below five stains the mean only.

    Args:
        units: one value per stain.
        most: the scale reaches so far to both sides of 0; None where it has no ends.
    """
    found = mean_interval(units)
    if len(units) >= FEWEST_UNITS:
        if most is None or found.low is None or found.high is None:
            return found
        return replace(found, low=max(found.low, -most), high=min(found.high, most))
    return Estimate(found.mean, None, None, found.n, found.spread, found.level)


def tau(goodness: Mapping[str, FloatArray], truth: Mapping[str, FloatArray], names: Sequence[str]) -> float:
    """Kendall's tau-b between a measure's order of explainers, by their means, and the truth's; 0 without an order."""
    there = [name for name in names if name in goodness and name in truth]
    if len(there) < 3:
        return 0.0
    one = np.array([[_mean(goodness[name]) for name in there]])
    other = np.array([[truth[name].mean() for name in there]])
    found = float(kendall_rows(one, other)[0])
    return 0.0 if np.isnan(found) else found


def _mean(values: FloatArray) -> float:
    # Rounded, so that means that are equal but for their last digits tie.
    return float(np.round(values.mean(), 9))


def preferred(one: MeasuredCell, scored: MeasureValues, low: float, high: float) -> float | None:
    """The share of (input, pair of explanations) on which the truer one is preferred; half a point for a tie.

    Of pairs of explanations of known quality whose truth differs by more than low and less than high.
    """
    goodness = one.goodness(scored)
    names = [name for name in KNOWN if name in goodness]
    wins: list[FloatArray] = []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            gap = one.truth[first] - one.truth[second]
            counted = (np.abs(gap) > max(low, SAME)) & (np.abs(gap) <= high)
            better = (goodness[first] - goodness[second]) * np.sign(gap)
            wins.append(np.where(better > SAME, 1.0, np.where(better < -SAME, 0.0, 0.5))[counted])
    together = np.concatenate(wins) if wins else np.zeros(0)
    return float(together.mean()) if len(together) else None


def _claims(goodness: Mapping[str, FloatArray]) -> float | None:
    """Of pairs that are equally true, the share of which a test over inputs says that one is better."""
    tested = [
        float(sign_flip(goodness[first] - goodness[second]).p <= ALPHA)
        for first, second in EQUALS
        if first in goodness and second in goodness and len(goodness[first]) >= FEWEST_FLIPPED
    ]
    return float(np.mean(tested)) if tested else None


def _fooled(goodness: Mapping[str, FloatArray]) -> float | None:
    if ADVERSARY not in goodness or ORACLE not in goodness:
        return None
    gap = goodness[ADVERSARY] - goodness[ORACLE]
    return float(np.where(gap > SAME, 1.0, np.where(gap < -SAME, 0.0, 0.5)).mean())


def _above(goodness: Mapping[str, FloatArray], name: str, other: str) -> float | None:
    """1 if an explainer's mean is above another's, one half if they are equal."""
    if name not in goodness or other not in goodness:
        return None
    gap = _mean(goodness[name]) - _mean(goodness[other])
    return 1.0 if gap > SAME else 0.0 if gap < -SAME else 0.5


def _wrongly(one: MeasuredCell, scored: MeasureValues, name: str) -> float | None:
    """How often an explanation is preferred to a truer one that differs only in that the true reasons come first."""
    goodness, truer = one.goodness(scored), WITH_TAIL.format(name)
    if name not in goodness or truer not in goodness:
        return None
    counted = one.truth[truer] - one.truth[name] > SAME
    gap = (goodness[name] - goodness[truer])[counted]
    wins = np.where(gap > SAME, 1.0, np.where(gap < -SAME, 0.0, 0.5))
    return float(wins.mean()) if len(wins) else None


def _same_order(one: MeasuredCell, label: str, absent: str) -> float:
    """Tau between a measure's orders of the rungs with the usual and with another replacement, on the same inputs."""
    usual = next(scored for scored in one.result.scored if _is(scored, label, ""))
    other = next(scored for scored in one.result.scored if _is(scored, label, absent))
    goodness = one.goodness(other)
    some = {
        name: values[: len(goodness[name])]
        for name, values in one.goodness(usual).items()
        if name in goodness
    }
    return tau(goodness, some, RUNGS)


# What may be said of a measure, as summary.json has it; a phrase of measures.ftl each, in the order of the report.
VERDICTS = ("believable", "backwards", "says nothing", "weak", "not shown")


def verdict_of(found: MeasuresFindings, label: str, model: str = ALL) -> str:
    """What may be said of a measure: "believable", "backwards", "says nothing", "weak" or "not shown"."""
    order, prefers = found.row(label, ORDER, model), found.row(label, PREFERS, model)
    if order is None or prefers is None or order.low is None or order.high is None:
        return "not shown"
    claimed = order.p_adjusted is not None and order.p_adjusted <= ALPHA
    if order.high < 0 and claimed:
        return "backwards"
    if order.low >= GOOD_ORDER and claimed and (prefers.low or 0.0) > 0.5:
        return "believable"
    if order.low > 0 and claimed:
        return "weak"
    return "says nothing" if order.low <= 0 <= order.high else "not shown"


def _sentences(found: MeasuresFindings) -> list[str]:
    def those(verdict: str) -> list[str]:
        named = [label for label in found.measures if found.verdicts[label] == verdict]
        best: Callable[[str], float] = lambda label: -(getattr(found.row(label, ORDER), "estimate", 0.0))  # noqa: E731
        return sorted(named, key=best)

    said = [] if those("believable") else [say("believable-none")]
    for verdict in VERDICTS:
        if names := those(verdict):
            said.append(say(verdict.replace(" ", "-"), names=names))
    for model in found.models:
        for name in found.explainers:
            liked = [
                label
                for label in found.measures
                if (row := found.row(label, f"{TAIL}: {name}", model)) is not None and (row.low or 0.0) > 0.5
            ]
            if liked:
                said.append(say("prefers-untrue", model=model, names=liked, explainer=name))
    return said
