"""An explainer in a module that other processes can import."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import verax
from verax.data import split_words


@dataclass(frozen=True)
class Longest(verax.Explainer):
    """Long words matter."""

    power: float = 1.0

    def explain(self, model, inputs, targets=None):
        words = [split_words(text).distinct for text in inputs]
        return [
            verax.Attribution(found, np.array([len(word) ** self.power for word in found]), 1)
            for found in words
        ]
