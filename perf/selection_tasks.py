"""The four synthetic tasks of L2X (Chen et al. 2018, section 4.1): rows, a model that is known, the features it reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import verax
from verax.data.table import Column, Schema

COLUMNS = 10
# How many features matter in each input, and the activation that the paper's code uses.
TASKS = {
    "xor": (2, "relu"),
    "orange skin": (4, "relu"),
    "nonlinear additive": (4, "selu"),
    "switch": (5, "selu"),
}


@dataclass(frozen=True)
class Task:
    """Rows and the truth about them."""

    name: str
    rows: np.ndarray
    model: verax.models.Model
    true: np.ndarray  # for each row, the numbers of its features that matter

    @property
    def k(self) -> int:
        return TASKS[self.name][0]

    @property
    def activation(self) -> str:
        return TASKS[self.name][1]


def make_task(name: str, count: int, seed: int) -> Task:
    """So many rows of a task."""
    rows = make_rows(name, count, seed)
    schema = Schema(tuple(Column(f"x{number}") for number in range(COLUMNS)))
    model = verax.as_model(
        lambda given: probabilities(name, np.asarray(given)),
        class_names=("0", "1"), schema=schema, reference=rows,
    )  # fmt: skip
    return Task(name, rows, model, true_features(name, rows))


def make_rows(name: str, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, COLUMNS))
    if name == "switch":  # a mixture: the last feature says which half of the others matters
        rows[:, 9] += np.where(rng.random(count) < 0.5, 3.0, -3.0)
    return rows


def probabilities(name: str, rows: np.ndarray) -> np.ndarray:
    """Of the two classes, as the paper's released code has them."""
    if name == "xor":
        exponent = rows[:, 0] * rows[:, 1]
    elif name == "orange skin":
        exponent = _orange(rows[:, :4])
    elif name == "nonlinear additive":
        exponent = _additive(rows[:, :4])
    else:
        exponent = np.where(rows[:, 9] > 0, _orange(rows[:, :4]), _additive(rows[:, 4:8]))
    first = 1.0 / (1.0 + np.exp(-np.clip(exponent, -500, 500)))
    return np.stack([first, 1.0 - first], axis=1)


def true_features(name: str, rows: np.ndarray) -> np.ndarray:
    if name == "switch":
        return np.where(rows[:, 9:] > 0, [[0, 1, 2, 3, 9]], [[4, 5, 6, 7, 9]])
    return np.tile(np.arange(TASKS[name][0]), (len(rows), 1))


def median_ranks(explanations, true: np.ndarray) -> np.ndarray:
    """For each input the median rank of its true features, from 1; ties by the mean of their ranks."""
    from scipy.stats import rankdata

    ranks = np.array([rankdata(-np.abs(each.scores)) for each in explanations])
    return np.median(np.take_along_axis(ranks, true, axis=1), axis=1)


def _orange(features: np.ndarray) -> np.ndarray:
    return (features**2).sum(axis=1) - 4.0


def _additive(features: np.ndarray) -> np.ndarray:
    return (
        -100.0 * np.sin(0.2 * features[:, 0]) + np.abs(features[:, 1]) + features[:, 2]
        + np.exp(-features[:, 3]) - 2.4
    )  # fmt: skip
