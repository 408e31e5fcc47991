"""Random streams that depend on a seed and on what they are about, never on a place in a batch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def stream(seed: int, *about: str | int) -> np.random.Generator:
    """A generator for this seed and subject: the same on every machine, in every process and order."""
    text = "\x1f".join([str(seed), *map(str, about)])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def shuffled(things: Sequence[T], seed: int, *about: str | int) -> list[T]:
    """The things in a random order, which depends on the seed and on what it is about."""
    return [things[place] for place in stream(seed, *about).permutation(len(things))]


def share(*about: str | int) -> float:
    """A single number between 0 and 1, never 0 and never 1: many times faster than a stream that is asked once."""
    text = "\x1f".join(map(str, about))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    # 53 bits are what a float holds.
    return ((int.from_bytes(digest, "little") >> 12) + 0.5) / 2.0**52
