"""The networks that are trained here: convolutional, BiLSTM with attention, dense, and those with prototypes.

- The convolutional network of Lertvittayakumjorn & Toni (2019, section 4.2): filters look for words in a row.
- The text model of Hase & Bansal (2020, appendix A.1): a BiLSTM with attention over the words of one sentence. It is
  the word level of Yang et al.'s (2016) hierarchical attention network: as they have it, each direction has 50 units,
  and words are weighted by how well ``tanh(W h + b)`` fits a learned context vector.
- Their table model, after Ribeiro et al. (2018): two hidden layers of 50 units.
- Their prototype networks (section 3.3): an input is of the class of the training example it is near. The last layer
  of a task model is replaced by prototypes, each of them a training example; everything before it stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from verax.models.neural.encoders import PADDING
from verax.models.neural.networks import WordNetwork

# ---- The convolutional network


class CnnNetwork(WordNetwork):
    """Filters over word vectors, the strongest response of each, a hidden layer, a score per class.

    A filter looks at every run of its width that begins with a word of the text; behind the last word come zeros. So
    what it sees depends on the text alone, never on the texts beside it.

    Args:
        n_words: rows of the embedding.
        dimensions: of a word vector.
        n_classes: how many scores.
        widths: how many words filters look at.
        filters: how many of each width.
        hidden: units between filters and scores.
        dropout: the share of what filters and hidden units say that is left out in training.
    """

    def __init__(
        self,
        n_words: int,
        dimensions: int,
        n_classes: int,
        widths: Sequence[int] = (2, 3, 4),
        filters: int = 50,
        hidden: int = 150,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.settings = {
            "n_words": n_words,
            "dimensions": dimensions,
            "n_classes": n_classes,
            "widths": list(widths),
            "filters": filters,
            "hidden": hidden,
            "dropout": dropout,
        }
        self.dropout = dropout
        self.widths = tuple(widths)
        self.embedding: nn.Embedding = nn.Embedding(n_words, dimensions, padding_idx=PADDING)
        self.filters = nn.ModuleList(nn.Conv1d(dimensions, filters, width) for width in widths)
        self.hidden = nn.Linear(filters * len(widths), hidden)
        self.output = nn.Linear(hidden, n_classes)

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as word vectors (texts, positions, dimensions)."""
        strongest = self._thinned(self.responses(vectors, lengths).amax(dim=2))
        scores: Tensor = self.output(self._thinned(functional.relu(self.hidden(strongest))))
        return scores

    def _thinned(self, values: Tensor) -> Tensor:
        return functional.dropout(values, self.dropout, self.training)

    def responses(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """What each filter says of the run of words that begins at each position: (texts, filters, positions)."""
        columns = vectors.transpose(1, 2)
        each = [
            filters(functional.pad(columns, (0, width - 1)))
            for width, filters in zip(self.widths, self.filters, strict=True)
        ]
        # Rectified responses are 0 or more, so a 0 in place of one behind the text changes no maximum. An empty text
        # has one run of nothing.
        inside = torch.arange(vectors.shape[1]) < lengths.clamp(min=1)[:, None]
        rectified: Tensor = functional.relu(torch.cat(each, dim=1)) * inside[:, None]
        return rectified


# ---- The BiLSTM


class BilstmNetwork(WordNetwork):
    """Word vectors, an LSTM in both directions, the mean of its states weighted by attention, a score per class.

    Args:
        n_words: rows of the embedding.
        dimensions: of a word vector.
        n_classes: how many scores.
        units: of the LSTM in each direction.
        dropout: the share of each word vector's and each text vector's entries that is left out in training.
    """

    def __init__(
        self, n_words: int, dimensions: int, n_classes: int, units: int = 50, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.settings = {
            "n_words": n_words,
            "dimensions": dimensions,
            "n_classes": n_classes,
            "units": units,
            "dropout": dropout,
        }
        self.embedding: nn.Embedding = nn.Embedding(n_words, dimensions, padding_idx=PADDING)
        self.lstm = nn.LSTM(dimensions, units, batch_first=True, bidirectional=True)
        self.attention = nn.Linear(2 * units, 2 * units)
        self.context = nn.Linear(2 * units, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(2 * units, n_classes)

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as word vectors (texts, positions, dimensions)."""
        scores: Tensor = self.output(self.dropout(self.features(vectors, lengths)))
        return scores

    def features(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The vector of each text, from which its scores are made."""
        lengths = lengths.clamp(min=1)  # an empty text is one word of nothing
        packed = pack_padded_sequence(self.dropout(vectors), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=vectors.shape[1])
        fit = self.context(torch.tanh(self.attention(states))).squeeze(2)
        outside = torch.arange(vectors.shape[1]) >= lengths[:, None]
        weights = torch.softmax(fit.masked_fill(outside, -torch.inf), dim=1)
        text: Tensor = (weights[:, :, None] * states).sum(dim=1)
        return text


# ---- The dense network


class DenseNetwork(nn.Module):
    """Hidden layers of rectified units, a score per class.

    Args:
        width: numbers in a row.
        n_classes: how many scores.
        units: of each of the two hidden layers.
    """

    def __init__(self, width: int, n_classes: int, units: int = 50) -> None:
        super().__init__()
        self.settings = {"width": width, "n_classes": n_classes, "units": units}
        self.first = nn.Linear(width, units)
        self.second = nn.Linear(units, units)
        self.output = nn.Linear(units, n_classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Scores of encoded rows."""
        scores: Tensor = self.output(self.features(rows))
        return scores

    def features(self, rows: Tensor) -> Tensor:
        """What the last hidden layer says of each row."""
        hidden: Tensor = self.second(self.first(rows).relu()).relu()
        return hidden


# ---- Prototype networks

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
