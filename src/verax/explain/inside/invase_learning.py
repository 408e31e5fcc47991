"""How INVASE learns: an actor draws features, a critic predicts from them, a baseline from all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.explain.inside.learned import Arrays, Lesson
from verax.explain.inside.selectors import (
    RowPredictor,
    RowSelector,
    Selector,
    Subject,
    agreement,
    kept,
    penalty,
)
from verax.models.neural.encoders import Encoded
from verax.models.neural.loop import tell
from verax.run.threads import one_thread
from verax.seeds import stream

TEXT_BATCH, ROW_BATCH = 40, 1_000
HELD_OUT = 0.1
# Chances are kept away from 0 and 1 where their logarithm is taken, as in the released code.
TINY = 1e-8


@dataclass(frozen=True)
class Settings:
    """What training reads of an explainer; `Invase` says what each means."""

    price: float
    embedding: int
    iterations: int
    batch: int | None
    rate: float
    activation: Literal["relu", "selu"]
    seed: int


def learn(subject: Subject, lesson: Lesson, settings: Settings) -> Arrays:
    """Trains an actor."""
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return _learn(subject, lesson, settings)


def _learn(subject: Subject, lesson: Lesson, settings: Settings) -> Arrays:
    actor = subject.selector(settings.embedding, settings.activation)
    critic, baseline = (subject.predictor(settings.embedding, settings.activation, None) for _ in range(2))
    steps = [
        torch.optim.Adam(part.parameters(), lr=settings.rate, eps=1e-7) for part in (actor, critic, baseline)
    ]
    arrays = subject.encoder.encode(lesson.inputs)
    said = torch.from_numpy(lesson.probabilities.astype(np.float32))
    watched, seen = lesson.parts(settings.seed, HELD_OUT)
    size = settings.batch or (TEXT_BATCH if subject.owners is None else ROW_BATCH)
    draws = stream(settings.seed, "invase", "batches")
    for part in (actor, critic, baseline):
        part.train()
    for step in range(settings.iterations):
        places = seen[draws.integers(0, len(seen), size)]
        given = subject.encoder.collate([arrays[place] for place in places])
        _step(actor, critic, baseline, steps, given, said[torch.from_numpy(places)], settings.price)
        if step % 1_000 == 999 or step + 1 == settings.iterations:
            right = _agreement(subject, actor, critic, [arrays[place] for place in watched],
                               lesson.probabilities[watched].argmax(axis=1))  # fmt: skip
            tell(f"invase: step {step + 1:,} of {settings.iterations:,}, agreement {right:.3f} from the selected "
                 f"features alone ({len(seen):,} reference inputs)")  # fmt: skip
            actor.train()
    return kept(actor, right)


def _step(
    actor: Selector,
    critic: nn.Module,
    baseline: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    given: tuple[Tensor, ...],
    said: Tensor,
    price: float,
) -> None:
    logits = actor(*given)
    there = torch.isfinite(logits)
    chances = torch.sigmoid(logits)
    selected = torch.bernoulli(chances.detach()) * there
    errors = []
    for predictor, optimizer, mask in (
        (critic, optimizers[1], selected),
        (baseline, optimizers[2], there.float()),
    ):
        optimizer.zero_grad()
        (_errors(predictor, given, mask, said).mean() + _penalty(predictor)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        predictor.eval()  # what it says, not what it is trained on
        with torch.no_grad():
            errors.append(_errors(predictor, given, mask, said))
        predictor.train()
    reward = errors[1] - errors[0]
    log_chance = selected * torch.log(chances + TINY) + (1 - selected) * torch.log(1 - chances + TINY)
    cost = (chances * there).sum(dim=1) / there.sum(dim=1).clamp(min=1)
    loss = -(reward * (log_chance * there).sum(dim=1) - price * cost).mean()
    optimizers[0].zero_grad()
    (loss + _penalty(actor)).backward()  # type: ignore[no-untyped-call]
    optimizers[0].step()


def _errors(predictor: nn.Module, given: tuple[Tensor, ...], mask: Tensor, said: Tensor) -> Tensor:
    return -(said * functional.log_softmax(predictor(*given, mask), dim=1)).sum(dim=1)


def _penalty(part: nn.Module) -> Tensor:
    if isinstance(part, RowSelector | RowPredictor):
        return penalty(part.first, part.second, part.output)
    return torch.zeros(())


def _agreement(
    subject: Subject, actor: Selector, critic: nn.Module, arrays: list[Encoded], classes: np.ndarray
) -> float:
    actor.eval()
    selected = []
    with torch.inference_mode():
        for first in range(0, len(arrays), ROW_BATCH):
            some = arrays[first : first + ROW_BATCH]
            for array, row in zip(some, actor(*subject.encoder.collate(some)), strict=True):
                logits = row if subject.owners is not None else row[: len(array)]
                selected.append((logits > 0).float())
    return agreement(subject, critic, arrays, selected, classes)
