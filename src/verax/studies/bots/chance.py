"""Chance that depends on a seed and on what it is about alone: the same with the web and without it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from verax.seeds import share

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Chance:
    """The draws of one simulated person.

    Attributes:
        seed: of all of them.
        person: the person's number.
    """

    seed: int
    person: int

    def share(self, *about: str | int) -> float:
        """A number between 0 and 1, this person's own."""
        return share(self.seed, "person", self.person, *about)

    def normal(self, *about: str | int) -> float:
        """A standard normal number, this person's own."""
        return _NORMAL.inv_cdf(self.share(*about))

    def common_normal(self, *about: str | int) -> float:
        """A standard normal number that is the same for everybody."""
        return _NORMAL.inv_cdf(share(self.seed, "everybody", *about))
