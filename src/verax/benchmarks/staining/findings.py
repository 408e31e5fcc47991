"""What a staining run found, typed to the end; `to_dict` is what stands in summary.json, and `from_dict` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import ClassVar

from verax.benchmarks.contract import Failure
from verax.benchmarks.staining.spec import StainSpec
from verax.benchmarks.staining.stainable import Facts
from verax.codec import Record, written
from verax.phrases import say
from verax.results.findings import (
    FORMAT,
    Finding,
    against_random,
    content_key,
    is_compared,
    with_estimate,
)
from verax.results.units import NONE, Unit
from verax.stats import Difference, Estimate, Ranking
from verax.text import listed

BENCHMARK = "stain"
PER_CENT = Unit("per cent")
AREA = "planted reasons found, area under recall curve"
RANK = "mean reciprocal rank of the planted reasons"
RECALL = "planted reasons found among the top {}"
FAMILY = "all differences of the run, by the maximum over flipped signs"


@dataclass(frozen=True)
class StainedDataset:
    """The stains of one dataset: what they are, and how often one had to be drawn again.

    Attributes:
        hash: of the dataset's content.
        stains: in words, one per seed.
        distinct_stains: how many differ.
        distinct_words: of how many words (or columns) all of them are made; None in files of older versions.
        region: test inputs of each.
        redrawn: why draws could not serve, counted.
        correlated: words and columns that no model sees because they are copies of another one, with that one.
        facts: what the paper's Table 2 says of it; None in files of older versions.
        planted: how stains were planted and what was tried for it, in sentences; empty where the run was told how.
    """

    hash: str
    stains: tuple[str, ...]
    distinct_stains: int
    region: tuple[int, ...]
    redrawn: Mapping[str, int]
    correlated: tuple[tuple[str, ...], ...]
    distinct_words: int | None = None
    facts: Facts | None = None
    planted: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """A stain that a model did not learn, with its accuracies.

    Attributes:
        weight: how many times a stained training input counted.
        reason: "memorised" (right on the stained training inputs, not on others), "not representable" (not even
            there) or "said without it" (of inputs without the stain too).
        decided: the share of the flipped test inputs that a planted stain decides.
        decoys: accuracy on inputs that have all features of a planted stain but one.
    """

    stain: int
    shown: str
    stained_region: float
    original_region: float
    outside: float
    stained_region_train: float | None = None
    weight: int | None = None
    reason: str = ""
    decided: float | None = None
    decoys: float | None = None


@dataclass(frozen=True)
class UnshownStain:
    """A stain that a model obeys for other reasons: its own, where they can be read, do not show it.

    Attributes:
        reasons: how much of the stain they show, the recall of the ground truth among |F| features.
    """

    stain: int
    shown: str
    reasons: float


@dataclass(frozen=True)
class TwinAccuracies:
    """How often the unstained model is right, over all stains."""

    original_region: Estimate
    outside: Estimate


@dataclass(frozen=True)
class Accuracies:
    """How often stained models are right, over all stains (the paper's Figure 2), and their unstained twin."""

    stained_region: Estimate
    original_region: Estimate
    outside: Estimate
    stained_region_train: Estimate | None = field(
        default=None, metadata=written(when=lambda one: one.stained_region_train)
    )
    twin: TwinAccuracies | None = field(default=None, metadata=written(when=lambda one: one.twin))


@dataclass(frozen=True)
class ExplainerScores:
    """How one explainer did, over stains.

    Attributes:
        stains, inputs: what it rests on.
        recall: for each budget.
        auc: the area under the recall curve.
        mrr: the mean reciprocal rank.
        rows: asked of the model per explanation.
        words: of how many words (or columns) those stains are made; None in files of older versions.
        nonsense: replies of the model that name no word of the input; None of explainers that do not ask it for words.
    """

    stains: int
    inputs: int
    recall: tuple[Estimate, ...]
    auc: Estimate
    mrr: Estimate
    rows: float
    words: int | None = None
    nonsense: int | None = None


@dataclass(frozen=True)
class Pair:
    """One dataset and one model: whether the stains took, and how the explainers did. summary.json calls it a cell.

    Attributes:
        stains_used: learnt, and scored.
        stains_left_out: not learnt.
        stains_failed: whose training failed.
        explainers: by label, those that were scored.
        errors: what explainers raised, by label.
        differences: between explainers on the same stains, by measure; corrected over the whole run.
        stains_apart: learnt, but not by the stain's features, and so not scored.
        weights: how many times a stained training input counted, for each stain that was scored.
        accuracies: None where no stained model could be trained.
    """

    dataset: str
    model: str
    stains_used: int
    stains_left_out: tuple[LeftOut, ...]
    stains_failed: tuple[int, ...]
    explainers: Mapping[str, ExplainerScores]
    errors: Mapping[str, tuple[str, ...]]
    differences: Mapping[str, tuple[Difference, ...]]
    stains_apart: tuple[UnshownStain, ...] = ()
    weights: tuple[int, ...] = ()
    accuracies: Accuracies | None = field(default=None, metadata=written("took", none={}))

    @property
    def stains_learnt(self) -> int:
        """How many stains the model obeys, by their features or for other reasons."""
        return self.stains_used + len(self.stains_apart)


@dataclass(frozen=True)
class StainSummary(Record):
    """Everything that a run found, without a trace of when or where it ran.

    Attributes:
        spec: what was asked.
        explainers: labels in order, the floor and the ceiling among them.
        budgets: numbers of features shown.
        datasets: by name.
        pairs: datasets with models.
        ranks: average ranks over the pairs that all explainers have; None with less than two explainers.
        failures: jobs that failed.
        overall: each explainer's area under the recall curve, mean over the pairs that it was scored with; its interval
            is over stains, which models share. Nothing in files of older versions.
    """

    spec: StainSpec
    explainers: tuple[str, ...]
    budgets: tuple[int, ...]
    datasets: Mapping[str, StainedDataset]
    failures: tuple[Failure, ...]
    ranks: Ranking | None = None
    overall: Mapping[str, Estimate] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = field(default=(), metadata=written("cells"))

    benchmark: ClassVar = BENCHMARK
    findings_format: ClassVar = FORMAT
    JSON: ClassVar = (..., "benchmark", "findings_format", "findings")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each explainer, as rows."""
        return staining_findings(self)


def staining_findings(summary: StainSummary) -> tuple[Finding, ...]:
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
    spread = stains[0] if len(stains) == 1 else f"{stains[0]} to {stains[-1]}"
    made = replace(
        template,
        method=label,
        estimate=mean,
        low=mean - lower if known else None,
        high=mean + upper if known else None,
        n=stains[0],
        rests_on=say("staining", "over-models", pairs=len(scores), stains=spread),
    )
    return against_random(made, [pair.differences.get("auc", ()) for pair in pairs], FAMILY)


def _part(template: Finding, label: str, pair: Pair, summary: StainSummary) -> Iterator[Finding]:
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
