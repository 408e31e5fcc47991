"""How well the items of a scale go together: Cronbach's alpha and McDonald's omega, over people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f as f_distribution

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.seeds import stream
from verax.stats.estimate import check_level

DRAWS = 1000
SWEEPS, TOLERANCE = 2000, 1e-9
FEWEST_ITEMS = 3  # that determine one factor
FEWEST_PEOPLE = 10  # of whom people can be drawn again


@dataclass(frozen=True)
class Reliability:
    """A coefficient with its interval; None where there is nothing to compute it from.

    Attributes:
        estimate: at most 1.
        low, high: of the interval.
        people: that answered all items.
        items: how many there are.
    """

    estimate: float | None
    low: float | None
    high: float | None
    people: int
    items: int


def cronbach_alpha(answers: ArrayLike, level: float = 0.95) -> Reliability:
    """Cronbach's (1951) alpha with Feldt's (1965) interval, which is exact for normal, equally correlated items.

    Args:
        answers: one row for each person, one column for each item, all in one direction.
        level: of the interval.
    """
    table = _table(answers)
    check_level(level)
    people, items = table.shape
    if people < 2 or items < 2 or table.sum(axis=1).var(ddof=1) == 0:
        return Reliability(None, None, None, people, items)
    of_items = table.var(axis=0, ddof=1).sum()
    alpha = items / (items - 1) * (1 - of_items / table.sum(axis=1).var(ddof=1))
    if people < 3:
        return Reliability(float(alpha), None, None, people, items)
    lower, upper = f_distribution.ppf(
        [(1 + level) / 2, (1 - level) / 2], people - 1, (people - 1) * (items - 1)
    )
    return Reliability(
        float(alpha),
        float(1 - (1 - alpha) * lower),
        float(min(1.0, 1 - (1 - alpha) * upper)),
        people,
        items,
    )


def mcdonald_omega(answers: ArrayLike, level: float = 0.95, seed: int = 0) -> Reliability:
    """McDonald's (1999) omega of one factor: the share of the total's variance that the factor makes.

    The factor's loadings are those of least squares over all correlations (minimum residuals). The interval is the
    percentile interval over people drawn again; there is none for fewer than ten of them.

    Args:
        answers: one row for each person, one column for each item, all in one direction.
        level: of the interval.
        seed: of the draws.
    """
    table = _table(answers)
    check_level(level)
    people, items = table.shape
    if people < 3 or items < FEWEST_ITEMS or (table.var(axis=0) == 0).any():
        return Reliability(None, None, None, people, items)
    omega = float(_omegas(_covariances(table[np.newaxis]))[0])
    if people < FEWEST_PEOPLE:
        return Reliability(omega, None, None, people, items)
    drawn = stream(seed, "omega", people, items).integers(people, size=(DRAWS, people))
    covariances = _covariances(table[drawn])
    spread = np.diagonal(covariances, axis1=1, axis2=2)
    some = _omegas(covariances[(spread > 0).all(axis=1)])
    low, high = np.quantile(some, [(1 - level) / 2, (1 + level) / 2])
    return Reliability(omega, float(low), float(high), people, items)


def _table(answers: ArrayLike) -> FloatArray:
    table = np.asarray(answers, dtype=float)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise VeraxError(
            "A scale needs a number for each person and item: leave out people with a missing one."
        )
    return table


def _covariances(tables: FloatArray) -> FloatArray:
    """By table, the covariances of its columns."""
    centred = tables - tables.mean(axis=1, keepdims=True)
    return np.asarray(np.einsum("bpi,bpj->bij", centred, centred) / (tables.shape[1] - 1))


def _omegas(covariances: FloatArray) -> FloatArray:
    """By covariance matrix: the total variance that one factor makes, of what factor and rests make together."""
    sd = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    correlations = covariances / (sd[:, :, np.newaxis] * sd[:, np.newaxis, :])
    loadings = _loadings(correlations)
    common = (loadings * sd).sum(axis=1) ** 2
    rest = ((1 - loadings**2) * sd**2).sum(axis=1)
    return np.asarray(common / (common + rest))


def _loadings(correlations: FloatArray) -> FloatArray:
    """The loadings of one factor that leave the smallest squared residuals off the diagonal, one item after the other.

    Each step has a closed form, since all but one loading are held.
    """
    values, vectors = np.linalg.eigh(correlations)
    loadings = np.clip(vectors[:, :, -1] * np.sqrt(values[:, -1:]), -1, 1)
    items = loadings.shape[1]
    for _ in range(SWEEPS):
        before = loadings.copy()
        for item in range(items):
            others = np.arange(items) != item
            rest = loadings[:, others]
            explained = (correlations[:, item, others] * rest).sum(axis=1)
            size = (rest**2).sum(axis=1)
            loadings[:, item] = np.clip(
                np.divide(explained, size, out=np.zeros_like(size), where=size > 0), -1, 1
            )
        if np.abs(loadings - before).max() < TOLERANCE:
            break
    return np.asarray(loadings)
