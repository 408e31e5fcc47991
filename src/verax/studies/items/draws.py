"""Balanced draws from candidates; the numbers drawn are places in the arrays of the candidates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from verax.arrays import IntArray
from verax.errors import VeraxError
from verax.seeds import stream
from verax.studies.items.candidates import Candidates, CellOf


def balanced(pool: Candidates, count: int, seed: int, *about: str | int) -> list[int]:
    """Equal numbers over all cells (predicted class, right or wrong), in random order.

    For two classes the cells are the true and false positives and negatives.

    Args:
        pool: the candidates.
        count: how many; it must divide by the number of cells, 2 x classes.
        seed: of the draw.
        about: what the draw is for; draws with other words are independent of this one.
    """
    return _draw(pool.cells, equal_shares(pool, count), stream(seed, "balanced", *about))


def equal_shares(pool: Candidates, count: int, parts: int = 1) -> dict[CellOf, int]:
    """The same number for each cell; a sentence if the count does not divide, or a cell has too few.

    Args:
        pool: the candidates.
        count: of all cells together.
        parts: into how many equal parts each cell's number must divide.
    """
    cells = pool.cells
    unit = parts * len(cells)
    if count < 1 or count % unit:
        what = "predicted class x right or wrong" + (" x flips or not" if parts > 1 else "")
        raise VeraxError(
            f"{count} items cannot be balanced over {unit} cells ({what}); ask for a multiple of {unit}."
        )
    smallest = min(len(members) for members in cells.values())
    if smallest < count // len(cells):
        raise too_few(pool, count, smallest // parts * unit)
    return dict.fromkeys(cells, count // len(cells))


def halves(pool: Candidates, count: int, seed: int, *about: str | int) -> list[int]:
    """Equal numbers of right and wrong predictions, the predicted classes in each as even as they can be.

    The arguments are those of `balanced`; ``count`` must be even.
    """
    if count < 2 or count % 2:
        raise VeraxError(
            f"{count} items cannot be half right and half wrong predictions; ask for an even number."
        )
    generator = stream(seed, "halves", *about)
    cells = pool.cells
    shares: dict[CellOf, int] = {}
    for right in (True, False):
        half = {cell: members for cell, members in cells.items() if cell[1] == right}
        shares |= _even(half, count // 2, generator)
    smaller = min(int(pool.correct.sum()), int((~pool.correct).sum()))
    if sum(shares.values()) < count:
        raise too_few(pool, count, 2 * smaller)
    return _draw(cells, shares, generator)


def spread(pool: Candidates, count: int, seed: int, *about: str | int) -> list[int]:
    """Any number of candidates, as even over the cells (predicted class, right or wrong) as they can be.

    The arguments are those of `balanced`.
    """
    if count < 1:
        raise VeraxError(f"{count} items are none; ask for 1 or more.")
    generator = stream(seed, "spread", *about)
    shares = _even(pool.cells, count, generator)
    if sum(shares.values()) < count:
        raise too_few(pool, count, len(pool))
    return _draw(pool.cells, shares, generator)


def _even(cells: Mapping[CellOf, IntArray], count: int, generator: np.random.Generator) -> dict[CellOf, int]:
    """Shares of the cells that differ only where a cell is used up; who gets what cannot be divided is random."""
    shares = dict.fromkeys(cells, 0)
    order = [list(cells)[number] for number in generator.permutation(len(cells))]
    while sum(shares.values()) < count:
        open_cells = [cell for cell in order if shares[cell] < len(cells[cell])]
        if not open_cells:
            break
        for cell in open_cells[: count - sum(shares.values())]:
            shares[cell] += 1
    return shares


def _draw(
    cells: Mapping[CellOf, IntArray], shares: Mapping[CellOf, int], generator: np.random.Generator
) -> list[int]:
    """So many of each cell, all in random order."""
    drawn = [generator.permutation(cells[cell])[:share] for cell, share in shares.items()]
    return [int(number) for number in generator.permutation(np.concatenate(drawn))]


def too_few(pool: Candidates, count: int, possible: int) -> VeraxError:
    """The sentence on a draw that cannot be made."""
    advice = [f"ask for at most {possible} items"] if possible else []
    if pool.about.startswith("texts"):
        advice.append("widen display.fewest_words and display.most_words")
    return VeraxError(
        f"{count} balanced items cannot be drawn from the {len(pool):,} {pool.about} ({pool.sizes()}); "
        f"{', '.join([*advice, 'or use more data'])}."
    )
