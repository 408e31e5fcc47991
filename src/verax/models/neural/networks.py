"""Networks as models: of texts and of table rows, with what they can give beyond probabilities."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor, nn

from verax.arrays import FloatArray, IntArray
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.models.base import Inputs, Model, ask
from verax.models.capabilities import Embedded
from verax.models.neural.encoders import (
    Encoded,
    Encoder,
    RowEncoder,
    TextEncoder,
    batch_positions,
    length_batches,
    pad,
)
from verax.models.wrappers import check_texts, encode_rows

# Table rows that go through a network together: with what is made of them they fit the processor's cache.
BATCH_ROWS = 2_048


class WordNetwork(nn.Module):
    """A network that reads the words of texts, or pieces of them, and shows where they become vectors.

    Attributes:
        embedding: from numbers of words to vectors.
    """

    embedding: nn.Module

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as numbers (texts, positions), of which each text has so many."""
        return self.from_embedded(self.embedding(ids), lengths)

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as vectors (texts, positions, dimensions)."""
        raise NotImplementedError


@dataclass(frozen=True)
class SelectionRecord:
    """How the selection of words went, after each epoch.

    Attributes:
        shares: of the validation texts' words that were selected.
        accuracies: on the validation part.
        losses: on the way.
        seconds: since the beginning.
    """

    shares: tuple[float, ...]
    accuracies: tuple[float, ...]
    losses: tuple[float, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class TrainingRecord:
    """What a network was trained on, and how well it did.

    Attributes:
        model: its name among the ready-made ones.
        dataset: its name, and
        dataset_hash: of its content, labels included.
        inputs: how many it learnt from (weight above 0).
        weighted: whether some counted more than others.
        rated: whether it learnt ratings between 0 and 1, rather than classes.
        seed: of the training.
        epochs: of training.
        best_epoch: the one whose weights were kept, from 1.
        validation_accuracy: after that epoch.
        seconds: of training.
        selection: how a rationale model's selection went; None for other networks.
    """

    model: str
    dataset: str
    dataset_hash: str
    inputs: int
    weighted: bool
    rated: bool
    seed: int
    epochs: int
    best_epoch: int
    validation_accuracy: float
    seconds: float
    selection: SelectionRecord | None = None


@dataclass(frozen=True, eq=False)
class TextNetwork(Model):
    """A network of texts: probabilities, scores, gradients with respect to its word vectors, layers.

    Attributes:
        network: from numbers of words, or of pieces of words, to scores.
        encoder: from texts to these numbers.
        class_names: one name per score.
        reference: training texts; None if not given.
        record: how it was trained; None for one that was brought along.
        reference_labels: the class of each training text, as the network was taught it; None if not known.
    """

    network: WordNetwork
    encoder: TextEncoder
    class_names: tuple[str, ...]
    reference: Sequence[str] | None = field(default=None, repr=False)
    record: TrainingRecord | None = None
    reference_labels: IntArray | None = field(default=None, repr=False)

    kind = "text"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text, checked."""
        texts = check_texts(inputs)
        if not texts:
            return np.empty((0, len(self.class_names)))
        return ask(
            lambda batch: softmax(self._scores(batch), axis=1), texts, len(texts), len(self.class_names)
        )

    def scores(self, inputs: Inputs) -> FloatArray:
        """Class scores before the softmax, one row per text."""
        return self._scores(check_texts(inputs))

    def ratings(self, inputs: Inputs) -> FloatArray:
        """The rating between 0 and 1 of each text, by a network that was trained on ratings."""
        if self.record is None or not self.record.rated:
            raise VeraxError("This network was trained on classes, not on ratings; ask for predict_proba.")
        return self.predict_proba(inputs)[:, 1]

    def embed(self, inputs: Inputs) -> list[Embedded]:
        """Each text as its word vectors."""
        texts = check_texts(inputs)
        arrays, places = self.encoder.encode(texts), self.encoder.word_places(texts)
        with torch.inference_mode():
            vectors = [self.network.embedding(torch.from_numpy(array)).numpy() for array in arrays]
        return [Embedded(*each) for each in zip(texts, vectors, places, strict=True)]

    def scores_from(self, embedded: Sequence[Embedded]) -> FloatArray:
        """Scores, were these the word vectors."""
        network = _above_words(self.network)
        scores = np.empty((len(embedded), len(self.class_names)))
        with torch.inference_mode():
            for places in length_batches([len(text.vectors) for text in embedded]):
                vectors, lengths = pad([embedded[place].vectors for place in places])
                scores[places] = network.from_embedded(vectors.double(), lengths).numpy()
        return scores

    def gradients(self, embedded: Sequence[Embedded], targets: Sequence[int]) -> list[NDArray[np.float32]]:
        """The gradient of each text's target score with respect to its word vectors."""
        network = _above_words(self.network)
        gradients: dict[int, NDArray[np.float32]] = {}
        for places in length_batches([len(text.vectors) for text in embedded]):
            vectors, lengths = pad([embedded[place].vectors for place in places])
            vectors = vectors.double().requires_grad_()
            scores = network.from_embedded(vectors, lengths)
            chosen = scores[torch.arange(len(places)), torch.tensor([targets[place] for place in places])]
            (slopes,) = torch.autograd.grad(chosen.sum(), vectors)
            for place, length, rows in zip(places, lengths.tolist(), slopes.numpy(), strict=True):
                gradients[place] = rows[:length].astype(np.float32)
        return [gradients[place] for place in range(len(embedded))]

    def layers(self) -> Mapping[str, nn.Module]:
        """The network's own modules, from word vectors to scores."""
        return dict(self.network.named_children())

    def fitted_state(self) -> tuple[int, ...]:
        """Numbers that change when a weight does."""
        return weights_state(self.network)

    def _scores(self, texts: Sequence[str]) -> FloatArray:
        return run_network(self.network, self.encoder, self.encoder.encode(texts), len(self.class_names))


