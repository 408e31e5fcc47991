"""The common course of explainers that ask a model about masked variants of its inputs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Target
from verax.explain.explanation import Attribution, Cost
from verax.models.base import Inputs, Model
from verax.perturb.cache import ByteCache
from verax.perturb.dispatch import path_for
from verax.perturb.evaluate import Path
from verax.perturb.masks import Variants

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
    details: dict[str, Any]


def explain_with_banks(
    name: str,
    model: Model,
    inputs: Inputs,
    targets: Sequence[int | None],
    bank_for: Callable[[int], B],
    score: Callable[[B, FloatArray], Scored],
) -> list[Attribution]:
    """Explains each input from one bank of masks.

    Args:
        name: the explainer as code.
        model: the model.
        inputs: its inputs.
        targets: the class to explain for each input; the predicted one where None.
        bank_for: the bank for a number of features.
        score: from a bank and the target's probability on each of its masks to scores.
    """
    explanations: list[Attribution] = []
    for first in range(0, len(inputs), SLICE):
        part = inputs[first : first + SLICE]
        explanations += _explain_slice(name, model, part, targets[first : first + SLICE], bank_for, score)
    return explanations


def _explain_slice(
    name: str,
    model: Model,
    inputs: Inputs,
    targets: Sequence[int | None],
    bank_for: Callable[[int], B],
    score: Callable[[B, FloatArray], Scored],
) -> list[Attribution]:
    started = time.perf_counter()
    path: Path = path_for(model)
    prepared = path.prepare(inputs)
    # Inputs with equally many features share a bank: side by side they find it unpacked.
    order = sorted(range(len(prepared)), key=lambda number: len(prepared[number].features))
    in_use: deque[B] = deque()

    def masks() -> Iterator[Variants]:
        for number in order:
            in_use.append(bank_for(len(prepared[number].features)))
            yield in_use[-1].masks

    found: dict[int, tuple[Scored, int, int, int]] = {}
    answers = path.evaluate([prepared[number] for number in order], masks())
    for number, answer in zip(order, answers, strict=True):
        bank = in_use.popleft()
        target = targets[number]
        if target is None:
            target = int(np.argmax(answer.probabilities[bank.full]))
        scored = score(bank, answer.probabilities[:, target])
        found[number] = (scored, target, answer.rows, answer.calls)
    seconds = (time.perf_counter() - started) / max(1, len(inputs))
    explanations = []
    for number, ready in enumerate(prepared):
        scored, target, rows, calls = found[number]
        explanations.append(
            Attribution(
                features=ready.features,
                scores=scored.scores,
                target=target,
                target_name=model.class_names[target],
                input=shown_input(model, inputs[number]),
                details={**scored.details, "path": path.name},
                cost=Cost(rows, calls, seconds),
                explainer=name,
            )
        )
    return explanations


def shown_input(model: Model, given: Any) -> str | tuple[str, ...]:
    """A text as it is; a row as one "column = value" per column."""
    if isinstance(given, str):
        return given
    schema = getattr(model, "schema", None)
    if schema is None:
        return tuple(str(value) for value in given)
    from verax.perturb.paths.tables import encoded

    row = encoded(model, given.reshape(1, -1) if isinstance(given, np.ndarray) else [given])[0]
    return tuple(schema.describe(column, value) for column, value in enumerate(row))


def check_targets(model: Model, inputs: Inputs, targets: Sequence[Target] | None) -> list[int | None]:
    """Class numbers from numbers or names, one per input; None where the predicted class is meant."""
    if targets is None:
        return [None] * len(inputs)
    if isinstance(targets, (int, str)) or len(targets) != len(inputs):
        raise VeraxError(f"targets={targets!r} must hold one class for each of the {len(inputs)} inputs.")
    return [target_number(model, target, number) for number, target in enumerate(targets)]


def target_number(model: Model, target: Target, number: int = 0) -> int:
    """The number of a class given as number or name."""
    names = model.class_names
    if isinstance(target, str):
        if target in names:
            return names.index(target)
    elif 0 <= int(target) < len(names):
        return int(target)
    known = ", ".join(f"{place} ({name})" for place, name in enumerate(names))
    raise VeraxError(f"The target {target!r} of input {number} does not exist; the classes are {known}.")
