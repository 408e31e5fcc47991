"""What the terminal says of a staining run, worked by hand."""

from __future__ import annotations

from rich.console import Console

from verax.report.staining.staining_terminal import findings, terminal_summary


def estimate(mean: float, low: float | None = None, high: float | None = None) -> dict:
    return {"mean": mean, "low": low, "high": high, "n": 3, "spread": 0.1, "level": 0.95}


def difference(first: str, second: str, verdict: str) -> dict:
    return {"first": first, "second": second, "verdict": verdict}


def summary(**cell) -> dict:
    recall = [estimate(0.1 * b, 0.05, 0.1 * b + 0.005) for b in range(1, 11)]
    base = {
        "dataset": "d",
        "model": "tree",
        "explainers": {"lime": {"stains": 3, "recall": recall}},
        "stains_left_out": [],
        "errors": {},
        "differences": {"auc": []},
    }
    return {
        "spec": {"datasets": ["d"], "models": ["tree"], "size": 2},
        "explainers": ["lime", "random"],
        "cells": [base | cell],
    }


def shown(found: dict) -> str:
    console = Console(width=100, no_color=True)
    with console.capture() as captured:
        console.print(terminal_summary(found))
    return " ".join(captured.get().split())


def test_recall_is_shown_with_its_interval():
    assert "lime 3 20.0 [5.0, 20.5] 50.0 [5.0, 50.5] 100.0 [5.0, 100.5]" in shown(summary())


def test_only_differences_that_survive_correction_are_named():
    auc = [
        difference("lime", "shap", "second"),
        difference("lime", "greedy", "none"),
        difference("random", "shap", "second"),
    ]
    assert findings(summary(differences={"auc": auc})) == [
        "d, tree: shap above lime (area under the recall curve, Holm-corrected p <= 0.05)."
    ]


def test_no_difference_is_said():
    assert findings(summary()) == [
        "No difference between explainers (other than to random) survives Holm's correction "
        "with five stains or more."
    ]


def test_what_was_left_out_and_what_failed_is_said():
    found = findings(summary(stains_left_out=[{}, {}], errors={"mine": ["stain 0: KeyError: x"]}))
    assert "d, tree: 2 stains not learnt, left out of the scores." in found
    assert "d, tree: mine failed on 1 stain (stain 0: KeyError: x)." in found


def test_a_cell_without_a_learnt_stain_is_shown():
    assert "no stain was learnt" in shown(summary(explainers={}))
