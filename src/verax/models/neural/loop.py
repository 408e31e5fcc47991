"""The one loop in which networks are trained: mini-batches, a look at the validation part, an early end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.arrays import FloatArray, IntArray
from verax.errors import VeraxError
from verax.models.neural.encoders import Encoded, length_batches
from verax.run.threads import one_thread
from verax.run.worker import IN_JOB
from verax.seeds import stream

# So many batches of shuffled texts are sorted by length together: little padding, and the order stays random.
SORTED_TOGETHER = 20


@dataclass(frozen=True)
class Schedule:
    """How a network is trained.

    Attributes:
        epochs: passes over the training part at the most.
        patience: epochs without a lower validation loss before the end; the weights of the lowest are kept.
        batch: inputs per step.
        optimizer: how steps are taken.
        rate: their size.
        momentum: of SGD.
        penalty: the L2 penalty's coefficient.
    """

    epochs: int
    patience: int
    batch: int
    optimizer: Literal["adam", "sgd"]
    rate: float
    momentum: float = 0.0
    penalty: float = 0.0


@dataclass(frozen=True, eq=False)
class Examples:
    """Encoded inputs, what the network should say of each, and how much each counts.

    Attributes:
        arrays: the inputs.
        targets: class numbers, or ratings between 0 and 1.
        weights: 1 on average.
    """

    arrays: Sequence[Encoded]
    targets: IntArray | FloatArray
    weights: FloatArray

    def take(self, places: Sequence[int]) -> Examples:
        """Some of them."""
        return Examples([self.arrays[place] for place in places], self.targets[places], self.weights[places])


@dataclass
class History:
    """What was seen after each epoch.

    Attributes:
        losses: on the way.
        validation_losses, validation_accuracies: afterwards.
        shares: of words selected, by a model that selects words; such a training keeps its last epoch.
        seconds: since the beginning, of the same.
    """

    losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    validation_accuracies: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The epoch with the lowest validation loss, from 0."""
        return int(np.argmin(self.validation_losses))

    @property
    def kept(self) -> int:
        """The epoch whose weights are kept, from 0."""
        return len(self.losses) - 1 if self.shares else self.best


class Extra(Protocol):
    """What some networks need beside the loss of their scores."""

    def penalty(self, targets: IntArray | FloatArray) -> Tensor:
        """Added to the loss of the batch that the network was just given."""

    def end_epoch(self) -> None:
        """Called after each pass, before the network is looked at."""


Collate = Callable[[Sequence[Encoded]], tuple[Tensor, ...]]


@dataclass(frozen=True, eq=False)
class TrainingTask:
    """All that a training needs.

    Attributes:
        network: called with what ``collate`` makes; parameters that take no gradient stay as they are.
        collate: from some encoded inputs to the network's arguments.
        examples: what it learns from. A weight multiplies an input's loss.
        watched: what tells when to stop.
        schedule: how.
        seed: of the order of the inputs and of what is random inside the network.
        name: of the model, for people.
    """

    network: nn.Module
    collate: Collate
    examples: Examples
    watched: Examples
    schedule: Schedule
    seed: int
    name: str


# What trains a network in place, as `train` does.
Train = Callable[[TrainingTask], History]


def train(lesson: TrainingTask, extra: Extra | None = None) -> History:
    """Trains a network in place, in one thread: the same seed gives the same weights on one machine.

    Args:
        lesson: the network and what it learns from.
        extra: a penalty, and something to do after each epoch.
    """
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(lesson.seed)
        return _train(lesson, extra)


