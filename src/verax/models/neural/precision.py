"""Networks in lower precision: faster where the processor has instructions for it, and never far from themselves.

Nothing is computed in lower precision here before a process of its own has computed it on this machine (``prove``).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, get_args
from uuid import uuid4

import numpy as np
import torch
from scipy.special import softmax
from torch import nn

from verax.arrays import FloatArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.models.base import Inputs, Model, ask
from verax.models.neural.encoders import TextEncoder
from verax.models.neural.networks import TextNetwork, run_network, weights_state
from verax.models.neural.probe import WRONG, reduced
from verax.models.neural.representations import cache_folder
from verax.models.wrappers import check_texts
from verax.seeds import stream

Precision = Literal["int8", "bfloat16"]
# A probability may change by this much.
TOLERANCE = 0.01
# Texts that are compared, and masked variants of each.
CHECKED_TEXTS, CHECKED_VARIANTS = 16, 8

# What a child tries, and the seconds after which it hangs, on any machine.
PROBE = Path(__file__).with_name("probe.py")
PROBE_SECONDS = 300
# Ends of a child that say something about the machine; another may have come from outside, and is not kept.
TELLING = {
    getattr(signal, name)
    for name in ("SIGILL", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT")
    if hasattr(signal, name)
}
# Windows ends a process with such numbers where others send a signal.
WINDOWS_DEATHS = 0xC0000000
# Variables by which libraries choose their instructions begin so.
CHOOSING = (
    "ONEDNN_",
    "DNNL_",
    "MKL_",
    "ATEN_",
    "FBGEMM_",
    "XNNPACK_",
    "TORCH_",
    "OPENBLAS_",
    "GLIBC_TUNABLES",
)
# Their values when this module was loaded: libraries read them once, so that what is set later holds for a child and
# not for this process.
CHOICES = tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith(CHOOSING)))
# What Linux says of a processor: of Intel and AMD, and of Arm.
PROCESSOR = {
    *("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags"),
    *("cpu implementer", "cpu architecture", "cpu variant", "cpu part", "cpu revision", "features"),
}


@dataclass(frozen=True, eq=False)
class ReducedNetwork(Model):
    """A network of texts in lower precision: probabilities and scores, no gradients.

    Attributes:
        network: the copy in lower precision.
        encoder: from texts to what it reads.
        class_names: one name per score.
        precision: of its weights.
        difference: the largest that was seen between its probabilities and those in full precision.
        reference: training texts; None if not given.
    """

    network: nn.Module
    encoder: TextEncoder
    class_names: tuple[str, ...]
    precision: Precision
    difference: float
    reference: Sequence[str] | None = field(default=None, repr=False)

    kind = "text"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text, checked."""
        texts = check_texts(inputs)
        if not texts:
            return np.empty((0, len(self.class_names)))
        return ask(
            lambda batch: softmax(self.scores(batch), axis=1), texts, len(texts), len(self.class_names)
        )

    def scores(self, inputs: Inputs) -> FloatArray:
        """Class scores before the softmax, one row per text."""
        prove(self.precision)  # again, since it may have been sent to another machine
        arrays = self.encoder.encode(check_texts(inputs))
        return run_network(self.network, self.encoder, arrays, len(self.class_names))

    def fitted_state(self) -> tuple[int, ...]:
        """Numbers that change when a weight does."""
        return weights_state(self.network)


def in_precision(
    model: Model, precision: Precision, *, texts: Sequence[str] | None = None, tolerance: float = TOLERANCE
) -> ReducedNetwork:
    """A copy of a network of texts in lower precision, if it says what the network says.

    A process of its own tries the precision first, once on each machine. Then the two are compared here and now: on
    texts and on random variants of them that lack words, as explainers make them, no probability may differ by more
    than the tolerance. Meant for transformers; a ``cnn`` has a faster path as it is.

    Args:
        model: a network of texts.
        precision: "int8" (weights of linear layers and LSTMs; activations on the fly) or "bfloat16" (everything; slow
            on processors without instructions for it).
        texts: to compare on; by default from those that the model was trained on.
        tolerance: how far a probability may be from the network's own.
    """
    if precision not in get_args(Precision):
        raise VeraxError(f"There is no precision {precision!r}; it is 'int8' or 'bfloat16'.")
    if not isinstance(model, TextNetwork):
        raise VeraxError(
            f"Lower precision is for networks of texts, and this is a {type(model).__name__}; leave it as it is."
        )
    compared = check_texts(texts) if texts is not None else list(model.reference or ())
    if not compared:
        raise VeraxError("No texts are known to compare the precisions on; give some: texts=[...].")
    prove(precision)
    network = reduced(model.network, precision)
    made = ReducedNetwork(network, model.encoder, model.class_names, precision, 0.0, model.reference)
    variants = _variants(compared)
    difference = float(np.abs(made.predict_proba(variants) - model.predict_proba(variants)).max())
    if not difference <= tolerance:
        raise VeraxError(
            f"In {precision} this network's probabilities differ by up to {difference:.2g} from its own, on "
            f"{len(variants)} variants of texts; {tolerance:g} is allowed. Leave it in full precision, or allow more "
            "(tolerance=...)."
        )
    return ReducedNetwork(network, model.encoder, model.class_names, precision, difference, model.reference)


