"""The tables of a staining report as rows of words, ready to be set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verax.benchmarks.staining.results import Timing
from verax.benchmarks.staining.scores import ceiling, highest_reciprocal_rank
from verax.benchmarks.staining.summary import Pair
from verax.report.staining.answers import methods, versus
from verax.report.staining.figures import CHECKS, FLOOR, checked
from verax.stats import Estimate
from verax.text import NOTHING, duration, estimate, interval, p_text, points


@dataclass(frozen=True)
class Compared:
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


def took_table(pairs: Sequence[Pair], stains: int) -> list[dict[str, str]]:
    """Per model the accuracies of the stained model and its twin, and how many stains took."""
    rows = []
    for pair in pairs:
        (stained, _), (original, twin), (outside, twin_outside) = (checked(pair, check) for check in CHECKS)
        rows.append(
            {
                "model": pair.model,
                "learnt": f"{pair.stains_learnt} of {stains}",
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
    rows: list[tuple[tuple[str, str], list[Compared]]]


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


def compared(pair: Pair, label: str, other: str, names: Mapping[str, str], measure: str) -> Compared:
    """Two explainers with one model; the winner is named only if the difference survives correction."""
    difference = versus(pair, label, other, measure)
    if difference is None or difference.mean is None:
        return Compared(NOTHING)
    winner = {"first": names[label], "second": names[other]}.get(difference.verdict, "")
    most = max(pair.explainers[rival].stains for rival in (label, other))
    stains = "" if difference.n == most else f"{difference.n} of {most} stains"
    ends = interval(difference.low, difference.high)
    return Compared(points(difference.mean), ends, p_text(difference.p_holm), winner, stains)


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
    return (NOTHING, "") if timing is None else (duration(timing.seconds), f"{timing.rows:,.0f} rows")
