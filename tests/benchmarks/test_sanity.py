"""Sanity by randomised weights: what depends on the model passes, what does not fails."""

from __future__ import annotations

import pytest

import verax
from verax.benchmarks.sanity import finding


def test_explanations_that_ignore_the_model_are_found(tmp_path):
    run = verax.bench(
        "sanity",
        datasets=["breast-cancer"],
        models=["tree"],
        explainers=["greedy", "random(seed=3)"],
        inputs=3,
        out=tmp_path,
    )
    signs = {one.method: one.sign for one in run.findings}
    assert signs == {"greedy": "yes", "random(seed=3)": "no"}
    estimates = {one.method: one.estimate for one in run.findings}
    assert estimates["random(seed=3)"] == pytest.approx(1.0)
    assert abs(estimates["greedy"]) < 0.5


def test_intervals_are_wider_where_more_is_claimed():
    values = [0.3, 0.35, 0.4, 0.45, 0.42, 0.38]
    assert finding("one", values, 1).sign == "yes"
    assert finding("one", values, 500).sign == "open"
    assert finding("one", values[:4], 1).sign == "open"


def test_histogram_boosting_reads_tables_and_says_so():
    data = verax.load_dataset("breast-cancer", limit=200)
    model = verax.fit_model("hist-gradient-boosting", data)
    assert model.predict_proba(data.test.inputs[:3]).shape == (3, 2)
    with pytest.raises(verax.VeraxError, match="reads tables, not bags of words"):
        verax.fit_model("hist-gradient-boosting", verax.load_dataset("rotten-tomatoes", limit=100))
