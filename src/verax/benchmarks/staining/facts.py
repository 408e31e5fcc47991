"""What the paper's Table 2 says of a dataset: its size, the balance of its classes, its highest correlation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from verax.benchmarks.staining.stainable import Stainable
from verax.data import Dataset


@dataclass(frozen=True)
class Facts:
    """A dataset in a line.

    Attributes:
        inputs: in all three parts.
        balance: the share of each class.
        correlation: the highest between two features that stains may be made of; None if there are not two.
        correlated: these two, in words.
    """

    inputs: int
    balance: Mapping[str, float]
    correlation: float | None = None
    correlated: tuple[str, ...] = ()


def facts_of(data: Stainable, min_share: float, at_least: int, whole: Dataset | None = None) -> Facts:
    """The facts of a dataset; correlations are those of the training inputs, by magnitude.

    Args:
        data: the dataset made ready.
        min_share: of a feature that stains may be made of.
        at_least: how often it must occur.
        whole: the dataset as it was split, if another part is explained in the place of its test part.
    """
    dataset = whole or data.dataset
    labels = np.concatenate([part.labels for part in dataset.parts.values()])
    shares = np.bincount(labels, minlength=len(dataset.class_names)) / len(labels)
    balance = dict(zip(dataset.class_names, shares.tolist(), strict=True))
    literals = data.candidates(min_share, at_least).literals
    holds = np.array([literal.holds(data.values[0]) for literal in literals], dtype=np.float64)
    if len({literal.name for literal in literals}) < 2:
        return Facts(len(labels), balance)
    with np.errstate(invalid="ignore"):  # a condition that always holds is correlated with nothing
        found = np.abs(np.nan_to_num(np.corrcoef(holds)))
    names = np.array([literal.name for literal in literals])
    found[names[:, None] == names] = -1.0  # the values of one column exclude each other
    one, other = (literals[place] for place in divmod(int(np.argmax(found)), len(literals)))
    return Facts(len(labels), balance, float(found.max()), (one.shown, other.shown))
