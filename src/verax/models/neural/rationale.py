"""The rationale model (Lei et al. 2016): one half selects words, the other predicts from the selected words alone.

The halves of `RationaleNetwork` are a filter of three words each. Nothing of a text but the vectors of its selected
words, in their order, ever reaches the second half: neither the other words nor the gaps that they leave.

The recurrent cells of the paper (Lei et al. 2015, 2016), gated averages of n-grams, are walked through word by word,
which takes ten times as long. What differs from the released code: each word is selected on its own, not in view of
the words selected before it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor, nn
from torch.nn import functional

from verax.arrays import FloatArray
from verax.data.words import WORD
from verax.models.base import Inputs, ask
from verax.models.capabilities import Selection
from verax.models.neural.encoders import PADDING, length_batches, pad
from verax.models.neural.networks import TextNetwork, WordNetwork
from verax.models.wrappers import check_texts

# Scores of words and of their attention stay between minus and plus this, where a sigmoid still has a slope.
BOUND = 4.0
# What the sum of attention is divided by besides itself: a single faint word then counts less than many.
NOTHING_WEIGHS = 0.5


class SelectingNetwork(WordNetwork):
    """A selection of words, and a score per class from the selected words, whatever the two halves are made of."""

    embedding: nn.Embedding
    # Whether every word is selected: the second half alone, for comparison.
    everything: bool = False

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as word vectors: selected, then encoded."""
        return self.encode(*compact(vectors, self.select(vectors, lengths)))

    def select(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Which positions are selected, (texts, positions)."""
        inside = inside_of(vectors, lengths)
        return inside if self.everything else (self.choices(vectors, lengths) > 0) & inside

    @abstractmethod
    def choices(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """How much each position is wanted, (texts, positions); those above 0 are selected."""

    @abstractmethod
    def encode(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of selections as word vectors: nothing but the selected words, side by side."""

    @abstractmethod
    def encode_in_place(self, vectors: Tensor, selected: Tensor) -> Tensor:
        """The same scores from whole texts and the degree to which each position is selected, for training."""

    @abstractmethod
    def reading_parameters(self) -> Iterator[nn.Parameter]:
        """The weights of the half that predicts."""


class RationaleNetwork(SelectingNetwork):
    """Both halves as filters of three words.

    Args:
        n_words: rows of the embedding, which both halves share.
        dimensions: of a word vector.
        n_classes: how many scores.
        filters: of the half that selects.
        units: of the half that predicts.
        everything: select every word: the second half alone, for comparison.
    """

    def __init__(
        self,
        n_words: int,
        dimensions: int,
        n_classes: int,
        filters: int = 64,
        units: int = 100,
        everything: bool = False,
    ) -> None:
        super().__init__()
        self.settings = {
            "n_words": n_words,
            "dimensions": dimensions,
            "n_classes": n_classes,
            "filters": filters,
            "units": units,
            "everything": everything,
        }
        self.everything = everything
        self.embedding: nn.Embedding = nn.Embedding(n_words, dimensions, padding_idx=PADDING)
        self.neighbours = nn.Conv1d(dimensions, filters, 3, padding=1)
        self.choice = nn.Linear(filters + dimensions, 1)
        self.phrases = nn.Conv1d(dimensions, units, 3, padding=1)
        self.attention = nn.Linear(units, 1, bias=False)
        self.output = nn.Linear(units, n_classes)
        with torch.no_grad():
            self.choice.bias.fill_(1.0)  # the training begins with nearly everything selected
            self.attention.weight.zero_()

    def choices(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """How much each position is wanted, (texts, positions); those above 0 are selected."""
        seen = vectors * inside_of(vectors, lengths)[:, :, None]
        responses = functional.relu(self.neighbours(seen.transpose(1, 2))).transpose(1, 2)
        return bounded(self.choice(torch.cat([responses, seen], dim=2)).squeeze(2))

    def encode(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of selections as word vectors: nothing but the selected words, side by side."""
        inside = inside_of(vectors, lengths)
        phrases = functional.relu(self.phrases(vectors.transpose(1, 2))).transpose(1, 2)
        return self._pooled(phrases, inside.to(vectors.dtype))

    def encode_in_place(self, vectors: Tensor, selected: Tensor) -> Tensor:
        """The same scores from whole texts and the degree to which each position is selected, for training.

        A position's neighbours are the nearest positions selected before and behind it, wherever they stand. What is
        not selected counts as 0, but the scores have a slope in its direction.

        Args:
            vectors: of all positions.
            selected: 0 or 1 for each, with a gradient.
        """
        chosen = selected.detach() > 0.5
        before, behind = nearest_selected(chosen)
        nothing = torch.cat([vectors, vectors.new_zeros(len(vectors), 1, vectors.shape[2])], dim=1)
        seen = [_take(nothing, before), vectors, _take(nothing, behind)]
        kernel = self.phrases.weight.permute(2, 1, 0).reshape(-1, self.phrases.out_channels)
        assert self.phrases.bias is not None
        phrases = functional.relu(torch.cat(seen, dim=2) @ kernel + self.phrases.bias)
        return self._pooled(phrases, selected)

    def reading_parameters(self) -> Iterator[nn.Parameter]:
        """The weights of the half that predicts."""
        for part in (self.phrases, self.attention, self.output):
            yield from part.parameters()

    def _pooled(self, phrases: Tensor, selected: Tensor) -> Tensor:
        weights = selected * torch.exp(bounded(self.attention(phrases).squeeze(2)))
        mean = (weights[:, None] @ phrases).squeeze(1) / (weights.sum(dim=1, keepdim=True) + NOTHING_WEIGHS)
        scores: Tensor = self.output(functional.dropout(mean, 0.5, self.training))
        return scores


@dataclass(frozen=True, eq=False)
class RationaleModel(TextNetwork):
    """A trained rationale model: what it selects is public, and its prediction is a function of that alone."""

    network: SelectingNetwork

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text: those of what is selected."""
        texts = check_texts(inputs)
        return ask(lambda batch: self.encode(self.select(batch)), texts, len(texts), len(self.class_names))

    def select(self, inputs: Inputs) -> list[Selection]:
        """The words that are selected from each text."""
        texts = check_texts(inputs)
        arrays = self.encoder.encode(texts)
        chosen: list[Selection] = [Selection((), ())] * len(texts)
        self.network.eval()
        with torch.inference_mode():
            for places in length_batches([len(array) for array in arrays]):
                ids, lengths = pad([arrays[place] for place in places])
                selected = self.network.select(self.network.embedding(ids), lengths).numpy()
                for place, row in zip(places, selected, strict=True):
                    numbers = np.flatnonzero(row).tolist()
                    words = WORD.findall(texts[place])
                    chosen[place] = Selection(tuple(words[number] for number in numbers), tuple(numbers))
        return chosen

    def encode(self, selections: Sequence[Selection]) -> FloatArray:
        """Probabilities from selected words alone."""
        arrays = self.encoder.encode([selection.text for selection in selections])
        scores = np.empty((len(arrays), len(self.class_names)))
        self.network.eval()
        with torch.inference_mode():
            for places in length_batches([len(array) for array in arrays]):
                ids, lengths = pad([arrays[place] for place in places])
                scores[places] = self.network.encode(self.network.embedding(ids), lengths).numpy()
        probabilities: FloatArray = softmax(scores, axis=1)
        return probabilities


def compact(vectors: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
    """The kept positions of each text side by side, zeros behind them, and how many there are."""
    order, counts = _front(kept)
    return _take(vectors, order) * inside_of(order, counts)[:, :, None], counts


def inside_of(batch: Tensor, lengths: Tensor) -> Tensor:
    """Which positions of a padded batch belong to its texts."""
    return torch.arange(batch.shape[1]) < lengths[:, None]


def bounded(scores: Tensor) -> Tensor:
    """Numbers squeezed between minus and plus four."""
    return BOUND * torch.tanh(scores / BOUND)


def nearest_selected(chosen: Tensor) -> tuple[Tensor, Tensor]:
    """For each position the nearest selected one before it and behind it; the number of positions where there is none.

    Args:
        chosen: (texts, positions).
    """
    count = chosen.shape[1]
    places = torch.arange(count).expand(chosen.shape)
    none = torch.full_like(places[:, :1], -1)
    before = torch.cat([none, torch.where(chosen, places, -1)[:, :-1]], dim=1).cummax(dim=1).values
    backwards = torch.cat([none, torch.where(chosen.flip(1), places, -1)[:, :-1]], dim=1).cummax(dim=1).values
    behind = torch.where(backwards < 0, count, count - 1 - backwards).flip(1)
    return torch.where(before < 0, count, before), behind


def _front(kept: Tensor) -> tuple[Tensor, Tensor]:
    """The kept positions first, as many columns as the text with most of them needs, and how many each has."""
    counts = kept.sum(dim=1)
    width = max(1, int(counts.max())) if len(counts) else 1
    return torch.sort((~kept).to(torch.uint8), dim=1, stable=True).indices[:, :width], counts


def _take(vectors: Tensor, places: Tensor) -> Tensor:
    return vectors.gather(1, places[:, :, None].expand(-1, -1, vectors.shape[2]))


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
