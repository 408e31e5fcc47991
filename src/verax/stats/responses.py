"""Responses of participants to items, one row each, with their methods and strata: checked once, then used by all.

Every participant belongs to one method. A stratum is a part of the study with items of its own: a domain (other
participants) or a test (the same participants).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.columns import check_lengths, coded, first_repeat, numbers


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
