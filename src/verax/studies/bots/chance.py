"""Chance that depends on a seed and on what it is about alone: the same with the web and without it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import NormalDist

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
        return _share(self.seed, "person", self.person, *about)

    def normal(self, *about: str | int) -> float:
        """A standard normal number, this person's own."""
        return _NORMAL.inv_cdf(self.share(*about))

    def common_normal(self, *about: str | int) -> float:
        """A standard normal number that is the same for everybody."""
        return _NORMAL.inv_cdf(_share(self.seed, "everybody", *about))


def _share(*about: str | int) -> float:
    text = "\x1f".join(map(str, about))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    # Never 0 and never 1, which have no normal number; 53 bits are what a float holds.
    return ((int.from_bytes(digest, "little") >> 12) + 0.5) / 2.0**52
