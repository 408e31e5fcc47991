"""From a dataset to a trained network: what it reads is learned, the network built, the loop run, and that noted."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from verax.arrays import FloatArray, IntArray
from verax.data.dataset import Dataset, Part, contents
from verax.data.vectors import WordVectors, word_vectors
from verax.data.words import WORD
from verax.errors import VeraxError
from verax.models.neural.architectures import BilstmNetwork, CnnNetwork, DenseNetwork
from verax.models.neural.encoders import UNKNOWN, Encoded, RowEncoder, WordEncoder
from verax.models.neural.loop import Examples, Schedule, Train, TrainingTask, train
from verax.models.neural.networks import SelectionRecord, TableNetwork, TextNetwork, TrainingRecord
from verax.models.neural.rationale import (
    RationaleModel,
    RationaleNetwork,
    RecurrentRationaleNetwork,
    SelectingNetwork,
)
from verax.models.ready import check_labels, table_schema
from verax.models.wrappers import check_texts
from verax.seeds import stream

# Of the training part, where there is no validation part to watch.
HELD_OUT = 0.1
# Words that occur once are the unknown word in training too, so that a network learns what to make of it.
MIN_COUNT = 2
# Word vectors of all sources are brought to one size by one factor each: the root mean square of their entries. It is
# about that of GloVe, and a step's size then means the same whatever the source.
ENTRY_SIZE = 0.4
# Word vectors of the last few training parts: a benchmark fits many networks on the same texts.
KEPT_VECTORS = 2
# From inputs to what a network, or its learning part, reads.
Represent = Callable[[Sequence[str] | FloatArray], Sequence[Encoded]]
_KEPT: OrderedDict[tuple[str, ...], WordVectors] = OrderedDict()


@dataclass(frozen=True, eq=False)
class Untrained:
    """A model before its training.

    Attributes:
        model: whole but for its weights.
        learner: the part of its network that learns; all of it if None.
        represent: from inputs to what that part reads; what the model's encoder makes of them if None.
    """

    model: TextNetwork | TableNetwork
    learner: nn.Module | None = None
    represent: Represent | None = None


@dataclass(frozen=True)
class Recipe:
    """A ready-made network that is given a dataset's inputs themselves.

    Attributes:
        name: among the ready-made models.
        kind: what it reads, "text" or "table".
        seed: of all that is random.
        schedule: how it is trained.
        prepare: from a dataset to the untrained network for it; only the training part may be looked at.
        trained_by: what trains it.
    """

    name: str
    kind: str
    seed: int
    schedule: Schedule
    prepare: Callable[[Dataset], Untrained]
    trained_by: Train = train

    def fit_inputs(
        self, dataset: Dataset, sample_weight: ArrayLike | None = None
    ) -> TextNetwork | TableNetwork:
        """The network trained on the dataset's training part; a weight multiplies an input's loss."""
        if dataset.kind != self.kind:
            others = "cnn or bilstm" if dataset.kind == "text" else "mlp-2x50"
            raise VeraxError(
                f"The model {self.name!r} reads a {self.kind} but {dataset.name!r} is a {dataset.kind} dataset; "
                f"use {others}, or a model that reads both, such as mlp."
            )
        if self.schedule.epochs < 1:
            raise VeraxError(f"epochs={self.schedule.epochs} trains nothing; give 1 or more.")
        if not self.schedule.rate > 0:
            raise VeraxError(f"rate={self.schedule.rate:g} trains nothing; give a number above 0.")
        dataset, weights = _weighted(dataset, sample_weight)
        started = time.perf_counter()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            untrained = self.prepare(dataset)
        model = untrained.model
        encode = untrained.represent or model.encoder.encode
        examples, watched = _examples(dataset, weights, encode, self.seed)
        learner = untrained.learner or model.network
        history = self.trained_by(
            TrainingTask(
                learner, model.encoder.collate, examples, watched, self.schedule, self.seed, self.name
            )
        )
        record = TrainingRecord(
            model=self.name,
            dataset=dataset.name,
            dataset_hash=dataset.hash,
            inputs=len(dataset.train),
            weighted=bool(np.ptp(weights) > 0),
            rated=examples.targets.dtype.kind == "f",
            seed=self.seed,
            epochs=len(history.losses),
            best_epoch=history.kept + 1,
            validation_accuracy=history.validation_accuracies[history.kept],
            seconds=time.perf_counter() - started,
            selection=None
            if not history.shares
            else SelectionRecord(
                tuple(history.shares),
                tuple(history.validation_accuracies),
                tuple(history.losses),
                tuple(history.seconds),
            ),
        )
        return replace(model, record=record, reference_labels=dataset.train.labels)


def _weighted(dataset: Dataset, sample_weight: ArrayLike | None) -> tuple[Dataset, FloatArray]:
    """The dataset without training inputs of weight 0, and the weights of the others, 1 on average."""
    train = dataset.train
    _, weights = check_labels(train.labels, sample_weight, len(train.inputs), len(dataset.class_names))
    if weights is None:
        return dataset, np.ones(len(train))
    places = np.flatnonzero(weights)
    if len(places) < len(train):
        dataset = replace(dataset, train=train.take(places))
    return dataset, weights[places] / weights[places].mean()


def _examples(
    dataset: Dataset, weights: FloatArray, encode: Represent, seed: int
) -> tuple[Examples, Examples]:
    """What the network learns from and what it watches: the validation part, or a tenth of the training part.

    A training with uneven weights watches a tenth of its own inputs with their weights. The validation part has none,
    and its loss rises while the network learns what counts most: it would call the training off after an epoch.
    """
    examples = Examples(encode(dataset.train.inputs), _targets(dataset.train), weights)
    if len(dataset.validation) and not np.ptp(weights):
        watched = dataset.validation
        return examples, Examples(encode(watched.inputs), _targets(watched), np.ones(len(watched)))
    size = round(HELD_OUT * len(dataset.train))
    if size == 0:
        raise VeraxError(
            f"{dataset.name!r} has no validation part to watch, and a tenth of its {len(dataset.train)} training "
            "inputs is none either; give more inputs."
        )
    shuffled = stream(seed, "held out").permutation(len(dataset.train)).tolist()
    return examples.take(sorted(shuffled[size:])), examples.take(sorted(shuffled[:size]))


def _targets(part: Part) -> IntArray | FloatArray:
    return part.labels if part.ratings is None else part.ratings


@dataclass(frozen=True)
class WordVectorSource:
    """Where a network's word vectors come from.

    Attributes:
        vectors: "trained" (on the training texts), "minilm", or the path of a GloVe file.
        dimensions: of vectors that are trained.
        train_vectors: whether the network's training changes them.
        max_words: how much of a text is read.
        min_count: how often a word must occur in training to be known.
    """

    vectors: str
    dimensions: int
    train_vectors: bool
    max_words: int
    min_count: int = MIN_COUNT

    def __post_init__(self) -> None:
        if self.max_words < 1:
            raise VeraxError(f"max_words={self.max_words} reads nothing of a text; give 1 or more.")


def words_into(
    network: type[CnnNetwork | BilstmNetwork], source: WordVectorSource, dropout: float, seed: int
) -> Callable[[Dataset], Untrained]:
    """What prepares a network that reads words: those of the training texts that have a vector.

    Args:
        network: its class.
        source: of its word vectors.
        dropout: see there.
        seed: of the decomposition that trains vectors.
    """
    if not 0 <= dropout < 1:
        raise VeraxError(f"dropout={dropout:g} is no share to leave out; give 0 or more, and less than 1.")

    def prepare(dataset: Dataset) -> Untrained:
        texts = check_texts(dataset.train.inputs)
        words, matrix = known_vectors(texts, source, seed)
        made = network(len(matrix), matrix.shape[1], len(dataset.class_names), dropout=dropout)
        with torch.no_grad():
            made.embedding.weight.copy_(torch.from_numpy(matrix))
        made.embedding.requires_grad_(source.train_vectors)
        return Untrained(
            TextNetwork(made, WordEncoder(words, source.max_words), dataset.class_names, reference=texts)
        )

    return prepare


def words_into_rationale(
    source: WordVectorSource, seed: int, *, everything: bool, cells: Mapping[str, int] | None = None
) -> Callable[[Dataset], Untrained]:
    """What prepares a rationale model, or the half of it that reads everything.

    Args:
        source: of its word vectors.
        seed: of the decomposition that trains vectors, and of recurrent cells.
        everything: the half that reads everything.
        cells: sizes of recurrent cells, see `RecurrentRationaleNetwork`; filters if None.
    """

    def prepare(dataset: Dataset) -> Untrained:
        texts = check_texts(dataset.train.inputs)
        words, matrix = known_vectors(texts, source, seed)
        sizes = (len(matrix), matrix.shape[1], len(dataset.class_names))
        made: SelectingNetwork = (
            RationaleNetwork(*sizes, everything=everything)
            if cells is None
            else RecurrentRationaleNetwork(*sizes, **cells)
        )
        with torch.no_grad():
            made.embedding.weight.copy_(torch.from_numpy(matrix))
        encoder = WordEncoder(words, source.max_words)
        return Untrained(RationaleModel(made, encoder, dataset.class_names, reference=texts))

    return prepare


def rows_into_dense(dataset: Dataset) -> Untrained:
    """Prepares the network of tables."""
    schema = table_schema(dataset)
    rows = schema.check(dataset.train.inputs)
    encoder = RowEncoder.learn(schema, rows)
    network = DenseNetwork(encoder.width, len(dataset.class_names))
    return Untrained(TableNetwork(network, encoder, dataset.class_names, reference=rows))


def known_vectors(
    texts: Sequence[str], source: WordVectorSource, seed: int
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """The known words and their vectors; zeros for padding and for the unknown word."""
    digest = hashlib.sha256(b"\0".join(contents(texts))).hexdigest()
    key = (source.vectors, str(source.dimensions), str(seed), str(source.min_count), digest)
    if key not in _KEPT:
        _KEPT[key] = word_vectors(source.vectors, texts, source.dimensions, source.min_count, seed)
        while len(_KEPT) > KEPT_VECTORS:
            _KEPT.popitem(last=False)
    vectors = _KEPT[key]
    known = {word for text in texts for word in WORD.findall(text.lower())}
    places = [place for place, word in enumerate(vectors.words) if word in known]
    if not places:
        raise VeraxError(
            f"None of the words of the training texts has a vector in {source.vectors!r}; use other word vectors."
        )
    matrix = np.zeros((UNKNOWN + 1 + len(places), vectors.rows.shape[1]), dtype=np.float32)
    rows = vectors.raw[places]
    size = float(np.sqrt(np.mean(np.square(rows, dtype=np.float64))))
    matrix[UNKNOWN + 1 :] = rows * (ENTRY_SIZE / size if size > 0 else 1.0)
    return tuple(vectors.words[place] for place in places), matrix