def _train(lesson: TrainingTask, extra: Extra | None) -> History:
    network, schedule = lesson.network, lesson.schedule
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = _optimizer(trained, schedule)
    order = stream(lesson.seed, "order of training inputs")
    history = History()
    best: list[Tensor] = []
    for epoch in range(schedule.epochs):
        network.train()
        history.losses.append(_epoch(lesson, optimizer, order, extra))
        if extra is not None:
            extra.end_epoch()
        loss, accuracy = evaluate(network, lesson.collate, lesson.watched)
        history.validation_losses.append(loss)
        history.validation_accuracies.append(accuracy)
        tell(f"{lesson.name}: epoch {epoch + 1} of at most {schedule.epochs}, loss {history.losses[-1]:.3f}, "
             f"validation accuracy {accuracy:.3f}")  # fmt: skip
        if not np.isfinite(loss):
            raise VeraxError(
                f"The model {lesson.name!r} did not learn: its loss is not finite after epoch {epoch + 1}; lower its "
                f"rate ({schedule.rate:g}), or look for values out of all proportion in the training part."
            )
        if history.best == epoch:
            best = [parameter.detach().clone() for parameter in trained]
        if epoch - history.best >= schedule.patience:
            break
    with torch.no_grad():
        for parameter, weights in zip(trained, best, strict=True):
            parameter.copy_(weights)
    network.eval()
    return history


def _optimizer(parameters: list[nn.Parameter], schedule: Schedule) -> torch.optim.Optimizer:
    # Fused, a step goes over the weights once: three times as fast where word vectors are trained along.
    rate, penalty = schedule.rate, schedule.penalty
    if schedule.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=rate, weight_decay=penalty, fused=True)
    return torch.optim.SGD(parameters, lr=rate, momentum=schedule.momentum, weight_decay=penalty, fused=True)


def _epoch(
    lesson: TrainingTask, optimizer: torch.optim.Optimizer, order: np.random.Generator, extra: Extra | None
) -> float:
    """One pass over the examples; the mean loss on the way."""
    total, examples = 0.0, lesson.examples
    for places in shuffled_batches(examples.arrays, lesson.schedule.batch, order):
        batch = examples.take(places)
        optimizer.zero_grad()
        losses = losses_of(lesson.network(*lesson.collate(batch.arrays)), batch.targets)
        loss = (losses * torch.from_numpy(batch.weights.astype(np.float32))).mean()
        if extra is not None:
            loss = loss + extra.penalty(batch.targets)
        torch.autograd.backward(loss)
        optimizer.step()
        total += float(loss.detach()) * len(places)
    return total / len(examples.targets)


def shuffled_batches(
    arrays: Sequence[Encoded], batch_size: int, order: np.random.Generator
) -> list[list[int]]:
    """The places of all inputs in random batches; inputs of one batch are of similar length."""
    places = order.permutation(len(arrays)).tolist()
    pool = SORTED_TOGETHER * batch_size
    batches = []
    for first in range(0, len(places), pool):
        near = sorted(places[first : first + pool], key=lambda place: len(arrays[place]))
        batches += [near[start : start + batch_size] for start in range(0, len(near), batch_size)]
    return [batches[place] for place in order.permutation(len(batches))]


def evaluate(network: nn.Module, collate: Collate, examples: Examples) -> tuple[float, float]:
    """The weighted mean loss and the share of right classes; a rating's class is the nearer end."""
    network.eval()
    losses, right = np.zeros(len(examples.targets)), np.zeros(len(examples.targets))
    with torch.inference_mode():
        for places in length_batches([len(array) for array in examples.arrays]):
            batch = examples.take(places)
            scores = network(*collate(batch.arrays))
            losses[places] = losses_of(scores, batch.targets).numpy()
            right[places] = scores.argmax(dim=1).numpy() == np.round(batch.targets)
    return float(np.average(losses, weights=examples.weights)), float(right.mean())


def losses_of(scores: Tensor, targets: IntArray | FloatArray) -> Tensor:
    """The cross-entropy of each input; of a rating, the squared error of the second class's probability."""
    if targets.dtype.kind == "f":
        rated = torch.from_numpy(targets.astype(np.float32))
        return (torch.softmax(scores, dim=1)[:, 1] - rated) ** 2
    return functional.cross_entropy(scores, torch.from_numpy(targets), reduction="none")


def tell(line: str) -> None:
    """A line on standard error, if somebody is looking and not at the progress of a run."""
    if sys.stderr.isatty() and not IN_JOB.get():
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
