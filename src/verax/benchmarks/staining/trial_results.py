"""What a trial gives: the form in which its job's value is stored as JSON, and read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from verax.codec import decode
from verax.run.jobs import Outcome

# Why a model did not learn its stain.
MEMORISED, NOT_REPRESENTABLE = "memorised", "not representable"
# Why a model that says the stain's label of all stained inputs cannot serve: it says so of the others too.
SAID_WITHOUT = "said without it"
# A planted stain must decide such a share of what it flips: with it the model says its label, without it another.
FEWEST_DECIDED = 0.1
# Where it decides so many, it does not matter that the model does not follow it on some others.
ENOUGH_DECIDED = 0.5
# Where a model's own reasons show less of the stain than this, no faithful explanation can show more.
REASONED = 0.9


@dataclass(frozen=True)
class StainFacts:
    """A stain as plain data.

    Attributes:
        rules: label, literals and features of each.
        shown: all of it in words, by which stains are told apart.
        rejected: why draws before it could not serve, counted.
    """

    rules: list[dict[str, object]]
    shown: str
    rejected: Mapping[str, int]


@dataclass(frozen=True)
class Checks:
    """Accuracy inside and outside the stained region of the test part, against stained and original labels.

    Attributes:
        decided: the share of the flipped test inputs that a planted stain decides; None where stains are drawn.
    """

    stained_region: float
    original_region: float
    outside: float
    stained_region_train: float | None = None
    decided: float | None = None

    def why_not(self, learnt: float) -> str:
        """Why a model did not learn its stain: it knows its training inputs by something else, or cannot say it."""
        if self.stained_region_train is None:
            return ""
        if self.decided is not None and self.decided < FEWEST_DECIDED and self.stained_region >= learnt:
            return SAID_WITHOUT
        return MEMORISED if self.stained_region_train >= learnt else NOT_REPRESENTABLE


@dataclass(frozen=True)
class Scores:
    """How one explainer did on the inputs of one trial, in their order.

    Attributes:
        recall: of each input, for each budget.
        mrr: the mean over the stain's features of one over their rank.
        features: how many the explanation scores.
        rows: asked of the model.
        seconds: per explanation.
        examples: explanations that are kept for a reader.
    """

    recall: list[list[float]]
    mrr: list[float]
    features: list[int]
    rows: list[int]
    seconds: float
    examples: list[dict[str, object]]


@dataclass(frozen=True)
class Failed:
    """An explainer that raised."""

    error: str


@dataclass(frozen=True)
class TrialResult:
    """One stain with one model and all explainers.

    Attributes:
        stain: which it was.
        region: the test inputs that it applies to, by their places.
        checks: whether it took.
        fit_seconds: of the stained model.
        learnt: whether it took well enough for explanations to be scored.
        inputs: the flipped inputs that were explained, by their places.
        wanted: the features to be found in the first of them.
        explainers: by label.
        weight: how many times a stained training input counted.
        reasons: how much of the stain the model's own reasons show, where they can be read: the mean recall of the
            ground truth among as many features as the stain has.
    """

    stain: StainFacts
    region: list[int]
    checks: Checks
    fit_seconds: float
    learnt: bool
    inputs: list[int] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)
    explainers: Mapping[str, Scores | Failed] = field(default_factory=dict)
    weight: int | None = None
    reasons: float | None = None

    def json_names(self) -> list[str]:
        """Of a model that did not learn its stain nothing was explained."""
        unexplained = () if self.learnt else ("inputs", "wanted")
        return [attribute.name for attribute in fields(self) if attribute.name not in unexplained]

    def scored(self) -> dict[str, Scores]:
        """The explainers that did not raise."""
        return {label: given for label, given in self.explainers.items() if isinstance(given, Scores)}

    @property
    def reasoned(self) -> bool:
        """Whether the model's own reasons show the stain; taken for granted where they cannot be read."""
        return self.reasons is None or self.reasons >= REASONED


def result_of(outcome: Outcome) -> TrialResult | None:
    """What a trial's job gave; None if it failed."""
    return None if outcome.value is None else decode(TrialResult, outcome.value, outcome.name)
