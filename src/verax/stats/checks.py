"""What the input of an estimate must be: finite numbers, or one sentence that says which is not."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verax.errors import VeraxError

Key = TypeVar("Key", bound=Hashable)

# Two values whose difference is less than this part of their size are equal: the same mean, summed in another order.
ROUNDING = 1e-13


def finite_vector(values: ArrayLike) -> NDArray[np.float64]:
    """The values as a flat array; refuses what is not a list of finite numbers."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise VeraxError("The values are not all numbers: give one number per unit.") from None
    if vector.ndim != 1:
        raise VeraxError(
            f"The values have {vector.ndim} dimensions: give a flat list with one number per unit."
        )
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad):
        raise VeraxError(
            f"Value {bad[0] + 1} of {len(vector)} is {vector[bad[0]]} ({len(bad)} such in all): "
            "give finite numbers only, and count what you leave out."
        )
    return vector


def check_table(table: Mapping[str, Mapping[Key, float]]) -> None:
    """Refuses a table (name, then unit or cell, then value) that holds anything but finite numbers."""
    for name, row in table.items():
        for key, value in row.items():
            if not _is_finite(value):
                raise VeraxError(
                    f"The value of {name!r} for {key!r} is {value!r}: give a finite number, or leave that entry out."
                )


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False
