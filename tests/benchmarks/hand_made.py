"""Rationale models written by hand, whose selections are known, for tests and for workers by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from verax.data.words import split_words
from verax.models.base import Model
from verax.models.capabilities import Selection

# From the words of a text to the numbers of those selected.
Select = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, eq=False)
class HandMade(Model):
    """Selects by a rule; the output is that of the selected words in a list of known ones."""

    rule: Select
    outputs: dict[tuple[str, ...], float]
    bias: float = 0.5

    kind = "text"
    class_names = ("negative", "positive")

    def select(self, inputs):
        selections = []
        for text in inputs:
            words = split_words(text).words
            places = self.rule([word.lower() for word in words])
            selections.append(Selection(tuple(words[place] for place in places), tuple(places)))
        return selections

    def encode(self, selections):
        positive = np.array(
            [self.outputs.get(tuple(map(str.lower, one.words)), self.bias) for one in selections]
        )
        return np.column_stack([1 - positive, positive]).reshape(-1, 2)

    def predict_proba(self, inputs):
        return self.encode(self.select(inputs))


def figure_2(words: Sequence[str]) -> list[int]:
    """The handshake of the paper's Figure 2: "very" and "not" carry what "good" says."""
    for place, word in enumerate(words):
        if word in ("very", "not") and words[place + 1 : place + 2] == ["good"]:
            return [place]
    return [place for place, word in enumerate(words) if word == "good"][:1]


HANDSHAKE = HandMade(figure_2, {("very",): 1.0, ("not",): 0.1, ("good",): 0.8})


def unless(*watched: str) -> Select:
    """Selects "great", and "film" too unless one of the watched words is there."""

    def rule(words: Sequence[str]) -> list[int]:
        also = () if set(watched) & set(words) else ("film",)
        return [place for place, word in enumerate(words) if word == "great" or word in also]

    return rule


GREAT = {("great",): 0.9, ("great", "film"): 0.6, ("film",): 0.5}


def everything(words: Sequence[str]) -> list[int]:
    return list(range(len(words)))


def nothing(words: Sequence[str]) -> list[int]:
    return []


def first_two(words: Sequence[str]) -> list[int]:
    return list(range(min(2, len(words))))
