"""Three claims about crossed scores, for many studies at once: a method's mean, a difference, the mean over methods.

Each is a weighted sum of cell means (a cell: the participants of one method in one block) with the variance
V = A + B. A comes from participants, A = sum of weight² · s² / n, where s² is each cell's own variance (Welch) unless
one pooled over all cells is asked for; B from items, as in `verax.stats.crossed.components`. Degrees of freedom are
Satterthwaite's: V² / (A² / df_A + the same for B), at least 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.crossed.components import Components, ItemPart
from verax.stats.effect import Effect, effect
from verax.stats.thresholds import FEWEST_SPREAD

Items = Literal["random", "fixed"]
Variance = Literal["own", "pooled"]


@dataclass(frozen=True, eq=False)
class Claims:
    """One claim in each study of a batch.

    Attributes:
        estimate: The plug-in estimate.
        variance: Its variance; NaN where none can be estimated.
        df: Degrees of freedom of that variance.
        people: The part of the variance that comes from participants; the rest comes from items.
    """

    estimate: FloatArray
    variance: FloatArray
    df: FloatArray
    people: FloatArray

    @property
    def se(self) -> FloatArray:
        """Standard error; NaN where there is none: a compared method has less than three participants.

        Also where all participants score the same: what items add would then pretend to be all the uncertainty.
        """
        return np.sqrt(np.where((self.variance > 0) & (self.people > 0), self.variance, np.nan))

    @property
    def p(self) -> FloatArray:
        """Two-sided p of "the true value is 0"; NaN where there is none."""
        return np.asarray(2 * stdtr(self.df, -np.abs(self.estimate / self.se)), dtype=np.float64)

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends; NaN where there are none."""
        margin = stdtrit(self.df, (1 + level) / 2) * self.se
        return self.estimate - margin, self.estimate + margin

    def effect(self, name: str, level: float = 0.95) -> Effect:
        """The claim of the first study, which is the only one where a study is analysed and not simulated."""
        return effect(name, self.estimate[0], self.se[0], self.df[0], level)


def change(parts: Components, method: int, items: Items = "random", variance: Variance = "own") -> Claims:
    """The mean score of one method; over the blocks where it has participants."""
    weights = np.zeros(parts.count.shape[1:])
    weights[:, method] = block_weights(parts, [method])
    return _claims(parts, weights, _change_items, items, variance)


def contrast(
    parts: Components, first: int, second: int, items: Items = "random", variance: Variance = "own"
) -> Claims:
    """How much higher the first method's mean is; over the blocks where both have participants.

    What common items add to both cancels; the part by which items suit one method better does not.
    """
    weights = np.zeros(parts.count.shape[1:])
    weights[:, first] = block_weights(parts, [first, second])
    weights[:, second] = -weights[:, first]
    return _claims(parts, weights, _contrast_items, items, variance)


def overall(parts: Components, items: Items = "random", variance: Variance = "own") -> Claims:
    """The mean over the methods that have participants; over the blocks where all of them have some."""
    methods = np.flatnonzero((parts.count > 0).any(axis=(0, 1))).tolist()
    weights = np.zeros(parts.count.shape[1:])
    weights[:, methods] = block_weights(parts, methods)[:, None] / len(methods)
    return _claims(parts, weights, _overall_items, items, variance)


def block_weights(parts: Components, methods: list[int]) -> FloatArray:
    """Each block's weight: by its number of strata, over the blocks where all these methods have participants."""
    there = np.all((parts.count[:, :, methods] > 0).any(axis=0), axis=1)
    if not there.any():
        raise VeraxError("No block holds participants of all the methods asked for: nothing can be compared.")
    weights = np.where(there, parts.block_weight, 0.0)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _claims(
    parts: Components,
    weights: FloatArray,
    item_part: Callable[[ItemPart, FloatArray], tuple[FloatArray, FloatArray]],
    items: Items,
    variance: Variance,
) -> Claims:
    """The weighted sum of cell means with its variance.

    ``item_part`` gives what a stratum's items add: their variance, and variance² / df.
    """
    used = weights != 0
    estimate = (np.where(used, parts.mean, 0.0) * weights).sum(axis=(1, 2))
    per_person = np.where(used, weights**2 / np.maximum(parts.count, 1), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        if variance == "pooled":
            people = parts.pooled * per_person.sum(axis=(1, 2))
            spread = people**2 / parts.pooled_df
        else:
            own = np.where(used, per_person * parts.variance, 0.0)
            few = (
                np.where(used.any(axis=0), (parts.count * used).sum(axis=1), np.inf).min(axis=1)
                < FEWEST_SPREAD
            )
            people = np.where(few, np.nan, own.sum(axis=(1, 2)))
            spread = np.where(used, own**2 / (parts.count - 1), 0.0).sum(axis=(1, 2))
        total = people.copy()
        if items == "random":
            added = [item_part(part, weights[part.block]) for part in parts.parts]
            total += sum(more for more, _ in added)
            spread += sum(more for _, more in added)
        df = np.maximum(total**2 / spread, 1.0)
    return Claims(estimate, total, df, people)


def _item_spread(part: ItemPart, component: FloatArray, load: FloatArray, groups: int) -> FloatArray:
    """Variance of the estimated item component, halved: mean squares of items and of the rest, in so many groups.

    It is not cut where the component is cut at 0: a little conservative with few items, on purpose.
    """
    rest = np.maximum(part.total - component, 0.0) / np.maximum(load, 1e-9)
    between_items = max(groups * (part.items - 1), 1)
    spread = (component + rest) ** 2 / between_items + rest**2 / (between_items * np.maximum(load - 1, 1.0))
    return np.asarray(spread, dtype=np.float64)


def _change_items(part: ItemPart, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Items in one method's mean: weight² · overlap · within."""
    factor = part.overlap.diagonal(axis1=1, axis2=2) @ weights**2
    component = np.maximum(part.within, 0.0)
    return factor * component, factor**2 * _item_spread(part, component, part.load, part.methods)


def _contrast_items(part: ItemPart, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Items in a difference: those that only one of the two met, and how much items suit one method better."""
    each = part.overlap.diagonal(axis1=1, axis2=2) @ weights**2
    apart = np.maximum(np.einsum("sab,a,b->s", part.overlap, weights, weights), 0.0)
    added = apart * np.maximum(part.between, 0.0) + each * np.maximum(part.within - part.between, 0.0)
    return added, added**2 / max(part.methods * (part.items - 1), 1)


def _overall_items(part: ItemPart, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Items in the mean over methods: they move all methods together, so all pairs tell of them."""
    factor = np.maximum(np.einsum("sab,a,b->s", part.overlap, weights, weights), 0.0)
    component = np.maximum(part.overall, 0.0)
    return factor * component, factor**2 * _item_spread(part, component, part.load * part.methods, 1)
