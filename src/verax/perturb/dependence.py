"""Columns that depend strongly on each other: with one taken away, rows arise that never occur."""

from __future__ import annotations

import numpy as np

from verax.arrays import FloatArray
from verax.models.base import Model

# Rank correlations, or shares of one column that another one tells, from here on are said.
STRONG = 0.9
# So many training rows are looked at, and so many pairs are named.
MOST_ROWS, MOST_NAMED = 2_000, 3


def dependent_columns(model: Model) -> list[tuple[str, str, float]]:
    """Pairs of features of a table with their rank correlation by magnitude, where that is strong; the strongest first.

    Columns in one group are one feature, and no pair. Categories are compared by whether one tells the other (Cramer's
    V); a number and a category by the share of the number's ranks that the category explains.
    """
    schema, reference = model.schema, getattr(model, "reference", None)
    if schema is None or reference is None or len(reference) < 10:
        return []
    rows = np.asarray(reference[:MOST_ROWS], dtype=np.float64)
    found: dict[tuple[str, str], float] = {}
    ranks = [_ranks(rows[:, place]) for place in range(rows.shape[1])]
    kinds = [column.is_numeric for column in schema.columns]
    for one in range(rows.shape[1]):
        for two in range(one):
            pair = schema.features[schema.feature_of[two]], schema.features[schema.feature_of[one]]
            if pair[0] == pair[1]:
                continue
            if kinds[one] and kinds[two]:
                strength = _correlation(ranks[one], ranks[two])
            elif not kinds[one] and not kinds[two]:
                strength = _cramer(rows[:, one], rows[:, two])
            else:
                number, category = (one, two) if kinds[one] else (two, one)
                strength = _explained(ranks[number], rows[:, category])
            if strength >= STRONG:
                found[pair] = max(strength, found.get(pair, 0.0))
    return [(*pair, strength) for pair, strength in sorted(found.items(), key=lambda item: -item[1])]


def dependence_notes(model: Model) -> list[str]:
    """A sentence on columns that depend strongly on each other; none where there are no such columns."""
    pairs = dependent_columns(model)
    if not pairs:
        return []
    named = "; ".join(f"{one} and {two} ({strength:.2f})" for one, two, strength in pairs[:MOST_NAMED])
    more = f"; and {len(pairs) - MOST_NAMED} more pairs" if len(pairs) > MOST_NAMED else ""
    return [
        f"Columns depend strongly on each other: {named}{more}. Where one is taken away and the other stays, rows "
        "arise that never occur, and credit is shared among them; groups= makes them one feature."
    ]


def _ranks(values: FloatArray) -> FloatArray:
    from scipy.stats import rankdata

    known = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    ranks[known] = rankdata(values[known])
    return ranks


def _correlation(one: FloatArray, two: FloatArray) -> float:
    both = ~np.isnan(one) & ~np.isnan(two)
    if both.sum() < 10:
        return 0.0
    a, b = one[both] - one[both].mean(), two[both] - two[both].mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return abs(float(a @ b)) / scale if scale > 0 else 0.0


def _explained(ranks: FloatArray, categories: FloatArray) -> float:
    """The correlation ratio: how much of the ranks' spread lies between categories."""
    known = ~np.isnan(ranks)
    codes = categories[known].astype(np.intp)
    counts = np.bincount(codes)
    if known.sum() < 10 or (counts > 0).sum() < 2 or (counts > 0).sum() > known.sum() / 5:
        return 0.0
    means = np.bincount(codes, weights=ranks[known]) / np.maximum(counts, 1)
    total = float(np.var(ranks[known]))
    return float(np.sqrt(np.var(means[codes]) / total)) if total > 0 else 0.0


def _cramer(one: FloatArray, two: FloatArray) -> float:
    _, a = np.unique(one, return_inverse=True)
    _, b = np.unique(two, return_inverse=True)
    size = min(a.max(), b.max())
    if size < 1 or (a.max() + 1) * (b.max() + 1) > len(one) / 2:
        return 0.0
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1.0)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / size))
