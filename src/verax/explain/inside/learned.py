"""What explainers learned of a model: once per model and seed, kept in memory and, by its content, on disk."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.capabilities import Refittable, ask_for
from verax.models.neural.representations import cache_folder
from verax.run.manifest import read_checked, write_checked
from verax.seeds import stream

T = TypeVar("T")
# What is learned, as it lies on disk: plain arrays by name, nothing that runs.
Arrays = dict[str, NDArray[np.generic]]
# Raise it when the same content shall be learned otherwise.
VERSION = 1
# What is kept on disk at the most; the least recently used goes first.
MAX_BYTES = 500_000_000
_KEPT: WeakKeyDictionary[Model, dict[tuple[object, ...], object]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class ReferenceAnswers:
    """What an explainer learns from: a model's reference inputs, and what the model says of each.

    Attributes:
        inputs: texts, or encoded rows of a table.
        probabilities: (inputs, classes).
    """

    inputs: Sequence[str] | FloatArray
    probabilities: FloatArray

    @classmethod
    def from_model(
        cls, model: Model, method: str, most: int | None = None, seed: int = 0
    ) -> ReferenceAnswers:
        """The reference inputs of a model; at most so many of them, drawn by seed."""
        inputs = ask_for(model, "reference", method).reference
        assert inputs is not None, "ask_for lets no model through without"
        if most is not None and len(inputs) > most:
            places = sorted(stream(seed, "lesson", len(inputs)).permutation(len(inputs))[:most].tolist())
            inputs = [inputs[place] for place in places] if _are_texts(inputs) else np.asarray(inputs)[places]
        if len(inputs) < 2:
            raise VeraxError(
                f"The method {method!r} learns from the model's reference inputs, and there are {len(inputs)}; give "
                "more: verax.as_model(..., reference=inputs)."
            )
        return cls(inputs, model.predict_proba(inputs))

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def digest(self) -> str:
        """A hash of the content. Probabilities count to four digits: the last ones differ between machines."""
        content = hashlib.sha256()
        if _are_texts(self.inputs):
            for text in self.inputs:
                content.update(str(text).encode("utf-8", "surrogatepass") + b"\0")
        else:
            content.update(np.ascontiguousarray(self.inputs, dtype=np.float64).tobytes())
        content.update((self.probabilities.round(4) + 0.0).tobytes())
        return content.hexdigest()

    def parts(self, seed: int, *shares: float) -> list[IndexArray]:
        """The places of all inputs in random parts: one of each share, and one of the rest."""
        order = stream(seed, "parts of a lesson", len(self)).permutation(len(self))
        edges = np.round(np.cumsum(shares) * len(self)).astype(int)
        return [np.sort(part) for part in np.split(order, edges)]


def learned(
    model: Model,
    about: str,
    lesson: Callable[[], ReferenceAnswers],
    learn: Callable[[ReferenceAnswers], Arrays],
    read: Callable[[Arrays], T],
) -> T:
    """What an explainer knows of a model: from memory, else from disk, else learned now and kept in both.

    Args:
        model: what it explains. A network that was trained on since is another one.
        about: the method and all its parameters that matter to learning, its seed among them.
        lesson: gives what is learned from; its content is the other part of the key.
        learn: does it, and tells how far it is.
        read: from arrays to what the explainer works with.
    """
    state = model.fitted_state() if isinstance(model, Refittable) else ()
    kept = _KEPT.setdefault(model, {})
    here = (about, state)
    if here not in kept:
        content = lesson()
        name = hashlib.sha256(f"{VERSION}\0{about}\0{content.digest}".encode()).hexdigest()
        path = cache_folder() / "learned" / f"{name[:32]}.npz"
        arrays = _stored(path)
        if arrays is None:
            arrays = learn(content)
            _keep(path, arrays)
        kept[here] = read(arrays)
    found: T = kept[here]  # type: ignore[assignment]
    return found


def _stored(path: Path) -> Arrays | None:
    content = read_checked(path)
    if content is None:
        return None
    with np.load(BytesIO(content), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    with contextlib.suppress(OSError):
        os.utime(path)  # used today
    return arrays


def _keep(path: Path, arrays: Arrays) -> None:
    """Writes what was learned; in a folder that cannot be written it is learned again next time."""
    content = BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    with contextlib.suppress(OSError, VeraxError):
        write_checked(path, content.getvalue())
        held = sorted((file.stat() for file in path.parent.glob("*.npz")), key=lambda file: -file.st_mtime)
        edge = next(
            (file.st_mtime for file, size in zip(held, accumulate(file.st_size for file in held), strict=True)
             if size > MAX_BYTES),
            0.0,
        )  # fmt: skip
        for file in path.parent.glob("*.npz"):
            if file.stat().st_mtime <= edge:
                file.unlink(missing_ok=True)


def _are_texts(inputs: Sequence[str] | FloatArray) -> bool:
    return not isinstance(inputs, np.ndarray) and len(inputs) > 0 and isinstance(inputs[0], str)
