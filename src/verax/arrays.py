"""The sorts of arrays that signatures name, and ranks: to import scipy.stats for these takes half a second."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]
# Places in another array.
IndexArray: TypeAlias = NDArray[np.intp]


def tied_ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1 along the last axis; equal values share the mean of theirs."""
    count = values.shape[-1]
    if count == 0:
        return np.zeros(values.shape)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    edge = np.ones((*values.shape[:-1], 1), dtype=bool)
    new = ordered[..., 1:] != ordered[..., :-1]
    places = np.arange(count)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, new], axis=-1), places, 0), axis=-1)
    ends = np.where(np.concatenate([new, edge], axis=-1), places, count)
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks
