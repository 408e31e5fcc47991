"""Summaries of studies, built by hand in the form in which an analysis gives them."""

from __future__ import annotations

from typing import Any

HOSTILE = '<script>alert("x")</script> & 50% of $A_1 #2 {~^\\}'


def column(key: str, title: str, kind: str = "number", unit: str = "") -> dict[str, Any]:
    return {"key": key, "title": title, "kind": kind, "unit": unit}


def estimate(condition: str, value: float | None, low: float | None, high: float | None, **more: Any) -> dict:
    return {
        "condition": condition,
        "key": f"{condition}-vs-none",
        "estimate": value,
        "low": low,
        "high": high,
        "p": 0.0123,
        "p_adjusted": 0.0246,
        "low_adjusted": low,
        "high_adjusted": high,
        "adjustment": "Dunnett",
        "detectable": 9.4,
        "participants": 20,
        "items": 32,
        "conclusive": True,
        "planned": True,
        "notes": [],
        **more,
    }


def method_line(
    explainer: str, value: float | None, low: float | None, high: float | None, **more: Any
) -> dict:
    return {
        "explainer": explainer,
        "condition": explainer,
        "measure": "Change against none",
        "unit": "points",
        "estimate": value,
        "low": low,
        "high": high,
        "higher_is_better": True,
        "participants": 20,
        "items": 32,
        **more,
    }


FLOW = {
    "arrived": 61,
    "undecided": 1,
    "declined": 4,
    "no_place": 2,
    "screened_out": 3,
    "withdrawn": 1,
    "left": 5,
    "under_way": 0,
    "complete": 45,
    "excluded": {"too-fast": 2, "same-answer": 1},
    "excluded_people": 3,
    "analysed": 42,
    "intended": 48,
    "of_the_others": 0,
    "sentence": "61 arrived, 45 complete, 3 excluded, 42 analysed.",
}


def table(key: str = "change", **more: Any) -> dict[str, Any]:
    return {
        "key": key,
        "title": "Change of accuracy",
        "planned": True,
        "columns": [
            column("condition", "Condition", "text"),
            column("n", "n", "count"),
            column("pre", "Pre", "percent"),
            column("change", "Change", "number", "points"),
            column("interval", "95% interval", "interval", "points"),
            column("p", "p", "p"),
        ],
        "rows": [
            {
                "condition": "lime",
                "n": 1280,
                "pre": 0.6042,
                "change": 7.345,
                "interval": [1.21, 13.48],
                "p": 0.00004,
            },
            {
                "condition": "random",
                "n": 640,
                "pre": 0.5711,
                "change": -0.04,
                "interval": [None, None],
                "p": None,
            },
        ],
        "sentence": "Explanations by lime raised accuracy.",
        "notes": ["Change includes practice."],
        **more,
    }


FIGURES = [
    {
        "key": "change",
        "title": "Change by condition",
        "kind": "intervals",
        "data": {
            "x_label": "Change (points)",
            "reference": 0,
            "rows": [
                {"label": "lime", "estimate": 7.3, "low": 1.2, "high": 13.5, "group": "crossed"},
                {"label": "random", "estimate": 0.4, "low": None, "high": None, "group": "crossed"},
                {"label": "lime", "estimate": 7.1, "low": 0.2, "high": 14.0, "group": "hase2020"},
                {"label": "shap", "estimate": None, "low": None, "high": None, "group": "hase2020"},
            ],
        },
        "sentence": "Change includes practice.",
    },
    {
        "key": "curve",
        "title": "Accuracy against rating",
        "kind": "curve",
        "data": {
            "x_label": "rating",
            "y_label": "share right",
            "lines": [
                {"label": "raw", "x": [1, 2, 3], "y": [0.5, 0.6, 0.7], "low": [0.4] * 3, "high": [0.8] * 3},
                {"label": "within people", "x": [1, 2, 3], "y": [0.5, None, 0.66], "low": [], "high": []},
            ],
        },
        "sentence": "",
    },
    {
        "key": "accuracy",
        "title": "Accuracy before and after",
        "kind": "bars",
        "data": {
            "y_label": "right predictions (%)",
            "groups": ["none", "lime", "random"],
            "bars": [
                {"label": "before", "values": [60, 61, None], "low": [55, 56, None], "high": [65, 66, None]},
                {"label": "after", "values": [63, 70, 60], "low": [58, 65, None], "high": [68, 75, None]},
            ],
        },
        "sentence": "Lines are 95% intervals.",
    },
    {
        "key": "ratings",
        "title": "Ratings by condition",
        "kind": "distribution",
        "data": {
            "x_label": "share of ratings",
            "levels": [str(one) for one in range(1, 8)],
            "rows": [
                {"label": "lime", "shares": [0.05, 0.1, 0.15, 0.2, 0.25, 0.15, 0.1]},
                {"label": "random", "shares": [0.2, 0.3, 0.2, 0.1, 0.1, 0.1, 0.0]},
            ],
        },
        "sentence": "Share of ratings at each point of the scale.",
    },
]


