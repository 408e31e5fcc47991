"""How simulated people are, and what their answers are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.crossed.within import NOT_SHOWN
from verax.stats.power.simulation import Simulated, Spreads
from verax.studies.protocol.planning import Planning

# Of graded answers: the share that are sure.
SURE = 0.5


@dataclass(frozen=True)
class People:
    """How simulated people are.

    Attributes:
        accuracy: share of right answers without explanations; None is the protocol's default.
        between_people: standard deviation of their log-odds; what they gain differs in proportion.
        between_items: the same of items.
    """

    accuracy: float | None = None
    between_people: float = Spreads.person
    between_items: float = Spreads.item

    def spreads(self) -> Spreads:
        """All standard deviations: gains differ as much, for their size, as in the calibration."""
        if self.between_people < 0 or self.between_items < 0:
            raise VeraxError("How much people and items differ are standard deviations: give numbers from 0.")
        default = Spreads()
        gain = default.person_change if isinstance(default.person_change, float) else 0.3
        return Spreads(
            person=self.between_people,
            item=self.between_items,
            person_change=gain * self.between_people / default.person,
            item_change=default.item_change * self.between_items / default.item,
        )

    def right(self, planning: Planning) -> float:
        """Their accuracy without explanations."""
        return planning.accuracy if self.accuracy is None else self.accuracy


def values_of(drawn: Simulated, shown: IndexArray, method: int, planning: Planning) -> FloatArray:
    """The scores of simulated people: helped under the method, not helped under all other conditions.

    Args:
        drawn: answers without and with help to every item.
        shown: what is shown under which condition.
        method: the place of the condition that helps.
        planning: whether answers are graded, or right and wrong.
    """
    right = np.where(shown == method, drawn.post, drawn.pre)
    right = np.where(shown == NOT_SHOWN, np.nan, right)
    if not planning.graded:
        return right
    # How sure people are is drawn anew in every study, and the same for every effect, as are the people themselves.
    chance = np.random.default_rng(shown.size).random((2, *right.shape))
    worth = np.where(chance[0] < SURE, 1.0, 0.5)
    worth = np.where(chance[1] < planning.undecided, 0.0, worth)
    return np.asarray((2 * right - 1) * worth, dtype=np.float64)


def share_of(effect: float, planning: Planning) -> float:
    """An effect in points, or hundredths of the score, as a share of right answers."""
    if not planning.graded:
        return effect / 100
    worth = (1 - planning.undecided) * (SURE + 0.5 * (1 - SURE))
    return effect / 100 / (2 * worth)
