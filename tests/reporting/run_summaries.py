"""Summaries of benchmark runs from the few numbers that a test is about: the rest is filled in, findings too."""

from __future__ import annotations

from typing import Any

from verax.benchmarks.rationale.findings import RationaleSummary
from verax.benchmarks.staining.findings import StainSummary
from verax.studies.results.study_summary import Summary as StudySummary

NO_SPREAD = {"mean": 0.5, "low": None, "high": None, "n": 5, "spread": None}


def written(given: Any) -> dict[str, Any]:
    """What summary.json holds of a run or a study, from what a test gives of it."""
    if given.get("benchmark") == "stain":
        return StainSummary.from_dict(_stain(given)).to_dict()
    if given.get("benchmark") == "rationale":
        return RationaleSummary.from_dict(_rationale(given)).to_dict()
    return StudySummary.from_dict(given).to_dict()


def _stain(given: dict[str, Any]) -> dict[str, Any]:
    empty = {"stains_used": 5, "stains_left_out": [], "stains_failed": [], "errors": {}}
    scored = {"stains": 5, "inputs": 50, "recall": [], "mrr": NO_SPREAD, "rows": 1.0}
    cells = [
        empty
        | cell
        | {
            "explainers": {
                label: scored | {"auc": NO_SPREAD | one["auc"]} for label, one in cell["explainers"].items()
            },
            "differences": {
                measure: [difference(**one) for one in several]
                for measure, several in cell.get("differences", {}).items()
            },
        }
        for cell in given["cells"]
    ]
    return {"budgets": [], "datasets": {}, "failures": []} | given | {"cells": cells}


def _rationale(given: dict[str, Any]) -> dict[str, Any]:
    others = {"first": NO_SPREAD, "above": NO_SPREAD, "auc": NO_SPREAD}
    groups = [
        group
        | {
            "targets": 3,
            "sets": {
                kind: {"differences": [], "least": []}
                | found
                | {
                    "explainers": {
                        label: others | {"misranked": NO_SPREAD | one["misranked"]}
                        for label, one in found["explainers"].items()
                    }
                }
                for kind, found in group["sets"].items()
            },
        }
        for group in given["groups"]
    ]
    first = given["groups"][0]
    numbers = dict.fromkeys(("inputs", "empty", "everything", "kept"), 0)
    shares = dict.fromkeys(("handshakes", "without_relevant", "without_irrelevant"), 0.0)
    sizes = dict.fromkeys(("words", "selected", "relevant", "irrelevant"))
    no_inputs = {"inputs": 0, "explainers": {}, "differences": []}
    targets = [
        {
            "dataset": first["dataset"],
            "label": str(number),
            "difficulty": first["difficulty"],
            "seed": number,
            "accuracy": 0.9,
            "validation_accuracy": None,
            "share": 0.1,
            "test_set": numbers | shares | sizes,
            "strict": NO_SPREAD,
            "rows": {},
            "errors": {},
            "training": [],
            "sets": {
                kind: no_inputs
                | target["sets"].get(kind, {})
                | {
                    "differences": [
                        difference(**one) for one in target["sets"].get(kind, {}).get("differences", [])
                    ]
                }
                for kind in ("strict", "published")
            },
        }
        for number, target in enumerate(given["targets"])
    ]
    rest = {"claims": {}, "hashes": {}, "failures": []}
    return rest | given | {"groups": groups, "targets": targets}


def difference(first: str, second: str, verdict: str, p_holm: float) -> dict[str, Any]:
    """A difference with a verdict; "none" has the p of nothing, whatever is given."""
    p = 0.5 if verdict == "none" else p_holm
    counts = dict.fromkeys(("wins", "losses", "ties", "unpaired"), 0)
    mean = -0.1 if verdict == "second" else 0.1
    return counts | {
        "first": first,
        "second": second,
        "mean": mean,
        "low": None,
        "high": None,
        "n": 5,
        "p": p / 2,
        "p_holm": p,
    }
