"""Samples around a text in which words are missing, each with a chance of one half; asked on the engine's own path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from verax.arrays import BoolArray, IndexArray
from verax.explain.anchor.pools import BLOCK, Ask, Neighbourhood, Pool
from verax.models.base import Model
from verax.perturb.dispatch import path_for
from verax.perturb.masks import Masks


class Removals(Pool):
    """Which of a text's distinct words are there, in every sample."""

    def __init__(self, n_features: int, change: float, seed: int, *about: str | int) -> None:
        super().__init__(seed, *about)
        self.n_features = n_features
        self.change = change

    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next samples: every word is there or not, independently of the others."""
        there: BoolArray = rng.random((BLOCK, self.n_features), dtype=np.float32) >= self.change
        return there


class RemovedWords:
    """Texts with words missing."""

    name = "words left out"

    def __init__(self, model: Model, texts: Sequence[str], change: float, seed: int) -> None:
        self.path = path_for(model)
        self.prepared = self.path.prepare(texts)
        self._costs = [(0, 0)] * len(texts)
        self.near = []
        for place, (text, ready) in enumerate(zip(texts, self.prepared, strict=True)):
            features = ready.features
            search, fresh = (
                Removals(len(features), change, seed, "anchor", "removed", about, text)
                for about in ("search", "fresh")
            )
            self.near.append(Neighbourhood(place, features, features, search, fresh, fresh.holds(BLOCK)))

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each text."""
        return self.near

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each text."""
        return self._costs

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question; questions of one text come one after the other."""
        groups = [(place, list(some)) for place, some in groupby(asks, key=lambda ask: ask.place)]
        masks = (
            Masks.from_columns(np.concatenate([_present(ask) for ask in some], axis=1)) for _, some in groups
        )
        found: list[IndexArray] = []
        answers = self.path.evaluate([self.prepared[place] for place, _ in groups], masks)
        for (place, some), answer in zip(groups, answers, strict=True):
            rows, calls = self._costs[place]
            self._costs[place] = (rows + answer.rows, calls + answer.calls)
            ends = np.cumsum([len(ask.samples) for ask in some])[:-1]
            found += np.split(answer.probabilities.argmax(axis=1), ends)
        return found


def _present(ask: Ask) -> BoolArray:
    """(features, samples): which words are there, those of the rule always."""
    columns = ask.pool.holds(int(ask.samples.max(initial=-1)) + 1)[ask.samples].T.copy()
    columns[list(ask.conditions)] = True
    return columns
