"""Rules: features that, while they stay as they are, keep the model's prediction (an anchor)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Cost, Explanation, common_fields, same_fields, short_repr
from verax.notebook import paragraph_html


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

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Rule:
        return cls(
            features=tuple(map(str, data["features"])),
            conditions=tuple(map(int, data["conditions"])),
            named=tuple(map(str, data["named"])),
            precision=float(data["precision"]),
            lowest=float(data["lowest"]),
            coverage=float(data["coverage"]),
            reached=bool(data["reached"]),
            steps=tuple(map(_step_from_dict, data["steps"])),
            **common_fields(data),
        )


def _step_from_dict(data: dict[str, Any]) -> RuleStep:
    return RuleStep(tuple(map(int, data["conditions"])), float(data["precision"]), float(data["coverage"]))
