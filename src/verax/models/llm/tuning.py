"""Training the last layers of a causal language model to say the class of a text; kept on disk, epoch by epoch.

What lies below the trained layers is computed once for all epochs. Where something else is asked, the trained network
shall say what it said before: on such prompts its probabilities are held to the untrained ones. A training that was
interrupted goes on with the epoch after the last that was finished; one that was done before is read from disk.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import logging
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from verax.arrays import FloatArray, IntArray
from verax.errors import VeraxError
from verax.installed import require
from verax.models.llm.continuations import Ids, Network
from verax.models.neural.representations import cache_folder
from verax.run.canonical import canonical
from verax.run.manifest import read_checked, write_checked
from verax.run.threads import one_thread
from verax.seeds import stream

log = logging.getLogger("verax.models")

# Raised when what training computes changes.
VERSION = 4
# What is kept at the most; the least recently used goes first.
MAX_BYTES = 2_000_000_000
DONE, UNDER_WAY = "trained.pt", "epoch.pt"


@dataclass(frozen=True)
class TuningSchedule:
    """How the last layers are trained.

    Attributes:
        layers: how many of them.
        epochs: passes over the texts at the most.
        patience: epochs without a better validation loss after which training ends.
        rate: of AdamW.
        batch: prompts in a step.
        lora: the rank of adapters (peft) that are trained in the place of the layers' own weights; 0 for none.
        keeping: how much the kept prompts count beside the answers.
        precision: of the products on the way; weights that learn are kept in single precision in any case.
    """

    layers: int = 4
    epochs: int = 4
    patience: int = 2
    rate: float = 3e-4
    batch: int = 16
    lora: int = 0
    keeping: float = 1.0
    precision: Literal["float32", "bfloat16"] = "float32"


@dataclass(frozen=True, eq=False)
class PromptExamples:
    """Prompts with the token that is to be said behind each.

    Attributes:
        prompts: their tokens.
        answers: a token each.
        weights: how much each counts.
    """

    prompts: Sequence[Ids]
    answers: IntArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class KeptPrompts:
    """Prompts behind which the network shall say what it said before it was trained.

    Attributes:
        prompts: their tokens.
        first: in each, the place of the token from which on that holds.
    """

    prompts: Sequence[Ids] = ()
    first: Sequence[int] = ()


NOTHING_KEPT = KeptPrompts()


@dataclass(frozen=True, eq=False)
class Tuned:
    """How a training went.

    Attributes:
        state: the weights of the trained layers, by the names that the network has for them.
        epochs: that were done, and
        best: the one whose weights these are, from 1.
        losses: on the validation prompts, after each epoch.
        seconds: of processor time.
    """

    state: dict[str, Tensor]
    epochs: int
    best: int
    losses: tuple[float, ...]
    seconds: float


def tune(
    network: Network,
    taught: PromptExamples,
    watched: PromptExamples,
    schedule: TuningSchedule,
    seed: int,
    about: str,
    kept: KeptPrompts = NOTHING_KEPT,
) -> Tuned:
    """Trains the last layers in place, or reads them from disk if the same training was done before.

    Args:
        network: of the Llama family (SmolLM2 is), of one's own.
        taught: what it learns.
        watched: validation prompts, which tell when to stop.
        schedule: how.
        seed: of the order of the prompts.
        about: what the network's weights are, for the key.
        kept: where it shall say what it said before.
    """
    folder = _folder(taught, watched, kept, schedule, seed, about)
    if schedule.lora:
        add_adapters(network, schedule, seed)
    stored = _read(folder / DONE)
    if stored is not None:
        known = Tuned(**stored)
        with contextlib.suppress(OSError):
            (folder / DONE).touch()  # used today
        network.load_state_dict(known.state, strict=False)
        return known
    folder.mkdir(parents=True, exist_ok=True)
    with one_thread():
        tuned = _train(network, taught, watched, kept, schedule, seed, folder)
    _write(asdict(tuned), folder / DONE)
    (folder / UNDER_WAY).unlink(missing_ok=True)
    _drop_oldest(folder.parent)
    return tuned


def _train(
    network: Network,
    taught: PromptExamples,
    watched: PromptExamples,
    kept: KeptPrompts,
    schedule: TuningSchedule,
    seed: int,
    folder: Path,
) -> Tuned:
    started = time.process_time()
    upper = UpperLayers(network, schedule.layers, half=schedule.precision == "bfloat16")
    lower = upper.states_below(taught.prompts)
    below = upper.states_below(watched.prompts)
    held = _Held(upper, kept)
    optimizer = torch.optim.AdamW(upper.parameters(), lr=schedule.rate, weight_decay=0.0)
    losses: list[float] = []
    best = upper.state()
    spent = 0.0
    done = _read(folder / UNDER_WAY)
    if done is not None:
        network.load_state_dict(done["state"], strict=False)
        optimizer.load_state_dict(done["optimizer"])
        losses, best, spent = list(done["losses"]), done["best"], done["seconds"]
        log.info("Training goes on after epoch %d.", len(losses))
    weights = torch.from_numpy(taught.weights / taught.weights.mean()).float()
    answers = torch.from_numpy(taught.answers)
    for epoch in range(len(losses), schedule.epochs):
        if epoch - _best(losses) >= schedule.patience:
            break
        for step, places in enumerate(
            _steps([len(row) for row in taught.prompts], schedule.batch, seed, epoch)
        ):
            logits = upper.after([lower[place] for place in places])
            missed = torch.nn.functional.cross_entropy(logits, answers[places], reduction="none")
            optimizer.zero_grad()
            loss = (missed * weights[places]).mean()
            if kept.prompts and schedule.keeping:
                loss = loss + schedule.keeping * held.strayed(upper, epoch, step, seed)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(upper.parameters(), 1.0)
            optimizer.step()
        losses.append(_loss(upper, below, watched))
        if _best(losses) == len(losses):
            best = upper.state()
        seconds = spent + time.process_time() - started
        log.info("Epoch %d: validation loss %.3f, %.0f s.", epoch + 1, losses[-1], seconds)
        _write(
            {
                "state": upper.state(), "optimizer": optimizer.state_dict(), "losses": losses, "best": best,
                "seconds": seconds,
            },
            folder / UNDER_WAY,
        )  # fmt: skip
    network.load_state_dict(best, strict=False)
    upper.freeze()
    return Tuned(best, len(losses), _best(losses), tuple(losses), spent + time.process_time() - started)


# Kept prompts in a step of training.
KEPT_AT_ONCE = 1


class _Held:
    """What the network said behind kept prompts before it was trained."""

    def __init__(self, upper: UpperLayers, kept: KeptPrompts) -> None:
        self.states = upper.states_below(kept.prompts)
        self.first = kept.first
        self.said: list[Tensor] = []
        with torch.inference_mode():
            for state, first in zip(self.states, kept.first, strict=True):
                self.said.append(upper.hidden([state])[0, first:].float().clone())

    def strayed(self, upper: UpperLayers, epoch: int, step: int, seed: int) -> Tensor:
        """How far the network has gone from that behind some of them: the mean divergence of Kullback and Leibler."""
        drawn = stream(seed, "kept", epoch, step).integers(len(self.states), size=KEPT_AT_ONCE).tolist()
        now = upper.hidden([self.states[place] for place in drawn])
        rows = [
            row[self.first[place] : len(self.states[place])] for row, place in zip(now, drawn, strict=True)
        ]
        with torch.no_grad():
            before = upper.logits(torch.cat([self.said[place] for place in drawn])).log_softmax(-1)
        after = upper.logits(torch.cat(rows)).log_softmax(-1)
        return torch.nn.functional.kl_div(after, before, reduction="batchmean", log_target=True)


def add_adapters(network: Network, schedule: TuningSchedule, seed: int) -> None:
    """Puts adapters of low rank (LoRA) beside the products of the last layers, which then learn in their place."""
    require("Training by adapters (lora=)", "peft", extra="llm")
    import peft

    count = len(network.model.layers) if hasattr(network, "model") else 0
    config = peft.LoraConfig(
        r=schedule.lora,
        lora_alpha=2 * schedule.lora,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        layers_to_transform=list(range(max(0, count - schedule.layers), count)),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # adapters begin at random
        peft.inject_adapter_in_model(config, network)


def training_precision() -> Literal["float32", "bfloat16"]:
    """What products of a training are computed in: bfloat16 where a process of its own has shown that it works here."""
    from verax.models.neural.precision import prove

    try:
        prove("bfloat16")
    except VeraxError:
        return "float32"
    return "bfloat16"


class UpperLayers:
    """The last layers of a network of the Llama family, and what they read.

    Args:
        network: whose they are; their weights learn from now on.
        count: how many.
        half: whether products are computed in bfloat16.
    """

    def __init__(self, network: Network, count: int, *, half: bool = False) -> None:
        self.half = half
        core: Any = getattr(network, "model", None)
        if core is None or not all(hasattr(core, part) for part in ("layers", "norm", "rotary_emb")):
            raise VeraxError(
                f"{type(network).__name__} has no last layers that Verax knows how to train; fine-tune it yourself and "
                "give verax.as_model the result."
            )
        if not 1 <= count <= len(core.layers):
            raise VeraxError(f"layers={count} does not fit a network of {len(core.layers)} layers.")
        self.network, self.core = network, core
        self.first = len(core.layers) - count
        self.layers = list(core.layers)[self.first :]
        network.requires_grad_(False).eval()
        named = [pair for layer in self.layers for pair in layer.named_parameters()]
        adapters = [weight for name, weight in named if "lora_" in name]
        self._learning: list[Tensor] = adapters or [weight for _, weight in named]
        for weight in self._learning:
            weight.requires_grad_()

    def parameters(self) -> list[Tensor]:
        """The weights that learn: adapters, where there are any."""
        return self._learning

    def freeze(self) -> None:
        """Ends the learning."""
        self.network.requires_grad_(False)

    def state(self) -> dict[str, Tensor]:
        """A copy of these weights, by the names that the network has for them."""
        learning = {id(weight) for weight in self.parameters()}
        return {
            name: weight.detach().clone()
            for name, weight in self.network.named_parameters()
            if id(weight) in learning
        }

    def states_below(self, prompts: Sequence[Ids]) -> list[Tensor]:
        """What the first of these layers reads of each prompt."""
        found: dict[int, Tensor] = {}
        lower, first_layer = self.core, self.layers[0]
        if self.half:
            lower = copy.deepcopy(self.core).to(torch.bfloat16)
            first_layer = lower.layers[self.first]
        order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
        caught: list[Tensor] = []
        hook = first_layer.register_forward_pre_hook(lambda _, given: caught.append(given[0]))
        try:
            with torch.inference_mode():
                for first in range(0, len(order), 16):
                    some = order[first : first + 16]
                    width = len(prompts[some[-1]])
                    ids = torch.tensor(
                        [[*prompts[place], *([0] * (width - len(prompts[place])))] for place in some]
                    )
                    caught.clear()
                    lower(input_ids=ids, use_cache=False)
                    for row, place in zip(caught[0], some, strict=True):
                        found[place] = row[: len(prompts[place])].float()
        finally:
            hook.remove()
        return [found[place] for place in range(len(prompts))]

    def after(self, states: Sequence[Tensor]) -> Tensor:
        """The logits behind prompts, from what the first of these layers reads of them."""
        lengths = torch.tensor([len(state) for state in states])
        return self.logits(self.hidden(states)[torch.arange(len(states)), lengths - 1])

    def hidden(self, states: Sequence[Tensor]) -> Tensor:
        """(prompts, tokens, dimensions): what the last of these layers writes."""
        # Padding stands behind: no token of a prompt sees it.
        rows = torch.nn.utils.rnn.pad_sequence([state.clone() for state in states], batch_first=True)
        positions = torch.arange(rows.shape[1])[None]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.half):
            turned = self.core.rotary_emb(rows, positions)
            for layer in self.layers:
                rows = layer(
                    rows,
                    attention_mask=None,
                    position_ids=positions,
                    position_embeddings=turned,
                    use_cache=False,
                )
                rows = rows[0] if isinstance(rows, tuple) else rows
        return rows

    def logits(self, rows: Tensor) -> Tensor:
        """Of what the last layer wrote."""
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.half):
            found: Tensor = self.network.lm_head(self.core.norm(rows))
        return found.float()


def _loss(upper: UpperLayers, below: Sequence[Tensor], watched: PromptExamples) -> float:
    answers = torch.from_numpy(watched.answers)
    total = 0.0
    with torch.inference_mode():
        for places in _steps([len(state) for state in below], 32, 0, 0):
            logits = upper.after([below[place] for place in places])
            total += float(torch.nn.functional.cross_entropy(logits, answers[places], reduction="sum"))
    return total / max(1, len(below))


def _best(losses: Sequence[float]) -> int:
    """The epoch with the lowest loss, from 1; 0 before the first."""
    return int(np.argmin(losses)) + 1 if losses else 0


def _steps(lengths: Sequence[int], batch: int, seed: int, epoch: int) -> list[list[int]]:
    """All places in batches of similar lengths, in a random order."""
    rng = stream(seed, "tuning", epoch)
    order = sorted(range(len(lengths)), key=lambda place: (lengths[place] // 4, rng.random()))
    batches = [order[first : first + batch] for first in range(0, len(order), batch)]
    return [batches[place] for place in rng.permutation(len(batches))]


def _folder(
    taught: PromptExamples,
    watched: PromptExamples,
    kept: KeptPrompts,
    schedule: TuningSchedule,
    seed: int,
    about: str,
) -> Path:
    digest = hashlib.sha256()
    for lesson in (taught, watched):
        digest.update(repr([list(prompt) for prompt in lesson.prompts]).encode())
        digest.update(lesson.answers.tobytes() + lesson.weights.tobytes())
    digest.update(repr([[list(prompt) for prompt in kept.prompts], list(kept.first)]).encode())
    key = canonical([VERSION, about, asdict(schedule), seed, torch.__version__, digest.hexdigest()], "tuning")
    return cache_folder() / "llm" / "tuned" / hashlib.sha256(key.encode()).hexdigest()[:32]


def _write(kept: dict[str, Any], path: Path) -> None:
    """Whole or not at all."""
    content = BytesIO()
    torch.save(kept, content)
    write_checked(path, content.getvalue())


def _read(path: Path) -> dict[str, Any] | None:
    """What was written; None if nothing was, or bytes of it changed: torch itself would take them."""
    content = read_checked(path)
    return None if content is None else torch.load(BytesIO(content), weights_only=True)


def _drop_oldest(folder: Path) -> None:
    kept = sorted(
        (each for each in folder.iterdir() if each.is_dir()), key=lambda each: -each.stat().st_mtime
    )
    sizes = (sum(file.stat().st_size for file in each.iterdir()) for each in kept)
    for each, held in zip(kept, accumulate(sizes), strict=True):
        if held > MAX_BYTES:
            shutil.rmtree(each, ignore_errors=True)
