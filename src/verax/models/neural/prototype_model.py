"""A network with prototypes, asked for what explanations need: the nearest prototype, and similarities to it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from verax.arrays import FloatArray, IntArray
from verax.data.dataset import Dataset, Part
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.neural.architectures import (
    FAR,
    OFF_CLASS,
    OFF_CLASS_PENALTY,
    ON_CLASS,
    SEPARATION,
    BilstmNetwork,
    DenseNetwork,
    PrototypeBilstm,
    PrototypeDense,
    PrototypeLayer,
)
from verax.models.neural.encoders import pad
from verax.models.neural.loop import Schedule
from verax.models.neural.networks import TableNetwork, TextNetwork
from verax.models.neural.prototype_recipe import NEAR, STARTS, PrototypeRecipe, features_of, with_prototypes

# What is learned of a model, as it lies on disk.
Arrays = dict[str, NDArray[np.generic]]
PER_CLASS = {"text": 40, "table": 20}
# How prototypes on fixed features are trained for a task model.
SCHEDULE = Schedule(epochs=40, patience=5, batch=40, optimizer="sgd", rate=0.01, momentum=0.9)
# Raise it when prototypes shall be learned otherwise from the same; those that lie on disk are then learned anew.
RECIPE = 2


@dataclass(frozen=True, eq=False)
class PrototypeModel:
    """A network with prototypes, and the training examples that they are.

    Attributes:
        model: the network.
        name: where the prototypes come from, for people.
    """

    model: TextNetwork | TableNetwork
    name: str

    @property
    def layer(self) -> PrototypeLayer:
        """The network's last layer."""
        network = self.model.network
        assert isinstance(network, PrototypeBilstm | PrototypeDense)
        return network.output

    def nearest(self, given: str | FloatArray, target: int) -> tuple[int, float]:
        """The number of a class's nearest prototype, and the input's similarity to it."""
        inputs = [given] if isinstance(given, str) else np.asarray(given)[None]
        similar = self._similar(features_of(self.model, self.model.encoder.encode(inputs)))[0]
        first = target * self.layer.per_class
        number = first + int(similar[first : first + self.layer.per_class].argmax())
        return number, float(similar[number])

    def similarities(self, rows: FloatArray, number: int) -> FloatArray:
        """The similarity of some rows to one prototype."""
        return self._similar(features_of(self.model, self.model.encoder.encode(rows)))[:, number]

    def without_words(self, text: str, number: int) -> FloatArray:
        """The similarity of a text to one prototype without each of its distinct words: zeros in their places."""
        network = self.model.network
        assert isinstance(network, PrototypeBilstm)
        assert isinstance(self.model, TextNetwork)
        words = split_words(text)
        if not words.distinct:
            return np.empty(0)
        embedded = self.model.embed([text])[0]
        feature = {word: place for place, word in enumerate(words.distinct)}
        feature_of = np.array(
            [feature[words.words[place]] if place >= 0 else -1 for place in embedded.word_of]
        )
        found = []
        network.eval()
        with torch.inference_mode():
            for start in range(0, len(feature), 64):
                some = range(start, min(start + 64, len(feature)))
                batch = [
                    np.where((feature_of == place)[:, None], np.float32(0.0), embedded.vectors)
                    for place in some
                ]
                vectors, lengths = pad(batch)
                found.append(self._similar(network.features(vectors, lengths).numpy())[:, number])
        return np.concatenate(found)

    def example(self, number: int) -> str | FloatArray:
        """The training input that a prototype is."""
        assert self.model.reference is not None
        return self.model.reference[self.example_number(number)]

    def example_number(self, number: int) -> int:
        """Its place among the training inputs."""
        return int(self.layer.examples[number])

    def label(self, number: int) -> int:
        """The class of a prototype, which is the label of the training input that it is."""
        return number // self.layer.per_class

    def reference_rows(self) -> FloatArray:
        """The training rows."""
        assert isinstance(self.model, TableNetwork)
        assert self.model.reference is not None
        return self.model.reference

    def _similar(self, features: FloatArray) -> FloatArray:
        with torch.inference_mode():
            similar: FloatArray = torch.exp(-self.layer.distances(torch.from_numpy(features))).numpy()
        return similar.astype(np.float64)


@dataclass(frozen=True)
class TrainedModel:
    """A task model that is trained already, where a recipe for one is asked for."""

    model: TextNetwork | TableNetwork

    def fit_inputs(self, dataset: Dataset, sample_weight: ArrayLike | None = None) -> Model:  # noqa: ARG002
        """The model as it is."""
        return self.model


