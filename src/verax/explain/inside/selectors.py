"""Networks that select the features of an input which tell what a model says of it, and predict it from these alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.arrays import FloatArray, IndexArray
from verax.data.words import WORD
from verax.errors import VeraxError
from verax.explain.inside.learned import Arrays, ReferenceAnswers, learned
from verax.models.base import Model
from verax.models.neural.encoders import (
    PADDING,
    UNKNOWN,
    Encoded,
    Encoder,
    RowEncoder,
    WordEncoder,
    length_batches,
)
from verax.models.wrappers import is_texts

Activation = Literal["relu", "selu"]
# As in the released code of L2X: the most frequent words, so many of each text, and the sizes of layers.
VOCABULARY, MAX_WORDS = 5_000, 400
TEXT_UNITS, PREDICTOR_UNITS, DROPOUT = 100, 250, 0.2
ROW_SELECTOR_UNITS, ROW_PREDICTOR_UNITS = 100, 200


class Selector(nn.Module):
    """From inputs to a number per feature: the higher, the rather it is selected; minus infinity behind a text."""


class TextSelector(Selector):
    """What stands around each word, and what stands anywhere, tell whether it is selected.

    Args:
        n_words: rows of the embedding.
        dimensions: of a word vector.
    """

    def __init__(self, n_words: int, dimensions: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_words, dimensions, padding_idx=PADDING)
        self.first = nn.Conv1d(dimensions, TEXT_UNITS, 3, padding=1)
        self.anywhere = nn.Linear(TEXT_UNITS, TEXT_UNITS)
        self.around = nn.ModuleList(nn.Conv1d(TEXT_UNITS, TEXT_UNITS, 3, padding=1) for _ in range(2))
        self.both = nn.Conv1d(2 * TEXT_UNITS, TEXT_UNITS, 1)
        self.output = nn.Conv1d(TEXT_UNITS, 1, 1)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """(texts, positions)."""
        inside = torch.arange(ids.shape[1]) < lengths[:, None]
        # Behind the text there is nothing at any layer, so that the texts beside it do not matter.
        first = functional.relu(self.first(self.embedding(ids).transpose(1, 2))) * inside[:, None]
        anywhere = functional.relu(self.anywhere(first.amax(dim=2)))
        around = first
        for layer in self.around:
            around = functional.relu(layer(around)) * inside[:, None]
        together = torch.cat([anywhere[:, :, None].expand_as(around), around], dim=1)
        logits: Tensor = self.output(functional.relu(self.both(self.dropout(together))))[:, 0]
        return logits.masked_fill(~inside, -torch.inf)


class TextPredictor(nn.Module):
    """The mean vector of the selected words, a hidden layer, a score per class.

    Args:
        n_words: rows of the embedding.
        dimensions: of a word vector.
        n_classes: how many scores.
        divisor: what sums of vectors are divided by; the number of selected words if None.
    """

    def __init__(self, n_words: int, dimensions: int, n_classes: int, divisor: int | None) -> None:
        super().__init__()
        self.divisor = divisor
        self.embedding = nn.Embedding(n_words, dimensions, padding_idx=PADDING)
        self.hidden = nn.Linear(dimensions, PREDICTOR_UNITS)
        self.output = nn.Linear(PREDICTOR_UNITS, n_classes)

    def forward(self, ids: Tensor, lengths: Tensor, selected: Tensor) -> Tensor:  # noqa: ARG002
        """(texts, classes)."""
        total = (self.embedding(ids) * selected[:, :, None]).sum(dim=1)
        count = selected.sum(dim=1, keepdim=True).clamp(min=1.0) if self.divisor is None else self.divisor
        scores: Tensor = self.output(functional.relu(self.hidden(total / count)))
        return scores


class RowSelector(Selector):
    """Two hidden layers.

    Args:
        width: numbers in an encoded row.
        columns: of the table.
        activation: of the hidden layers.
    """

    def __init__(self, width: int, columns: int, activation: Activation) -> None:
        super().__init__()
        self.first = nn.Linear(width, ROW_SELECTOR_UNITS)
        self.second = nn.Linear(ROW_SELECTOR_UNITS, ROW_SELECTOR_UNITS)
        self.output = nn.Linear(ROW_SELECTOR_UNITS, columns)
        self.activation = activation

    def forward(self, rows: Tensor) -> Tensor:
        """(rows, columns)."""
        act = functional.relu if self.activation == "relu" else functional.selu
        logits: Tensor = self.output(act(self.second(act(self.first(rows)))))
        return logits


class RowPredictor(nn.Module):
    """What is not selected is 0; two hidden layers, each followed by a batch normalisation.

    Args:
        owners: for each number of an encoded row, its column.
        n_classes: how many scores.
        activation: of the hidden layers.
    """

    def __init__(self, owners: IndexArray, n_classes: int, activation: Activation) -> None:
        super().__init__()
        self.owners = torch.from_numpy(owners.astype(np.int64))
        self.first = nn.Linear(len(owners), ROW_PREDICTOR_UNITS)
        self.second = nn.Linear(ROW_PREDICTOR_UNITS, ROW_PREDICTOR_UNITS)
        self.output = nn.Linear(ROW_PREDICTOR_UNITS, n_classes)
        # Keras' defaults, with which both papers' code was run.
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(ROW_PREDICTOR_UNITS, eps=1e-3, momentum=0.01) for _ in range(2)
        )
        self.activation = activation

    def forward(self, rows: Tensor, selected: Tensor) -> Tensor:
        """(rows, classes)."""
        act = functional.relu if self.activation == "relu" else functional.selu
        values = self.norms[0](act(self.first(rows * selected[:, self.owners])))
        scores: Tensor = self.output(self.norms[1](act(self.second(values))))
        return scores


@dataclass(frozen=True, eq=False)
class Subject:
    """How a model's inputs are read by selectors.

    Attributes:
        encoder: from inputs to what networks are called with.
        owners: for each number of an encoded row, its column; None for texts.
        columns: of the table.
        n_classes: of the model.
    """

    encoder: WordEncoder | RowEncoder
    owners: IndexArray | None
    columns: int
    n_classes: int

    @classmethod
    def from_model(cls, model: Model, lesson: ReferenceAnswers) -> Subject:
        """Reads texts by their most frequent words, rows by their columns."""
        classes = lesson.probabilities.shape[1]
        if is_texts(lesson.inputs):
            counts = Counter(word for text in lesson.inputs for word in WORD.findall(str(text).lower()))
            words = [word for word, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]
            return cls(WordEncoder(tuple(words[:VOCABULARY]), MAX_WORDS), None, 0, classes)
        assert model.schema is not None, "rows come with a schema"
        encoder = RowEncoder.learn(model.schema, np.asarray(lesson.inputs, dtype=np.float64))
        return cls(encoder, _owners(encoder), len(model.schema), classes)

    def selector(self, dimensions: int, activation: Activation) -> Selector:
        """An untrained selector."""
        if isinstance(self.encoder, WordEncoder):
            return TextSelector(len(self.encoder.words) + UNKNOWN + 1, dimensions)
        return RowSelector(self.encoder.width, self.columns, activation)

    def predictor(self, dimensions: int, activation: Activation, divisor: int | None) -> nn.Module:
        """An untrained predictor."""
        if isinstance(self.encoder, WordEncoder):
            words = len(self.encoder.words) + UNKNOWN + 1
            return TextPredictor(words, dimensions, self.n_classes, divisor)
        assert self.owners is not None
        return RowPredictor(self.owners, self.n_classes, activation)


def _owners(encoder: RowEncoder) -> IndexArray:
    """The column of each number that an encoded row has."""
    numeric = list(encoder.schema.numeric)
    owners = [*numeric, *(numeric[place] for place in encoder.lacking)]
    for place, count in zip(encoder.schema.categorical, encoder.schema.category_counts, strict=True):
        owners += [place] * count
    return np.array(owners, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Trained:
    """A selector after its training.

    Attributes:
        encoder: what inputs are read by.
        selector: in double precision.
        agreement: the share of reference inputs, held out of the training, for which the selected features alone tell
            the model's class.
    """

    encoder: Encoder
    selector: Selector
    agreement: float

    @classmethod
    def read(cls, arrays: Arrays, subject: Subject, dimensions: int, activation: Activation) -> Trained:
        """From what is kept on disk."""
        selector = subject.selector(dimensions, activation)
        kept = {
            name.removeprefix("selector."): torch.from_numpy(np.asarray(array))
            for name, array in arrays.items()
            if name.startswith("selector.")
        }
        selector.load_state_dict(kept)
        return cls(subject.encoder, selector.double().eval(), float(arrays["agreement"][()]))

    def logits(self, inputs: Sequence[str] | FloatArray) -> list[FloatArray]:
        """For each input a number per feature that is read."""
        arrays = self.encoder.encode(inputs)
        found: dict[int, FloatArray] = {}
        rows = isinstance(self.selector, RowSelector)
        with torch.inference_mode():
            for places in length_batches([len(array) for array in arrays]):
                given = self.encoder.collate([arrays[place] for place in places])
                values = self.selector(
                    *(each.double() if each.is_floating_point() else each for each in given)
                )
                for place, row in zip(places, values.numpy(), strict=True):
                    found[place] = row if rows else row[: len(arrays[place])]
        return [found[place] for place in range(len(arrays))]


def kept(selector: Selector, agreement: float) -> Arrays:
    """A selector as arrays."""
    if not all(bool(tensor.isfinite().all()) for tensor in selector.state_dict().values()):
        raise VeraxError(
            "The selector did not learn: its weights are not finite; look for values out of all proportion among the "
            "model's reference inputs."
        )
    state = {f"selector.{name}": tensor.numpy() for name, tensor in selector.state_dict().items()}
    return {**state, "agreement": np.array(agreement)}


def penalty(*layers: nn.Linear) -> Tensor:
    """The L2 penalty of both papers' tables."""
    return torch.stack([(layer.weight**2).sum() for layer in layers]).sum() * 1e-3


