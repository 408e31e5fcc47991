"""Prototype networks (Hase & Bansal 2020, section 3.3): an input is of the class of the training example it is near.

The last layer of a task model is replaced by prototypes, each of them a training example; everything before it stays.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.models.neural.bilstm import BilstmNetwork
from verax.models.neural.dense import DenseNetwork

# The weight of a class's own similarity in its score, and of the other classes' (appendix A.1).
ON_CLASS, OFF_CLASS = 1.0, -0.5
# Coefficients of the objective, and the distance beyond which more separation earns nothing (the published code).
OFF_CLASS_PENALTY, SEPARATION, FAR = 0.1, 0.01, 4.0


class PrototypeLayer(nn.Module):
    """Similarities to prototypes, ``exp(-distance ** 2)``; a class's is that of its most similar prototype.

    Args:
        dimensions: of a feature vector.
        n_classes: how many scores.
        per_class: how many prototypes each class has; those of a class are next to each other.
    """

    def __init__(self, dimensions: int, n_classes: int, per_class: int) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.per_class = per_class
        self.prototypes = nn.Parameter(torch.zeros(n_classes * per_class, dimensions))
        same = torch.eye(n_classes)
        self.weights = nn.Parameter(ON_CLASS * same + OFF_CLASS * (1 - same))
        # Feature vectors are multiplied by one number, found before training: without it they may all be so far from
        # each other that no similarity differs from 0.
        self.scale: Tensor
        self.register_buffer("scale", torch.ones(()))
        # Which training example each prototype is.
        self.examples: Tensor
        self.register_buffer("examples", torch.full((n_classes * per_class,), -1, dtype=torch.int64))
        self._last: Tensor | None = None

    def distances(self, features: Tensor) -> Tensor:
        """(inputs, prototypes): squared distances."""
        between = (self.scale * features)[:, None, :] - self.prototypes
        squared: Tensor = (between**2).sum(dim=2)
        return squared

    def forward(self, features: Tensor) -> Tensor:
        """Scores of feature vectors."""
        distances = self.distances(features)
        self._last = distances if self.training else None
        similar = torch.exp(-distances).reshape(len(features), self.n_classes, self.per_class)
        scores: Tensor = functional.linear(similar.amax(dim=2), self.weights)
        return scores

    def penalty(self, targets: Tensor) -> Tensor:
        """Off-class weights, and how near the last batch's inputs are to prototypes of other classes."""
        assert self._last is not None, "the layer has not seen a batch in training"
        same = torch.eye(self.n_classes)
        off_class = (self.weights * (1 - same)).abs().sum()
        of_class = torch.arange(self.n_classes).repeat_interleave(self.per_class)
        others = self._last.masked_fill(of_class[None, :] == targets[:, None], torch.inf)
        nearest = others.amin(dim=1).clamp(max=FAR)
        total: Tensor = OFF_CLASS_PENALTY * off_class - SEPARATION * nearest.mean()
        return total


class PrototypeBilstm(BilstmNetwork):
    """The BiLSTM with prototypes; the arguments are its own, and how many prototypes each class has."""

    def __init__(
        self,
        n_words: int,
        dimensions: int,
        n_classes: int,
        units: int = 50,
        dropout: float = 0.0,
        per_class: int = 40,
    ) -> None:
        super().__init__(n_words, dimensions, n_classes, units, dropout)
        self.settings["per_class"] = per_class
        self.output: PrototypeLayer = PrototypeLayer(2 * units, n_classes, per_class)  # type: ignore[assignment]

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as word vectors; nothing is left out of the feature vector, which would move it away."""
        scores: Tensor = self.output(self.features(vectors, lengths))
        return scores


class PrototypeDense(DenseNetwork):
    """The network of tables with prototypes; the arguments are its own, and how many prototypes each class has."""

    def __init__(self, width: int, n_classes: int, units: int = 50, per_class: int = 20) -> None:
        super().__init__(width, n_classes, units)
        self.settings["per_class"] = per_class
        self.output: PrototypeLayer = PrototypeLayer(units, n_classes, per_class)  # type: ignore[assignment]
