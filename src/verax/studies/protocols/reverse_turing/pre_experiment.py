"""The pre-experiment of Gonzalez and Sogaard (2020), section 4.4: the same people without training, then with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from verax.studies.model.spec_tables import Condition
from verax.studies.protocol.findings import Analysed

if TYPE_CHECKING:
    import pandas as pd

UNTRAINED, TRAINED = "untrained", "trained"
# The first round has no training, in everybody's order.
WITHOUT = ("about-evaluation-1", "evaluation-1", "strategy-1")


def compares_training(data: Analysed) -> bool:
    """Whether the study is such an experiment."""
    return bool(data.parameters.get("untrained_first"))


def by_training(data: Analysed) -> Analysed:
    """The answers with training in the place of conditions, if that is what the study compares."""
    if not compares_training(data):
        return data
    return replace(
        data,
        responses=_relabelled(data.responses),
        intended=_relabelled(data.intended),
        conditions=(Condition(name=UNTRAINED), Condition(name=TRAINED, explainer="training")),
    )


def _relabelled(answers: pd.DataFrame) -> pd.DataFrame:
    named = answers["phase"].isin(WITHOUT).map({True: UNTRAINED, False: TRAINED})
    return answers.assign(condition=named.where(answers["condition"].notna(), None))
