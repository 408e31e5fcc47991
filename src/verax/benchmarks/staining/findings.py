"""What a staining run found of each explainer, as rows: with every model, and over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

from verax.results.findings import Finding, against_random, content_key, is_compared, with_estimate
from verax.results.units import NONE, Unit
from verax.text import listed

if TYPE_CHECKING:
    from verax.benchmarks.staining.summary import Pair, Summary

PER_CENT = Unit("per cent")
AREA = "planted reasons found, area under recall curve"
RANK = "mean reciprocal rank of the planted reasons"
RECALL = "planted reasons found among the top {}"
FAMILY = "all differences of the run, by the maximum over flipped signs"


def staining_findings(summary: Summary) -> tuple[Finding, ...]:
    """One row for each explainer over the models that all of them have, and rows for each model by every measure."""
    template = Finding(
        method="",
        measure=AREA,
        estimate=None,
        unit=PER_CENT,
        counted="stains",
        name="stain",
        title=f"Staining, {listed(summary.spec.datasets, most=2)}",
        dataset=", ".join(summary.spec.datasets),
        model=", ".join(summary.spec.models),
        key=content_key(
            summary.spec.model_dump(), {name: one.hash for name, one in summary.datasets.items()}
        ),
    )
    labels = [label for label in summary.explainers if is_compared(label)]
    scored = [label for label in labels if any(label in pair.explainers for pair in summary.pairs)]
    pairs = [pair for pair in summary.pairs if scored and all(label in pair.explainers for label in scored)]
    overall = [
        _over_pairs(template, label, pairs) if label in scored and pairs else replace(template, method=label)
        for label in labels
    ]
    parts = [
        one
        for pair in summary.pairs
        for label in summary.explainers
        for one in _part(template, label, pair, summary)
    ]
    return (*overall, *parts)


def _over_pairs(template: Finding, label: str, pairs: Sequence[Pair]) -> Finding:
    """The mean over models, whose margin takes models of one dataset as dependent: they share their stains."""
    scores = [(pair, pair.explainers[label].auc) for pair in pairs]
    below: dict[str, float] = {}
    above: dict[str, float] = {}
    for pair, auc in scores:
        if auc.low is not None and auc.high is not None:
            below[pair.dataset] = below.get(pair.dataset, 0.0) + auc.mean - auc.low
            above[pair.dataset] = above.get(pair.dataset, 0.0) + auc.high - auc.mean
    mean = 100 * sum(auc.mean for _, auc in scores) / len(scores)
    known = all(auc.low is not None for _, auc in scores)
    lower, upper = (
        100 * sqrt(sum(each**2 for each in side.values())) / len(scores) for side in (below, above)
    )
    stains = sorted({int(auc.n) for _, auc in scores})
    spread = str(stains[0]) if len(stains) == 1 else f"{stains[0]} to {stains[-1]}"
    made = replace(
        template,
        method=label,
        estimate=mean,
        low=mean - lower if known else None,
        high=mean + upper if known else None,
        n=stains[0],
        rests_on=f"{len(scores)} models and datasets, {spread} stains each",
    )
    return against_random(made, [pair.differences.get("auc", ()) for pair in pairs], FAMILY)


def _part(template: Finding, label: str, pair: Pair, summary: Summary) -> Iterator[Finding]:
    """One explainer with one model by every measure; without a number where it was not scored."""
    part = replace(template, method=label, dataset=pair.dataset, model=pair.model, scope="part")
    scored = pair.explainers.get(label)
    if scored is None:
        yield part
        return
    yield against_random(with_estimate(part, scored.auc), [pair.differences.get("auc", ())], FAMILY)
    rank = with_estimate(replace(part, measure=RANK, unit=NONE), scored.mrr)
    yield against_random(rank, [pair.differences.get("mrr", ())], FAMILY)
    for budget, recall in zip(summary.budgets, scored.recall, strict=True):
        yield with_estimate(replace(part, measure=RECALL.format(budget)), recall)
