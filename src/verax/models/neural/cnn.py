"""The convolutional network of Lertvittayakumjorn & Toni (2019, section 4.2): filters look for words in a row."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.models.neural.encoders import PADDING
from verax.models.neural.networks import WordNetwork


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
