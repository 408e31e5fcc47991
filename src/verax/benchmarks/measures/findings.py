"""What a comparison of measures found, by measure; a whole run, and its raw measurements as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.contract import Failure, Found, Planned, Stages
from verax.benchmarks.measures.jobs import CellResult, MeasureValues
from verax.benchmarks.measures.reasons import ADVERSARY, EQUALS, KNOWN, ORACLE, RANDOM, RUNGS, WITH_TAIL
from verax.benchmarks.measures.spec import MeasuresSpec
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
from verax.measures import measure
from verax.phrases import say as say_phrase
from verax.results.findings import Finding
from verax.results.units import Unit
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.means import any_share, mean_share
from verax.stats.rank_correlations import kendall_rows
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA, FEWEST_FLIPPED, FEWEST_UNITS
from verax.text import percent

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "measures")


def row_of(
    found: Estimate,
    *,
    benchmark: str,
    method: str,
    measure: str,
    unit: str,
    better: Literal["higher", "lower"],
    counted: str,
    model: str = ALL,
    dataset: str = ALL,
    group: str = "",
    p: float | None = None,
    family: str = "",
) -> Finding:
    """A row from an estimate; ``group`` tells rows of parts of the data apart (a sort of reason, a size)."""
    return Finding(
        method=method,
        measure=f"{measure}, {group}" if group else measure,
        estimate=found.mean,
        low=found.low,
        high=found.high,
        level=found.level,
        unit=Unit(unit),
        n=found.n,
        counted=counted,
        p=p,
        family=family,
        better=better,
        name=benchmark,
        dataset=dataset,
        model=model,
        scope="part",
    )


def corrected(rows: Sequence[Finding]) -> list[Finding]:
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
# What stands in a measure's place where all of them are taken together.
EVERY = "all measures"
# Of an explainer: what a measure says of it, which other evaluations of explainers are compared with.
VALUE = "value of"
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


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuresSummary(CellsSummary):
    """What a comparison of measures found; methods are measures, and explainers where it is their value.

    Attributes:
        verdicts: by measure, what may be said of it, in words.
        measures: in order.
        explainers: real ones, in order.
    """

    verdicts: dict[str, str]
    measures: list[str]
    explainers: list[str]

    benchmark: ClassVar = BENCHMARK


def findings(
    cells: Sequence[tuple[Cell, CellResult]],
    failures: Sequence[Failure],
    measures: Sequence[str],
    explainers: Sequence[str],
    models: Sequence[str],
) -> MeasuresSummary:
    """Estimates over stains from the results of all cells."""
    used = [
        MeasuredCell(cell, result, {name: np.array(values) for name, values in result.truth.items()})
        for cell, result in cells
        if not result.problem
    ]
    labels = [measure(name).label for name in measures]
    rows: list[Finding] = []
    for label in labels:
        rows += _rows_of(label, used, explainers, models)
        rows += _values_of(label, used, explainers)
    rows = corrected([*rows, *_false_claims(used, labels)])
    found = MeasuresSummary(
        findings=tuple(rows),
        verdicts={},
        sentences=[],
        left_out=left_out(cells),
        failures=(*failures, *failed_explainers(cells)),
        cells=len(used),
        stains=len({(one.cell.dataset, one.cell.stain) for one in used}),
        models=list(models),
        measures=labels,
        explainers=list(explainers),
    )
    found.verdicts.update({label: verdict_of(found, label) for label in labels})
    found.sentences.extend([*_sentences(found), *_not_taken(used)])
    return found


def _not_taken(used: Sequence[MeasuredCell]) -> list[str]:
    """Which measures an explainer's explanations have no values of, with the first reason; alike ones together."""
    refused: dict[str, dict[str, str]] = {}
    for one in used:
        for scored in one.result.scored:
            label = f"{scored.measure} (absent={scored.absent})" if scored.absent else scored.measure
            for name, why in scored.errors.items():
                refused.setdefault(name, {}).setdefault(label, why)
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, own in refused.items():
        alike.setdefault(tuple(own), []).append(name)
    return [
        say("not-taken", explainers=names, measures=list(labels), why=refused[names[0]][labels[0]])
        for labels, names in alike.items()
    ]


def _rows_of(
    label: str, used: Sequence[MeasuredCell], explainers: Sequence[str], models: Sequence[str]
) -> list[Finding]:
    usual = [(one, scored) for one in used for scored in one.result.scored if _is(scored, label, "")]
    rows: list[Finding] = []

    def add(
        values: Sequence[tuple[MeasuredCell, float | None]],
        name: str,
        *,
        shares: bool,
        better: Literal["higher", "lower"],
        few: bool = False,
        chance: float | None = None,
        unit: str = "",
        model: str = ALL,
        group: str = "",
        family: str = "",
    ) -> None:
        units = per_stain([(one, value) for one, value in values if value is not None])
        if not len(units):
            return
        if few:  # a stain's share is of few inputs, or 0 or 1: how stains spread is not seen where they agree
            found = any_share(units)
        else:
            found = mean_share(units) if shares else interval(units, 1.0 if unit == "tau" else None)
        p = None
        if chance is not None and len(units) >= FEWEST_FLIPPED:
            p = sign_flip(units - chance).p
        rows.append(
            row_of(
                found, benchmark=BENCHMARK, method=label, measure=name, unit=unit, better=better, counted="stains",
                model=model, group=group, p=p, family=family,
            )
        )  # fmt: skip

    parts: list[tuple[str, str, list[tuple[MeasuredCell, MeasureValues]]]] = [(ALL, "", usual)]
    parts += [(model, "", [pair for pair in usual if pair[0].cell.model == model]) for model in models]
    reasons = dict.fromkeys(one.cell.reason for one in used)
    parts += [(ALL, reason, [pair for pair in usual if pair[0].cell.reason == reason]) for reason in reasons]
    for model, reason, pairs in parts:
        whole = model == ALL and not reason
        part = "" if whole else f", {model}{reason}"
        taus = [(one, tau(one.goodness(scored), one.truth, RUNGS)) for one, scored in pairs]
        add(
            taus, ORDER, shares=False, better="higher", chance=0.0, unit="tau", model=model, group=reason,
            family=f"{ORDER}, over measures{part}",
        )  # fmt: skip
        prefers = [(one, preferred(one, scored, 0.0, 1.01)) for one, scored in pairs]
        add(
            prefers, PREFERS, shares=True, better="higher", chance=0.5, model=model, group=reason,
            family=f"{PREFERS}, over measures{part}",
        )  # fmt: skip
        if reason:
            continue
        for name in explainers:
            above = [(one, _above(one.goodness(scored), name, ORACLE)) for one, scored in pairs]
            add(above, f"{ABOVE}: {name}", shares=True, few=True, better="lower", model=model)
            wrongly = [(one, _wrongly(one, scored, name)) for one, scored in pairs]
            add(
                wrongly, f"{TAIL}: {name}", shares=True, few=True, better="lower", chance=0.5, model=model,
                family=f"{TAIL}: {name}, over measures{part}",
            )  # fmt: skip
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


