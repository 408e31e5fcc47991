"""The tables of a verification's report: the paper's Tables 1 and 2, and what is beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verax.benchmarks.rationale.partition import Spread
from verax.benchmarks.rationale.results import Timing
from verax.benchmarks.rationale.summary import (
    PUBLISHED,
    SETS,
    STRICT,
    Group,
    Scored,
    Summary,
    TargetSummary,
)
from verax.report.rationale.verdict import compared, place, shown, targets_of
from verax.stats import Estimate
from verax.stats.thresholds import FEWEST_UNITS
from verax.text import NOTHING, counted, duration, percent

SET_NAMES = {STRICT: "strict inputs", PUBLISHED: "all inputs that the paper keeps"}
METRICS = (
    "first word does nothing (A)",
    "some such word above a relevant one (B)",
    "such words above (C)",
    "area (AUC)",
)


@dataclass(frozen=True)
class Table:
    """A heading, columns and rows of text."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table_1(group: Group, summary: Summary, names: Mapping[str, str]) -> list[Table]:
    """Error rates over the targets of a group; one table per set of inputs."""
    tables = []
    for kind in SETS:
        found = group.sets[kind]
        if not found.explainers:
            continue
        own = [
            target.sets[kind].explainers for target in targets_of(summary, group) if target.sets[kind].inputs
        ]
        few = 1 < found.targets < FEWEST_UNITS
        rows = tuple(
            (
                names[label],
                summary.claims.get(label, ""),
                *_with_values(
                    _metrics(found.explainers[label]), [each[label].scored for each in own] if few else []
                ),
            )
            for label in summary.explainers
            if label in found.explainers
        )
        caption = f"{place(group)}, {SET_NAMES[kind]}: mean over {counted(found.targets, 'target')}" + (
            " with 95% intervals for others that are trained on the same data with other seeds"
            if found.targets >= FEWEST_UNITS
            else f", in parentheses the value of each; {found.targets} are too few for an interval of others that are "
            "trained on the same data with other seeds"
            if few
            else ""
        )
        tables.append(Table(caption, ("explainer", "claim", *METRICS), rows))
    return tables


def target_tables(target: TargetSummary, summary: Summary, names: Mapping[str, str]) -> list[Table]:
    """Error rates on the inputs of one target."""
    tables = []
    for kind in SETS:
        found = target.sets[kind]
        if not found.inputs:
            continue
        rows = tuple(
            (
                names[label],
                *_metrics(found.explainers[label].scored, spread=True),
                str(found.explainers[label].ties),
                _number(target.rows.get(label)),
            )
            for label in summary.explainers
            if label in found.explainers
        )
        caption = f"{SET_NAMES[kind]} ({found.inputs}), 95% intervals over inputs, standard deviations in parentheses"
        tables.append(Table(caption, ("explainer", *METRICS, "inputs with ties", "rows asked"), rows))
    return tables


def tau_tables(target: TargetSummary, summary: Summary, names: Mapping[str, str]) -> list[Table]:
    """The share of misranked inputs as a function of tau."""
    tables = []
    for kind in SETS:
        found = target.sets[kind]
        curves = {
            label: found.explainers[label].curve for label in summary.explainers if label in found.explainers
        }
        if not curves:
            continue
        first = next(iter(curves.values()))
        headings = ("explainer", *(f"tau = {point.tau:g} ({point.inputs} inputs)" for point in first))
        rows = tuple(
            (names[label], *(f"{percent(point.misranked)}, {point.above:.2f}" for point in curve))
            for label, curve in curves.items()
        )
        tables.append(
            Table(f"{SET_NAMES[kind]}: misranked inputs (B) and such words above (C) by tau", headings, rows)
        )
    return tables


def table_2(targets: Sequence[TargetSummary]) -> Table:
    """What is left of the test part with each target, and of what size."""
    headings = (
        "target", "accuracy", "words selected", "test texts", "N", "|x|", "|S_x|", "|SR_x|", "|N_x|",
        "% (S_Sx ≠ S_x)", "% (|SR_x| = 0)", "% strict",
    )  # fmt: skip
    rows = tuple(
        (
            f"{target.dataset}, {target.label}",
            percent(target.accuracy),
            percent(target.share),
            f"{target.test_set.inputs:,}",
            f"{target.test_set.kept:,}",
            *(_spread(each) for each in (target.test_set.words, target.test_set.selected)),
            *(_spread(each) for each in (target.test_set.relevant, target.test_set.irrelevant)),
            percent(target.test_set.handshakes),
            percent(target.test_set.without_relevant),
            shown(target.strict),
        )
        for target in targets
    )
    return Table("The test sets, as in the paper's Table 2: means with standard deviations", headings, rows)


def differences(group: Group, names: Mapping[str, str]) -> list[Table]:
    """Who is right more often than whom, over targets."""
    headings = ("pair", "inputs ranked right, first minus second, in points", "p (Holm)", "ahead")
    return [
        Table(
            f"{place(group)}, {SET_NAMES[kind]}: {group.sets[kind].targets} targets are the units",
            headings,
            tuple(compared(each, names) for each in group.sets[kind].differences),
        )
        for kind in SETS
        if group.sets[kind].differences and group.sets[kind].targets > 1
    ]


def cost_table(timings: Sequence[Timing], names: Mapping[str, str]) -> Table:
    """Seconds and rows per explanation."""
    rows = tuple(
        (names.get(timing.explainer, timing.explainer), f"{timing.dataset}, {timing.target}",
         duration(timing.seconds), f"{timing.rows:,.0f}")
        for timing in timings
    )  # fmt: skip
    return Table("Cost per explanation", ("explainer", "target", "time", "rows asked of the model"), rows)


def _metrics(scored: Scored, spread: bool = False) -> tuple[str, str, str, str]:
    return shown(scored.first), shown(scored.misranked), _plain(scored.above, spread), shown(scored.auc)


def _with_values(cells: tuple[str, ...], own: Sequence[Scored]) -> tuple[str, ...]:
    """Means with the value of each target behind them."""
    if not own:
        return cells
    values = (
        [f"{100 * one.first.mean:.1f}" for one in own],
        [f"{100 * one.misranked.mean:.1f}" for one in own],
        [f"{one.above.mean:.2f}" for one in own],
        [f"{100 * one.auc.mean:.1f}" for one in own],
    )
    return tuple(f"{cell} ({', '.join(each)})" for cell, each in zip(cells, values, strict=True))


def _plain(given: Estimate, spread: bool) -> str:
    """A number with its interval, or its standard deviation in parentheses, as the paper has it."""
    ends = "" if given.low is None or given.high is None else f" [{given.low:.2f}, {given.high:.2f}]"
    deviation = f" ({given.spread:.2f})" if spread and given.spread is not None else ""
    return f"{given.mean:.2f}{deviation}{ends}".replace("-", "−")


def _spread(given: Spread | None) -> str:
    return NOTHING if given is None else f"{given.mean:.1f} ({given.deviation:.1f})"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"
