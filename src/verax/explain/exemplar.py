"""Exemplars: the training example that an input is most similar to, and what makes it so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.explain.explanation import (
    Attribution,
    Cost,
    Explanation,
    common_fields,
    equal_but_for_cost,
    same_fields,
    short_repr,
)
from verax.notebook import bars_html, paragraph_html

# So many features are shown, and none whose importance is below a threshold (the published code's).
SHOWN = 6
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
        return [number for number in self.ranking()[:SHOWN] if abs(self.scores[number]) >= least]

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

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Exemplar:
        prototype = data["prototype"]
        return cls(
            features=tuple(map(str, data["features"])),
            scores=np.array(data["scores"], dtype=np.float64),
            similarity=float(data["similarity"]),
            prototype=prototype if isinstance(prototype, str) else tuple(map(str, prototype)),
            prototype_label=str(data["prototype_label"]),
            **common_fields(data),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exemplar):
            return NotImplemented
        return equal_but_for_cost(self, other)

    def __hash__(self) -> int:
        return hash((self.features, self.prototype, self.similarity))
