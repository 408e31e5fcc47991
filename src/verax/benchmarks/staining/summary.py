"""From the outcomes of all trials to estimates: the stain is the unit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verax.benchmarks.staining.jobs import checks
from verax.benchmarks.staining.plan import Plan, Trial
from verax.benchmarks.staining.scores import BUDGETS
from verax.benchmarks.staining.truth import NAME as GROUND_TRUTH
from verax.run.jobs import Outcome
from verax.stats import average_ranks, mean_interval, paired_differences

Outcomes = Mapping[str, Outcome]
# The measures that explainers are compared by.
MEASURES = ("auc", "mrr")


def summarise(plan: Plan, outcomes: Outcomes) -> dict[str, Any]:
    """Everything that the run found, as plain data without a trace of when or where it ran.

    Args:
        plan: what was asked.
        outcomes: by job key.
    """
    cells = {
        (dataset, model): _cell(plan, dataset, model, outcomes)
        for dataset in plan.spec.datasets
        for model in plan.spec.models
    }
    return {
        "benchmark": "stain",
        "spec": plan.spec.model_dump(),
        "explainers": [*plan.explainers, GROUND_TRUTH],
        "budgets": list(BUDGETS),
        "datasets": {name: _dataset(plan, name, outcomes) for name in plan.spec.datasets},
        "cells": list(cells.values()),
        "ranks": _ranks(list(cells.values())),
        "failures": _failures(plan, outcomes),
    }


def _trials(plan: Plan, dataset: str, model: str | None = None) -> list[Trial]:
    return [
        trial for trial in plan.trials if trial.dataset == dataset and (model is None or trial.model == model)
    ]


def _dataset(plan: Plan, dataset: str, outcomes: Outcomes) -> dict[str, Any]:
    """The stains of one dataset: what they are, and how often one had to be drawn again."""
    stains: dict[int, dict[str, Any]] = {}
    for trial in _trials(plan, dataset):
        value = outcomes[trial.job.key].value
        if value is not None:
            stains.setdefault(trial.stain, value["stain"] | {"region": len(value["region"])})
    rejected: Counter[str] = Counter()
    for stain in stains.values():
        rejected.update(stain["rejected"])
    return {
        "hash": plan.hashes[dataset],
        "stains": [stains[number]["shown"] for number in sorted(stains)],
        "distinct_stains": len({stain["shown"] for stain in stains.values()}),
        "region": [stains[number]["region"] for number in sorted(stains)],
        "redrawn": dict(sorted(rejected.items())),
        "correlated": [list(pair) for pair in plan.correlated[dataset]],
    }


def _cell(plan: Plan, dataset: str, model: str, outcomes: Outcomes) -> dict[str, Any]:
    """One dataset and model: whether the stains took, and how the explainers did."""
    done: list[tuple[Trial, Any]] = []
    failed: list[tuple[Trial, Any]] = []
    for trial in _trials(plan, dataset, model):
        outcome = outcomes[trial.job.key]
        (failed if outcome.value is None else done).append((trial, outcome))
    used = [(trial, outcome.value) for trial, outcome in done if outcome.value["learnt"]]
    twin = outcomes[plan.twins[dataset, model].key].value
    return {
        "dataset": dataset,
        "model": model,
        "stains_used": len(used),
        "stains_left_out": [
            {"stain": trial.stain, "shown": outcome.value["stain"]["shown"], **outcome.value["checks"]}
            for trial, outcome in done
            if not outcome.value["learnt"]
        ],
        "stains_failed": [trial.stain for trial, _ in failed],
        "took": _took(plan, dataset, [outcome.value for _, outcome in done], twin),
        **_compared(used),
    }


def _took(plan: Plan, dataset: str, values: Sequence[Any], twin: Any) -> dict[str, Any]:
    """Accuracies of the stained model and of its unstained twin (the paper's Figure 2), over all stains."""
    if not values:
        return {}
    took: dict[str, Any] = {
        name: _over_stains(values, [value["checks"][name] for value in values])
        for name in ("stained_region", "stained_region_train", "original_region", "outside")
    }
    if twin is not None:
        took["twin"] = _twin_accuracy(plan, dataset, values, twin)
    return took


def _twin_accuracy(plan: Plan, dataset: str, values: Sequence[Any], twin: Any) -> dict[str, Any]:
    from verax.benchmarks.staining.stainable import prepare

    labels = prepare(plan.sources[dataset], plan.spec.words).dataset.test.labels
    predicted = np.array(twin["predicted"])
    found = []
    for value in values:
        region = np.zeros(len(labels), dtype=np.bool_)
        region[value["region"]] = True
        found.append(checks(predicted, labels, labels, region))
    return {
        name: _over_stains(values, [one[name] for one in found]) for name in ("original_region", "outside")
    }


def _over_stains(values: Sequence[Any], numbers: Sequence[float]) -> dict[str, Any]:
    """An estimate over stains of one number per trial; a stain drawn twice counts once, as the mean of its trials."""
    by_stain: dict[str, list[float]] = defaultdict(list)
    for value, number in zip(values, numbers, strict=True):
        by_stain[value["stain"]["shown"]].append(number)
    return mean_interval([float(np.mean(found)) for found in by_stain.values()]).to_dict()


def _compared(used: Sequence[tuple[Trial, Any]]) -> dict[str, Any]:
    """Estimates per explainer, and differences between explainers on the same stains."""
    by_explainer: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    errors: dict[str, list[str]] = defaultdict(list)
    for trial, value in used:
        for label, scored in value["explainers"].items():
            if "error" in scored:
                errors[label].append(f"stain {trial.stain}: {scored['error']}")
            else:
                by_explainer[label][value["stain"]["shown"]].append(scored)
    per_stain = {
        label: {stain: _stain_means(scored) for stain, scored in stains.items()}
        for label, stains in by_explainer.items()
    }
    return {
        "explainers": {label: _estimates(stains) for label, stains in per_stain.items()},
        "errors": dict(errors),
        "differences": {measure: _differences(per_stain, measure) for measure in MEASURES},
    }


def _stain_means(scored: Sequence[Any]) -> dict[str, Any]:
    """One value per measure of one stain: the mean over its inputs; a stain drawn twice counts once."""
    recall = np.mean([np.mean(one["recall"], axis=0) for one in scored], axis=0)
    return {
        "recall": recall.tolist(),
        "auc": float(recall.mean()),
        "mrr": float(np.mean([np.mean(one["mrr"]) for one in scored])),
        "rows": float(np.mean([np.mean(one["rows"]) for one in scored])),
        "chance": float(np.mean([np.mean([1.0 / max(1, n) for n in one["features"]]) for one in scored])),
        "inputs": int(np.sum([len(one["mrr"]) for one in scored])),
    }


def _estimates(stains: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    values = list(stains.values())
    recall = np.array([value["recall"] for value in values])
    return {
        "stains": len(values),
        "inputs": sum(value["inputs"] for value in values),
        "recall": [mean_interval(recall[:, place]).to_dict() for place in range(recall.shape[1])],
        "auc": mean_interval([value["auc"] for value in values]).to_dict(),
        "mrr": mean_interval([value["mrr"] for value in values]).to_dict(),
        "rows": float(np.mean([value["rows"] for value in values])),
    }


def _differences(per_stain: Mapping[str, Mapping[str, dict[str, Any]]], measure: str) -> list[dict[str, Any]]:
    values = {
        label: {stain: means[measure] for stain, means in stains.items()}
        for label, stains in per_stain.items()
        if label != GROUND_TRUTH
    }
    if len(values) < 2:
        return []
    return [difference.to_dict() for difference in paired_differences(values)]


def _ranks(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Average ranks by area under the recall curve, over the cells that all explainers have."""
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for cell in cells:
        for label, estimates in cell["explainers"].items():
            if label != GROUND_TRUTH:
                table[label][f"{cell['dataset']}, {cell['model']}"] = estimates["auc"]["mean"]
    return average_ranks(table).to_dict() if len(table) > 1 else None


def _failures(plan: Plan, outcomes: Outcomes) -> list[dict[str, str]]:
    return [
        {"job": job.name, "error": outcomes[job.key].error or ""}
        for job in plan.jobs
        if outcomes[job.key].value is None
    ]
