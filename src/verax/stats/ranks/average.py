"""Average ranks of methods over cells (a dataset with a model): a description, no test."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from verax.stats.checks import ROUNDING, check_table
from verax.stats.record import Record

Cell = TypeVar("Cell", bound=Hashable)


@dataclass(frozen=True)
class Ranking(Record):
    """Mean ranks over the cells that all methods have.

    Attributes:
        ranks: Mean rank by name, in the order given; 1 is best. None where there is no common cell.
        cells: Cells that all methods have.
        left_out: Cells that some method lacks.
    """

    ranks: Mapping[str, float | None]
    cells: int
    left_out: int


def average_ranks(table: Mapping[str, Mapping[Cell, float]]) -> Ranking:
    """Ranks the methods in each cell (highest value is 1, ties share the mean rank) and averages over cells.

    There is no p of all ranks: Friedman's test takes cells as independent, and the models of one dataset share their
    stains. Whether two methods differ is what `joint_differences` tests.

    Args:
        table: Per method one value per cell; higher is better.
    """
    check_table(table)
    cells = list(dict.fromkeys(cell for row in table.values() for cell in row))
    common = [cell for cell in cells if all(cell in row for row in table.values())]
    left_out = len(cells) - len(common)
    if not common:
        return Ranking(dict.fromkeys(table), 0, left_out)
    ranks = _ranks(np.array([[row[cell] for row in table.values()] for cell in common], dtype=np.float64))
    means = ranks.mean(axis=0).tolist()
    return Ranking(dict(zip(table, means, strict=True)), len(common), left_out)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of a (cells, methods) array: (k + 1 + number better - number worse) / 2 of k methods."""
    rounding = ROUNDING * np.abs(values).max(axis=1)[:, None, None]
    ahead = values[:, None, :] - values[:, :, None]
    better, worse = (ahead > rounding).sum(axis=2), (ahead < -rounding).sum(axis=2)
    return np.asarray((values.shape[1] + 1 + better - worse) / 2, dtype=np.float64)
