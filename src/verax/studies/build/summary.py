"""What was built, in numbers: items per cell, places in the design, and how long it will take a participant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from verax.studies.model.item import Item
from verax.studies.model.steps import Step
from verax.studies.model.study import Study
from verax.studies.protocol.surroundings import participant_steps

# Rough, from the papers' own times: half an hour for some hundred screens.
SECONDS_PER_ITEM = 12
SECONDS_PER_PAGE = 25


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


def minutes(study: Study) -> float:
    """How long a participant will take, roughly: the longest row of the design, the screening test passed at once."""
    return max(_seconds(study, participant_steps(study, row, 1)) for row in study.rows) / 60


def _seconds(study: Study, steps: Sequence[Step]) -> int:
    tests = [number for number, step in enumerate(steps) if study.phases[step.phase].kind == "screening"]
    skipped = set(range(tests[0] + 1, tests[-1] + 1)) if tests else set()
    return sum(
        SECONDS_PER_ITEM if step.item is not None else SECONDS_PER_PAGE
        for number, step in enumerate(steps)
        if number not in skipped
    )
