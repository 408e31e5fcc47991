"""Greedy removal: how much the target's probability falls when a feature is taken away."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.explain.base import Claim, Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import (
    Scored,
    Targets,
    attribution,
    check_absent,
    explain_with_banks,
    in_place,
    slices,
)
from verax.models.base import Inputs, Model, refuse_number
from verax.perturb.dispatch import path_for
from verax.perturb.masks import Absent, LeaveOneOut

# Probabilities that differ by less than this are ties, decided by the order of the features.
TIE_DIGITS = 9


@dataclass(frozen=True, eq=False)
class RemovalBank:
    """The input itself, and the input without each feature."""

    masks: LeaveOneOut
    full: int = 0


@explainers.register("omission")
@explainers.register("greedy")
@dataclass(frozen=True)
class Greedy(Explainer):
    """The change in the target's probability when one feature is removed: d features take d + 1 rows.

    Attributes:
        absent: what stands where a word is absent: nothing ("dropped"), or for networks a mask ("masked"): the
            tokenizer's own, or a vector of zeros, as in the omission of Hase & Bansal (2020, appendix).
    """

    absent: Absent = "dropped"

    def __post_init__(self) -> None:
        check_absent(self.absent)

    claim: ClassVar[Claim] = "selective"

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        return explain_with_banks(self, model, inputs, wanted, self.absent)

    def bank(self, n_features: int) -> RemovalBank:
        """All features but one, for each of them."""
        return RemovalBank(LeaveOneOut(np.ones(n_features, dtype=np.bool_), np.arange(n_features)))

    def score(self, bank: RemovalBank, answers: FloatArray) -> Scored:
        """How much the probability falls without each feature."""
        return Scored(answers[bank.full] - answers[1:], {})


@explainers.register("greedy-path")
@dataclass(frozen=True)
class GreedyPath(Explainer):
    """Removes the feature whose removal lowers the target's probability most, then the next, and so on.

    A feature's score is the fall at the step that removes it; features that are never removed score 0.

    Attributes:
        steps: how many features to remove at the most.
        until_flip: stop as soon as another class is predicted.
        absent: what stands where a word is absent: nothing ("dropped"), or for networks a mask ("masked").
    """

    steps: int = 10
    until_flip: bool = False
    absent: Absent = "dropped"

    claim: ClassVar[Claim] = "selective"

    def __post_init__(self) -> None:
        check_absent(self.absent)
        at_least(self.steps, 1, "steps")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Explains each input; see :meth:`Explainer.explain`."""
        if self.until_flip:
            refuse_number(model, "until_flip=True", "leave it out")
        wanted = check_targets(model, inputs, targets)
        return [
            explanation
            for part, some in slices(inputs, wanted)
            for explanation in self._explain_slice(model, part, some)
        ]

    def _explain_slice(self, model: Model, inputs: Inputs, targets: Targets) -> list[Attribution]:
        started = time.perf_counter()
        path = path_for(model, self.absent)
        prepared = path.prepare(inputs)
        removals = [
            Removal(len(ready.features), target) for ready, target in zip(prepared, targets, strict=True)
        ]
        active = list(range(len(inputs)))
        for _ in range(self.steps):
            # One step of every input that goes on, so that a model without a fast path is called once for all.
            masks = [removals[number].variants() for number in active]
            answers = path.evaluate([prepared[number] for number in active], masks)
            for number, answer in zip(active, answers, strict=True):
                removals[number].step(answer.probabilities, answer.rows, answer.calls, self.until_flip)
            active = [number for number in active if not removals[number].done]
            if not active:
                break
        seconds = (time.perf_counter() - started) / max(1, len(inputs))
        explanations = []
        for given, ready, removal in zip(inputs, prepared, removals, strict=True):
            details = {"removed": removal.removed, "flipped": removal.flipped, "path": path.name}
            scored = Scored(removal.scores, details)
            cost = Cost(removal.rows, removal.calls, seconds)
            made = attribution(repr(self), model, given, ready.features, removal.target or 0, scored, cost)
            explanations.append(in_place(made, ready))
        return explanations


@dataclass
class Removal:
    """How far the removal of one input's features has come."""

    n_features: int
    target: int | None
    removed: list[int] = field(default_factory=list)
    flipped: bool = False
    done: bool = False
    rows: int = 0
    calls: int = 0

    def __post_init__(self) -> None:
        self.present: BoolArray = np.ones(self.n_features, dtype=np.bool_)
        self.scores: FloatArray = np.zeros(self.n_features)

    def variants(self) -> LeaveOneOut:
        """What is left, and what is left without each of its features."""
        return LeaveOneOut(self.present.copy(), np.flatnonzero(self.present))

    def step(self, probabilities: FloatArray, rows: int, calls: int, until_flip: bool) -> None:
        """Removes the feature that lowers the target's probability most."""
        self.rows += rows
        self.calls += calls
        if self.target is None:
            self.target = int(np.argmax(probabilities[0]))
        if len(probabilities) == 1:
            self.done = True
            return
        best = 1 + int(np.argmin(np.round(probabilities[1:, self.target], TIE_DIGITS)))
        feature = int(np.flatnonzero(self.present)[best - 1])
        self.scores[feature] = probabilities[0, self.target] - probabilities[best, self.target]
        self.present[feature] = False
        self.removed.append(feature)
        self.flipped = int(np.argmax(probabilities[best])) != self.target
        self.done = not self.present.any() or (until_flip and self.flipped)
