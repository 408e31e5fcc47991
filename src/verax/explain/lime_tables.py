"""LIME on tables: rows drawn from the training data's bins, with one model call for all inputs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from verax.arrays import FloatArray
from verax.data.table import Bins
from verax.explain.base import Target
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import check_targets
from verax.models.base import Inputs, Model
from verax.perturb import solve
from verax.perturb.dispatch import fitted_state
from verax.perturb.masks import MAX_ROWS
from verax.perturb.paths.tables import encoded, reference_rows
from verax.seeds import stream

if TYPE_CHECKING:
    from verax.explain.lime import Lime

# A pool is kept for this many settings of each model.
POOLS_KEPT = 4


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows drawn without regard to the input, and the model's answers to them: they serve every input.

    Attributes:
        bins: the training data's bins.
        drawn: the bin or category of every drawn value, (columns, rows).
        answers: the model's probabilities for the drawn rows.
    """

    bins: Bins
    drawn: NDArray[np.int64]
    answers: FloatArray


_POOLS: WeakKeyDictionary[Model, dict[tuple[Any, ...], Pool]] = WeakKeyDictionary()


def explain_rows(
    lime: Lime, model: Any, inputs: Inputs, targets: Sequence[Target] | None
) -> list[Attribution]:
    """Explains each row, as the original does with quartile bins.

    A column's feature is "its value lies in the input's bin" (or "is the input's category").
    """
    started = time.perf_counter()
    wanted = check_targets(model, inputs, targets)
    rows = encoded(model, inputs)
    pool = _pool(lime, model)
    width = lime.kernel_width or 0.75 * float(np.sqrt(rows.shape[1]))
    own_bins = pool.bins.assign(rows)
    own_answers = model.predict_proba(rows)
    explanations = []
    for row, bins, answers, target in zip(rows, own_bins, own_answers, wanted, strict=True):
        chosen = int(np.argmax(answers)) if target is None else target
        fit = _fit(lime, pool, bins, np.append(answers[chosen], pool.answers[:, chosen]), width)
        explanations.append(
            Attribution(
                features=model.schema.names,
                scores=fit.coefficients,
                target=chosen,
                target_name=model.class_names[chosen],
                input=tuple(model.schema.describe(column, value) for column, value in enumerate(row)),
                details={
                    "bins": [pool.bins.names[column][place] for column, place in enumerate(bins)],
                    "intercept": fit.intercept,
                    "r2": fit.r2,
                    "path": "table, bins",
                },
                cost=Cost(lime.samples, 2, (time.perf_counter() - started) / len(rows)),
                explainer=repr(lime),
            )
        )
    return explanations


def _fit(lime: Lime, pool: Pool, bins: NDArray[np.int64], answers: FloatArray, width: float) -> solve.Fit:
    """The local regression for one row: the row itself first, then the pool, weighted by equal bins."""
    from verax.explain.lime import fit_selected

    same = np.ones((len(bins), len(answers)))
    same[:, 1:] = pool.drawn == bins[:, None]
    weights = table_kernel(len(bins) - same.sum(axis=0), width)
    normal = solve.normal_of_columns(same, weights)
    covariance, mean, spread = solve.moments(normal, same, weights, answers)
    return fit_selected(lime, normal, covariance, mean, spread)


def table_kernel(differing: FloatArray, width: float) -> FloatArray:
    """Exponential kernel on the Euclidean distance of rows that differ from the input in so many columns."""
    weights: FloatArray = np.sqrt(np.exp(-differing / width**2))
    return weights


def _pool(lime: Lime, model: Any) -> Pool:
    kept = _POOLS.setdefault(model, {})
    key = (lime.samples, lime.seed, fitted_state(model))
    if key not in kept:
        while len(kept) >= POOLS_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = draw_pool(model, lime.samples - 1, lime.seed)
    return kept[key]


def draw_pool(model: Any, count: int, seed: int) -> Pool:
    """Draws rows column by column from the bins' frequencies and asks the model about them."""
    reference = reference_rows(model)
    bins = Bins.learn(model.schema, reference)
    rng = stream(seed, "lime", "table", reference.shape[1], count)
    drawn = np.empty((reference.shape[1], count), dtype=np.int64)
    rows = np.empty((count, reference.shape[1]))
    for column in range(reference.shape[1]):
        drawn[column] = rng.choice(bins.values[column], count, p=bins.frequencies[column])
        numeric = model.schema.columns[column].is_numeric
        rows[:, column] = values_in_bins(bins, column, drawn[column], rng) if numeric else drawn[column]
    answers = [model.predict_proba(rows[first : first + MAX_ROWS]) for first in range(0, count, MAX_ROWS)]
    return Pool(bins, drawn, np.concatenate(answers))


def values_in_bins(bins: Bins, column: int, drawn: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
    """A number for each drawn bin: normal around the bin's mean, cut off at its edges; missing stays missing."""
    means, stds = bins.means[column][drawn], bins.stds[column][drawn]
    lows, highs = bins.mins[column][drawn], bins.maxs[column][drawn]
    low, high = (lows - means) / stds, (highs - means) / stds
    # Above the mean the upper tail is finer: mirror those bins, so that far tails keep their digits.
    mirrored = low > 0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    share = ndtr(low) + rng.random(len(drawn)) * (ndtr(high) - ndtr(low))
    offset = np.clip(ndtri(share), low, high) * np.where(mirrored, -1.0, 1.0)
    inside: FloatArray = np.clip(means + stds * offset, lows, highs)
    return inside