@dataclass(frozen=True, eq=False)
class TableNetwork(Model):
    """A network of table rows: probabilities, scores, layers.

    Attributes:
        network: from encoded rows to scores.
        encoder: from the table's rows to what it reads.
        class_names: one name per score.
        reference: encoded training rows; None if not given.
        record: how it was trained.
        reference_labels: the class of each training row, as the network was taught it; None if not known.
        schema: the table's columns, as the encoder has them.
    """

    network: nn.Module
    encoder: RowEncoder
    class_names: tuple[str, ...]
    reference: FloatArray | None = field(default=None, repr=False)
    record: TrainingRecord | None = None
    reference_labels: IntArray | None = field(default=None, repr=False)
    schema: Schema = field(init=False, repr=False)

    kind = "table"

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.encoder.schema)

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per input, checked."""
        rows = encode_rows(inputs, self.schema)
        if len(rows) == 0:
            return np.empty((0, len(self.class_names)))
        return ask(lambda batch: softmax(self._scores(batch), axis=1), rows, len(rows), len(self.class_names))

    def scores(self, inputs: Inputs) -> FloatArray:
        """Class scores before the softmax, one row per input."""
        return self._scores(encode_rows(inputs, self.schema))

    def layers(self) -> Mapping[str, nn.Module]:
        """The network's own modules, from rows to scores."""
        return dict(self.network.named_children())

    def fitted_state(self) -> tuple[int, ...]:
        """Numbers that change when a weight does."""
        return weights_state(self.network)

    def _scores(self, rows: FloatArray) -> FloatArray:
        parts = [slice(first, first + BATCH_ROWS) for first in range(0, len(rows), BATCH_ROWS)]
        batches = ((part, (torch.from_numpy(self.encoder.matrix(rows[part])),)) for part in parts)
        return _run(self.network, batches, (len(rows), len(self.class_names)))


def run_network(
    network: nn.Module, encoder: Encoder, arrays: Sequence[Encoded], n_classes: int
) -> FloatArray:
    """Scores of encoded inputs, in batches of similar lengths and bounded size, without gradients."""
    batches = (
        (places, encoder.collate([arrays[place] for place in places]))
        for places in length_batches([len(array) for array in arrays], batch_positions(encoder))
    )
    return _run(network, batches, (len(arrays), n_classes))


def _run(
    network: nn.Module,
    batches: Iterable[tuple[list[int] | slice, tuple[Tensor, ...]]],
    shape: tuple[int, int],
) -> FloatArray:
    """Scores (inputs, classes) of batches, each with the places of its inputs."""
    network.eval()
    scores = np.empty(shape)
    with torch.inference_mode():
        for places, tensors in batches:
            scores[places] = network(*tensors).float().numpy()
    if not np.isfinite(scores).all():
        check_finite(network)
    return scores


def check_finite(network: nn.Module) -> None:
    """A sentence if weights of a network are not numbers, which its answers then are not either."""
    for name, tensor in network.named_parameters():
        if not bool(tensor.isfinite().all()):
            raise VeraxError(
                f"The weights {name!r} of the network are not all finite numbers; train it again with a lower rate, or "
                "load it again."
            )


def _above_words(network: WordNetwork) -> WordNetwork:
    """What a network does with word vectors, in double precision.

    In single precision the digits in which the size of a batch shows are among those that explanations are made of.
    """
    copied = copy.deepcopy(network, {id(network.embedding): nn.Identity()})
    return copied.double().requires_grad_(False).eval()


def weights_state(network: nn.Module) -> tuple[int, ...]:
    """Two sums over each tensor of a network: one notices any changed bit, the other that numbers changed places.

    Both read every weight once, at the speed of memory; hashes would take ten times as long.
    """
    state: list[int] = []
    for tensor in (*network.parameters(), *network.buffers()):
        kept = tensor.detach().contiguous()
        if kept.dtype == torch.bfloat16:  # numpy has no such numbers
            kept = kept.view(torch.int16)
        values = kept.numpy().reshape(-1)
        content = values.view(np.uint8)
        whole = len(content) // 8 * 8
        bits = int(content[:whole].view(np.uint64).sum()) + int(content[whole:].sum())
        side = max(1, int(np.sqrt(len(values))))
        square = values[: len(values) // side * side].reshape(-1, side).astype(np.float32, copy=False)
        across = square @ np.arange(1, side + 1, dtype=np.float32)
        state += [bits, hash(float(np.arange(1, len(across) + 1, dtype=np.float32) @ across))]
    return tuple(state)
