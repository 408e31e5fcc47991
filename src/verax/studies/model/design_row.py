"""A row of the design: what its participants get, as data with types that says itself in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from verax.errors import VeraxError
from verax.text import plain


@dataclass(frozen=True)
class OneCondition:
    """Between people: everything under one condition."""

    condition: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def in_words(self) -> str:
        """What participants get, in a few words."""
        return self.condition


@dataclass(frozen=True)
class Round:
    """A condition with the group of items that is shown under it."""

    condition: str
    group: int


@dataclass(frozen=True)
class Rounds:
    """Within people: one condition after the other, each with items of its own."""

    rounds: tuple[Round, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"rounds": [asdict(one_round) for one_round in self.rounds]}

    def in_words(self) -> str:
        """What participants get, in a few words."""
        return ", ".join(one_round.condition for one_round in self.rounds)


@dataclass(frozen=True)
class ItemBlock:
    """Within people: a block of items, each under a condition of its own.

    Attributes:
        block: the number of the block, which rows with other rotations of the conditions share.
        conditions: by item.
    """

    block: int
    conditions: Mapping[str, str] = field(hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"block": self.block, "conditions": dict(self.conditions)}

    def in_words(self) -> str:
        """What participants get, in a few words."""
        return f"block {self.block}"


class OwnCells(dict[str, Any]):
    """What a protocol with a design of its own must know; anything that survives JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(self)

    def in_words(self) -> str:
        """All of it, name by name."""
        return "; ".join(f"{name}: {plain(value)}" for name, value in self.items())


Cells = OneCondition | Rounds | ItemBlock | OwnCells
C = TypeVar("C", OneCondition, Rounds, ItemBlock, OwnCells)


def cells_of(data: Mapping[str, Any]) -> Cells:
    """The cells that `to_dict` wrote."""
    names = set(data)
    if names == {"condition"} and isinstance(data["condition"], str):
        return OneCondition(data["condition"])
    if names == {"rounds"} and all(set(some) == {"condition", "group"} for some in data["rounds"]):
        return Rounds(tuple(Round(**some) for some in data["rounds"]))
    if names == {"block", "conditions"}:
        return ItemBlock(data["block"], data["conditions"])
    return OwnCells(data)


@dataclass(frozen=True)
class DesignRow:
    """One row of the design: participants of a row get the same items under the same conditions.

    Attributes:
        number: its place in the design.
        target: how many participants shall complete it.
        cells: what they get: conditions, item groups, their order.
    """

    number: int
    target: int
    cells: Cells = field(hash=False)

    @property
    def condition(self) -> str | None:
        """The only condition that its participants see; None if they see several."""
        return self.cells.condition if isinstance(self.cells, OneCondition) else None

    def get(self, sort: type[C]) -> C:
        """The cells, which are of this sort in the designs of a protocol."""
        if not isinstance(self.cells, sort):
            raise VeraxError(
                f"Row {self.number} of the design has {self.cells.in_words() or 'nothing'!r} where the protocol needs "
                f"{sort.__name__}; build the study again."
            )
        return self.cells

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"number": self.number, "target": self.target, "cells": self.cells.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DesignRow:
        """The row that `to_dict` wrote."""
        return cls(data["number"], data["target"], cells_of(data["cells"]))
