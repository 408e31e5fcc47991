"""Seeded splits that depend on what the inputs are, never on their order in a file.

Every input gets a random number from the seed and its own content. Sorted by it, class by class, the first
share is train, the next validation, the rest test. So the same rows in another order give the same parts, and
equal inputs have equal numbers and stay together in one part, however often they occur. The order inside a part
is by other numbers, of which each copy of an input has its own: the first k inputs are a random sample of it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IntArray
from verax.data.dataset import contents
from verax.errors import VeraxError

Fractions = tuple[float, float, float]

PART_NAMES = ("train", "validation", "test")
# The two splits of the papers: Hase and Bansal 2020, and Ribeiro et al. 2018.
SPLIT_70_10_20: Fractions = (0.7, 0.1, 0.2)
SPLIT_80_10_10: Fractions = (0.8, 0.1, 0.1)


def parse_split(split: Sequence[float] | str) -> Fractions:
    """Fractions of train, validation and test, from three numbers or a text such as "70/10/20"."""
    try:
        if isinstance(split, str):
            shares = [float(share) / 100 for share in split.split("/")]
        else:
            shares = [float(share) for share in split]
        train, validation, test = shares
    except (TypeError, ValueError):
        train = validation = test = -1.0
    if min(validation, test) < 0 or train <= 0 or abs(train + validation + test - 1) > 1e-9:
        raise VeraxError(
            f"The split {split!r} is not three shares that sum to one; write (0.7, 0.1, 0.2) or '70/10/20'."
        )
    return train, validation, test


def digests(inputs: Sequence[str] | FloatArray, seed: int) -> list[bytes]:
    """Sixteen random bytes per input, from the seed and its content; equal for equal inputs only."""
    key = str(seed).encode()
    return [hashlib.blake2b(content, digest_size=16, key=key).digest() for content in contents(inputs)]


def random_order(keys: Sequence[bytes], labels: IntArray) -> IntArray:
    """The places of the inputs in a random order that does not depend on their order; ties by label."""
    numbers = np.frombuffer(b"".join(keys), dtype="<u8")[::2]  # the first half of each key
    return np.lexsort((labels, numbers))


def shuffled(order: IntArray, keys: Sequence[bytes]) -> IntArray:
    """The same places in another random order, in which each copy of an input stands for itself.

    The numbers that cut the parts cannot order them as well: a part would begin with the class of which the cut left
    more, and with all copies of one input side by side.

    Args:
        order: places in the order of their keys, as `random_order` gives them.
        keys: of the inputs.
    """
    copies: Counter[bytes] = Counter()
    numbers = np.empty(len(order), dtype=np.uint64)
    for rank, place in enumerate(order.tolist()):
        key = keys[place]
        numbers[rank] = _copy_number(key, copies[key], b"shuffled")
        copies[key] += 1
    return order[np.argsort(numbers, kind="stable")]


def _copy_number(key: bytes, copy: int, about: bytes) -> int:
    """A random number for one of the copies of an input, whichever gets it."""
    draw = hashlib.blake2b(key + copy.to_bytes(8, "little"), digest_size=8, person=about)
    return int.from_bytes(draw.digest(), "little")


def balance(keys: Sequence[bytes], labels: IntArray) -> IntArray:
    """The places of as many inputs of every class as the smallest class has, drawn without replacement."""
    # Copies of one input are drawn singly: each is told from the others by its number, whichever gets it.
    copies: Counter[tuple[bytes, int]] = Counter()
    numbers = np.empty(len(keys), dtype=np.uint64)
    for place, (key, label) in enumerate(zip(keys, labels.tolist(), strict=True)):
        copy = copies[key, label]
        copies[key, label] += 1
        numbers[place] = _copy_number(key, copy, b"balance")
    order = np.argsort(numbers, kind="stable")
    smallest = np.bincount(labels)[np.unique(labels)].min()
    return np.sort(np.concatenate([_of_class(order, labels, c)[:smallest] for c in np.unique(labels)]))


def split_parts(order: IntArray, labels: IntArray, fractions: Fractions) -> NDArray[np.int8]:
    """The part (0 train, 1 validation, 2 test) of every input in ``order``: the same shares of every class."""
    # Each class is spread evenly over the line from 0 to 1, which is then cut; so the parts have the sizes asked for
    # however small the classes are.
    position = np.empty(len(order))
    for c in np.unique(labels[order]):
        members = labels[order] == c
        position[members] = (np.arange(members.sum()) + 0.5) / members.sum()
    line = order[np.argsort(position, kind="stable")]
    cut = _round(fractions[0] * len(line))
    end = _round((fractions[0] + fractions[1]) * len(line))
    parts = np.full(len(labels), 2, dtype=np.int8)
    parts[line[:cut]] = 0
    parts[line[cut:end]] = 1
    return parts


def earliest_parts(keys: Sequence[bytes], parts: NDArray[np.int8]) -> NDArray[np.int8]:
    """The earliest part (train, validation, test) in which an input like this one occurs, per input."""
    earliest: dict[bytes, int] = {}
    for key, part in zip(keys, parts.tolist(), strict=True):
        earliest[key] = min(part, earliest.get(key, part))
    return np.array([earliest[key] for key in keys], dtype=np.int8)


def take_share(order: IntArray, labels: IntArray, parts: NDArray[np.int8], limit: int) -> IntArray:
    """The first ``limit`` places in ``order``, with the share of every part and class kept."""
    groups = parts[order].astype(np.int64) * (int(labels.max()) + 1) + labels[order]
    sizes = np.bincount(groups)
    exact = sizes * min(limit, len(order)) / len(order)
    quota = np.floor(exact + 1e-9).astype(np.int64)
    # What rounding left over goes to the groups that lost most by it.
    left_over = min(limit, len(order)) - quota.sum()
    quota[np.argsort(quota - exact, kind="stable")[:left_over]] += 1
    chosen = [order[groups == group][: quota[group]] for group in range(len(sizes))]
    return order[np.isin(order, np.concatenate(chosen))]


def _of_class(order: IntArray, labels: IntArray, c: int) -> IntArray:
    members: IntArray = order[labels[order] == c]
    return members


def _round(value: float) -> int:
    return int(np.floor(value + 0.5))
