"""Answers in parts: to all items, to those on which the model is right, and to those on which it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

PARTS = (("all", "All"), ("right", "Model right"), ("wrong", "Model wrong"))


def part_of(answers: pd.DataFrame, part: str) -> pd.DataFrame:
    """All answers, or those to items on which the model is right or wrong."""
    if part == "all":
        return answers
    right = answers["model_correct"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    return answers[right if part == "right" else ~right]
