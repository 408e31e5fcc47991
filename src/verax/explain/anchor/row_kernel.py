"""The loop that finds equal rows among samples under rules; compiled, and imported inside functions only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, IndexArray
from verax.perturb.paths.kernels import Words, compiled


@compiled
def number_rows(
    rows: IndexArray,
    fixed: IndexArray,
    samples: IndexArray,
    stays: BoolArray,
    factors: Words,
    keys: Words,
    numbers: NDArray[np.int32],
    n_known: int,
    found: IndexArray,
    new: IndexArray,
) -> int:
    """Gives every sample under its rule the number of its row; returns how many rows are new.

    Args:
        rows: (samples, columns) of a pool, and
        fixed: the same where columns are those of a rule.
        samples: which of them are asked for.
        stays: (asked, columns): which columns are of the rule.
        factors: one for each column; their products with a row's values add up to the row's key.
        keys: an open table of keys, 0 where nothing is; its length is a power of two, and larger than what comes in.
        numbers: what belongs to the keys.
        n_known: how many rows are in the table.
        found: where the number of each asked row goes.
        new: where the places of those go that were not in the table.
    """
    last = len(keys) - 1
    n_new = 0
    for place in range(len(samples)):
        sample = samples[place]
        key = np.uint64(0)
        for column in range(len(factors)):
            value = fixed[sample, column] if stays[place, column] else rows[sample, column]
            key += factors[column] * np.uint64(value + 1)
        slot = np.int64(key >> np.uint64(32)) & last
        while keys[slot] != key and keys[slot] != 0:
            slot = (slot + 1) & last
        if keys[slot] != key:
            keys[slot] = key
            numbers[slot] = n_known + n_new
            new[n_new] = place
            n_new += 1
        found[place] = numbers[slot]
    return n_new
