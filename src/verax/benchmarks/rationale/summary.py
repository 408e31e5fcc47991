"""What a verification found, typed to the end; `to_dict` is what stands in summary.json, and `from_dict` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from verax.benchmarks.failure import Failure
from verax.benchmarks.rationale.findings import rationale_findings
from verax.benchmarks.rationale.partition import TestSet
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.codec import decode, encoded
from verax.results.findings import Finding, findings_json
from verax.stats import Difference, Estimate

BENCHMARK = "rationale"
# The sets of inputs, the one whose guarantee is stronger first.
STRICT, PUBLISHED = "strict", "published"
SETS = (STRICT, PUBLISHED)


@dataclass(frozen=True)
class Scored:
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

    scored: Scored
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
    explainers: Mapping[str, Scored]
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
class Summary:
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

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each explainer, as rows."""
        return rationale_findings(self)

    def to_dict(self) -> dict[str, object]:
        """What stands in summary.json."""
        own = {"benchmark": BENCHMARK, "spec": self.spec.model_dump()}
        return encoded(self) | own | findings_json(self.findings)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Summary:
        """What summary.json holds."""
        spec = data["spec"]
        assert isinstance(spec, Mapping)
        return decode(cls, {**data, "spec": RationaleSpec(**spec)})
