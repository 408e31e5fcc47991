"""What a staining run found, typed to the end; `to_dict` is what stands in summary.json, and `from_dict` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from verax.benchmarks.failure import Failure
from verax.benchmarks.staining.facts import Facts
from verax.benchmarks.staining.findings import staining_findings
from verax.benchmarks.staining.spec import StainSpec
from verax.codec import decode, encoded
from verax.results.findings import Finding, findings_json
from verax.stats import Difference, Estimate, Ranking

BENCHMARK = "stain"


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


@dataclass(frozen=True)
class Apart:
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
    stained_region_train: Estimate | None = None
    twin: TwinAccuracies | None = None

    def json_names(self) -> list[str]:
        """Without a twin that could not be trained."""
        return [attribute.name for attribute in fields(self) if getattr(self, attribute.name) is not None]


@dataclass(frozen=True)
class Scored:
    """How one explainer did, over stains.

    Attributes:
        stains, inputs: what it rests on.
        recall: for each budget.
        auc: the area under the recall curve.
        mrr: the mean reciprocal rank.
        rows: asked of the model per explanation.
        words: of how many words (or columns) those stains are made; None in files of older versions.
    """

    stains: int
    inputs: int
    recall: tuple[Estimate, ...]
    auc: Estimate
    mrr: Estimate
    rows: float
    words: int | None = None


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
    explainers: Mapping[str, Scored]
    errors: Mapping[str, tuple[str, ...]]
    differences: Mapping[str, tuple[Difference, ...]]
    stains_apart: tuple[Apart, ...] = ()
    weights: tuple[int, ...] = ()
    accuracies: Accuracies | None = None

    @property
    def stains_learnt(self) -> int:
        """How many stains the model obeys, by their features or for other reasons."""
        return self.stains_used + len(self.stains_apart)

    @property
    def took(self) -> object:
        """The accuracies by their name in the file, where nothing is an empty object."""
        return self.accuracies or {}

    def json_names(self) -> list[str]:
        """With the accuracies by the name that they have in the file."""
        return [attribute.name for attribute in fields(self)[:-1]] + ["took"]

    @classmethod
    def completed(cls, data: dict[str, object]) -> dict[str, object]:
        """The same the other way round."""
        return data | {"accuracies": data.get("took")}


@dataclass(frozen=True)
class Summary:
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
    pairs: tuple[Pair, ...] = ()

    @property
    def cells(self) -> tuple[Pair, ...]:
        """The pairs by their name in the file."""
        return self.pairs

    def json_names(self) -> list[str]:
        """With the pairs by the name that they have in the file."""
        return [attribute.name for attribute in fields(self)[:-1]] + ["cells"]

    @classmethod
    def completed(cls, data: dict[str, object]) -> dict[str, object]:
        """The same the other way round."""
        return data | {"pairs": data.get("cells")}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each explainer, as rows."""
        return staining_findings(self)

    def to_dict(self) -> dict[str, object]:
        """What stands in summary.json."""
        own = {"benchmark": BENCHMARK, "spec": self.spec.model_dump()}
        return encoded(self) | own | findings_json(self.findings)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Summary:
        """What summary.json holds."""
        spec = data["spec"]
        assert isinstance(spec, Mapping)
        return decode(cls, {**data, "spec": StainSpec(**spec)})
