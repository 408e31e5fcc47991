"""Responses of participants to items: columns with one entry per answer, checked once, then used by all.

Every participant belongs to one method. A stratum is a part of the study with items of its own: a domain (other
participants) or a test (the same participants).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError


@dataclass(frozen=True)
class Answers:
    """Answers that were given both before and after the explanations.

    Attributes:
        participant: Who answered, as a place among the sorted names.
        item: What was asked, in the same way.
        method: Place in ``methods``.
        methods: Names of the methods, sorted.
        pre: 1 where the answer before explanations was right, else 0.
        post: The same after explanations.
        dropped: Answers left out because Pre or Post is missing.
    """

    participant: IndexArray
    item: IndexArray
    method: IndexArray
    methods: tuple[Hashable, ...]
    pre: FloatArray
    post: FloatArray
    dropped: int


def paired_answers(
    participant: ArrayLike, item: ArrayLike, method: ArrayLike, pre: ArrayLike, post: ArrayLike
) -> Answers:
    """The answers that have both Pre and Post (1 right, 0 wrong, NaN or None missing); the others are counted."""
    columns = {"participant": participant, "item": item, "method": method, "pre": pre, "post": post}
    check_lengths(**columns)
    before, after = zero_or_one("pre", pre), zero_or_one("post", post)
    both = ~(np.isnan(before) | np.isnan(after))
    if not both.any():
        raise VeraxError(
            f"None of the {len(before)} answers has both Pre and Post: there is no Change to estimate."
        )
    methods, method_codes = coded("method", np.asarray(method)[both])
    return Answers(
        participant=coded("participant", np.asarray(participant)[both])[1],
        item=coded("item", np.asarray(item)[both])[1],
        method=method_codes,
        methods=methods,
        pre=before[both],
        post=after[both],
        dropped=int((~both).sum()),
    )


def check_lengths(**columns: ArrayLike) -> int:
    """The common length of the columns; refuses columns of different lengths, and no answers at all."""
    lengths = {name: len(np.asarray(values).reshape(-1)) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise VeraxError(f"The columns differ in length ({each}): give one entry per answer in each.")
    length = next(iter(lengths.values()))
    if length == 0:
        raise VeraxError("There are no answers: give at least one.")
    return length


def coded(name: str, values: ArrayLike) -> tuple[tuple[Hashable, ...], IndexArray]:
    """The distinct names, sorted, and each entry's place among them."""
    column = np.asarray(values)
    missing = np.array([value is None or _is_nan(value) for value in column.tolist()], dtype=bool)
    if missing.any():
        raise VeraxError(
            f"Column {name}, entry {np.flatnonzero(missing)[0] + 1} of {len(column)} is missing "
            f"({missing.sum()} such in all): name it, or leave that answer out."
        )
    try:
        names, codes = np.unique(column, return_inverse=True)
    except TypeError:
        raise VeraxError(f"Column {name} mixes text and numbers: use one kind of name.") from None
    return tuple(names.tolist()), codes.reshape(-1)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def joint(*codes: IndexArray) -> IndexArray:
    """One code per distinct combination of several columns of codes."""
    combined = codes[0]
    for more in codes[1:]:
        combined = np.unique(combined * (more.max() + 1) + more, return_inverse=True)[1].reshape(-1)
    return combined


@dataclass(frozen=True)
class Repeat:
    """An entry that occurs again: where it first does, how often, and how many such entries there are."""

    at: int
    times: int
    such: int


def first_repeat(codes: IndexArray) -> Repeat | None:
    """The first entry that occurs more than once; None where all differ."""
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    again = counts > 1
    if not again.any():
        return None
    earliest = int(first[again].argmin())
    return Repeat(int(first[again][earliest]), int(counts[again][earliest]), int(again.sum()))


def indicator(codes: IndexArray, count: int) -> FloatArray:
    """A column per code (0 to count - 1) with a 1 where an entry has it."""
    return np.equal.outer(codes, np.arange(count)).astype(np.float64)


def chosen_pairs(
    pairs: Sequence[tuple[Hashable, Hashable]] | None, names: Sequence[Hashable], kind: str
) -> list[tuple[Hashable, Hashable]]:
    """The pairs asked for, None being all pairs of the names; refuses a name that is not among them."""
    chosen = list(combinations(names, 2)) if pairs is None else list(pairs)
    for name in (name for pair in chosen for name in pair):
        if name not in names:
            raise VeraxError(f"There is no {kind} {name}: it must be one of {', '.join(map(str, names))}.")
    return chosen


def zero_or_one(name: str, values: ArrayLike) -> FloatArray:
    """The column as 0, 1 or NaN (missing); refuses anything else."""
    column = numbers(name, values)
    wrong = np.flatnonzero(~(np.isnan(column) | (column == 0) | (column == 1)))
    if len(wrong):
        raise VeraxError(
            f"Column {name}, entry {wrong[0] + 1} of {len(column)} is {column[wrong[0]]:g} ({len(wrong)} such in all): "
            "give 1 for right, 0 for wrong, NaN for no answer."
        )
    return column


