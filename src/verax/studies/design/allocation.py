"""Which row of the design an arriving participant takes, and which order of answers: those with the fewest people.

Where studies are served together, the one that an arriving participant takes is found by the same rule over the rows
of all of them.
"""

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


def choose_study(
    designs: Sequence[Sequence[DesignRow]], taken: Sequence[Places], seed: int, arrival: int
) -> int | None:
    """The place in the list of the study for the next participant, or None if all places of all studies are taken.

    It is the study of the row that has the fewest people of all rows with room, once everybody at a door has taken the
    emptiest row there, as `choose_row` will give it to them. So studies have as many people as their rows need, and
    arrivals in sequence leave all rows of all studies that still have room at most one apart.

    Args:
        designs: the rows of each study.
        taken: the places taken in each.
        seed: ties are broken by it and by the arrival; a study with two of the emptiest rows is drawn twice as often as
            one with one.
        arrival: the number of this participant among those of all the studies, from 1.
    """
    room = [
        (people[row.number], place)
        for place, (rows, places) in enumerate(zip(designs, taken, strict=True))
        for people in [_once_placed(rows, places)]
        for row in rows
        if people[row.number] < row.target
    ]
    if not room:
        return None
    fewest = min(room)[0]
    least = [place for people, place in room if people == fewest]
    return least[int(stream(seed, "study", arrival).integers(len(least)))]


def _once_placed(rows: Sequence[DesignRow], taken: Places) -> Counter[int]:
    """How many people each row has when all who are at the door have a row."""
    people = Counter(taken.rows)
    for _ in range(taken.at_door):
        free = [row.number for row in rows if people[row.number] < row.target]
        if not free:
            break
        people[min(free, key=lambda number: people[number])] += 1
    return people


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
