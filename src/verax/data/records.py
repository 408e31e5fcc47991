"""What a reader of a dataset hands over, where readers are registered, and how a Dataset is split from it.

Every input gets a random number from the seed and its own content. Sorted by it, class by class, the first
share is train, the next validation, the rest test. So the same rows in another order give the same parts, and
equal inputs have equal numbers and stay together in one part, however often they occur. The order inside a part
is by other numbers, of which each copy of an input has its own: the first k inputs are a random sample of it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IntArray
from verax.data.bins import Bands
from verax.data.dataset import Dataset, Inputs, Part, contents
from verax.data.fields import Fields
from verax.data.inputs import sort_categories
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.registry import Registry

Fractions = tuple[float, float, float]

# From so many inputs on, the numbers of a split are counts.
LEAST_COUNTED = 1_000
PART_NAMES = ("train", "validation", "test")
# The two splits of the papers: Hase and Bansal 2020, and Ribeiro et al. 2018.
SPLIT_70_10_20: Fractions = (0.7, 0.1, 0.2)
SPLIT_80_10_10: Fractions = (0.8, 0.1, 0.1)


def parse_split(split: Sequence[float] | str) -> Fractions:
    """Fractions of train, validation and test, from three numbers or a text such as "70/10/20" or "6000/1500/10000"."""
    try:
        if isinstance(split, str):
            size = split_size(split) or 100
            shares = [float(share) / size for share in split.split("/")]
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


def split_size(split: Sequence[float] | str | None) -> int | None:
    """How many inputs a split by counts has ("6000/1500/10000"); None for one by shares."""
    if not isinstance(split, str):
        return None
    sizes = split.split("/")
    # Shares in per cent sum to 100; a slip of the pen is no count.
    size = sum(map(int, sizes)) if all(part.strip().isdecimal() for part in sizes) else 0
    return size if len(sizes) == 3 and size >= LEAST_COUNTED else None


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


# Where a publisher ships no validation part, this share of its train part becomes one.
VALIDATION_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Records:
    """Everything a file or package holds, before it is split.

    Attributes:
        inputs: texts, or encoded rows of a table.
        labels: the number of each input's class.
        class_names: what the labels mean.
        parts: the publisher's own split: 0 train, 1 validation, 2 test per input; None if there is none. It counts if
            it has a train and a test part.
        schema: a table's columns.
        fractions: the split used if there is no publisher's and none is asked for.
        balanced: draw as many inputs of every class as the smallest has.
        notes: what the reader dropped, counted.
        ratings: a number between 0 and 1 per input, where the set is one of ratings.
        columns: what else is known of each input, by name.
        fields: of records with several texts, their columns.
        bands: of numbers, the bands that are the classes.
    """

    inputs: Inputs
    labels: IntArray
    class_names: tuple[str, ...]
    parts: NDArray[np.int8] | None = None
    schema: Schema | None = None
    fractions: Fractions = SPLIT_70_10_20
    balanced: bool = False
    notes: tuple[str, ...] = ()
    ratings: FloatArray | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fields: Fields | None = None
    bands: Bands | None = None

    @property
    def part(self) -> Part:
        """All inputs as one part."""
        return Part(self.inputs, self.labels, self.ratings, self.columns)

    def keep(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Records:
        """The same with only some inputs."""
        kept = self.part.take(np.arange(len(self.labels))[places])
        parts = None if self.parts is None else self.parts[places]
        return replace(
            self,
            inputs=kept.inputs,
            labels=kept.labels,
            ratings=kept.ratings,
            columns=kept.columns,
            parts=parts,
        )

    def noted(self, *notes: str) -> Records:
        """The same with more notes; empty ones are left out."""
        return replace(self, notes=(*self.notes, *filter(None, notes)))


def text_records(
    texts: Iterable[str],
    labels: Iterable[int],
    class_names: Sequence[str],
    parts: Iterable[int] | None = None,
    notes: Iterable[str] = (),
) -> Records:
    """Records of texts from plain lists."""
    return Records(
        inputs=list(texts),
        labels=np.array(list(labels), dtype=np.int64),
        class_names=tuple(class_names),
        parts=None if parts is None else np.array(list(parts), dtype=np.int8),
        notes=tuple(filter(None, notes)),
    )


def number_labels(names: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Class names per input as numbers, and the sorted names."""
    class_names = sort_categories(list(names))
    number_of = {name: number for number, name in enumerate(class_names)}
    return np.array([number_of[name] for name in names], dtype=np.int64), class_names


def counted(n: int, noun: str, what: str) -> str:
    """A note such as "3 empty texts dropped", or "" if there is nothing to say."""
    if n == 0:
        return ""
    return f"{n:,} {noun}{'' if n == 1 else 's'} {what}"


