"""Samples around an input: what an anchor's search asks about, whatever the kind of input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from verax.arrays import BoolArray, IndexArray
from verax.seeds import stream

# Samples are drawn so many at a time, each time from a stream of its own: asking for more changes none of the first.
BLOCK = 1_024


class Pool(ABC):
    """Samples around one input, drawn when they are needed.

    A sample changes some features. Under a rule the rule's features stay as they are and the others change as the
    sample has it: all rules are asked about the same samples, and where a sample changes none of a rule's features
    its answer is the one without the rule.
    """

    def __init__(self, seed: int, *about: str | int) -> None:
        self._seed = seed
        self._about = about
        self._blocks = 0
        self._holds: BoolArray | None = None

    def holds(self, count: int) -> BoolArray:
        """(samples, features): whether each of the first so many samples, at the least, leaves a feature as it is."""
        while self._holds is None or len(self._holds) < count:
            drawn = self.draw(stream(self._seed, *self._about, self._blocks))
            self._blocks += 1
            self._holds = drawn if self._holds is None else np.concatenate([self._holds, drawn])
        return self._holds

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next ``BLOCK`` samples: which features each leaves as they are."""


@dataclass(frozen=True, eq=False)
class Ask:
    """A question: what does the model predict for some samples of a pool, under a rule?

    Attributes:
        place: the number of the input.
        pool: its samples.
        conditions: the features that stay.
        samples: which samples.
    """

    place: int
    pool: Pool
    conditions: tuple[int, ...]
    samples: IndexArray


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """What a search needs to know of one input.

    Attributes:
        place: the number of the input.
        features: of the input.
        named: each feature as a condition, in words.
        search: samples to find rules with.
        fresh: others, to tell how precise a rule is that was found.
        covered: (examples, features): whether an example of what inputs look like agrees with the input in a feature.
    """

    place: int
    features: tuple[str, ...]
    named: tuple[str, ...]
    search: Pool
    fresh: Pool
    covered: BoolArray

    @property
    def loose(self) -> list[int]:
        """The features that change at all."""
        found: list[int] = np.flatnonzero(~self.search.holds(BLOCK).all(axis=0)).tolist()
        return found

    def coverage(self, conditions: Sequence[int]) -> float:
        """The share of inputs to which a rule applies."""
        return float(self.covered[:, list(conditions)].all(axis=1).mean()) if len(self.covered) else 1.0


class Surroundings(Protocol):
    """Where samples around some inputs come from, and what the model says to them."""

    @property
    def name(self) -> str:
        """For people: how inputs are changed."""

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each input."""

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each input."""
