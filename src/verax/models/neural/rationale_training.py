"""How the two halves of a rationale model learn together without a collapse, in three phases.

1. Warm-up: the half that predicts learns from random selections.
2. Jointly: the half that selects is drawn towards a share of words by a price that goes up and down with what it
   selects, so that neither nothing nor everything is a place to rest; once it is there, it is taught to select the same
   words when others are deleted.
3. Polish: the selections stay, and the half that predicts learns from them alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.models.neural.encoders import length_batches
from verax.models.neural.loop import (
    Collate,
    Examples,
    History,
    Train,
    TrainingTask,
    evaluate,
    losses_of,
    shuffled_batches,
    tell,
)
from verax.models.neural.rationale import SelectingNetwork, compact, inside_of
from verax.run.threads import one_thread
from verax.seeds import stream

log = logging.getLogger("verax.models")

# Texts of more words than this on average are long: fewer of their words are selected, with a smaller penalty.
LONG = 60
# The largest gradient of a step.
CLIP = 3.0
# Numbers of word vectors that are dropped in training, before the half that predicts and the half that selects.
READ_DROPOUT, CHOICE_DROPOUT = 0.2, 0.2
# How fast the price of a selected word follows the share of words that are selected, and how far.
PRICE_STEP, PRICE_BOUND = 0.2, 20.0
# The share of words that are selected begins here.
FIRST_SHARE = 0.8
# Below and above these shares of words a selection says nothing.
FEWEST, MOST = 0.005, 0.9

Deletions = Literal["any", "all"]
Estimator = Literal["straight-through", "reinforce"]


@dataclass(frozen=True)
class Ties:
    """What ties a selection to its own words.

    Attributes:
        stability: how much it costs if the selection changes when other words are deleted.
        deletions: of "any" of the other words, or of "all" of them at once and nothing else, the condition by which the
            paper prunes texts: such a target may change its mind when a single word goes.
    """

    stability: float
    deletions: Deletions = "any"


@dataclass(frozen=True)
class Costs:
    """What a selection costs besides the error of the prediction (Lei et al. 2016).

    Attributes:
        sparsity: of each selected word of a text. None has a price that goes up and down in its place, so that a share
            of words is selected; with a number both halves learn jointly from the first step to the last, as published.
        coherence: of each place in a text where selected words begin or end.
        estimator: how the half that selects learns from selections, which have no slope: "straight-through", the slope
            of the probability in its place; or "reinforce", as published: probable selections that cost much become
            less probable.
    """

    sparsity: float | None = None
    coherence: float = 0.0
    estimator: Estimator = "straight-through"


@dataclass(frozen=True)
class Phases:
    """How long each phase takes, in epochs, and what is aimed at.

    Attributes:
        warm_up, joint, polish: epochs.
        share: of words that shall be selected.
        ties: how much it costs if a selection changes when other words are deleted.
        penalty: the L2 penalty's coefficient.
        costs: of a selection.
    """

    warm_up: int
    joint: int
    polish: int
    share: float
    ties: Ties
    penalty: float
    costs: Costs = Costs()


def phases_for(mean_words: float, share: float | None, ties: Ties, epochs: int | None) -> Phases:
    """What trains reliably on texts of this length.

    Args:
        mean_words: of a training text.
        share: of words that shall be selected; 30% of short texts and 10% of long ones if None.
        ties: as in `Phases`.
        epochs: of the joint phase; 8 on short texts and 6 on long ones if None.
    """
    if mean_words > LONG:
        return Phases(2, epochs or 6, 3, share or 0.10, ties, 1e-5)
    return Phases(3, epochs or 8, 1, share or 0.30, ties, 1e-4)


def rationale_training(share: float | None, ties: Ties, epochs: int | None, costs: Costs = Costs()) -> Train:
    """The training as `Recipe` calls it; see `phases_for` for what is left open."""

    def train(lesson: TrainingTask) -> History:
        mean_words = float(np.mean([len(array) for array in lesson.examples.arrays]))
        phases = replace(phases_for(mean_words, share, ties, epochs), costs=costs)
        if costs.sparsity is not None:
            phases = replace(phases, warm_up=0, polish=0)
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(lesson.seed)
            return _JointTraining(lesson, phases).run()

    return train


class _JointTraining:
    """One training on its way."""

    def __init__(self, lesson: TrainingTask, phases: Phases) -> None:
        assert isinstance(lesson.network, SelectingNetwork)
        self.lesson = lesson
        self.network = lesson.network
        self.collate = lesson.collate
        self.phases = phases
        self.order = stream(lesson.seed, "order of training inputs")
        self.history = History()
        self.price = 0.0
        self.started = time.perf_counter()

    def run(self) -> History:
        """All phases; what was seen after each epoch."""
        phases, network = self.phases, self.network
        optimizer = self._optimizer(network.parameters(), self.lesson.schedule.rate)
        for _ in range(phases.warm_up):
            self._epoch(
                "warm-up", optimizer, self.lesson.examples, lambda batch, _: self._warm_up_loss(batch)
            )
        for epoch in range(phases.joint):
            first = epoch / phases.joint

            def joint(batch: Examples, share_done: float, first: float = first) -> Tensor:
                return self._joint_loss(batch, first + share_done / phases.joint)

            self._epoch("joint", optimizer, self.lesson.examples, joint)
        optimizer = self._optimizer(network.reading_parameters(), self.lesson.schedule.rate / 2)
        selected = selected_only(network, self.collate, self.lesson.examples)
        for _ in range(phases.polish):
            self._epoch("polish", optimizer, selected, lambda batch, _: self._polish_loss(batch))
        network.eval()
        self._say_collapse()
        return self.history

    def _optimizer(self, parameters: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
        # Not on word vectors: Adam would make whole steps towards zero of it, for words that a batch does not have.
        vectors = self.network.embedding.weight
        others = [parameter for parameter in parameters if parameter is not vectors]
        groups: list[dict[str, Any]] = [
            {"params": others, "weight_decay": self.phases.penalty},
            {"params": [vectors]},
        ]
        return torch.optim.Adam(groups, lr=rate, fused=True)

    def _epoch(
        self,
        phase: str,
        optimizer: torch.optim.Optimizer,
        examples: Examples,
        loss_of: Callable[[Examples, float], Tensor],
    ) -> None:
        """One pass; ``loss_of`` is told how much of it is done."""
        self.network.train()
        total = 0.0
        batches = shuffled_batches(examples.arrays, self.lesson.schedule.batch, self.order)
        for number, places in enumerate(batches):
            self.network.zero_grad()
            loss = loss_of(examples.take(places), number / len(batches))
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
            optimizer.step()
            total += float(loss.detach()) * len(places)
        self._note(phase, total / len(examples.targets))

    def _note(self, phase: str, loss: float) -> None:
        history = self.history
        validation_loss, accuracy = evaluate(self.network, self.collate, self.lesson.watched)
        history.losses.append(loss)
        history.validation_losses.append(validation_loss)
        history.validation_accuracies.append(accuracy)
        history.shares.append(share_selected(self.network, self.collate, self.lesson.watched))
        history.seconds.append(time.perf_counter() - self.started)
        tell(f"{self.lesson.name}: {phase}, epoch {len(history.losses)}, loss {loss:.3f}, "
             f"validation accuracy {accuracy:.3f}, {history.shares[-1]:.1%} of words selected, "
             f"{history.seconds[-1]:.0f} s")  # fmt: skip

    def _warm_up_loss(self, batch: Examples) -> Tensor:
        """Of random selections: a third of the texts whole, the others with any share of their words."""
        ids, lengths = self.collate(batch.arrays)
        vectors = self.network.embedding(ids)
        kept = torch.where(torch.rand(len(ids)) < 0.3, 1.0, torch.empty(len(ids)).uniform_(0.05, 1.0))
        chosen = (torch.rand(ids.shape) < kept[:, None]) & inside_of(ids, lengths)
        return self._loss(*compact(vectors, chosen), batch)

    def _polish_loss(self, batch: Examples) -> Tensor:
        ids, lengths = self.collate(batch.arrays)
        return self._loss(self.network.embedding(ids).detach(), lengths, batch)

    def _loss(self, vectors: Tensor, lengths: Tensor, batch: Examples) -> Tensor:
        scores = self.network.encode(functional.dropout(vectors, READ_DROPOUT), lengths)
        return _weighted(losses_of(scores, batch.targets), batch)

    def _joint_loss(self, batch: Examples, done: float) -> Tensor:
        """The error of the selected words, the price of their number, and that of an unstable selection.

        Args:
            batch: some inputs.
            done: how much of the joint phase lies behind.
        """
        network = self.network
        ids, lengths = self.collate(batch.arrays)
        inside = inside_of(ids, lengths)
        vectors = network.embedding(ids)
        choices = network.choices(functional.dropout(vectors, CHOICE_DROPOUT), lengths)
        costs = self.phases.costs
        if costs.estimator == "reinforce":
            loss = self._reinforced(batch, vectors, choices, inside)
        else:
            # Less and less noise: in the end training selects as the trained model does.
            noise = torch.logit(torch.rand(ids.shape), eps=1e-6) * min(1.0, max(0.0, (0.8 - done) / 0.6))
            soft = torch.sigmoid(choices + noise) * inside
            # Selected or not on the way forward, the slope of the sigmoid on the way back.
            selected = ((soft > 0.5).float() + soft - soft.detach()) * inside
            scores = network.encode_in_place(functional.dropout(vectors, READ_DROPOUT), selected)
            loss = _weighted(losses_of(scores, batch.targets) + selection_costs(selected, costs), batch)
            if costs.sparsity is None:
                loss = loss + self._price_of_share(selected.sum() / inside.sum(), done)
        ties = self.phases.ties
        strength = ties.stability * min(1.0, max(0.0, (done - 0.4) / 0.3))
        if strength > 0:
            now = (choices.detach() > 0) & inside
            loss = loss + strength * instability(network, vectors, now, inside, ties.deletions)
        return loss

    def _price_of_share(self, share: Tensor, done: float) -> Tensor:
        """What the share of selected words costs; the price follows how far it is from the one that is wanted."""
        wanted = FIRST_SHARE + (self.phases.share - FIRST_SHARE) * min(1.0, done / 0.4)
        cost = self.price * share + 5.0 * (share - wanted) ** 2
        self.price += PRICE_STEP * (float(share.detach()) - wanted)
        self.price = min(PRICE_BOUND, max(-PRICE_BOUND, self.price))
        return cost

    def _reinforced(self, batch: Examples, vectors: Tensor, choices: Tensor, inside: Tensor) -> Tensor:
        """The error of drawn selections, and their probability times what they cost (REINFORCE, no baseline)."""
        drawn = (torch.rand(choices.shape) < torch.sigmoid(choices.detach())).float() * inside
        scores = self.network.encode_in_place(functional.dropout(vectors, READ_DROPOUT), drawn)
        errors = losses_of(scores, batch.targets)
        costs = errors.detach() + selection_costs(drawn, self.phases.costs)
        log_probability = (functional.logsigmoid(torch.where(drawn > 0, choices, -choices)) * inside).sum(
            dim=1
        )
        return _weighted(errors + costs * log_probability, batch)

    def _say_collapse(self) -> None:
        share = self.history.shares[-1]
        if not FEWEST <= share <= MOST:
            what = "next to nothing" if share < FEWEST else "nearly everything"
            log.warning(
                "The model %r collapsed: it selects %s (%.1f%% of words); train it with another seed, or with "
                "another share of words to select.",
                self.lesson.name, what, 100 * share,
            )  # fmt: skip


def selection_costs(selected: Tensor, costs: Costs) -> Tensor:
    """What each text's selection costs by its number of words and by the places where it begins or ends.

    Args:
        selected: 0 or 1 for each position, nothing behind a text.
        costs: of both.
    """
    edges = functional.pad(selected, (1, 1)).diff(dim=1).abs().sum(dim=1)
    return (costs.sparsity or 0.0) * selected.sum(dim=1) + costs.coherence * edges


def instability(
    network: SelectingNetwork, vectors: Tensor, selected: Tensor, inside: Tensor, deletions: Deletions
) -> Tensor:
    """How far the selection from a shortened text is from that from the whole.

    Selected words should stay selected, and others that stay in the text unselected.

    Args:
        network: selects again.
        vectors: of the words of whole texts.
        selected: what is selected there.
        inside: where there are words.
        deletions: of "any" share of the other words, drawn for each text, or of "all".
    """
    if deletions == "all":
        kept = selected & inside
    else:
        kept_share = (torch.rand(len(vectors)) - 0.3).clamp(min=0) / 0.7
        kept = (selected | (torch.rand(inside.shape) < kept_share[:, None])) & inside
    shorter, lengths = compact(vectors, kept)
    again = network.choices(functional.dropout(shorter, CHOICE_DROPOUT, network.training), lengths)
    was, _ = compact(selected[:, :, None].float(), kept)
    wanted = was.squeeze(2) > 0.5
    unwanted = ~wanted & inside_of(again, lengths)
    return _mean_over(functional.relu(1 - again), wanted) + _mean_over(functional.relu(1 + again), unwanted)


def selected_only(network: SelectingNetwork, collate: Collate, examples: Examples) -> Examples:
    """The same examples with nothing but their selected words."""
    network.eval()
    arrays = list(examples.arrays)
    with torch.inference_mode():
        for places in length_batches([len(array) for array in arrays]):
            ids, lengths = collate([arrays[place] for place in places])
            selected = network.select(network.embedding(ids), lengths).numpy()
            for place, row in zip(places, selected, strict=True):
                arrays[place] = arrays[place][row[: len(arrays[place])]]
    return replace(examples, arrays=arrays)


def share_selected(network: SelectingNetwork, collate: Collate, examples: Examples) -> float:
    """The share of all words that is selected."""
    words = sum(len(array) for array in examples.arrays)
    return sum(len(array) for array in selected_only(network, collate, examples).arrays) / max(1, words)


def _weighted(losses: Tensor, batch: Examples) -> Tensor:
    return (losses * torch.from_numpy(batch.weights.astype(np.float32))).mean()


def _mean_over(values: Tensor, where: Tensor) -> Tensor:
    return (values * where).sum() / where.sum().clamp(min=1)
