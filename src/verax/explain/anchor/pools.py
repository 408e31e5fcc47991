"""Samples around an input: what an anchor's search asks about, whatever the kind of input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
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

    def varies(self) -> bool:
        """Whether samples differ from the input at all, be it in what no condition speaks about."""
        return not bool(self.holds(BLOCK).all())

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next ``BLOCK`` samples: which features each leaves as they are."""


@dataclass(frozen=True, eq=False)
class Ask:
    """A question: what does the model predict for some samples of a pool, each under a rule?

    Attributes:
        place: the number of the input.
        pool: its samples.
        samples: which samples; one that is asked about under several rules is here several times.
        stays: (samples, features): which features the rule of each leaves as they are.
    """

    place: int
    pool: Pool
    samples: IndexArray
    stays: BoolArray


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """What a search needs to know of one input.

    Attributes:
        place: the number of the input.
        features: of the input.
        named: each feature as a condition, in words.
        search: samples to find rules with.
        fresh: others, to tell how precise a rule is that was found.
        covered: (features, examples): whether an example of what inputs look like agrees with the input in a feature.
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

    def fresh_question(self, conditions: Sequence[int], samples: IndexArray) -> Ask:
        """About some fresh samples under one rule."""
        stays = np.zeros((len(samples), len(self.features)), dtype=np.bool_)
        stays[:, list(conditions)] = True
        return Ask(self.place, self.fresh, samples, stays)

    def coverage(self, conditions: Sequence[int]) -> float:
        """The share of inputs to which a rule applies."""
        return self._share(np.bitwise_and.reduce(self._bits[list(conditions)], axis=0)).item()

    def longer_coverage(self, conditions: Sequence[int]) -> FloatArray:
        """The share of inputs to which a rule applies that has one more condition, for every feature."""
        return self._share(np.bitwise_and.reduce(self._bits[list(conditions)], axis=0) & self._bits)

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        """(features, words): a bit for each example that agrees."""
        n_features, n_examples = self.covered.shape
        bits = np.zeros((n_features, 8 * -(-n_examples // 64)), dtype=np.uint8)
        bits[:, : -(-n_examples // 8)] = np.packbits(self.covered, axis=1)
        return bits.view(np.uint64)

    def _share(self, bits: NDArray[np.uint64]) -> FloatArray:
        # A rule without conditions has all bits, also those that only fill up the last word.
        n_examples = self.covered.shape[1]
        count = np.bitwise_count(bits).sum(axis=-1, dtype=np.intp)
        share: FloatArray = np.minimum(count, n_examples) / n_examples
        return share


class Surroundings(Protocol):
    """Where samples around some inputs come from, and what the model says to them."""

    @property
    def name(self) -> str:
        """For people: how inputs are changed."""

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each input."""

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""

    def classes(self) -> IndexArray:
        """The predicted class of each input itself."""

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each input."""