def agreement(
    subject: Subject,
    predictor: nn.Module,
    arrays: Sequence[Encoded],
    selected: Sequence[Tensor],
    classes: IndexArray,
) -> float:
    """The share of inputs whose class the selected features alone tell."""
    right = 0
    predictor.eval()
    with torch.inference_mode():
        for places in length_batches([len(array) for array in arrays]):
            given = subject.encoder.collate([arrays[place] for place in places])
            width = given[0].shape[1] if isinstance(subject.encoder, WordEncoder) else subject.columns
            masks = torch.zeros(len(places), width)
            for mask, place in zip(masks, places, strict=True):
                mask[: len(selected[place])] = selected[place]
            said = predictor(*given, masks).argmax(dim=1).numpy()
            right += int((said == classes[places]).sum())
    predictor.train()
    return right / max(1, len(arrays))


def trained_selector(
    model: Model,
    explainer: str,
    key: str,
    network: tuple[int, Literal["relu", "selu"]],
    learn: Callable[[Subject, ReferenceAnswers], Arrays],
) -> Trained:
    """What an explainer knows of a model; learned now if nothing is known yet.

    Args:
        model: what is explained.
        explainer: the explainer's name, for people.
        key: all that the learning depends on besides the model.
        network: the selector's word dimensions and its activation.
        learn: what learns from a lesson.
    """
    lessons: list[ReferenceAnswers] = []

    def lesson() -> ReferenceAnswers:
        lessons.append(ReferenceAnswers.from_model(model, explainer))
        return lessons[0]

    return learned(
        model,
        key,
        lesson,
        lambda given: learn(Subject.from_model(model, given), given),
        lambda arrays: Trained.read(arrays, Subject.from_model(model, lessons[0]), *network),
    )
