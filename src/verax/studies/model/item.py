"""An item: an input shown to people, with its true label and what the model says of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Variant:
    """A perturbed version of an item's input.

    Attributes:
        input: the perturbed text, or the row as (column, value) pairs.
        changed: the changed places: character spans of a text, or column numbers of a row.
        prediction: what the model says of it.
        likelihood: how well its least likely word reads where it stands, as
            `verax.perturb.counterfactual.language.Language.change` has it; None where nobody asked.
    """

    input: str | tuple[tuple[str, str], ...]
    changed: tuple[tuple[int, int], ...] | tuple[int, ...]
    prediction: int
    likelihood: float | None = None

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Variant:
        """The variant that `dataclasses.asdict` and JSON made plain."""
        changed = data["changed"]
        return cls(
            input=_input(data["input"]),
            changed=tuple(tuple(place) if isinstance(place, list) else place for place in changed),
            prediction=data["prediction"],
            likelihood=data.get("likelihood"),
        )


@dataclass(frozen=True)
class Item:
    """An input with its true label and its model output.

    Attributes:
        id: unique in the study, and says nothing about the item ("i017").
        role: what it is for: "learning", "test", "training", "evaluation".
        input: the text, or the row as (column, value) pairs.
        label: the true class.
        prediction: the model's class.
        probabilities: the model's probabilities.
        dataset, part, place: where it came from: the dataset, its part, and the place in that part.
        source: its name where it was made, for items that were imported.
        group: the item group of a Latin square, from 0.
        variant: the perturbed version, for counterfactual simulation.
        worse: the other model's class and probabilities, for the choice between two models.
    """

    id: str
    role: str
    input: str | tuple[tuple[str, str], ...]
    label: int
    prediction: int
    probabilities: tuple[float, ...] = ()
    dataset: str = ""
    part: str = ""
    place: int = -1
    source: str = ""
    group: int = 0
    variant: Variant | None = None
    worse: tuple[float, ...] | None = None

    @property
    def correct(self) -> bool:
        """Whether the model is right."""
        return self.label == self.prediction

    @property
    def flips(self) -> bool:
        """Whether the model says something else of the variant."""
        return self.variant is not None and self.variant.prediction != self.prediction

    def to_dict(self) -> dict[str, Any]:
        """The item as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Item:
        """The item that `to_dict` wrote, also after a way through JSON."""
        variant = data.get("variant")
        worse = data.get("worse")
        return cls(
            **data
            | {
                "input": _input(data["input"]),
                "probabilities": tuple(data.get("probabilities", ())),
                "variant": None if variant is None else Variant.from_dict(variant),
                "worse": None if worse is None else tuple(worse),
            }
        )


def _input(data: Any) -> str | tuple[tuple[str, str], ...]:
    return data if isinstance(data, str) else tuple((str(name), str(value)) for name, value in data)
