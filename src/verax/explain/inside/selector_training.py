"""How selectors learn: L2X by samples of k features, INVASE by an actor, a critic and a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.arrays import FloatArray
from verax.explain.inside.learned import Arrays, ReferenceAnswers
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

# As in the released code: temperature, inputs per step, and passes.
TEXT_TEMPERATURE, ROW_TEMPERATURE = 0.5, 0.1
TEXT_BATCH, ROW_BATCH = 40, 1_000
TEXT_EPOCHS, ROWS_READ = 5, 1_000_000
# Of the reference inputs, to choose the epoch by.
HELD_OUT = 0.1


@dataclass(frozen=True)
class L2xSettings:
    """What training reads of an explainer; `L2x` says what each means."""

    k: int
    embedding: int
    epochs: int | None
    activation: Literal["relu", "selu"]
    seed: int


def learn_l2x(subject: Subject, lesson: ReferenceAnswers, settings: L2xSettings) -> Arrays:
    """Trains a selector; that of the epoch with the best agreement on held-out inputs is kept."""
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return _train_l2x(subject, lesson, settings)


def _train_l2x(subject: Subject, lesson: ReferenceAnswers, settings: L2xSettings) -> Arrays:
    texts = subject.owners is None
    selector = subject.selector(settings.embedding, settings.activation)
    predictor = subject.predictor(settings.embedding, settings.activation, settings.k)
    parameters = [*selector.parameters(), *predictor.parameters()]
    optimizer = (
        torch.optim.RMSprop(parameters, lr=1e-3, alpha=0.9, eps=1e-7)
        if texts
        else torch.optim.Adam(parameters, lr=1e-3, eps=1e-7)
    )
    arrays = subject.encoder.encode(lesson.inputs)
    watched, seen = lesson.parts(settings.seed, HELD_OUT)
    seen = seen[[len(arrays[place]) > 0 for place in seen]]  # a text without words has nothing to draw from
    batch = min(TEXT_BATCH if texts else ROW_BATCH, len(seen))
    epochs = settings.epochs or (TEXT_EPOCHS if texts else max(1, round(ROWS_READ / len(seen))))
    order = stream(settings.seed, "l2x", "order")
    best, chosen = -1.0, kept(selector, 0.0)
    told = max(1, epochs // 10)
    for epoch in range(epochs):
        loss = _l2x_epoch(subject, selector, predictor, optimizer, arrays, lesson.probabilities,
                      [seen[place] for place in np.array_split(order.permutation(len(seen)), -(-len(seen) // batch))],
                      settings.k)  # fmt: skip
        if epoch % told == told - 1 or epoch == epochs - 1:
            some = [arrays[place] for place in watched]
            right = agreement(
                subject, predictor, some, select(subject, selector, some, settings.k),
                lesson.probabilities[watched].argmax(axis=1),
            )  # fmt: skip
            tell(f"l2x: epoch {epoch + 1} of {epochs}, loss {loss:.3f}, agreement {right:.3f} from {settings.k} "
                 f"features alone ({len(seen):,} reference inputs)")  # fmt: skip
            if right > best:
                best = right
                chosen = {name: array.copy() for name, array in kept(selector, right).items()}
    return chosen


def _l2x_epoch(
    subject: Subject,
    selector: Selector,
    predictor: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    arrays: list[Encoded],
    probabilities: FloatArray,
    batches: list[np.ndarray],
    k: int,
) -> float:
    total = 0.0
    selector.train()
    predictor.train()
    for places in batches:
        if len(places) < 2:  # nothing to normalise over
            continue
        given = subject.encoder.collate([arrays[place] for place in places])
        said = torch.from_numpy(probabilities[places].astype(np.float32))
        optimizer.zero_grad()
        temperature = TEXT_TEMPERATURE if subject.owners is None else ROW_TEMPERATURE
        selected = sample(selector(*given), k, temperature)
        loss = -(said * functional.log_softmax(predictor(*given, selected), dim=1)).sum(dim=1).mean()
        if isinstance(selector, RowSelector) and isinstance(predictor, RowPredictor):
            layers = (selector.first, selector.second, predictor.first, predictor.second, predictor.output)
            (loss + penalty(*layers)).backward()  # type: ignore[no-untyped-call]
        else:
            loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += float(loss.detach()) * len(places)
    return total / max(1, sum(map(len, batches)))


def sample(logits: Tensor, k: int, temperature: float) -> Tensor:
    """A relaxed sample of k features: the largest of k draws from a concrete distribution, for each feature."""
    uniform = torch.rand(len(logits), k, logits.shape[1]).clamp(min=torch.finfo(torch.float32).tiny)
    noise = -torch.log((-torch.log(uniform)).clamp(min=torch.finfo(torch.float32).tiny))
    return torch.softmax((noise + logits[:, None]) / temperature, dim=2).amax(dim=1)


def select(subject: Subject, selector: Selector, arrays: list[Encoded], k: int) -> list[Tensor]:
    """For each input, 1 for the k features with the highest numbers."""
    selector.eval()
    masks = []
    with torch.inference_mode():
        for first in range(0, len(arrays), ROW_BATCH):
            some = arrays[first : first + ROW_BATCH]
            for array, row in zip(some, selector(*subject.encoder.collate(some)), strict=True):
                logits = row if subject.owners is not None else row[: len(array)]
                mask = torch.zeros(len(logits))
                mask[logits.topk(min(k, len(logits))).indices] = 1.0
                masks.append(mask)
    return masks


# Chances are kept away from 0 and 1 where their logarithm is taken, as in the released code.
TINY = 1e-8


@dataclass(frozen=True)
class InvaseSettings:
    """What training reads of an explainer; `Invase` says what each means."""

    price: float
    embedding: int
    iterations: int
    batch: int | None
    rate: float
    activation: Literal["relu", "selu"]
    seed: int


def learn_invase(subject: Subject, lesson: ReferenceAnswers, settings: InvaseSettings) -> Arrays:
    """Trains an actor."""
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return _train_invase(subject, lesson, settings)


def _train_invase(subject: Subject, lesson: ReferenceAnswers, settings: InvaseSettings) -> Arrays:
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
        _invase_step(actor, critic, baseline, steps, given, said[torch.from_numpy(places)], settings.price)
        if step % 1_000 == 999 or step + 1 == settings.iterations:
            right = _agreement(subject, actor, critic, [arrays[place] for place in watched],
                               lesson.probabilities[watched].argmax(axis=1))  # fmt: skip
            tell(f"invase: step {step + 1:,} of {settings.iterations:,}, agreement {right:.3f} from the selected "
                 f"features alone ({len(seen):,} reference inputs)")  # fmt: skip
            actor.train()
    return kept(actor, right)


def _invase_step(
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
