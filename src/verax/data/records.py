"""What a reader of a dataset hands over, and how that becomes a Dataset: checked, split, without leaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IntArray
from verax.data.dataset import Dataset, Inputs, Part
from verax.data.encoding import sort_categories
from verax.data.splits import (
    PART_NAMES,
    SPLIT_70_10_20,
    Fractions,
    balance,
    digests,
    earliest_parts,
    parse_split,
    random_order,
    shuffled,
    split_parts,
    take_share,
)
from verax.data.table import Schema
from verax.errors import VeraxError

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
        notes=records.noted(*notes).notes,
    )


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
