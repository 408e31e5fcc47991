"""Derivatives of a function by central differences, where an analytic one would be longer than what it serves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verax.arrays import FloatArray


def gradient(function: Callable[[FloatArray], float], point: FloatArray, steps: FloatArray) -> FloatArray:
    """First derivatives, of fourth order in the steps: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h."""
    moves = np.diag(steps)
    near = np.array([function(point + move) - function(point - move) for move in moves])
    far = np.array([function(point + 2 * move) - function(point - 2 * move) for move in moves])
    return np.asarray((8 * near - far) / (12 * steps), dtype=np.float64)


def curvature(function: Callable[[FloatArray], float], point: FloatArray, steps: FloatArray) -> FloatArray:
    """Second derivatives, a symmetric matrix."""
    moves = np.diag(steps)
    centre = function(point)
    matrix = np.empty((len(point), len(point)))
    for i, move in enumerate(moves):
        matrix[i, i] = (function(point + move) - 2 * centre + function(point - move)) / steps[i] ** 2
        for j, other in enumerate(moves[:i]):
            corners = (
                function(point + move + other)
                - function(point + move - other)
                - function(point - move + other)
                + function(point - move - other)
            )
            matrix[i, j] = matrix[j, i] = corners / (4 * steps[i] * steps[j])
    return matrix


def jacobian(
    function: Callable[[FloatArray], FloatArray], point: FloatArray, steps: FloatArray
) -> FloatArray:
    """First derivatives of a vector-valued function, one row per coordinate of the point."""
    moves = np.diag(steps)
    rows = [
        (function(point + move) - function(point - move)) / (2 * step)
        for move, step in zip(moves, steps, strict=True)
    ]
    return np.array(rows)