def build_dataset(
    records: Records,
    name: str,
    split: Sequence[float] | str | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> Dataset:
    """Splits records into a Dataset; what is dropped is counted in its notes."""
    if limit is not None and limit < 3:
        raise VeraxError(f"The limit {limit} leaves too few inputs to split; use at least 3.")
    limit = _counted_limit(records, name, split, limit)
    records = _without_empty_texts(records)
    _check(records, name)
    keys = digests(records.inputs, seed)
    if records.balanced:
        places = balance(keys, records.labels)
        dropped = len(records.labels) - len(places)
        records = records.keep(places).noted(
            counted(dropped, "input", "of the larger classes left out to balance the classes")
        )
        keys = [keys[place] for place in places]
    order = random_order(keys, records.labels)
    parts, leaked, notes = _divide(records, keys, order, split)
    order = shuffled(order, keys)
    order = order[~leaked[order]]
    if limit is not None and limit < len(order):
        notes.append(f"{limit:,} of {len(order):,} inputs drawn at random (limit={limit})")
        order = take_share(order, records.labels, parts, limit)
    made = [records.keep(order[parts[order] == part]) for part in range(3)]
    notes += [f"The {PART_NAMES[part]} part is empty" for part in range(3) if len(made[part].labels) == 0]
    train, validation, test = (part.part for part in made)
    return Dataset(
        name=name,
        kind="text" if records.schema is None else "table",
        class_names=records.class_names,
        train=train,
        validation=validation,
        test=test,
        schema=records.schema,
        fields=records.fields,
        bands=records.bands,
        notes=records.noted(*notes).notes,
    )


def _counted_limit(
    records: Records, name: str, split: Sequence[float] | str | None, limit: int | None
) -> int | None:
    """The limit, or as many inputs as a split by counts has."""
    size = split_size(split)
    if limit is not None or size is None:
        return limit
    if size > len(records.labels):
        raise VeraxError(
            f"The split {split!r} has {size:,} inputs, and {name!r} has {len(records.labels):,}; ask for fewer."
        )
    return size


def _divide(
    records: Records, keys: list[bytes], order: IntArray, split: Sequence[float] | str | None
) -> tuple[NDArray[np.int8], NDArray[np.bool_], list[str]]:
    """The part of every input, which of them have to go, and notes on it."""
    if split is None and records.parts is not None and {0, 2} <= set(records.parts.tolist()):
        parts = _with_validation(records.parts, order, records.labels)
        # The publisher's parts are not added to, so an input that is also in an earlier one can only go.
        leaked = earliest_parts(keys, parts) < parts
        return parts, leaked, [_leak_note(leaked, parts, part) for part in (1, 2)]
    fractions = records.fractions if split is None else parse_split(split)
    drawn = split_parts(order, records.labels, fractions)
    parts = earliest_parts(keys, drawn)
    moved = int((parts < drawn).sum())
    none = np.zeros(len(parts), dtype=bool)
    return parts, none, [counted(moved, "input", "moved to the earlier part where equal ones are")]


def _with_validation(shipped: NDArray[np.int8], order: IntArray, labels: IntArray) -> NDArray[np.int8]:
    if 1 in shipped:
        return shipped
    parts = shipped.copy()
    train = order[shipped[order] == 0]
    parts[train] = split_parts(train, labels, (1 - VALIDATION_SHARE, VALIDATION_SHARE, 0.0))[train]
    return parts


def _leak_note(leaked: NDArray[np.bool_], parts: NDArray[np.int8], part: int) -> str:
    n = int((leaked & (parts == part)).sum())
    return counted(n, f"{PART_NAMES[part]} input", "dropped, because equal ones are in an earlier part")


def _without_empty_texts(records: Records) -> Records:
    if not isinstance(records.inputs, list):
        return records
    filled = np.array([bool(text.strip()) for text in records.inputs], dtype=bool)
    if filled.all():
        return records
    return records.keep(filled).noted(counted(int((~filled).sum()), "empty text", "dropped"))


def _check(records: Records, name: str) -> None:
    n = len(records.labels)
    if n < 3:
        dropped = f" ({'; '.join(records.notes)})" if records.notes else ""
        raise VeraxError(
            f"{name!r} has {n} usable inputs{dropped}; at least 3 are needed to make three parts."
        )
    present = np.unique(records.labels)
    if len(present) < 2:
        only = records.class_names[int(present[0])]
        raise VeraxError(
            f"Every input of {name!r} has the label {only!r}; a classifier needs at least two classes."
        )


@dataclass(frozen=True)
class Choice:
    """What the caller said about the file, for formats where there is something to choose.

    Attributes:
        text: the column or field that holds the text; of several columns of texts their names, with commas between.
        label: the column, field or aspect that holds the label.
        ratings: whether ratings are wanted as they are, rather than as classes.
        bands: into how many classes a column of numbers is cut, or where; see `verax.data.bins.make_bands`.
    """

    text: str | None = None
    label: str | None = None
    ratings: bool = False
    bands: int | str | tuple[float, ...] | None = None

    def among(self, format_name: str, labels: tuple[str, ...] = ()) -> str:
        """The chosen one of a format's labels (the first unless told otherwise; "" if it has but one)."""
        if self.bands is not None:
            raise VeraxError(f"The format {format_name!r} knows its own classes; leave bands out.")
        if self.text is not None or (self.label is not None and not labels):
            raise VeraxError(
                f"The format {format_name!r} has one text and one label; leave text and label out."
            )
        if self.label is not None and self.label not in labels:
            raise VeraxError(
                f"The format {format_name!r} has no label {self.label!r}; choose: {', '.join(labels)}."
            )
        return self.label or (labels[0] if labels else "")


Source = Callable[[], Records]
Reader = Callable[[Path, Choice], Records]

datasets: Registry[Source] = Registry("dataset", "verax.datasets", home="verax.data")
dataset_formats: Registry[Reader] = Registry("format", "verax.formats", home="verax.data.formats")