def _values_of(label: str, used: Sequence[MeasuredCell], explainers: Sequence[str]) -> list[Finding]:
    """The mean value of every explainer by a measure, as it is: what stands beside other evaluations of explainers."""
    made = measure(label)
    rows = []
    for name in (RANDOM, *explainers):
        units = per_stain(
            [
                (one, float(np.mean(scored.values[name])))
                for one in used
                for scored in one.result.scored
                if _is(scored, label, "") and name in scored.values
            ]
        )
        if len(units):
            row = row_of(
                interval(units), benchmark=BENCHMARK, method=name, measure=f"{VALUE} {label}", unit="",
                better=made.better, counted="stains",
            )  # fmt: skip
            rows.append(replace(row, title=label, scope="overall"))
    return rows


def _false_claims(used: Sequence[MeasuredCell], labels: Sequence[str]) -> list[Finding]:
    """How often a test prefers one of two equals, over all measures."""
    claims = [
        (one, share)
        for one in used
        for scored in one.result.scored
        if any(_is(scored, label, "") for label in labels)
        and (share := _claims(one.goodness(scored))) is not None
    ]
    if not claims:
        return []
    found = mean_share(per_stain(claims))
    return [
        row_of(found, benchmark=BENCHMARK, method=EVERY, measure=FALSE, unit="", better="lower", counted="stains")
    ]  # fmt: skip


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


def verdict_of(found: MeasuresSummary, label: str, model: str = ALL) -> str:
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


def _sentences(found: MeasuresSummary) -> list[str]:
    def those(verdict: str) -> list[str]:
        named = [label for label in found.measures if found.verdicts[label] == verdict]
        best: Callable[[str], float] = lambda label: -(getattr(found.row(label, ORDER), "estimate", 0.0))  # noqa: E731
        return sorted(named, key=best)

    said = [] if those("believable") else [say("believable-none")]
    for verdict in VERDICTS:
        if names := those(verdict):
            said.append(say(verdict.replace(" ", "-"), names=names))
    for model in found.models:
        for verdict in VERDICTS[1:4]:
            worse = [
                label
                for label in found.measures
                if found.verdicts[label] in ("believable", "weak")
                and verdict_of(found, label, model) == verdict != found.verdicts[label]
            ]
            if worse:
                said.append(say("worse-on", model=model, names=worse, verdict=verdict.replace(" ", "-")))
        for name in found.explainers:
            liked = [
                label
                for label in found.measures
                if (row := found.row(label, f"{TAIL}: {name}", model)) is not None
                and row.p_adjusted is not None
                and row.p_adjusted <= ALPHA
                and (row.estimate or 0.0) > 0.5
            ]
            if liked:
                said.append(say("prefers-untrue", model=model, names=liked, explainer=name))
    if (equals := found.row(EVERY, FALSE)) is not None and equals.estimate is not None:
        said.append(say("equals", share=with_interval(equals.estimate, equals.low, equals.high)))
    return said


def with_interval(share: float, low: float | None, high: float | None) -> str:
    """A share in per cent, with its interval."""
    ends = "" if low is None or high is None else f" [{percent(low)}, {percent(high)}]"
    return percent(share) + ends


def planned_run(plan: CellsPlan[MeasuresSpec]) -> Planned[MeasuresSummary]:
    """The run of a plan."""
    return plan.planned(BENCHMARK, _stages)


def _stages(plan: CellsPlan[MeasuresSpec]) -> Stages[MeasuresSummary]:
    done, failures = yield from cell_results(plan, CellResult)
    spec = plan.spec
    found = findings(done, failures, spec.measures, plan.explainers, spec.models)
    return Found(with_origin(found, plan), measurements(done))


def measurements(done: Sequence[tuple[Cell, CellResult]]) -> pd.DataFrame:
    """One row per explanation and measure: its value, and how true the explanation is."""
    import pandas as pd

    rows = [
        (cell.dataset, cell.stain, cell.reason, cell.model, name, scored.measure, scored.absent, place, value,
         result.truth[name][place])
        for cell, result in done
        for scored in result.scored
        for name, values in scored.values.items()
        for place, value in enumerate(values)
    ]  # fmt: skip
    columns = (
        "dataset", "stain", "reason", "model", "explainer", "measure", "absent", "input", "value", "truth",
    )  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns))