def summary(**more: Any) -> dict[str, Any]:
    """A forward study with everything in it."""
    return {
        "format": 3,
        "kind": "study",
        "title": "How does a computer read film reviews?",
        "protocol": "forward",
        "hash": "5f3a" * 16,
        "dataset": "rotten-tomatoes",
        "model": {"name": "logistic", "accuracy": 0.7654},
        "people": "participants",
        "frozen": "2026-05-04",
        "source": "answers.sqlite",
        "flow": FLOW,
        "attrition": {**table("attrition", title="Participants lost"), "p": 0.4, "test": "Fisher"},
        "balance": {**table("balance", title="Participants by row"), "answers": []},
        "primary": {
            "measure": "Change of accuracy against none",
            "unit": "points",
            "sentence": "Explanations by lime raised accuracy by 7.3 points more than no explanation.",
            "estimates": [
                estimate("lime", 7.345, 1.21, 13.48),
                estimate("shap", 3.1, -2.2, 8.4, planned=False),
                estimate("random", None, None, None, conclusive=False, notes=["Nobody is left."]),
            ],
        },
        "methods": [
            method_line("lime", 7.3, 1.2, 13.5),
            method_line("shap", 3.1, -2.2, 8.4),
            method_line("random", 0.4, -5, 6),
        ],
        "tables": [
            table(),
            table("ratings", title="Ratings", planned=False),
            table("sensitivity", title="Does it hang on people?", planned=False),
        ],
        "figures": FIGURES,
        "sensitivity": {"late_answers": 0},
        "estimators": {
            "crossed": {"unit": "share of answers"},
            "hase2020": {"label": "a reproduction", "note": "Rejects in 1% of null studies."},
        },
        "problems": [],
        "analysis_plan": {"primary": "change in lime and shap, each against none"},
        "options": {"estimator": "both", "replicates": 10000, "seed": 0},
        "versions": {"python": "3.11.2", "torch": None},
        **more,
    }


def graded(**more: Any) -> dict[str, Any]:
    """A study whose measure is a score between -1 and 1."""
    given = {
        "protocol": "model-choice",
        "title": "Which model is better?",
        "primary": {
            "measure": "Mean score",
            "unit": "",
            "sentence": "No method is shown to be better than another.",
            "estimates": [estimate("lime", 0.31, 0.12, 0.5), estimate("lrp", -0.05, -0.2, 0.1)],
        },
        "methods": [
            method_line("lime", 0.31, 0.12, 0.5, unit=""),
            method_line("lrp", -0.05, -0.2, 0.1, unit=""),
        ],
        "figures": FIGURES[3:],
    }
    return summary(**{**given, **more})


def tiny(**more: Any) -> dict[str, Any]:
    """A study in which nothing can be estimated."""
    given = {
        "primary": None,
        "methods": [],
        "tables": [],
        "figures": [],
        "estimators": {},
        "sensitivity": {},
        "attrition": {},
        "balance": {},
        "frozen": None,
        "analysis_plan": {},
        "flow": {**FLOW, "arrived": 1, "complete": 0, "analysed": 0, "excluded": {}, "excluded_people": 0},
        "problems": ["No participant of 1 answered anything in a test: nothing can be estimated."],
    }
    return summary(**{**given, **more})
