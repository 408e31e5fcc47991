"""LIME on tables: rows drawn from the training data's bins, with one model call for all inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import ndtr, ndtri

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.data.bins import Bins
from verax.explain.explanation import Attribution, Cost
from verax.explain.perturbed import Scored, Targets, attribution
from verax.models.base import Inputs, Model
from verax.models.tables import encode_rows
from verax.perturb import solve
from verax.perturb.dispatch import fitted_state, path_for
from verax.perturb.masks import MAX_ROWS
from verax.perturb.paths.tables import TablePath, reference_rows, schema_of
from verax.seeds import stream

# A pool is kept for this many settings of each model.
POOLS_KEPT = 4


@dataclass(frozen=True)
class Sampling:
    """LIME's parameters on what is drawn and how it is weighed; see :class:`verax.explain.Lime`."""

    samples: int
    seed: int
    kernel_width: float | None


# From a regression's sums to its coefficients.
Fitting = Callable[[solve.Normal, solve.Moments], solve.Fit]


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows drawn without regard to the input, and the model's answers to them: they serve every input.

    Attributes:
        bins: the training data's bins.
        drawn: the bin or category of every drawn value, (columns, rows).
        answers: the model's probabilities for the drawn rows.
    """

    bins: Bins
    drawn: IntArray
    answers: FloatArray


_POOLS: WeakKeyDictionary[Model, dict[Hashable, Pool]] = WeakKeyDictionary()


def explain_rows(
    name: str,
    model: Model,
    inputs: Inputs,
    targets: Targets,
    sampling: Sampling,
    fit: Fitting,
) -> list[Attribution]:
    """Explains each row, as the original does with quartile bins.

    A column's feature is "its value lies in the input's bin" (or "is the input's category").

    Args:
        name: the explainer as code.
        model: a model of tables.
        inputs: its inputs.
        targets: the class to explain for each input; the predicted one where None.
        sampling: how many rows are drawn, and how they are weighed.
        fit: the local regression.
    """
    started = time.perf_counter()
    schema = schema_of(model)
    rows = encode_rows(inputs, schema)
    pool = _pool(sampling, model)
    width = sampling.kernel_width or 0.75 * float(np.sqrt(len(schema.features)))
    own_bins = pool.bins.assign(rows)
    own_answers = model.predict_proba(rows)
    explanations = []
    for row, bins, answers, target in zip(rows, own_bins, own_answers, targets, strict=True):
        chosen = int(np.argmax(answers)) if target is None else target
        own = np.append(answers[chosen], pool.answers[:, chosen])
        local = fit(*local_sums(pool, bins, own, width, schema.feature_of))
        details = {
            "bins": [pool.bins.names[column][place] for column, place in enumerate(bins)],
            "intercept": local.intercept,
            "r2": local.r2,
            "path": "table, bins",
        }
        scored = Scored(local.coefficients, details)
        cost = Cost(sampling.samples, 2, (time.perf_counter() - started) / len(rows))
        explanations.append(attribution(name, model, row, schema.features, chosen, scored, cost))
    return explanations


def local_sums(
    pool: Pool, bins: IntArray, answers: FloatArray, width: float, feature_of: IndexArray
) -> tuple[solve.Normal, solve.Moments]:
    """What the local regression of one row needs: the row itself first, then the pool, weighted by equal bins.

    Columns that are one feature together are the same if all of them are.
    """
    same = np.ones((int(feature_of.max(initial=-1)) + 1, len(answers)))
    if len(same) == len(bins):
        same[:, 1:] = pool.drawn == bins[:, None]
    else:
        np.minimum.at(same[:, 1:], feature_of, (pool.drawn == bins[:, None]).astype(np.float64))
    weights = table_kernel(len(same) - same.sum(axis=0), width)
    normal = solve.normal_of_columns(same, weights)
    return normal, solve.moments(normal, same, weights, answers)


def table_kernel(differing: FloatArray, width: float) -> FloatArray:
    """Exponential kernel on the Euclidean distance of rows that differ from the input in so many columns."""
    weights: FloatArray = np.sqrt(np.exp(-differing / width**2))
    return weights


def _pool(sampling: Sampling, model: Model) -> Pool:
    kept = _POOLS.setdefault(model, {})
    key = (sampling.samples, sampling.seed, fitted_state(model))
    if key not in kept:
        while len(kept) >= POOLS_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = draw_pool(model, sampling.samples - 1, sampling.seed)
    return kept[key]


def draw_pool(model: Model, count: int, seed: int) -> Pool:
    """Draws rows column by column from the bins' frequencies and asks the model about them."""
    reference, schema = reference_rows(model), schema_of(model)
    bins = Bins.learn(schema, reference)
    rng = stream(seed, "lime", "table", reference.shape[1], count)
    drawn = np.empty((reference.shape[1], count), dtype=np.int64)
    rows = np.empty((count, reference.shape[1]))
    places = bins.assign(reference)
    for column, known in enumerate(schema.columns):
        drawn[column] = rng.choice(bins.values[column], count, p=bins.frequencies[column])
        if not known.is_numeric:
            rows[:, column] = drawn[column]
            continue
        rows[:, column] = values_in_bins(bins, column, drawn[column], rng)
        if getattr(model, "frames", False) and known.original is not None and not known.original.continuous:
            rows[:, column] = nearest_seen(
                rows[:, column], drawn[column], reference[:, column], places[:, column]
            )
    path = path_for(model)
    predict = path.predict if isinstance(path, TablePath) else model.predict_proba
    answers = [predict(rows[first : first + MAX_ROWS]) for first in range(0, count, MAX_ROWS)]
    return Pool(bins, drawn, np.concatenate(answers))


def values_in_bins(bins: Bins, column: int, drawn: IntArray, rng: np.random.Generator) -> FloatArray:
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


def nearest_seen(values: FloatArray, drawn: IntArray, reference: FloatArray, places: IntArray) -> FloatArray:
    """The training value of the same bin that is nearest to each: no model of whole numbers is asked about halves.

    Args:
        values: drawn numbers.
        drawn: their bins.
        reference: the column's training values.
        places: their bins.
    """
    nearest = values.copy()
    for place in np.unique(drawn):
        seen, asked = np.unique(reference[places == place]), drawn == place
        above = np.clip(np.searchsorted(seen, values[asked]), 0, len(seen) - 1)
        below = np.maximum(above - 1, 0)
        closer = np.abs(seen[below] - values[asked]) <= np.abs(seen[above] - values[asked])
        nearest[asked] = np.where(closer, seen[below], seen[above])
    return nearest
