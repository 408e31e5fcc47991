"""What explainers reached on a model's own predictions, as data: the measured values, and what may be said of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from verax.report.explanations.comparison import Comparison
from verax.results.verdict import Sign
from verax.stats.thresholds import ALPHA

if TYPE_CHECKING:
    from verax.explain.explanation import Explanation
    from verax.workflows.planted import PlantedTrial

# An explanation that reaches so much of the way from random features to the best is close to the best, or to random.
CLOSE, FAR = 0.8, 0.2
# An explanation is no better than random features if its interval ends below this.
FAR_AT_MOST = 0.5
# Below so many points of probability nothing is to be found: the model's answer does not change.
NO_ROOM = 1e-4
# Where taking away does so little beside leaving alone, the model has more reasons than one for the same answer.
REDUNDANT = 0.2


@dataclass(frozen=True)
class Trial:
    """What one explainer reached; worths are means over inputs, in points of probability.

    Attributes:
        name: the explainer's.
        worth: of the features it names: mean of how far they are needed and how far they are enough.
        needed: how far the explained class's probability falls without them.
        enough: how far it rises with nothing but them.
        chance: worth of as many random features.
        best: worth of the best features that were found, as many as may be named or fewer.
        reached: how far of the way from random to the best; None where no feature matters.
        low: lower end of its 95% interval over inputs; None below five inputs or without spread.
        high: upper end.
        p: of the exact test against random features, not corrected; None if it names nothing.
        corrected: the same after correction over all claims of the verdict.
        smallest: the smallest p that the test allows, that of the best features; not corrected.
        possible: whether anything could have been shown of it after correction.
        seeds: share of its features that other seeds name too; None if it draws nothing or that was not asked.
        others: share of its features that the other explainers name too; None if it is alone.
        rows: rows asked of the model for one explanation.
        seconds: that one explanation took.
        idle: share of its features that do nothing for the answer.
        silent: inputs of which it names none.
        control: whether its scores are random on purpose.
        worths: of each input.
        falls: how far the probability falls without the named features, for each input.
        named: the features that it names, for each input.
    """

    name: str
    worth: float
    needed: float
    enough: float
    chance: float
    best: float
    reached: float | None
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    smallest: float
    possible: bool
    seeds: float | None
    others: float | None
    rows: float
    seconds: float
    idle: float
    silent: int
    control: bool
    worths: tuple[float, ...] = field(repr=False)
    falls: tuple[float, ...] = field(repr=False)
    named: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def shown(self) -> bool:
        """Whether it is shown to name better features than random ones, after correction."""
        return self.corrected is not None and self.corrected <= ALPHA

    @property
    def sign(self) -> Sign:
        """What is said of it: yes, a part, no, or nothing."""
        if self.reached is None or self.silent == len(self.worths):
            return "open"
        if self.shown:
            return "yes" if self.reached >= CLOSE else "part"
        # That it is no better has to be shown as well: its interval must lie far from the best.
        far = self.reached <= FAR and self.high is not None and self.high <= FAR_AT_MOST
        return "no" if far else "open"

    @property
    def words(self) -> str:
        """The same in a few words."""
        if self.silent == len(self.worths):
            return "names no feature"
        if self.reached is None:
            return "nothing to name"
        if self.sign == "open" and not self.possible:
            return "cannot be told with so few inputs"
        return {
            "yes": "names what the answers rest on",
            "part": "names a part of it" if self.reached > FAR else "names little of it",
            "no": "no better than random features",
            "open": "not shown to beat random features",
        }[self.sign]


@dataclass(frozen=True)
class Lead:
    """That one explainer is shown to be ahead of another, after correction over all claims of the verdict."""

    ahead: str
    behind: str
    corrected: float


@dataclass(frozen=True)
class Findings:
    """What all explainers reached on the same predictions of one model.

    Attributes:
        inputs: how many were judged.
        features: how many features an input has, on average.
        kind: "text" or "table".
        trials: what each explainer reached.
        leads: which explainers are shown to be ahead of which.
        redundant: whether a few features are enough for the answer though taking any few away changes little.
        planted: what explainers found of reasons that were planted in copies of the model; None if none were.
        notes: sentences on what was left out, replaced or not done, and why.
        explanations: every explanation, by explainer, in the order of the inputs.
        seconds: that judging took.
        places: which of the given inputs were judged, counted from 0.
        comparison: the explanations side by side, for a page.
    """

    inputs: int
    features: float
    kind: Literal["text", "table"]
    trials: tuple[Trial, ...]
    leads: tuple[Lead, ...] = ()
    redundant: bool = False
    planted: PlantedTrial | None = None
    notes: tuple[str, ...] = ()
    explanations: Mapping[str, Sequence[Explanation]] = field(default_factory=dict, repr=False)
    seconds: float = 0.0
    places: tuple[int, ...] = ()
    comparison: Comparison | None = field(default=None, repr=False)
