"""Which inputs of a dataset a benchmark explains: the test part, unless another is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from verax.data import Dataset, Part

ExplainedPart = Literal["test", "train", "all"]


def with_explained_part(dataset: Dataset, part: ExplainedPart) -> Dataset:
    """The dataset with the inputs that are explained in the place of its test part; models learn from the same ones.

    Args:
        dataset: as it was split.
        part: its training part, or all three.
    """
    if part == "test":
        return dataset
    if part == "train":
        return replace(dataset, test=dataset.train)
    parts = list(dataset.parts.values())
    inputs = (
        [text for one in parts for text in one.inputs]
        if dataset.kind == "text"
        else np.concatenate([np.asarray(one.inputs) for one in parts])
    )
    rated = [one.ratings for one in parts if one.ratings is not None]
    ratings = np.concatenate(rated) if len(rated) == len(parts) else None
    return replace(dataset, test=Part(inputs, np.concatenate([one.labels for one in parts]), ratings))
