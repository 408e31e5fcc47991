"""Which row of the design an arriving participant takes: the one with the fewest people in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verax.seeds import stream
from verax.studies.model.design_row import DesignRow


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
