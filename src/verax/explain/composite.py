"""Composites: several explanations of one prediction together, and the explainer that makes the published four."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from verax.explain.anchor.anchor import Anchor
from verax.explain.base import Explainer, Target, at_least, explainers
from verax.explain.decision_boundary import DecisionBoundary
from verax.explain.explanation import Cost, Explanation, common_fields, short_repr
from verax.explain.lime import Lime
from verax.explain.perturbed import check_targets, shown_input
from verax.explain.prototype import Prototype, has_prototypes
from verax.models.base import Inputs, Model
from verax.notebook import paragraph_html

# LIME's words in the paper.
LIME_FEATURES = 5


@dataclass(frozen=True)
class Part:
    """One of several explanations, and what the method is called."""

    name: str
    explanation: Explanation


@dataclass(frozen=True)
class Composite(Explanation):
    """Several explanations of one prediction.

    Attributes:
        parts: the explanations, in the order in which they are shown.
        target: the class that is explained.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        details: how it was made.
        cost: rows, calls and seconds of all parts; two explanations that differ in nothing else are equal.
        explainer: the explainer that made it, as code.
    """

    parts: tuple[Part, ...]
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "composite"

    def to_dict(self) -> dict[str, object]:
        """Everything as plain lists, numbers and strings; each part as its own kind writes it."""
        plain = super().to_dict()
        plain["parts"] = [
            {"name": part.name, "explanation": part.explanation.to_dict()} for part in self.parts
        ]
        return plain

    def __repr__(self) -> str:
        return short_repr(self, ", ".join(part.name for part in self.parts))

    def _repr_html_(self) -> str:
        return "".join(paragraph_html(bold=part.name) + part.explanation._repr_html_() for part in self.parts)

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Composite:
        return cls(
            parts=tuple(
                Part(str(part["name"]), Explanation.from_dict(part["explanation"])) for part in data["parts"]
            ),
            **common_fields(data),
        )


@explainers.register("composite")
@dataclass(frozen=True)
class Together(Explainer):
    """LIME's five words, an anchor, the last step to the decision boundary and the nearest prototype (Hase & Bansal).

    A model without prototypes, and on whose features none can stand, is explained by the other three, which is said.

    Attributes:
        samples: of LIME and of the decision boundary.
        seed: of all of them.
        vectors: where similar words are found; see ``anchor``.
    """

    samples: int = 10_000
    seed: int = 0
    vectors: str = "trained"

    def __post_init__(self) -> None:
        at_least(self.samples, 2, "samples")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Composite]:
        """Explains each input; see :meth:`Explainer.explain`."""
        started = time.perf_counter()
        wanted = check_targets(model, inputs, targets)
        guesses = model.predict_proba(inputs).argmax(axis=1).tolist() if len(inputs) else []
        chosen = [guess if target is None else target for guess, target in zip(guesses, wanted, strict=True)]
        methods: dict[str, Explainer] = {
            "LIME": Lime(samples=self.samples, seed=self.seed, features=LIME_FEATURES),
            "Anchor": Anchor(seed=self.seed, vectors=self.vectors),
            "Decision boundary": DecisionBoundary(samples=self.samples, seed=self.seed, vectors=self.vectors),
        }
        details: dict[str, object] = {}
        if has_prototypes(model):
            methods["Prototype"] = Prototype(seed=self.seed)
        else:
            details["left out"] = "prototype: this model has none, and none can stand on its features"
        made = {name: list(method.explain(model, inputs, chosen)) for name, method in methods.items()}
        seconds = (time.perf_counter() - started) / max(1, len(inputs))
        composites = []
        for place, (given, target) in enumerate(zip(inputs, chosen, strict=True)):
            parts = tuple(Part(name, found[place]) for name, found in made.items())
            costs = [getattr(part.explanation, "cost", Cost()) for part in parts]
            cost = Cost(1 + sum(each.rows for each in costs), 1 + sum(each.calls for each in costs), seconds)
            composites.append(
                Composite(
                    parts=parts,
                    target=target,
                    target_name=model.class_names[target],
                    input=shown_input(model, given),
                    details=dict(details),
                    cost=cost,
                    explainer=repr(self),
                )
            )
        return composites