def prove(precision: str, instead: str = "Leave the network in full precision, as it was given.") -> None:
    """A sentence if this machine cannot compute in a precision; a child tries it once, and the outcome is kept.

    Args:
        precision: "int8", "bfloat16" or "float16".
        instead: what to do if it cannot.
    """
    if said := _outcome(precision, PROBE, _machine(), torch.backends.quantized.engine, CHOICES):
        raise VeraxError(
            f"This machine cannot compute networks in {precision}: a trial in a process of its own {said}. {instead}"
        )


def prove_module(module: nn.Module) -> None:
    """The same for all lower precisions that somebody's module is in."""
    kinds = {tensor.dtype for tensor in (*module.parameters(), *module.buffers())}
    for kind, precision in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
        if kind in kinds:
            prove(precision, "Give the network in full precision: network.float().")
    if any(type(part).__module__.startswith("torch.ao.nn.quantized") for part in module.modules()):
        prove("int8", "Give the network as it was before its weights became int8.")


@cache
def _outcome(
    precision: str, probe: Path, machine: str, engine: str, choices: tuple[tuple[str, str], ...]
) -> str:
    """What went wrong with a precision, in a few words; empty where nothing did."""
    about = json.dumps([precision, probe.read_text(encoding="utf-8"), machine, engine, choices])
    path = cache_folder() / "precision" / f"{hashlib.sha256(about.encode()).hexdigest()[:32]}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["sum"] == _checksum(about, kept["said"]):
            return str(kept["said"])
    said, is_telling = _tried(probe, precision, engine, dict(choices))
    if is_telling:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_suffix(f".{uuid4().hex}")
            kept = {"said": said, "precision": precision, "machine": machine, "sum": _checksum(about, said)}
            whole.write_text(json.dumps(kept), "utf-8")
            whole.replace(path)
    return said


def _checksum(about: str, said: str) -> str:
    return hashlib.sha256(f"{about}\0{said}".encode()).hexdigest()


def _tried(probe: Path, precision: str, engine: str, choices: dict[str, str]) -> tuple[str, bool]:
    """What went wrong in the child, empty if nothing did, and whether that says something about the machine."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(CHOOSING)}
    path = os.pathsep.join(filter(None, sys.path))
    try:
        child = subprocess.run(
            [sys.executable, "-P", str(probe), precision, engine],  # -P: not to take our modules for others
            env=others | choices | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {PROBE_SECONDS} seconds", False
    except OSError as error:
        return f"could not be started ({error})", False
    status = child.returncode
    if status == 0:
        return "", True
    if status == WRONG:
        return f"answered wrongly ({child.stdout.strip()})", True
    if status < 0:
        return f"was ended by signal {-status} ({signal.strsignal(-status)})", -status in TELLING
    if status >= WINDOWS_DEATHS:
        return f"was ended by the system ({status:#x})", True
    said = child.stderr.strip().splitlines() or [f"status {status}"]
    return f"failed ({said[-1]})", False


@cache
def _machine() -> str:
    """What decides which instructions are executed and whether they can be: processor, system and library."""
    processor = platform.processor()
    with contextlib.suppress(OSError):
        lines = (
            Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
        )
        pairs = [[part.strip() for part in line.partition(":")[::2]] for line in lines]
        # Without the speed and the number of the core, which change from one look to the next.
        processor = "; ".join(f"{name} {value}" for name, value in pairs if name.lower() in PROCESSOR)
    return (
        f"{platform.machine()} {platform.system()} {platform.release()} torch {torch.__version__} {processor}"
    )


def _variants(texts: Sequence[str]) -> list[str]:
    """Some of the texts, spread over all, each whole and without some of its words."""
    places = np.linspace(0, len(texts) - 1, min(CHECKED_TEXTS, len(texts))).astype(int)
    variants = []
    for text in (texts[place] for place in places):
        words = split_words(text)
        rng = stream(0, "precision", text)
        kept = rng.random((CHECKED_VARIANTS - 1, len(words.distinct))) < rng.random((CHECKED_VARIANTS - 1, 1))
        variants += [text, *(words.keep(np.array(words.distinct)[row].tolist()) for row in kept)]
    return variants
