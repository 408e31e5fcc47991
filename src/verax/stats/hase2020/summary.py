"""What the script prints of a row of bootstrap replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray
from verax.stats.record import Record


@dataclass(frozen=True)
class Replicated(Record):
    """A bootstrap's summary in the script's form, "estimate ± half width (p)"; None where there is no replicate.

    Attributes:
        estimate: Mean of the replicates; not the value in the data.
        half_width: Half the distance between the quantiles, which hides any skew.
        low: 2.5% quantile.
        high: 97.5% quantile.
        p: Share of replicates further from their mean than 0 is. Without the usual + 1, so it can be 0.
        n_boots: Replicates used.
    """

    estimate: float | None
    half_width: float | None
    low: float | None
    high: float | None
    p: float | None
    n_boots: int


def summarised(replicates: FloatArray) -> Replicated:
    """Summary of the replicates that are not NaN."""
    values = replicates[~np.isnan(replicates)]
    if not len(values):
        return Replicated(None, None, None, None, None, 0)
    mean = float(values.mean())
    low, high = np.quantile(values, [0.025, 0.975]).tolist()
    centred = values - mean
    p = float((centred < -abs(mean)).mean() + (centred > abs(mean)).mean())
    return Replicated(mean, (high - low) / 2, low, high, p, len(values))