def can_have_prototypes(model: Model) -> bool:
    """Whether a model has prototypes, or features on which they can stand."""
    return isinstance(model, TextNetwork | TableNetwork) and type(model.network) in (
        BilstmNetwork,
        DenseNetwork,
        PrototypeBilstm,
        PrototypeDense,
    )


def own_prototypes(model: Model) -> PrototypeModel | None:
    """The prototypes that a model has itself, if it has any."""
    if isinstance(model, TextNetwork | TableNetwork) and isinstance(
        model.network, PrototypeBilstm | PrototypeDense
    ):
        return PrototypeModel(model, "the model's own prototypes")
    return None


def learn_prototypes(model: Model, per_class: int | None, seed: int, predicted: IntArray) -> Arrays:
    """Prototypes on a task model's features as they are, as plain arrays.

    Each is a training input that is labelled with its class, and that the model takes for it as well. What they are
    taught is what the model predicts, since it is the model that they explain.

    Args:
        model: a task model with reference inputs.
        per_class: how many prototypes each class gets; 40 for texts and 20 for tables if None.
        seed: of making them.
        predicted: the class that the model predicts for each of its reference inputs.
    """
    assert isinstance(model, TextNetwork | TableNetwork)
    labels = _labels(model)
    count = PER_CLASS[model.kind] if per_class is None else per_class
    both = predicted == labels
    right = np.bincount(labels[both], minlength=len(model.class_names))
    if right.min() < count:
        least = int(right.argmin())
        fewer = f"ask for fewer (prototypes={right[least]}), or " if right[least] else ""
        of_class = np.count_nonzero(labels == least)
        raise VeraxError(
            f"Of the {of_class:,} training inputs of the class {model.class_names[least]!r} the model takes "
            f"{right[least]} for it, too few for {count} prototypes; {fewer}explain a model that predicts this class "
            "more often."
        )
    recipe = PrototypeRecipe("prototype", model.kind, seed, TrainedModel(model), SCHEDULE, count, True, both)
    network = recipe.fit_inputs(_as_predicted(model, predicted)).network
    assert isinstance(network, PrototypeBilstm | PrototypeDense)
    return {name: tensor.detach().numpy() for name, tensor in network.output.state_dict().items()}


def read_prototypes(model: Model, arrays: Arrays) -> PrototypeModel:
    """A task model with prototypes that were learned."""
    assert isinstance(model, TextNetwork | TableNetwork)
    made = with_prototypes(model, len(arrays["prototypes"]) // len(model.class_names))
    network = made.network
    assert isinstance(network, PrototypeBilstm | PrototypeDense)
    network.output.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    network.eval()
    return PrototypeModel(made, "prototypes on the model's features")


def learned_from(model: Model) -> str:
    """A hash of what prototypes are made of beside inputs and answers: a network's weights, labels, and the recipe."""
    assert isinstance(model, TextNetwork | TableNetwork)
    settings = (SCHEDULE, PER_CLASS, NEAR, STARTS, ON_CLASS, OFF_CLASS, OFF_CLASS_PENALTY, SEPARATION, FAR)
    content = hashlib.sha256(f"{RECIPE} {settings}".encode())
    content.update(_labels(model).tobytes())
    for name, tensor in sorted(model.network.state_dict().items()):
        content.update(name.encode() + tensor.detach().contiguous().numpy().tobytes())
    return content.hexdigest()


def _labels(model: TextNetwork | TableNetwork) -> IntArray:
    if model.reference_labels is None:
        raise VeraxError(
            "Prototypes are made of training inputs and their labels, and this model does not know the labels of its "
            "own (models that were saved by earlier versions do not); train it again."
        )
    return model.reference_labels


def _as_predicted(model: TextNetwork | TableNetwork, labels: IntArray) -> Dataset:
    """A model's reference inputs, each of the class that the model predicts."""
    assert model.reference is not None
    if isinstance(model, TextNetwork):
        texts = list(model.reference)
        none = Part([], labels[:0])
        return Dataset("reference texts", "text", model.class_names, Part(texts, labels), none, none)
    none = Part(model.reference[:0], labels[:0])
    rows = Part(model.reference, labels)
    return Dataset("reference rows", "table", model.class_names, rows, none, none, model.schema)
