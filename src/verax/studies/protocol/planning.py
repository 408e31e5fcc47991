"""What planning must know of a protocol: how its primary analysis compares, and what simulated people answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from verax.studies.model.item import Item
from verax.studies.model.screen import Meaning

# Right answers of people who guess, or hardly better.
NEAR_CHANCE = 0.55


@dataclass(frozen=True)
class Role:
    """The items of one role that a study has: how many in all, dealt into how many groups."""

    name: str
    items: int
    groups: int = 1


@dataclass(frozen=True)
class Planning:
    """What `verax study power` must know of a protocol.

    Attributes:
        items: the parameter that says how many items are asked about.
        roles: the items that a study has.
        answer: what is stored of somebody whose answer about an item is worth so much; `Protocol.score` gives it back.
            Items of planning have two classes.
        compared: "between" people, by what changes from the phase "pre" to the phase "post", or "within" people, each
            of whom meets several conditions.
        graded: whether answers are worth from -1 to 1, by how sure people are; otherwise they are right or wrong.
        undecided: of graded answers, the share that cannot say.
        accuracy: the share of right answers without explanations.
        sessions: that everybody has, each with items of its own.
        beside_control: what is compared with a random control where no condition shows nothing.
    """

    items: str
    roles: tuple[Role, ...]
    answer: Callable[[Item, float], Meaning]
    compared: Literal["between", "within"] = "within"
    graded: bool = False
    undecided: float = 0.0
    accuracy: float = NEAR_CHANCE
    sessions: int = 1
    beside_control: Literal["everything", "methods"] = "everything"
