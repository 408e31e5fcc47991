"""How prototype networks are made of trained task models: k-means, training, projection onto training examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.dataset import Dataset
from verax.errors import VeraxError
from verax.models.neural.architectures import (
    BilstmNetwork,
    DenseNetwork,
    PrototypeBilstm,
    PrototypeDense,
    PrototypeLayer,
)
from verax.models.neural.encoders import Encoded, length_batches
from verax.models.neural.loop import History, Schedule, TrainingTask, train
from verax.models.neural.networks import TableNetwork, TextNetwork
from verax.models.neural.recipe import Recipe, Untrained
from verax.models.ready import ReadsInputs
from verax.run.threads import one_thread

# The feature vectors' scale is such that half of the training examples are this near to a prototype of their class
# (squared): their similarity is then above 0.78.
NEAR = 0.25
# So many times k-means begins anew.
STARTS = 3


@dataclass(frozen=True)
class PrototypeRecipe:
    """A prototype network on the features of a task model, which is trained first.

    Attributes:
        name: among the ready-made models.
        kind: what it reads, "text" or "table".
        seed: of all that is random.
        task: how the task model is trained.
        schedule: how the prototypes are trained, and the features with them.
        per_class: how many prototypes each class has.
        fixed: whether the features stay as the task model has them.
        eligible: which training examples can be prototypes. If None: all of them; where the features are fixed, those
            that the task model takes for their class.
    """

    name: str
    kind: str
    seed: int
    task: ReadsInputs
    schedule: Schedule
    per_class: int
    fixed: bool
    eligible: BoolArray | None = None

    def fit_inputs(
        self, dataset: Dataset, sample_weight: ArrayLike | None = None
    ) -> TextNetwork | TableNetwork:
        """The network trained on the dataset's training part; a weight multiplies an input's loss."""
        task = self.task.fit_inputs(dataset, sample_weight)
        assert isinstance(task, TextNetwork | TableNetwork)

        projections: list[Projection] = []

        def prepare(data: Dataset) -> Untrained:
            train = data.train
            made, projection = prototypes_into(
                task, train.inputs, train.labels, self.per_class, self.fixed, self.seed, self.eligible
            )
            projections.append(projection)
            return made

        def trained_by(lesson: TrainingTask) -> History:
            reads = _stacked if self.fixed else lesson.collate
            return train(replace(lesson, collate=reads), projections[-1])

        recipe = Recipe(self.name, self.kind, self.seed, self.schedule, prepare, trained_by)
        trained = recipe.fit_inputs(dataset, sample_weight)
        # The weights are those of the best epoch: which example each prototype is has to be found for them again.
        projections[-1].end_epoch()
        return trained


def prototypes_into(
    task: TextNetwork | TableNetwork,
    inputs: Sequence[str] | FloatArray,
    labels: IntArray,
    per_class: int,
    fixed: bool,
    seed: int,
    eligible: BoolArray | None = None,
) -> tuple[Untrained, Projection]:
    """A prototype network on a task model's features, before its training: prototypes where k-means puts them.

    Args:
        task: a trained ``bilstm`` or ``mlp-2x50``.
        inputs: training examples, and
        labels: their classes.
        per_class: how many prototypes each class has.
        fixed: whether only prototypes and class weights are to be trained.
        seed: of k-means.
        eligible: see ``PrototypeRecipe``.
    """
    counts = np.bincount(labels, minlength=len(task.class_names))
    if counts.min() < per_class:
        least = int(counts.argmin())
        raise VeraxError(
            f"The class {task.class_names[least]!r} has {counts[least]} training examples, fewer than its {per_class} "
            f"prototypes; ask for at most {max(1, int(counts[least]))}: prototypes={max(1, int(counts[least]))}."
        )
    model = with_prototypes(task, per_class)
    if eligible is None:
        eligible = _typical(task, inputs, labels, per_class) if fixed else np.full(len(labels), True)
    projection = Projection(model, model.encoder.encode(inputs), labels, eligible, fixed=fixed)
    projection.begin(seed)
    if not fixed:
        return Untrained(model), projection
    for name, parameter in model.network.named_parameters():
        parameter.requires_grad_(name.startswith("output."))

    def represent(some: Sequence[str] | FloatArray) -> list[Encoded]:
        return list(features_of(model, model.encoder.encode(some)))

    return Untrained(model, projection.layer, represent), projection


def _typical(
    task: TextNetwork | TableNetwork, inputs: Sequence[str] | FloatArray, labels: IntArray, per_class: int
) -> BoolArray:
    """Which examples can be prototypes where features are fixed: those that the task model takes for their class.

    The others lie among those of another class, and stay there: a prototype that training has moved away from them is
    moved back onto one of them. A class with too few that are taken for it has all of its examples.
    """
    right: BoolArray = task.predict_proba(inputs).argmax(axis=1) == labels
    counts = np.bincount(labels[right], minlength=len(task.class_names))
    return right | (counts < per_class)[labels]


def features_of(model: TextNetwork | TableNetwork, arrays: Sequence[Encoded]) -> FloatArray:
    """The feature vector of every encoded input, without gradients."""
    network = model.network
    assert isinstance(network, BilstmNetwork | DenseNetwork)
    was_training = network.training
    network.eval()
    found: dict[int, FloatArray] = {}
    with one_thread(), torch.inference_mode():
        for places in length_batches([len(array) for array in arrays]):
            batch = model.encoder.collate([arrays[place] for place in places])
            vectors = (
                network.features(network.embedding(batch[0]), batch[1])
                if isinstance(network, BilstmNetwork)
                else network.features(batch[0])
            )
            found |= dict(zip(places, vectors.numpy(), strict=True))
    network.train(was_training)
    return np.stack([found[place] for place in range(len(arrays))])


class Projection:
    """Prototypes onto training examples of their class: before training, and after every epoch."""

    def __init__(
        self,
        model: TextNetwork | TableNetwork,
        arrays: Sequence[Encoded],
        labels: IntArray,
        eligible: BoolArray,
        *,
        fixed: bool,
    ) -> None:
        network = model.network
        assert isinstance(network, PrototypeBilstm | PrototypeDense)
        self.model = model
        self.layer: PrototypeLayer = network.output
        self.arrays = arrays
        self.labels = labels
        self.eligible = eligible
        # Fixed features are the same after every epoch, and finding them takes longer than the epoch.
        self._fixed = features_of(model, arrays) if fixed else None

    def penalty(self, targets: IntArray | FloatArray) -> Tensor:
        """The layer's own."""
        return self.layer.penalty(torch.from_numpy(np.asarray(targets)))

    def begin(self, seed: int) -> None:
        """Finds where prototypes begin (k-means on each class's features), and the scale."""
        from sklearn.cluster import KMeans

        vectors = self._vectors()
        centres, near = [], []
        with one_thread():
            for label in range(self.layer.n_classes):
                own = vectors[self._members(label)]
                found = KMeans(self.layer.per_class, n_init=STARTS, random_state=seed).fit(own)
                centres.append(found.cluster_centers_)
                near.append(((own - found.cluster_centers_[found.labels_]) ** 2).sum(axis=1))
        typical = float(np.median(np.concatenate(near)))
        scale = (NEAR / typical) ** 0.5 if typical > 0 else 1.0
        with torch.no_grad():
            self.layer.scale.fill_(scale)
            self.layer.prototypes.copy_(torch.from_numpy(scale * np.concatenate(centres)))
        self.end_epoch()

    def end_epoch(self) -> None:
        """Moves each prototype onto the nearest training example of its class that no other has taken."""
        vectors = torch.from_numpy(self._vectors())
        with torch.no_grad():
            scaled = self.layer.scale * vectors
            for label in range(self.layer.n_classes):
                places = torch.from_numpy(self._members(label))
                distances = torch.cdist(
                    self.layer.prototypes[self._numbers(label)],
                    scaled[places],
                    compute_mode="donot_use_mm_for_euclid_dist",
                )
                for number, row in zip(self._numbers(label), distances, strict=True):
                    best = int(row.argmin())
                    distances[:, best] = torch.inf
                    self.layer.examples[number] = places[best]
                    self.layer.prototypes[number] = scaled[places[best]]

    def _vectors(self) -> FloatArray:
        return features_of(self.model, self.arrays) if self._fixed is None else self._fixed

    def _members(self, label: int) -> IndexArray:
        """The places of the examples that prototypes of a class may be."""
        return np.flatnonzero((self.labels == label) & self.eligible)

    def _numbers(self, label: int) -> list[int]:
        first = label * self.layer.per_class
        return list(range(first, first + self.layer.per_class))


def with_prototypes(task: TextNetwork | TableNetwork, per_class: int) -> TextNetwork | TableNetwork:
    """The same model with prototypes in place of its last layer; all other weights are copied."""
    network = task.network
    weights = {
        name: tensor for name, tensor in network.state_dict().items() if not name.startswith("output.")
    }
    if isinstance(task, TextNetwork) and type(network) is BilstmNetwork:
        settings = {
            name: int(network.settings[name]) for name in ("n_words", "dimensions", "n_classes", "units")
        }
        of_texts = PrototypeBilstm(**settings, dropout=network.settings["dropout"], per_class=per_class)
        of_texts.load_state_dict(weights, strict=False)
        return replace(task, network=of_texts, record=None)
    if isinstance(task, TableNetwork) and type(network) is DenseNetwork:
        of_rows = PrototypeDense(**network.settings, per_class=per_class)
        of_rows.load_state_dict(weights, strict=False)
        return replace(task, network=of_rows, record=None)
    raise VeraxError(
        f"Prototypes stand on the features of a bilstm or an mlp-2x50, not of this {type(network).__name__}."
    )


def _stacked(vectors: Sequence[Encoded]) -> tuple[Tensor, ...]:
    return (torch.from_numpy(np.stack(vectors)),)
