"""Which measures are shown to be right on which sort of model: the stored result of comparisons with known reasons.

`evidence.json` is written by ``perf/measures_results.py``, with the page of results, from finished runs of
``verax bench measures``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from verax.models.base import Model

# What a model is like, by how the class of its estimator is called; the first that fits.
SORTS = (
    ("tree", ("DecisionTree", "ExtraTreeC", "ExtraTreeR")),
    ("forest", ("RandomForest", "ExtraTrees", "Bagging")),
    ("xgboost", ("XGB", "GradientBoosting", "LGBM", "CatBoost", "AdaBoost")),
    ("mlp", ("MLP",)),
    ("logistic", ("Logistic", "Linear", "Ridge", "SGD", "Lasso", "ElasticNet", "Perceptron")),
)
# Networks of texts that read vectors of words, by the class of what is inside: a network of counts is another sort.
WORD_NETWORKS = ("Cnn", "Bilstm")
ALL = "all"


@dataclass(frozen=True)
class Evidence:
    """What comparisons with known reasons found of a measure on one sort of model.

    Attributes:
        kind: "text" or "table".
        model: the sort of model, or "all".
        measure: with its options.
        verdict: "believable", "backwards", "says nothing", "weak" or "not shown".
        tau: between its order of explanations and the truth's.
        low: lower end of the interval of tau; None without one.
        high: upper end.
        stains: how many planted reasons that rests on.
    """

    kind: str
    model: str
    measure: str
    verdict: str
    tau: float
    low: float | None
    high: float | None
    stains: int


@lru_cache(maxsize=1)
def stored_evidence() -> tuple[Evidence, ...]:
    """All rows of the stored result."""
    text = files("verax.measures").joinpath("evidence.json").read_text(encoding="utf-8")
    return tuple(Evidence(**row) for row in json.loads(text))


def sort_of(model: Model) -> str:
    """The sort of a model as the stored result names it; "all" if it has none like it."""
    estimator: object = getattr(model, "classifier", None) or getattr(model, "estimator", None)
    while estimator is not None:
        inner = getattr(estimator, "best_estimator_", None) or getattr(estimator, "estimator", None)
        if steps := getattr(estimator, "steps", None):
            inner = steps[-1][1]
        name = type(estimator).__name__
        found = next((sort for sort, parts in SORTS if any(part in name for part in parts)), None)
        if found or inner is None or inner is estimator:
            return found or ALL
        estimator = inner
    return _network_sort(model) if type(model).__module__.startswith("verax.models.neural") else ALL


def _network_sort(model: Model) -> str:
    """The sort of a network; of one whose like was not tried, what holds for all models is known."""
    if model.kind == "table":
        return "mlp"
    if any(base.__name__ == "RationaleModel" for base in type(model).__mro__):
        return "rationale"
    inside = type(getattr(model, "network", None)).__name__
    return "cnn" if any(part in inside for part in WORD_NETWORKS) else ALL


def evidence_for(model: Model, measure: str) -> Evidence | None:
    """What is known of a measure on models of this sort, or else on all sorts; None if nothing is."""
    rows = {
        row.model: row
        for row in stored_evidence()
        if row.kind == model.kind and row.measure == measure and row.verdict != "not shown"
    }
    return rows.get(sort_of(model), rows.get(ALL))
