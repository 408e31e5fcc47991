"""Kinds of explanations that are not scores: rules, paths, exemplars, and what is shown as it was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.explanation import (
    Attribution,
    Cost,
    Explanation,
    equal_but_for_cost,
    same_fields,
    short_repr,
)
from verax.notebook import bars_html, paragraph_html, table_html
from verax.phrases import say
from verax.text import signed_from_zero

# ---- Rules


@dataclass(frozen=True)
class RuleStep:
    """A rule on the way to the last one.

    Attributes:
        conditions: numbers of the features that have to stay, in the order in which they came to the rule.
        precision: the share of perturbed inputs under the rule that keep the prediction, as far as was sampled.
        coverage: the share of inputs to which the rule applies: of perturbed texts, or of training rows.
    """

    conditions: tuple[int, ...]
    precision: float
    coverage: float


@dataclass(frozen=True)
class Rule(Explanation):
    """If these features stay as they are, the prediction stays, whatever happens to the others.

    Attributes:
        features: all features of the input: the distinct words of a text, or the columns of a row.
        conditions: numbers of the features that have to stay, the first chosen first. None at all is a rule too: the
            prediction holds whatever is changed.
        named: each condition in words: the word, or "Age <= 28.00".
        precision: the share of perturbed inputs under the rule that keep the prediction.
        lowest: the lower end of its interval.
        coverage: the share of inputs to which the rule applies: of perturbed texts, or of training rows.
        reached: whether the wanted precision was reached; if not, this is the most precise rule that was found.
        steps: the rules on the way, the empty one first.
        target: the class that is predicted under the rule.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        details: how it was made.
        cost: rows, calls and seconds; two explanations that differ in nothing else are equal.
        explainer: the explainer that made it, as code.
    """

    features: tuple[str, ...]
    conditions: tuple[int, ...]
    named: tuple[str, ...]
    precision: float
    lowest: float
    coverage: float
    reached: bool
    steps: tuple[RuleStep, ...]
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "rule"

    def __post_init__(self) -> None:
        if len(set(self.conditions)) < len(self.conditions) or not all(
            0 <= number < len(self.features) for number in self.conditions
        ):
            raise VeraxError(
                f"The conditions {list(self.conditions)} of a rule must be different numbers of its "
                f"{len(self.features)} features, from 0."
            )
        if len(self.named) != len(self.conditions):
            raise VeraxError(f"{len(self.conditions)} conditions need as many names, not {len(self.named)}.")

    def ranking(self) -> list[int]:
        """Numbers of the features: the conditions in their order, then the others in the order of the input."""
        chosen = set(self.conditions)
        return [*self.conditions, *(number for number in range(len(self.features)) if number not in chosen)]

    def as_attribution(self) -> Attribution:
        """Scores in the order of the conditions, 1 for the first; 0 for what is not in the rule."""
        scores = np.zeros(len(self.features))
        count = len(self.conditions)
        scores[list(self.conditions)] = np.arange(count, 0, -1) / max(1, count)
        return Attribution(
            features=self.features,
            scores=scores,
            **same_fields(self),
        )

    @property
    def measured(self) -> bool:
        """Whether the model was asked how precise the rule is; not so where nothing can be changed, for one."""
        return self.details.get("fresh samples") != 0

    def __repr__(self) -> str:
        nothing = "whatever is changed" if self.reached else "no condition found"
        kept = " and ".join(map(repr, self.named)) or nothing
        return short_repr(self, f"{kept}, precision {self.precision:.3f}, coverage {self.coverage:.3f}")

    def _repr_html_(self) -> str:
        target = self.target_name or self.target
        kept = f"as long as this stays: {', '.join(self.named)}" if self.named else "whatever is changed"
        said = f"The model says {target} {kept}."
        if not self.named and not self.reached:
            said = f"No condition was found under which the model says {target}."
        sentences = [said]
        if self.measured:
            sentences.append(
                f"{self.precision:.1%} of perturbed inputs keep the prediction (at least {self.lowest:.1%}); "
                f"the rule applies to {self.coverage:.1%}."
            )
        return paragraph_html(*sentences, bold=self.explainer)


# ---- Paths

# So many steps are shown; of a longer path the last ones (Hase and Bansal 2020, section 3.4).
STEPS_SHOWN = 4
# The score of an edited feature, as a share of the largest, is at least this.
LEAST = 1e-6


@dataclass(frozen=True)
class Edit:
    """One change on the way.

    Attributes:
        feature: the number of the feature that is changed.
        place: the number of the word among the text's words; None in a row.
        before: the word, or the value.
        after: what it becomes.
    """

    feature: int
    place: int | None
    before: str
    after: str


@dataclass(frozen=True)
class Path(Explanation):
    """Edits after which the model predicts another class, the one that changes least first.

    Attributes:
        features: of the input: the distinct words of a text, or the columns of a row.
        edits: in the order of the path; none if no sample has another prediction.
        margins: the evidence margin of the input, then after each edit; see ``decision-boundary`` for what it is.
        flipped_to: the name of the class that is predicted in the end; empty without edits.
        target: the class that is explained: the one that is predicted for the input, or else there are no edits and
            ``details["predicted"]`` names the one that is.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        details: how it was made.
        cost: rows, calls and seconds; two explanations that differ in nothing else are equal.
        explainer: the explainer that made it, as code.
    """

    features: tuple[str, ...]
    edits: tuple[Edit, ...]
    margins: tuple[float, ...]
    flipped_to: str
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "path"

    def __post_init__(self) -> None:
        if len(self.margins) != len(self.edits) + 1:
            raise VeraxError(
                f"A path of {len(self.edits)} edits has {len(self.edits) + 1} margins, not {len(self.margins)}."
            )
        if not all(0 <= edit.feature < len(self.features) for edit in self.edits):
            raise VeraxError(
                f"An edit of a path changes one of its {len(self.features)} features, by number from 0."
            )

    @property
    def shown(self) -> list[int]:
        """The numbers of the steps that are shown, from 1: all of them, or the last four."""
        return list(range(max(1, len(self.edits) - STEPS_SHOWN + 1), len(self.edits) + 1))

    def ranking(self) -> list[int]:
        """Numbers of the features: the edited ones by how far their edits move the margin, then the others."""
        return self.as_attribution().ranking()

    def as_attribution(self) -> Attribution:
        """For each feature how far its edits move the margin, to either side; 0 for what is not edited.

        No score is negative: only together do the edits take the prediction away, and what one of them moves depends on
        those before it. An edit that moves nothing by itself is still one of those that are needed: its feature scores
        ``LEAST`` of the largest score, never 0.
        """
        moved = np.zeros(len(self.features))
        edited = np.array([edit.feature for edit in self.edits], dtype=np.intp)
        np.add.at(moved, edited, np.abs(np.diff(self.margins)))
        moved[edited] = np.maximum(moved[edited], LEAST * (moved.max(initial=0.0) or 1.0))
        return Attribution(
            features=self.features,
            scores=moved,
            **same_fields(self),
        )

    @property
    def nothing_found(self) -> str:
        """What there is to say of a path without edits."""
        name = self.target_name or str(self.target)
        return say(
            "described", "path-not-predicted" if "predicted" in self.details else "path-none", name=name
        )

    def __repr__(self) -> str:
        edits = ", ".join(f"{edit.before!r} to {edit.after!r}" for edit in self.edits)
        return short_repr(self, f"{edits} gives {self.flipped_to}" if edits else "no edits change it")

    def _repr_html_(self) -> str:
        name = self.target_name or str(self.target)
        if not self.edits:
            return paragraph_html(self.nothing_found, bold=self.explainer)
        said = f"Edits that change the prediction from {name} to {self.flipped_to}; at first the evidence margin is"
        rows = [
            (edit.before, edit.after, signed_from_zero(margin))
            for edit, margin in zip(self.edits, self.margins[1:], strict=True)
        ]
        return paragraph_html(
            f"{said} {signed_from_zero(self.margins[0])}.", bold=self.explainer
        ) + table_html(("before", "after", "evidence margin"), rows)


# ---- Exemplars

# So many features are shown, and none whose importance is below a threshold (the published code's).
FEATURES_SHOWN = 6
THRESHOLD, SMALL = 0.1, 0.03
# Similarities and importances are shown on this scale.
OUT_OF = 10


@dataclass(frozen=True, eq=False)
class Exemplar(Explanation):
    """The prototype of the explained class that an input is nearest to.

    Attributes:
        features: of the input: the distinct words of a text, or the columns of a row.
        scores: by how much each feature makes the input more similar to the prototype, out of 10.
        similarity: to the prototype, between 0 and 1.
        prototype: the training text, or the training row as a tuple of "column = value".
        prototype_label: the name of the class that it is labelled with.
        target: the class that is explained.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        details: how it was made.
        cost: rows, calls and seconds; two explanations that differ in nothing else are equal.
        explainer: the explainer that made it, as code.
    """

    features: tuple[str, ...]
    scores: FloatArray
    similarity: float
    prototype: str | tuple[str, ...]
    prototype_label: str
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    details: dict[str, object] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    explainer: str = ""

    kind: ClassVar[str] = "exemplar"

    def __post_init__(self) -> None:
        scores = self.as_attribution().scores  # which checks them
        object.__setattr__(self, "scores", scores)

    @property
    def important(self) -> list[int]:
        """The numbers of at most six features, the largest importance by magnitude first; none below the threshold."""
        largest = float(np.abs(self.scores).max(initial=0.0))
        least = min(THRESHOLD, largest / 2) if largest > THRESHOLD else SMALL
        return [number for number in self.ranking()[:FEATURES_SHOWN] if abs(self.scores[number]) >= least]

    def __repr__(self) -> str:
        return short_repr(
            self, f"like {self.prototype!r} ({self.prototype_label}), similarity {self.similarity:.2f}"
        )

    def _repr_html_(self) -> str:
        shown = self.prototype if isinstance(self.prototype, str) else "; ".join(self.prototype)
        said = f"The most similar prototype with the label {self.prototype_label!r} (similarity {self.similarity:.2f}):"
        bars = bars_html([(self.features[number], float(self.scores[number])) for number in self.important])
        return paragraph_html(said, shown, bold=self.explainer) + bars

    def ranking(self) -> list[int]:
        """Numbers of the features from the largest importance by magnitude to the smallest."""
        return self.as_attribution().ranking()

    def as_attribution(self) -> Attribution:
        """The importances as scores."""
        return Attribution(
            features=self.features,
            scores=self.scores,
            **same_fields(self),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exemplar):
            return NotImplemented
        return equal_but_for_cost(self, other)

    def __hash__(self) -> int:
        return hash((self.features, self.prototype, self.similarity))


# ---- Written


@dataclass(frozen=True)
class Written(Explanation):
    """An explanation as it was written.

    Attributes:
        paragraphs: its parts, each with its own spaces and line breaks.
        target: the class that is explained.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        legend: a line on how to read it.
        details: how it was made.
        cost: rows, calls and seconds; two explanations that differ in nothing else are equal.
        explainer: who or what made it.
    """

    paragraphs: tuple[str, ...]
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    legend: str = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "written"

    def __post_init__(self) -> None:
        if isinstance(self.paragraphs, str):
            raise VeraxError(
                "The paragraphs of a written explanation are several texts, not one; use (text,)."
            )
        if not self.text.strip():
            raise VeraxError("A written explanation must say something; it has no text.")

    @property
    def text(self) -> str:
        """All paragraphs, with an empty line between them."""
        return "\n\n".join(self.paragraphs)

    def __repr__(self) -> str:
        return short_repr(self, repr(self.text))

    def _repr_html_(self) -> str:
        return paragraph_html(*self.paragraphs, bold=self.explainer)
