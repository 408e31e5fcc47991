"""The common course of explainers that ask a model about masked variants of its inputs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Target
from verax.explain.explanation import Attribution, Cost
from verax.models.base import Inputs, Model
from verax.models.tables import encode_rows
from verax.perturb.cache import ByteCache
from verax.perturb.dispatch import path_for
from verax.perturb.evaluate import ABSENT, Absent
from verax.perturb.masks import Variants
from verax.perturb.paths.bag_of_words import BagPath
from verax.run.threads import one_blas_thread

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
        explanations.append(attribution(name, model, inputs[number], ready.features, target, scored, cost))
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


def shown_input(model: Model, given: Input) -> str | tuple[str, ...]:
    """A text as it is; a row as one "column = value" per column."""
    if isinstance(given, str):
        return given
    if model.schema is None:
        return tuple(str(value) for value in given)
    rows = given.reshape(1, -1) if isinstance(given, np.ndarray) else [given]
    return model.schema.described(encode_rows(rows, model.schema)[0])


def check_targets(model: Model, inputs: Inputs, targets: Sequence[Target] | None) -> list[int | None]:
    """Class numbers from numbers or names, one per input; None where the predicted class is meant."""
    if targets is None:
        return [None] * len(inputs)
    if isinstance(targets, str) or not isinstance(targets, Sized) or len(targets) != len(inputs):
        raise VeraxError(f"targets={targets!r} must hold one class for each of the {len(inputs)} inputs.")
    if not model.class_names and len(inputs):
        model.predict_proba(inputs[:1])  # a function's classes are known from its first answer on
    return [target_number(model, target, number) for number, target in enumerate(targets)]


def check_absent(absent: str) -> None:
    """Refuses a word for absence that is not known, in a sentence."""
    if absent not in ABSENT:
        raise VeraxError(f"absent={absent!r} is not known; absent words are 'dropped' or 'masked'.")


def target_number(model: Model, target: Target, number: int = 0) -> int:
    """The number of a class given as number or name."""
    names = model.class_names
    if isinstance(target, str):
        if target in names:
            return names.index(target)
    else:
        given = target.item() if hasattr(target, "item") else target
        if isinstance(given, int | float) and given in range(len(names)):  # 1.5 and not-a-number are in none
            return int(given)
    known = ", ".join(f"{place} ({name})" for place, name in enumerate(names))
    raise VeraxError(f"The target {target!r} of input {number} does not exist; the classes are {known}.")
