"""The networks of the Reverse Turing Test (Gonzalez & Søgaard 2020, section 3): small heads on a frozen transformer.

The paper passes BERT's token representations, not fine-tuned, through an LSTM of 100 units, or takes their mean, and
then through one hidden layer of 100. Here the transformer is MiniLM, whose weights come in a package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from verax.arrays import FloatArray
from verax.data.dataset import Dataset
from verax.data.vectors import MINILM, minilm_folder
from verax.installed import require
from verax.models.neural.encoders import Encoded, PieceEncoder, length_batches
from verax.models.neural.networks import TextNetwork, WordNetwork
from verax.models.neural.recipe import Untrained
from verax.models.neural.representations import Representations
from verax.models.wrappers import check_texts
from verax.run.threads import one_thread

Pooling = Literal["mean", "lstm"]
UNITS = 100


class TransformerHead(nn.Module):
    """From a text's representations to scores: their mean, or an LSTM's last state, then one hidden layer.

    Args:
        pooling: "mean" or "lstm".
        dimensions: of a representation.
        n_classes: how many scores.
    """

    def __init__(self, pooling: Pooling, dimensions: int, n_classes: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(dimensions, UNITS, batch_first=True) if pooling == "lstm" else None
        self.hidden = nn.Linear(UNITS if pooling == "lstm" else dimensions, UNITS)
        self.output = nn.Linear(UNITS, n_classes)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Scores from representations (texts, positions, dimensions)."""
        if self.lstm is None:
            text = mean_of(states, lengths)
        else:
            packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
            text = self.lstm(packed)[1][0][0]
        scores: Tensor = self.output(torch.relu(self.hidden(text)))
        return scores


class TransformerNetwork(WordNetwork):
    """MiniLM, never trained, and a head.

    Args:
        pooling: of the head.
        n_classes: how many scores.
    """

    # Its weights are those of the package; a saved model holds the head's alone.
    unsaved = ("backbone.", "embedding.")

    def __init__(self, pooling: Pooling, n_classes: int) -> None:
        super().__init__()
        if pooling not in ("mean", "lstm"):
            raise ValueError(f"its pooling is {pooling!r}")
        require("A transformer", "transformers", extra="transformer")
        from transformers import AutoModel

        self.settings = {"pooling": pooling, "n_classes": n_classes}
        with no_progress():
            backbone = AutoModel.from_pretrained(minilm_folder(), local_files_only=True)
        self.backbone = backbone.requires_grad_(False)
        self.embedding = self.backbone.get_input_embeddings()
        self.head = TransformerHead(pooling, int(self.backbone.config.hidden_size), n_classes)

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as vectors of their pieces."""
        scores: Tensor = self.head(self.states(vectors, lengths), lengths)
        return scores

    def states(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The representations of pieces: the last layer's."""
        inside = (torch.arange(vectors.shape[1]) < lengths[:, None]).long()
        states: Tensor = self.backbone(inputs_embeds=vectors, attention_mask=inside).last_hidden_state
        return states


@contextmanager
def no_progress() -> Iterator[None]:
    """Without the library's own progress line: weights from a folder are there in a moment."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def mean_of(states: Tensor, lengths: Tensor) -> Tensor:
    """The mean of each text's representations."""
    inside = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
    return (states * inside).sum(dim=1) / lengths[:, None]


def minilm_into(pooling: Pooling, max_pieces: int) -> Callable[[Dataset], Untrained]:
    """What prepares a head on MiniLM; representations come from the disk where texts were seen before."""

    def prepare(dataset: Dataset) -> Untrained:
        network = TransformerNetwork(pooling, len(dataset.class_names))
        encoder = PieceEncoder.of_minilm(max_pieces)
        texts = check_texts(dataset.train.inputs)
        model = TextNetwork(network, encoder, dataset.class_names, reference=texts)
        return Untrained(model, network.head, lambda inputs: represent(network, encoder, pooling, inputs))

    return prepare


def represent(
    network: TransformerNetwork, encoder: PieceEncoder, pooling: Pooling, inputs: Sequence[str] | FloatArray
) -> list[Encoded]:
    """What the head reads of each text, in half precision: all its representations, or their mean as a single one."""
    about = f"{MINILM} {pooling} {encoder.max_pieces}"

    def compute(texts: Sequence[str]) -> list[Encoded]:
        arrays = encoder.encode(texts)
        made: dict[int, Encoded] = {}
        network.eval()
        with one_thread(), torch.inference_mode():
            for places in length_batches([len(array) for array in arrays], encoder.batch_positions):
                ids, lengths = encoder.collate([arrays[place] for place in places])
                states = network.states(network.embedding(ids), lengths)
                if pooling == "mean":
                    states, lengths = mean_of(states, lengths)[:, None], torch.ones_like(lengths)
                for place, length, rows in zip(places, lengths.tolist(), states.numpy(), strict=True):
                    made[place] = rows[:length].astype(np.float16)
        return [made[place] for place in range(len(texts))]

    return Representations().get(about, check_texts(inputs), compute)
