"""The models that a study explains, and how they differ where conditions have models of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verax.text import listed


@dataclass(frozen=True)
class Matched:
    """Of how many inputs of a part of the dataset all models predict the same class, and how many there are."""

    part: str
    same: int
    inputs: int


@dataclass(frozen=True)
class OwnModel:
    """A model that some conditions have in place of the study's.

    Attributes:
        name: what it is.
        conditions: whose it is.
        accuracy: the share of the test part that it gets right.
        agreement: the share of the test part of which it predicts the same class as the study's model.
        matched: for each part of the dataset that items come from.
    """

    name: str
    conditions: tuple[str, ...]
    accuracy: float
    agreement: float
    matched: tuple[Matched, ...] = ()

    @property
    def sentence(self) -> str:
        """How it differs, and what that means for the items."""
        which = "condition" if len(self.conditions) == 1 else "conditions"
        has = "has" if len(self.conditions) == 1 else "have"
        parts = [
            f"{found.same:,} of {found.inputs:,} distinct ones in the {found.part} part"
            for found in self.matched
        ]
        counts = f" ({listed(parts)})" if parts else ""
        return (
            f"The {which} {listed(self.conditions)} {has} another model, {self.name}, right on {self.accuracy:.1%}; it "
            f"predicts the same class as the study's model for {self.agreement:.1%} of the test inputs. Only inputs of "
            f"which all models predict the same class became items{counts}: what is said of this model holds for those."
        )


@dataclass(frozen=True)
class ModelFacts:
    """The model that was explained.

    Attributes:
        name: what it is; empty where none was made and the spec names none.
        accuracy: the share of the test part that it gets right, where it is known.
        others: models that conditions have in its place.
    """

    name: str = "given"
    accuracy: float | None = None
    others: tuple[OwnModel, ...] = ()


def model_facts(models: Mapping[str, Any], named: str) -> ModelFacts:
    """What a study's folder knows of its models.

    Args:
        models: see ``Study.models``.
        named: what the spec calls the study's model.
    """
    about = models.get("model", {})
    return ModelFacts(
        about.get("name", named),
        about.get("accuracy"),
        tuple(
            OwnModel(
                other["name"],
                tuple(other["conditions"]),
                other["accuracy"],
                other["agreement"],
                tuple(Matched(part, same, inputs) for part, (same, inputs) in other["matched"].items()),
            )
            for other in models.values()
            if "conditions" in other
        ),
    )
