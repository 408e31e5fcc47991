"""Average ranks of methods over cells (a dataset with a model), and whether they differ at all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

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
        p: Friedman's test that all methods rank alike; None with less than two methods or cells.
    """

    ranks: Mapping[str, float | None]
    cells: int
    left_out: int
    p: float | None


def average_ranks(table: Mapping[str, Mapping[Cell, float]]) -> Ranking:
    """Ranks the methods in each cell (highest value is 1, ties share the mean rank) and averages over cells.

    Friedman's p takes cells as independent and is the chi-square approximation: rough below some ten cells, and too
    small where cells share their data. Read it beside the paired differences, not instead of them.

    Args:
        table: Per method one value per cell; higher is better.
    """
    check_table(table)
    cells = list(dict.fromkeys(cell for row in table.values() for cell in row))
    common = [cell for cell in cells if all(cell in row for row in table.values())]
    left_out = len(cells) - len(common)
    if not common:
        return Ranking(dict.fromkeys(table), 0, left_out, None)
    ranks = _ranks(np.array([[row[cell] for row in table.values()] for cell in common], dtype=np.float64))
    means = ranks.mean(axis=0).tolist()
    return Ranking(dict(zip(table, means, strict=True)), len(common), left_out, _friedman_p(ranks))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of a (cells, methods) array: (k + 1 + number better - number worse) / 2 of k methods."""
    rounding = ROUNDING * np.abs(values).max(axis=1)[:, None, None]
    ahead = values[:, None, :] - values[:, :, None]
    better, worse = (ahead > rounding).sum(axis=2), (ahead < -rounding).sum(axis=2)
    return np.asarray((values.shape[1] + 1 + better - worse) / 2, dtype=np.float64)


def _friedman_p(ranks: NDArray[np.float64]) -> float | None:
    """P(chi²(k - 1) >= (k - 1) · sum_j (sum_i c_ij)² / sum_ij c_ij²), c_ij = rank of j in cell i - (k + 1) / 2."""
    n_cells, k = ranks.shape
    if n_cells < 2 or k < 2:
        return None
    centred = ranks - (k + 1) / 2
    if not centred.any():
        return 1.0
    statistic = (k - 1) * (centred.sum(axis=0) ** 2).sum() / (centred**2).sum()
    return float(chdtrc(k - 1, statistic))
