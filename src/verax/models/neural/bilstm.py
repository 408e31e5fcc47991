"""The text model of Hase & Bansal (2020, appendix A.1): a BiLSTM with attention over the words of one sentence.

It is the word level of Yang et al.'s (2016) hierarchical attention network: as they have it, each direction has 50
units, and words are weighted by how well ``tanh(W h + b)`` fits a learned context vector.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from verax.models.neural.encoders import PADDING
from verax.models.neural.networks import WordNetwork


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
