"""The recurrent cells of the rationale model as published (Lei et al. 2015, 2016): gated averages of n-grams.

They are walked through word by word, which takes ten times as long as the filters of `RationaleNetwork`. What differs
from the released code: each word is selected on its own, not in view of the words selected before it.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.models.neural.encoders import PADDING
from verax.models.neural.rationale import SelectingNetwork, bounded, inside_of


class GatedAverages(nn.Module):
    """A recurrent convolution: states of n-grams up to an order, each a gated average over all that was read.

    Args:
        size: of a vector that is read.
        hidden: of a state.
        order: words of the longest n-gram.
    """

    def __init__(self, size: int, hidden: int, order: int = 2) -> None:
        super().__init__()
        self.hidden, self.order = hidden, order
        self.read = nn.Linear(size, hidden * (order + 1))
        self.back = nn.Linear(hidden, hidden, bias=False)
        self.bias = nn.Parameter(torch.zeros(hidden))

    def forward(self, vectors: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        """The output at every position, and that at the last one; a position that is not kept leaves all as it was.

        Args:
            vectors: (texts, positions, size).
            kept: 0 or 1 for each position, with or without a gradient.
        """
        gates, *grams = self.read(vectors).chunk(self.order + 1, dim=2)
        output = vectors.new_zeros(len(vectors), self.hidden)
        states = [output] * self.order
        outputs = []
        for place in range(vectors.shape[1]):
            gate = torch.sigmoid(gates[:, place] + self.back(output))
            shorter = [grams[0][:, place]]
            shorter += [state + gram[:, place] for state, gram in zip(states, grams[1:], strict=False)]
            read = [gate * state + (1 - gate) * new for state, new in zip(states, shorter, strict=True)]
            is_kept = kept[:, place, None]
            states = [is_kept * new + (1 - is_kept) * state for new, state in zip(read, states, strict=True)]
            output = is_kept * torch.tanh(read[-1] + self.bias) + (1 - is_kept) * output
            outputs.append(output)
        return torch.stack(outputs, dim=1), output


class RecurrentRationaleNetwork(SelectingNetwork):
    """The two halves with recurrent cells: one that reads in both directions and selects, one that predicts.

    Args:
        n_words: rows of the embedding, which both halves share.
        dimensions: of a word vector.
        n_classes: how many scores.
        hidden: of the recurrent states of both halves.
        choosing: units between the states and the choice.
        order: words of the longest n-gram.
        depth: layers of the half that predicts.
    """

    def __init__(
        self,
        n_words: int,
        dimensions: int,
        n_classes: int,
        hidden: int = 200,
        choosing: int = 30,
        order: int = 2,
        depth: int = 2,
    ) -> None:
        super().__init__()
        self.settings = {
            "n_words": n_words,
            "dimensions": dimensions,
            "n_classes": n_classes,
            "hidden": hidden,
            "choosing": choosing,
            "order": order,
            "depth": depth,
        }
        self.embedding: nn.Embedding = nn.Embedding(n_words, dimensions, padding_idx=PADDING)
        self.onwards = GatedAverages(dimensions, hidden, order)
        self.backwards = GatedAverages(dimensions, hidden, order)
        self.choosing = nn.Linear(2 * hidden + dimensions, choosing)
        self.choice = nn.Linear(choosing, 1)
        sizes = [dimensions, *[hidden] * (depth - 1)]
        self.layers = nn.ModuleList(GatedAverages(size, hidden, order) for size in sizes)
        self.output = nn.Linear(depth * hidden, n_classes)
        with torch.no_grad():
            self.choice.bias.fill_(1.0)  # the training begins with nearly everything selected

    def choices(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """How much each position is wanted, (texts, positions); those above 0 are selected."""
        inside = inside_of(vectors, lengths).to(vectors.dtype)
        seen = vectors * inside[:, :, None]
        before, _ = self.onwards(seen, inside)
        behind, _ = self.backwards(seen.flip(1), inside.flip(1))
        states = torch.tanh(self.choosing(torch.cat([before, behind.flip(1), seen], dim=2)))
        return bounded(self.choice(states).squeeze(2))

    def encode(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of selections as word vectors: nothing but the selected words, side by side."""
        return self.encode_in_place(vectors, inside_of(vectors, lengths).to(vectors.dtype))

    def encode_in_place(self, vectors: Tensor, selected: Tensor) -> Tensor:
        """The same from whole texts: what is not selected leaves every state as it was."""
        last = []
        for layer in self.layers:
            vectors, final = layer(vectors, selected)
            last.append(final)
        scores: Tensor = self.output(functional.dropout(torch.cat(last, dim=1), 0.1, self.training))
        return scores

    def reading_parameters(self) -> Iterator[nn.Parameter]:
        """The weights of the half that predicts."""
        yield from self.layers.parameters()
        yield from self.output.parameters()
