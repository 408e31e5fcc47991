"""What a verification found, typed to the end; `to_dict` is what stands in summary.json, and `from_dict` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import ClassVar, Literal

from verax.benchmarks.contract import Failure
from verax.benchmarks.rationale.rankings import TestSet
from verax.benchmarks.rationale.spec import ENOUGH, RationaleSpec
from verax.codec import Record
from verax.phrases import first_of, say
from verax.results.findings import (
    FORMAT,
    Finding,
    against_random,
    content_key,
    is_compared,
    with_estimate,
)
from verax.results.units import Unit
from verax.stats import Difference, Estimate

BENCHMARK = "rationale"
# The sets of inputs, the one whose guarantee is stronger first.
STRICT, PUBLISHED = "strict", "published"
SETS = (STRICT, PUBLISHED)
PER_CENT, WORDS = Unit("per cent"), Unit("words")
# What findings call them, and what is measured.
INPUTS = {STRICT: "strict inputs", PUBLISHED: "inputs"}
MISRANKED = "{inputs} with a word that does nothing above a clearly relevant one"
# The other measures of an explainer: in words, their unit, and which way is better.
OTHERS: dict[str, tuple[str, Unit, Literal["higher", "lower"]]] = {
    "first": ("{inputs} whose first word does nothing", PER_CENT, "lower"),
    "above": ("words that do nothing above the lowest clearly relevant one, {inputs}", WORDS, "lower"),
    "auc": ("clearly relevant words told from those that do nothing, area, {inputs}", PER_CENT, "higher"),
}
FAMILY = "all pairs of explainers on one target, by Holm"


@dataclass(frozen=True)
class ExplainerErrors:
    """How one explainer did.

    Attributes:
        first: the share of inputs whose first word does nothing (metric A).
        misranked: the share with a word that does nothing above a clearly relevant one (B).
        above: the number of such words above the lowest clearly relevant one (C).
        auc: the area under the curve of telling clearly relevant words from those that do nothing.
    """

    first: Estimate
    misranked: Estimate
    above: Estimate
    auc: Estimate


@dataclass(frozen=True)
class AtTau:
    """The metrics where a clearly relevant word must move the output by more."""

    tau: float
    inputs: int
    first: float
    misranked: float
    above: float
    auc: float


@dataclass(frozen=True)
class OnInputs:
    """One explainer on the inputs of one target; the input is the unit.

    Attributes:
        scored: its errors, with intervals over inputs.
        ties: inputs in which a word that does nothing ties with a clearly relevant one, so that chance decides.
        curve: the same errors for larger tau.
    """

    scored: ExplainerErrors
    ties: int
    curve: tuple[AtTau, ...]


@dataclass(frozen=True)
class TargetSet:
    """A set of one target's inputs: how many, the explainers by label, and differences in misranked inputs."""

    inputs: int
    explainers: Mapping[str, OnInputs]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class TargetSummary:
    """One target and everybody on it.

    Attributes:
        dataset: its name.
        label: of the target.
        difficulty: of the test that it makes, or the model's name where its options decide that; None for a model that
            was there already.
        seed: of its training.
        accuracy: on the test part.
        validation_accuracy: after its training.
        share: of the test part's words that it selects.
        test_set: the paper's Table 2.
        strict: the share of the inputs that can serve that are strict, of those on which it was tried.
        sets: strict inputs, and all that the paper would keep.
        rows: asked of the model per explanation, by explainer.
        errors: what explainers raised, by label; they are not scored on this target.
        training: share of words selected and validation accuracy, after each epoch.
        squared_error: mean squared error on the test part, where labels are ratings.
    """

    dataset: str
    label: str
    difficulty: str | None
    seed: int
    accuracy: float
    validation_accuracy: float | None
    share: float
    test_set: TestSet
    strict: Estimate
    sets: Mapping[str, TargetSet]
    rows: Mapping[str, float]
    errors: Mapping[str, tuple[str, ...]]
    training: tuple[tuple[float, ...], ...]
    squared_error: float | None = None


@dataclass(frozen=True)
class GroupSet:
    """All targets of a group; the target is the unit.

    Attributes:
        targets: with inputs of this set.
        explainers: by label, those that were scored on all these targets.
        differences: in the share of misranked inputs, over targets.
        least: per target the explainer, other than the floor, that misranks the fewest inputs; several where they tie.
    """

    targets: int
    explainers: Mapping[str, ExplainerErrors]
    differences: tuple[Difference, ...]
    least: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Group:
    """Targets of one dataset that were trained alike but for their seed."""

    dataset: str
    difficulty: str | None
    targets: int
    sets: Mapping[str, GroupSet]


