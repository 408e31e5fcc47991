"""Which row of the design an arriving participant takes, and which order of answers: those with the fewest people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from verax.seeds import stream
from verax.studies.model.design_row import DesignRow


@dataclass
class Places:
    """The places that are taken, by people who completed a row of the design or are at it and still hold their place.

    Attributes:
        rows: how many by the number of the row.
        orders: how many by the row and the order in which answers stand.
        at_door: people who hold a place, but are not given a row yet.
    """

    rows: Counter[int] = field(default_factory=Counter)
    orders: Counter[tuple[int, int]] = field(default_factory=Counter)
    at_door: int = 0

    def add(self, row: int | None, order: int | None, people: int = 1) -> None:
        """Counts people more; who came before there were orders has none."""
        if row is None:
            self.at_door += people
            return
        self.rows[row] += people
        if order is not None:
            self.orders[row, order] += people


def offered_again(row: DesignRow, excluded: int, share: float) -> int:
    """How many places of a row are offered again of so many excluded people: all, up to this share of its places."""
    return min(excluded, ceil(share * row.target - 1e-9))


def has_room(rows: Sequence[DesignRow], taken: Places) -> bool:
    """Whether a place is left for one more, once all who are at the door have theirs."""
    return sum(max(0, row.target - taken.rows[row.number]) for row in rows) > taken.at_door


def choose_row(
    rows: Sequence[DesignRow], taken: Mapping[int, int], seed: int, arrival: int
) -> DesignRow | None:
    """The row for the next participant, or None if every row has as many people as it shall have.

    Rows are compared by the places taken, whatever their targets, so that arrivals in sequence leave the rows that
    still have room at most one apart.

    Args:
        rows: the design.
        taken: by row number: participants who completed it, or are at it and still hold their place.
        seed: the study's; ties are broken by it and by the arrival.
        arrival: the number of this participant, from 1.
    """
    free = [row for row in rows if taken.get(row.number, 0) < row.target]
    if not free:
        return None
    fewest = min(taken.get(row.number, 0) for row in free)
    least = [row for row in free if taken.get(row.number, 0) == fewest]
    return least[int(stream(seed, "allocation", arrival).integers(len(least)))]


def choose_order(orders: int, row: DesignRow, taken: Places, seed: int, arrival: int) -> int | None:
    """The order of answers for the next participant of a row: the rarest in the row, and of these the rarest in all.

    Arrivals in sequence leave the orders of each row at most one apart.

    Args:
        orders: how many there are; with one, nobody is given any.
        row: of the participant.
        taken: the places that are taken, this one not.
        seed: the study's; ties are broken by it and by the arrival.
        arrival: the number of this participant, from 1.
    """
    if orders == 1:
        return None
    in_all: Counter[int] = Counter()
    for (_, order), people in taken.orders.items():
        in_all[order] += people
    rarity = [(taken.orders[row.number, order], in_all[order]) for order in range(orders)]
    rarest = [order for order in range(orders) if rarity[order] == min(rarity)]
    return rarest[int(stream(seed, "answer order", arrival).integers(len(rarest)))]
