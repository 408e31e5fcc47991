"""The tables of a staining report as rows of words, and the run in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from verax.benchmarks.staining.estimates import most_recall
from verax.benchmarks.staining.findings import ExplainerScores, Pair, StainSummary
from verax.benchmarks.staining.run import Timing
from verax.benchmarks.staining.scores import ceiling, highest_reciprocal_rank
from verax.phrases import say as say_phrase
from verax.reporting.page import short_names
from verax.reporting.staining.answers import apart, methods, not_learnt, turned, versus, weights
from verax.reporting.staining.figures import CHECKS, FLOOR, checked
from verax.reporting.staining.verdict import staining_verdict
from verax.results.tables import verdict_lines
from verax.stats import Estimate
from verax.stats.thresholds import FEWEST_FLIPPED
from verax.text import NOTHING, duration, estimate, interval, p_text, points

say = partial(say_phrase, "staining")


@dataclass(frozen=True)
class DifferenceCell:
    """One difference, as a cell of the table shows it.

    Attributes:
        points: the difference in percentage points with its sign.
        interval: its ends in brackets.
        p: corrected.
        ahead: the winner, if the difference survives correction.
        stains: how many were compared, if not all that were scored.
    """

    points: str
    interval: str = ""
    p: str = ""
    ahead: str = ""
    stains: str = ""


def shown_estimate(given: Estimate | None) -> str:
    """An estimate of a share, in per cent with its interval."""
    return estimate(None if given is None else {"mean": given.mean, "low": given.low, "high": given.high})


def learnt_table(pairs: Sequence[Pair], stains: int) -> list[dict[str, str]]:
    """Per model the accuracies of the stained model and its twin, and how many stains took."""
    rows = []
    for pair in pairs:
        (stained, _), (original, twin), (outside, twin_outside) = (checked(pair, check) for check in CHECKS)
        rows.append(
            {
                "model": pair.model,
                "learnt": say("learnt-of", learnt=pair.stains_learnt, stains=stains),
                "stained_region": shown_estimate(stained),
                "original_region": shown_estimate(original),
                "twin_region": shown_estimate(twin),
                "outside": shown_estimate(outside),
                "twin_outside": shown_estimate(twin_outside),
            }
        )
    return rows


@dataclass(frozen=True)
class RecallRow:
    """One explainer with one model: what it rests on, and its numbers in words."""

    explainer: str
    model: str
    stains: str
    words: str
    numbers: list[str]


@dataclass(frozen=True)
class RecallTable:
    """Recall at a few budgets, the area and the reciprocal rank; a row per model and explainer, so that it sorts.

    Attributes:
        most: the largest possible value of each number, in per cent.
    """

    budgets: list[int]
    rows: list[RecallRow]
    most: list[str]


def recall_table(pairs: Sequence[Pair], names: Mapping[str, str], wanted: int) -> RecallTable:
    """Per model and explainer the recall at a few budgets, the area, and the mean reciprocal rank."""
    budgets = sorted({1, wanted, 5, 10})
    rows = []
    for pair in pairs:
        for label, shown in names.items():
            scored = pair.explainers.get(label)
            if scored is None:
                continue
            estimates = [*(scored.recall[budget - 1] for budget in budgets), scored.auc, scored.mrr]
            words = NOTHING if scored.words is None else str(scored.words)
            numbers = [shown_estimate(given) for given in estimates]
            rows.append(RecallRow(shown, pair.model, str(scored.stains), words, numbers))
    most = [
        *(min(1.0, budget / wanted) for budget in budgets),
        ceiling(wanted),
        highest_reciprocal_rank(wanted),
    ]
    return RecallTable(budgets, rows, [f"{100 * share:.0f}" for share in most])


@dataclass(frozen=True)
class DifferenceTable:
    """Pairs of explainers down, models across."""

    models: list[str]
    rows: list[tuple[tuple[str, str], list[DifferenceCell]]]


def difference_table(pairs: Sequence[Pair], names: Mapping[str, str], measure: str) -> DifferenceTable:
    """Two explainers a row, models across; those with random come last."""
    scored = {label for pair in pairs for label in methods(pair)}
    ordered = [label for label in names if label in scored]
    rivals = [(label, other) for place, label in enumerate(ordered) for other in ordered[place + 1 :]]
    if any(FLOOR in pair.explainers for pair in pairs):
        rivals += [(label, FLOOR) for label in ordered]
    rows = [
        ((names[label], names[other]), [compared(pair, label, other, names, measure) for pair in pairs])
        for label, other in rivals
    ]
    return DifferenceTable([pair.model for pair in pairs], rows)


def compared(pair: Pair, label: str, other: str, names: Mapping[str, str], measure: str) -> DifferenceCell:
    """Two explainers with one model; the winner is named only if the difference survives correction."""
    difference = versus(pair, label, other, measure)
    if difference is None or difference.mean is None:
        return DifferenceCell(NOTHING)
    winner = {"first": names[label], "second": names[other]}.get(difference.verdict, "")
    most = max(pair.explainers[rival].stains for rival in (label, other))
    stains = "" if difference.n == most else say("some-stains", compared=difference.n, scored=most)
    ends = interval(difference.low, difference.high)
    return DifferenceCell(points(difference.mean), ends, p_text(difference.p_holm), winner, stains)


@dataclass(frozen=True)
class CostTable:
    """Seconds and rows per explanation, explainers down and models across; the time to fit a model at the end."""

    models: list[str]
    rows: list[tuple[str, list[tuple[str, str]]]]
    fits: list[str]


def cost_table(
    dataset: str, models: Sequence[str], timings: Sequence[Timing], names: Mapping[str, str]
) -> CostTable:
    """What explaining and fitting on one dataset cost."""
    own = [timing for timing in timings if timing.dataset == dataset]
    by_place = {(timing.model, timing.explainer): timing for timing in own}
    used = [label for label in names if any((model, label) in by_place for model in models)]
    rows = [(names[label], [_cost(by_place.get((model, label))) for model in models]) for label in used]
    fits = {timing.model: duration(timing.fit_seconds) for timing in own}
    return CostTable(list(models), rows, [fits.get(model, NOTHING) for model in models] if fits else [])


def _cost(timing: Timing | None) -> tuple[str, str]:
    return (
        (NOTHING, "") if timing is None else (duration(timing.seconds), say("rows", rows=round(timing.rows)))
    )


# The budgets whose recall the terminal shows; the report has all of them.
SHOWN_BUDGETS = (2, 5, 10)


def terminal_summary(summary: StainSummary) -> RenderableType:
    """Tables of recall in percent with 95% intervals, one per dataset, and sentences on what stands out."""
    parts: list[RenderableType] = [*map(Text, verdict_lines(staining_verdict(summary))), Text()]
    for dataset in summary.spec.datasets:
        parts += [_recall_table(summary, dataset), Text()]
    parts += [Text(sentence) for sentence in findings(summary)]
    return Group(*parts)


def _recall_table(summary: StainSummary, dataset: str) -> Table:
    table = Table(
        title=say("terminal-table", dataset=dataset, size=summary.spec.size),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    explainers = short_names(summary.explainers)
    models = short_names(summary.spec.models)
    table.add_column("model", overflow="fold")
    table.add_column("explainer", min_width=12, overflow="fold")
    table.add_column("stains", justify="right")
    for heading in _headings(summary, "\n"):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in summary.pairs:
        if pair.dataset != dataset:
            continue
        name = models.get(pair.model, pair.model)
        for label in summary.explainers:
            scored = pair.explainers.get(label)
            if scored is not None:
                table.add_row(name, explainers[label], str(scored.stains), *_shown_recall(scored))
                name = ""
        if not pair.explainers:
            table.add_row(name, _nothing_scored(pair), "0", *([""] * (1 + len(SHOWN_BUDGETS))))
        table.add_section()
    return table


def _nothing_scored(pair: Pair) -> str:
    """Why a model has no line for any explainer."""
    if pair.errors:
        return say("nothing-errors")
    if pair.stains_apart:
        return say("nothing-apart")
    if pair.stains_failed and not pair.stains_left_out:
        return say("nothing-trials")
    return say("nothing-learnt")


def failed_explainers(summary: StainSummary) -> list[str]:
    """One sentence for each explainer that failed, with its first error."""
    return [
        say(
            "explainer-failed-first",
            dataset=pair.dataset,
            model=pair.model,
            failed=say("explainer-failed", name=label, stains=len(errors)),
            error=errors[0],
        )
        for pair in summary.pairs
        for label, errors in pair.errors.items()
    ]


def recall_rows(summary: StainSummary) -> list[tuple[str, ...]]:
    """The same tables as one, for places that draw their own: a row of headings, then one per explainer."""
    explainers = short_names(summary.explainers)
    rows = [("dataset", "model", "explainer", "stains", *_headings(summary, ", "))]
    for pair in summary.pairs:
        for label, scored in pair.explainers.items():
            shown = _shown_recall(scored)
            rows.append((pair.dataset, pair.model, explainers[label], str(scored.stains), *shown))
    return rows


def _headings(summary: StainSummary, between: str) -> list[str]:
    """What the columns of numbers are, with the most that can be had beside each."""
    most = most_recall(summary.spec)
    shown = {f"b = {budget}": most[budget - 1] for budget in SHOWN_BUDGETS} | {"area": summary.spec.ceiling}
    return [f"{name}{between}{say('at-most', most=f'{100 * share:.0f}')}" for name, share in shown.items()]


def _shown_recall(scored: ExplainerScores) -> list[str]:
    estimates = [scored.recall[budget - 1] for budget in SHOWN_BUDGETS]
    return [shown_estimate(given) for given in (*estimates, scored.auc)]


def findings(summary: StainSummary) -> list[str]:
    """One sentence per pair of dataset and model on which differences survive correction, and on what was left out."""
    leads = []
    others = []
    for pair in summary.pairs:
        of_model = {"dataset": pair.dataset, "model": pair.model}
        sure = [
            turned(difference) if difference.verdict == "second" else difference
            for difference in pair.differences["auc"]
            if difference.verdict != "none" and FLOOR not in (difference.first, difference.second)
        ]
        if sure:
            above = [say("above", first=one.first, second=one.second) for one in sure]
            leads.append(say("leads-of-model", **of_model, leads="; ".join(above)))
        notes = [*not_learnt(pair, summary.spec.plant), apart(pair), weights(pair)]
        others += [say("of-model", **of_model, sentence=note) for note in notes if note]
    for name, facts in summary.datasets.items():
        others += [say("of-dataset", dataset=name, sentence=sentence) for sentence in facts.planted]
    leads = leads or [say("no-leads", needed=FEWEST_FLIPPED)]
    return [*leads, *others, *failed_explainers(summary)]