@dataclass(frozen=True)
class Texts:
    """The texts of a set, each counted once for all targets.

    Attributes:
        texts: that some target has in this set.
        erred: those that the explainer misranks with at least one target.
    """

    texts: int
    erred: int


@dataclass(frozen=True)
class RationaleSummary(Record):
    """Everything that a run found, without a trace of when or where it ran.

    Attributes:
        spec: what was asked.
        explainers: labels in order, the floor and the ceiling among them.
        claims: what the scores of each claim: "additive", "selective", "none" or "undeclared".
        hashes: of the datasets' content.
        targets: one by one.
        groups: targets that differ in their seed alone.
        failures: jobs that failed.
        texts: by set of inputs and explainer, what the claim that it hardly ever errs with these targets rests on.
    """

    spec: RationaleSpec
    explainers: tuple[str, ...]
    claims: Mapping[str, str]
    hashes: Mapping[str, str]
    targets: tuple[TargetSummary, ...]
    groups: tuple[Group, ...]
    failures: tuple[Failure, ...]
    texts: Mapping[str, Mapping[str, Texts]] = field(default_factory=dict)

    benchmark: ClassVar = BENCHMARK
    findings_format: ClassVar = FORMAT
    JSON: ClassVar = (..., "benchmark", "findings_format", "findings")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each explainer, as rows."""
        return rationale_findings(self)


def rationale_findings(summary: RationaleSummary) -> tuple[Finding, ...]:
    """One row for each explainer over all groups of targets, and rows for each group by every measure.

    Strict inputs count where every target has enough of them, as in the run's own report; else all that are kept.
    """
    strict = bool(summary.targets) and all(
        target.sets["strict"].inputs >= ENOUGH for target in summary.targets
    )
    kind = "strict" if strict else "published"
    template = Finding(
        method="",
        measure=MISRANKED.format(inputs=INPUTS[kind]),
        estimate=None,
        unit=PER_CENT,
        counted="targets",
        better="lower",
        name="rationale",
        title=say("rationale", "title", datasets=first_of(summary.spec.datasets, 2)),
        dataset=", ".join(summary.spec.datasets),
        model=", ".join(summary.spec.models),
        key=content_key(summary.spec.model_dump(), dict(summary.hashes)),
    )
    sets = [group.sets[kind] for group in summary.groups]
    tested = [target.sets[kind].differences for target in summary.targets]
    overall = []
    for label in filter(is_compared, summary.explainers):
        made = replace(template, method=label)
        if sets and all(label in found.explainers for found in sets):
            made = against_random(_over_groups(made, sets), tested, FAMILY)
        overall.append(made)
    parts = [
        one
        for group in summary.groups
        for label in summary.explainers
        for one in _part(replace(template, method=label, scope="part"), group, summary)
    ]
    return (*overall, *parts)


def _over_groups(made: Finding, sets: Sequence[GroupSet]) -> Finding:
    """The mean over groups, whose targets are trained apart: their errors are independent."""
    shares = [found.explainers[made.method].misranked for found in sets]
    # The longer side: the other may be cut at 0 or 1.
    margins = [
        max(share.high - share.mean, share.mean - share.low)
        for share in shares
        if share.low is not None and share.high is not None
    ]
    mean = 100 * sum(share.mean for share in shares) / len(shares)
    known = len(margins) == len(shares)
    margin = 100 * sqrt(sum(each**2 for each in margins)) / len(shares)
    return replace(
        made,
        estimate=mean,
        low=max(0.0, mean - margin) if known else None,
        high=min(100.0, mean + margin) if known else None,
        n=sum(found.targets for found in sets),
    )


def _part(part: Finding, group: Group, summary: RationaleSummary) -> Iterator[Finding]:
    """One explainer on one group of targets by every measure and set of inputs; no number where it was not scored."""
    model = "" if group.difficulty is None else say("rationale", "model", difficulty=group.difficulty)
    part = replace(part, dataset=group.dataset, model=model)
    targets = [
        target
        for target in summary.targets
        if (target.dataset, target.difficulty) == (group.dataset, group.difficulty)
    ]
    for kind, inputs in INPUTS.items():
        found = group.sets[kind]
        scored = found.explainers.get(part.method)
        named = replace(part, measure=MISRANKED.format(inputs=inputs), n=found.targets)
        if scored is None:
            yield named
            continue
        differences = [target.sets[kind].differences for target in targets]
        yield against_random(with_estimate(named, scored.misranked), differences, FAMILY)
        for measure, (words, unit, better) in OTHERS.items():
            other = replace(named, measure=words.format(inputs=inputs), unit=unit, better=better)
            yield with_estimate(other, getattr(scored, measure))
