"""Which inputs become items: the one door through which protocols choose.

Candidates are found and narrowed down, some are drawn in balance, and what was drawn becomes items. The numbers that a
draw returns are places in the arrays of the `Candidates` that it drew from.
"""

from __future__ import annotations

from verax.studies.display.table_rows import readable_row
from verax.studies.items.candidates import (
    Candidates,
    agreed,
    candidates,
    confident,
    unconfident,
    where,
    without,
    wrong,
)
from verax.studies.items.draws import balanced, halves, spread
from verax.studies.items.variants import balanced_variants, schema_of, with_variants
from verax.studies.model.item import Item, Variant
from verax.studies.model.sources import Source

__all__ = [
    "Candidates",
    "agreed",
    "balanced",
    "balanced_variants",
    "candidates",
    "confident",
    "halves",
    "spread",
    "to_item",
    "unconfident",
    "where",
    "with_variants",
    "without",
    "wrong",
]


def to_item(
    source: Source,
    pool: Candidates,
    number: int,
    id: str,
    role: str,
    group: int = 0,
    variant: Variant | None = None,
) -> Item:
    """The candidate with this number as an item."""
    place = int(pool.places[number])
    given = source.dataset.parts[pool.part].inputs[place]
    worse = pool.worse_probabilities
    return Item(
        id=id,
        role=role,
        input=given if isinstance(given, str) else readable_row(schema_of(source), given),
        label=int(pool.labels[number]),
        prediction=int(pool.predictions[number]),
        probabilities=tuple(pool.probabilities[number].tolist()),
        dataset=source.dataset.name,
        part=pool.part,
        place=place,
        group=group,
        variant=variant,
        worse=None if worse is None else tuple(worse[number].tolist()),
    )