def numbers(name: str, values: ArrayLike) -> FloatArray:
    """The column as numbers, NaN where missing; refuses text and infinities."""
    try:
        column = np.asarray(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise VeraxError(f"Column {name} holds something that is not a number: give numbers only.") from None
    wrong = np.flatnonzero(np.isinf(column))
    if len(wrong):
        raise VeraxError(
            f"Column {name}, entry {wrong[0] + 1} of {len(column)} is infinite: give finite numbers."
        )
    return column


def check_replicates(replicates: int) -> int:
    """The number of resampled data sets, refused where there would be none."""
    if replicates < 1:
        raise VeraxError(f"The number of replicates is {replicates}: give at least 1, such as 10000.")
    return replicates


@dataclass(frozen=True, eq=False)
class Responses:
    """One row per participant and item; names are sorted, and rows hold places among them.

    Attributes:
        participant: Who responded.
        item: To what; an item is looked for inside its stratum only.
        method: The method whose explanations the participant saw.
        stratum: The part of the study.
        pre: The score before explanations (0 or 1, or any number); None where each item was scored once only.
        post: The score after explanations, or the only one; NaN is missing, here and in ``pre``.
        participants: Names of the participants.
        items: Names of the items.
        methods: Names of the methods.
        strata: Names of the strata.
    """

    participant: IndexArray
    item: IndexArray
    method: IndexArray
    stratum: IndexArray
    pre: FloatArray | None
    post: FloatArray
    participants: tuple[Hashable, ...]
    items: tuple[Hashable, ...]
    methods: tuple[Hashable, ...]
    strata: tuple[Hashable, ...]

    @property
    def value(self) -> FloatArray:
        """Post - Pre of each row, or the only score; NaN where one is missing."""
        return self.post if self.pre is None else self.post - self.pre

    @property
    def missing(self) -> int:
        """Rows without a value."""
        return int(np.isnan(self.value).sum())

    @property
    def method_of(self) -> IndexArray:
        """The method of each participant."""
        methods = np.zeros(len(self.participants), dtype=np.intp)
        methods[self.participant] = self.method
        return methods


def responses(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    post: ArrayLike,
    pre: ArrayLike | None = None,
    stratum: ArrayLike | None = None,
) -> Responses:
    """Checks and numbers the columns of a study.

    Args:
        participant: Name per row; a participant has one method.
        item: Name per row; a participant meets an item once in a stratum.
        method: Name per row.
        post: Score per row, NaN or None where there is none; 1 is right and 0 is wrong, other numbers are allowed.
        pre: Score per row before explanations; None where items were scored once only.
        stratum: Name per row; None is one stratum.
    """
    columns = {"participant": participant, "item": item, "method": method, "post": post}
    optional = {"pre": pre, "stratum": stratum}
    length = check_lengths(
        **columns, **{name: given for name, given in optional.items() if given is not None}
    )
    participants, participant_codes = coded("participant", participant)
    items, item_codes = coded("item", item)
    methods, method_codes = coded("method", method)
    strata, stratum_codes = coded("stratum", np.zeros(length, dtype=int) if stratum is None else stratum)
    checked = Responses(
        participant_codes,
        item_codes,
        method_codes,
        stratum_codes,
        None if pre is None else numbers("pre", pre),
        numbers("post", post),
        participants,
        items,
        methods,
        strata,
    )
    _check_one_method(checked)
    _check_no_repeats(checked)
    return checked


def _check_one_method(rows: Responses) -> None:
    """Refuses participants who are in two methods: comparing methods within people is another analysis."""
    seen = np.zeros((len(rows.participants), len(rows.methods)), dtype=bool)
    seen[rows.participant, rows.method] = True
    torn = np.flatnonzero(seen.sum(axis=1) > 1)
    if len(torn):
        names = ", ".join(str(rows.methods[m]) for m in np.flatnonzero(seen[torn[0]]))
        raise VeraxError(
            f"Participant {rows.participants[torn[0]]} is in several methods ({names}; {len(torn)} such in all): "
            "this analysis needs participants with one method each; compare methods within participants instead."
        )


def _check_no_repeats(rows: Responses) -> None:
    """Refuses two rows of one participant, item and stratum."""
    place = (rows.participant * len(rows.items) + rows.item) * len(rows.strata) + rows.stratum
    repeat = first_repeat(place)
    if repeat is not None:
        participant, item = rows.participant[repeat.at], rows.item[repeat.at]
        raise VeraxError(
            f"Participant {rows.participants[participant]} has item {rows.items[item]} "
            f"{repeat.times} times ({repeat.such} such pairs in all): give one row for each."
        )
