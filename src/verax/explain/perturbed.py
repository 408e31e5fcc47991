"""What explainers share that ask a model about masked variants of its inputs."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Cost
from verax.models.base import Inputs, Model
from verax.models.wrappers import encode_rows
from verax.perturb.dispatch import path_for
from verax.perturb.masks import ABSENT, Absent, Prepared, Variants
from verax.perturb.paths.bag_of_words import BagPath
from verax.run.threads import one_blas_thread


class Sized(Protocol):
    """Anything that knows how many bytes it holds."""

    @property
    def nbytes(self) -> int:
        """Memory held."""


T = TypeVar("T", bound=Sized)


class ByteCache(Generic[T]):
    """Keeps the most recently used things up to a number of bytes; a thing larger than that is not kept."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._things: OrderedDict[Hashable, T] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable, build: Callable[[], T]) -> T:
        """The thing kept under ``key``, or the one that ``build`` makes now."""
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
                return self._things[key]
        thing = build()
        with self._lock:
            if key not in self._things and thing.nbytes <= self.max_bytes:
                self._things[key] = thing
                self._bytes += thing.nbytes
                while self._bytes > self.max_bytes:
                    self._bytes -= self._things.popitem(last=False)[1].nbytes
        return thing

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._things.clear()
            self._bytes = 0


# The class to explain for each input; the predicted one where None.
Targets = Sequence[int | None]
# A text, or a row of a table as its model takes it.
Input = str | Sequence[object] | NDArray[np.generic]
# Mask banks of all explainers together take at most this much memory.
BANKS: ByteCache[Any] = ByteCache(24 * 2**20)
# Inputs are taken in slices of this many, so that what is prepared for them stays small.
SLICE = 256


class Bank(Protocol):
    """Masks that serve every input with the same number of features.

    ``full`` is the place of the mask in which everything is present.
    """

    @property
    def masks(self) -> Variants:
        """The masks to evaluate."""

    @property
    def full(self) -> int:
        """The place of the mask with everything present."""


B = TypeVar("B", bound=Bank)


@dataclass(frozen=True)
class Scored:
    """An explainer's own part of an explanation."""

    scores: FloatArray
    details: dict[str, object]


class BankExplainer(Protocol[B]):
    """An explainer that asks about the same masks of all inputs with equally many features."""

    def bank(self, n_features: int) -> B:
        """The bank for a number of features."""

    def score(self, bank: B, answers: FloatArray) -> Scored:
        """From the target's probability on each of a bank's masks to scores."""


def explain_with_banks(
    explainer: BankExplainer[B],
    model: Model,
    inputs: Inputs,
    targets: Targets,
    absent: Absent = "dropped",
) -> list[Attribution]:
    """Explains each input from one bank of masks; absent words are dropped, or masked."""
    # A bag of words is evaluated by products of our own; elsewhere the model's threads are its user's business.
    with one_blas_thread() if isinstance(path_for(model, absent), BagPath) else nullcontext():
        return [
            explanation
            for part, wanted in slices(inputs, targets)
            for explanation in _explain_slice(explainer, model, part, wanted, absent)
        ]


def slices(inputs: Inputs, targets: Targets) -> Iterator[tuple[Inputs, Targets]]:
    """The inputs and what is asked about them, so many at a time."""
    for first in range(0, len(inputs), SLICE):
        yield inputs[first : first + SLICE], targets[first : first + SLICE]


def _explain_slice(
    explainer: BankExplainer[B], model: Model, inputs: Inputs, targets: Targets, absent: Absent
) -> list[Attribution]:
    started = time.perf_counter()
    path = path_for(model, absent)
    prepared = path.prepare(inputs)
    # Inputs with equally many features share a bank: side by side they find it unpacked.
    order = sorted(range(len(prepared)), key=lambda number: len(prepared[number].features))
    in_use: deque[B] = deque()

    def masks() -> Iterator[Variants]:
        for number in order:
            in_use.append(explainer.bank(len(prepared[number].features)))
            yield in_use[-1].masks

    results: dict[int, tuple[int, Scored, int, int]] = {}
    answers = path.evaluate([prepared[number] for number in order], masks())
    for number, answer in zip(order, answers, strict=True):
        bank = in_use.popleft()
        target = targets[number]
        if target is None:
            target = int(np.argmax(answer.probabilities[bank.full]))
        scored = explainer.score(bank, answer.probabilities[:, target])
        results[number] = (target, scored, answer.rows, answer.calls)
    seconds = (time.perf_counter() - started) / max(1, len(inputs))
    name = repr(explainer)
    explanations = []
    for number, ready in enumerate(prepared):
        target, scored, rows, calls = results[number]
        scored = Scored(scored.scores, {**scored.details, "path": path.name})
        cost = Cost(rows, calls, seconds)
        made = attribution(name, model, inputs[number], ready.features, target, scored, cost)
        explanations.append(in_place(made, ready))
    return explanations


def attribution(
    name: str,
    model: Model,
    given: Input,
    features: tuple[str, ...],
    target: int,
    scored: Scored,
    cost: Cost,
) -> Attribution:
    """The explanation of one input: its scores, and what every explanation says besides.

    Args:
        name: the explainer as code.
        model: the model.
        given: the input.
        features: what the scores are about.
        target: the class that is explained.
        scored: the explainer's own part.
        cost: what it took.
    """
    return Attribution(
        features=features,
        scores=scored.scores,
        target=target,
        target_name=model.class_names[target],
        input=shown_input(model, given),
        details=scored.details,
        cost=cost,
        explainer=name,
    )


def in_place(made: Attribution, ready: Prepared) -> Attribution:
    """The explanation with the places of its features, where these are parts of a prompt and not distinct words."""
    placed = getattr(ready, "placed", None)
    if placed is None or placed.shown is None:
        return made
    columns = getattr(ready, "columns", None)
    details = made.details if columns is None else {**made.details, "columns": list(columns)}
    return replace(made, input=placed.shown, spans=placed.shown_spans, details=details)


def shown_input(model: Model, given: Input) -> str | tuple[str, ...]:
    """A text as it is; a row as one "column = value" per column."""
    if isinstance(given, str):
        return given
    if model.schema is None:
        return tuple(str(value) for value in given)
    rows = given.reshape(1, -1) if isinstance(given, np.ndarray) else [given]
    return model.schema.described(encode_rows(rows, model.schema)[0])


def check_absent(absent: str) -> None:
    """Refuses a word for absence that is not known, in a sentence."""
    if absent not in ABSENT:
        raise VeraxError(f"absent={absent!r} is not known; absent words are 'dropped' or 'masked'.")
