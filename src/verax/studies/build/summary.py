"""What was built, in numbers: items per cell, places in the design, and how long it will take a participant."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from verax.studies.model.item import Item
from verax.studies.model.screen import Evidence, Passage, Row, Screen
from verax.studies.model.spec import StudySpec
from verax.studies.model.study import Study
from verax.studies.protocol.duration import minutes
from verax.studies.protocol.surroundings import participant_steps

__all__ = ["Balance", "balance", "minutes", "places", "uninformative", "unsaid"]


REACHABLE = re.compile(r"\S@\S|https?://|(\d[\s()/-]*){6}")


@dataclass(frozen=True)
class Balance:
    """How many items of one role fall into one cell.

    Attributes:
        role: what they are for.
        prediction: the model's class.
        correct: whether it is right.
        groups: how many of them each item group has.
        flips: how many of their perturbed versions flip the prediction; None where there are none.
    """

    role: str
    prediction: int
    correct: bool
    groups: tuple[int, ...]
    flips: int | None

    @property
    def items(self) -> int:
        """How many there are."""
        return sum(self.groups)


def balance(items: Collection[Item]) -> list[Balance]:
    """Every cell of every role: roles in their order, then by class, the right before the wrong."""
    by_role: dict[str, list[Item]] = {}
    for item in items:
        by_role.setdefault(item.role, []).append(item)
    return [
        _cell(role, members, prediction, correct)
        for role, members in by_role.items()
        for prediction in sorted({item.prediction for item in items})
        for correct in (True, False)
    ]


def _cell(role: str, items: Sequence[Item], prediction: int, correct: bool) -> Balance:
    members = [item for item in items if (item.prediction, item.correct) == (prediction, correct)]
    groups = sorted({item.group for item in items})
    return Balance(
        role,
        prediction,
        correct,
        groups=tuple(sum(item.group == group for item in members) for group in groups),
        flips=sum(item.flips for item in members) if any(item.variant for item in items) else None,
    )


def places(study: Study) -> int:
    """How many participants shall complete the study."""
    return sum(row.target for row in study.rows)


def uninformative(study: Study) -> dict[str, tuple[int, int]]:
    """By condition: on how many items a page cannot inform, and of how many; only conditions that have such items.

    A page cannot inform where two models are to be compared that are highlighted alike, or where one fragment stands
    as evidence for two answers.
    """
    found: dict[str, tuple[set[str], set[str]]] = {}
    for row in study.rows:
        for step in participant_steps(study, row, 1):
            if step.item is None or step.condition is None or study.phases[step.phase].kind != "test":
                continue
            items, without = found.setdefault(step.condition, (set(), set()))
            items.add(step.item)
            if not _informs(study.screens[step.screen]):
                without.add(step.item)
    return {name: (len(without), len(items)) for name, (items, without) in found.items() if without}


def _informs(screen: Screen) -> bool:
    if screen.paired:
        first, second = (block for block in screen.blocks if isinstance(block, Passage | Row))
        return replace(first, title="") != replace(second, title="")
    fragments = [set(block.fragments) for block in screen.blocks if isinstance(block, Evidence)]
    return not any(one & other for one, other in combinations(fragments, 2))


def unsaid(spec: StudySpec) -> list[str]:
    """What people should read on the first page before they decide, and the spec does not say: its entries."""
    about = spec.about
    said = {
        "about.purpose": about.purpose,
        "about.minutes": about.minutes,
        "about.pay": about.pay,
        "about.run_by": about.run_by,
        "about.ethics": about.ethics,
        # Somebody must be within reach: an address, a page or a number.
        "texts.contact": REACHABLE.search(spec.texts.contact),
    }
    return [entry for entry, value in said.items() if not value]
