"""Many tests at once: p-values corrected so that one false claim in the whole family stays rare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from verax.errors import VeraxError


def holm(p_values: Sequence[float | None] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's correction: the j-th smallest of m becomes max over i <= j of min(1, (m - i + 1) · p_i).

    Args:
        p_values: The p-values of one family. None and NaN are tests that could not be made: they stay NaN and do not
            count in m.
    """
    raw = np.array([np.nan if p is None else p for p in p_values], dtype=np.float64)
    made = np.flatnonzero(~np.isnan(raw))
    outside = made[(raw[made] < 0) | (raw[made] > 1)]
    if len(outside):
        raise VeraxError(
            f"P-value {outside[0] + 1} of {len(raw)} is {raw[outside[0]]}: give numbers from 0 to 1."
        )
    ascending = made[np.argsort(raw[made], kind="stable")]
    multipliers = np.arange(len(made), 0, -1)
    corrected = np.full(len(raw), np.nan)
    corrected[ascending] = np.maximum.accumulate(np.minimum(1.0, multipliers * raw[ascending]))
    return corrected
