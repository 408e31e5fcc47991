"""Ratios in which a denominator may be 0."""

from __future__ import annotations

import numpy as np

from verax.arrays import BoolArray, FloatArray

# Differences below this are none, as in captum.
NONE = 1e-10


def stable(sums: FloatArray, epsilon: float) -> FloatArray:
    """Sums to divide by: moved away from 0 by epsilon; where they would still be 0, infinite, so that ratios are 0."""
    moved = sums + np.where(sums >= 0.0, epsilon, -epsilon)
    return np.where(moved == 0.0, np.inf, moved)


def rate(after: FloatArray, before: FloatArray, slope: FloatArray | BoolArray) -> FloatArray:
    """How fast rectified numbers change between two points; at equal points their slope."""
    difference = after - before
    change = np.maximum(after, 0.0) - np.maximum(before, 0.0)
    still = np.abs(difference) < NONE
    return np.where(still, slope, change / np.where(still, 1.0, difference))
