"""How L2X learns: samples of k features by the Gumbel-softmax trick, and a network that predicts from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from verax.arrays import FloatArray
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

# As in the released code: temperature, inputs per step, and passes.
TEXT_TEMPERATURE, ROW_TEMPERATURE = 0.5, 0.1
TEXT_BATCH, ROW_BATCH = 40, 1_000
TEXT_EPOCHS, ROWS_READ = 5, 1_000_000
# Of the reference inputs, to choose the epoch by.
HELD_OUT = 0.1


@dataclass(frozen=True)
class Settings:
    """What training reads of an explainer; `L2x` says what each means."""

    k: int
    embedding: int
    epochs: int | None
    activation: Literal["relu", "selu"]
    seed: int


def learn(subject: Subject, lesson: Lesson, settings: Settings) -> Arrays:
    """Trains a selector; that of the epoch with the best agreement on held-out inputs is kept."""
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return _learn(subject, lesson, settings)


def _learn(subject: Subject, lesson: Lesson, settings: Settings) -> Arrays:
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
        loss = _epoch(subject, selector, predictor, optimizer, arrays, lesson.probabilities,
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


def _epoch(
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
