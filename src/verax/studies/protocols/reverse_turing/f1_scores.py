"""F1 of people's answers against the model's: the other result of the Reverse Turing Test (section 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verax.stats.estimate import Estimate
from verax.stats.shares import mean_share

if TYPE_CHECKING:
    import pandas as pd


def macro_f1(said: Sequence[int], model: Sequence[int]) -> float:
    """The mean over classes of F1, 2 TP / (2 TP + FP + FN); classes that nobody named, nor the model, are left out."""
    given, wanted = np.asarray(said), np.asarray(model)
    scores = []
    for number in np.union1d(given, wanted):
        both = np.sum((given == number) & (wanted == number))
        scores.append(2 * both / (np.sum(given == number) + np.sum(wanted == number)))
    return float(np.mean(scores))


def people_f1(answers: pd.DataFrame) -> pd.DataFrame:
    """Columns participant, condition, f1: of each participant's test session under each condition."""
    sessions = answers.assign(
        said=answers["answer"].astype("int64"), model=answers["prediction"].astype("int64")
    ).groupby(["participant", "condition"], sort=True)
    return (
        sessions[["said", "model"]]
        .apply(lambda own: macro_f1(own["said"].tolist(), own["model"].tolist()))
        .rename("f1")
        .reset_index()
    )


def mean_f1(answers: pd.DataFrame, names: Sequence[str], level: float) -> dict[str, Estimate]:
    """By condition, the mean over participants with an interval inside 0 to 1; the items are taken as the only ones."""
    each = people_f1(answers)
    return {
        name: mean_share(each.loc[each["condition"] == name, "f1"].to_numpy(dtype=np.float64), level=level)
        for name in names
    }
