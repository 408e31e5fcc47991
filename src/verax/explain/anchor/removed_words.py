"""Samples around a text in which words are missing, each with a chance of one half; asked on the engine's own path."""

from __future__ import annotations

from collections.abc import Sequence

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
        self.model = model
        self.texts = texts
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
            self.near.append(Neighbourhood(place, features, features, search, fresh, fresh.holds(BLOCK).T))

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each text."""
        return self.near

    def classes(self) -> IndexArray:
        """The predicted class of each text itself."""
        predicted: IndexArray = self.model.predict_proba(self.texts).argmax(axis=1)
        return predicted

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each text."""
        return self._costs

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""
        masks = (Masks.from_columns(_present(ask)) for ask in asks)
        found: list[IndexArray] = []
        answers = self.path.evaluate([self.prepared[ask.place] for ask in asks], masks)
        for ask, answer in zip(asks, answers, strict=True):
            rows, calls = self._costs[ask.place]
            self._costs[ask.place] = (rows + answer.rows, calls + answer.calls)
            found.append(answer.probabilities.argmax(axis=1))
        return found


def _present(ask: Ask) -> BoolArray:
    """(features, samples): which words are there, those of a sample's rule always."""
    there = ask.pool.holds(int(ask.samples.max(initial=-1)) + 1)[ask.samples]
    return np.ascontiguousarray((there | ask.stays).T)
