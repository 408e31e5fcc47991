"""What a staining run claims of simulated explainers: all claims together, equal differences, and means over models.

The generator is that of the calibration suite; from its areas on everything is the real thing, up to the sentence.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from verax.benchmarks.staining.findings import StainSummary
from verax.reporting.staining.verdict import staining_verdict
from verax.stats import mean_share, sharing

sys.path.insert(0, str(Path(__file__).parents[3] / "perf"))

import calibration_staining as suite


def always(first, other):
    """The first explainer has one area everywhere, the others another."""

    def areas(rng, stains, models):
        shape = len(stains), models
        found = {label: np.full(shape, other) for label in suite.EQUAL} | {"first": np.full(shape, first)}
        return found | {"random": suite.floor(rng, *shape)}

    return areas


def test_equal_explainers_over_five_models_are_left_alone():
    """Corrected model by model, the headline named somebody in half of the runs with ten draws of nine words."""
    setting = suite.Setting(suite.Spreads(word=0.05, stain=0.02), 10, 9)
    runs = 20
    found = [
        staining_verdict(suite.simulate(np.random.default_rng([4, run]), setting)) for run in range(runs)
    ]
    assert sum(map(suite.compares, found)) <= 3  # 5% are promised: more than 3 of 20 come in 1.6% of tries


@pytest.mark.parametrize(("stains", "leads"), [(5, False), (6, True), (20, True)])
def test_an_explainer_that_is_ahead_by_the_same_on_every_stain_leads(stains, leads):
    setting = suite.Setting(always(0.95, 0.6), stains, models=2)
    sentence = staining_verdict(suite.simulate(np.random.default_rng(0), setting)).sentence
    assert ("first leads on logistic and tree" in sentence) == leads
    if not leads:
        assert "there are 5 stains, and a test needs 6" in sentence


def test_a_mean_over_models_has_its_interval_over_stains():
    setting = suite.Setting(suite.Spreads(), 8, words=9, models=3)
    rng = np.random.default_rng(3)
    summary = suite.simulate(rng, setting)
    # The same once more, by hand: the mean over models of each distinct stain.
    rng = np.random.default_rng(3)
    stains = list(dict.fromkeys(suite.drawn_stains(rng, setting)))
    areas = setting.areas(rng, stains, 3)["second"]
    expected = mean_share(areas.mean(axis=1), sharing(stains), 0.95)
    found = summary.overall["second"]
    assert found.n == expected.n == len(stains)
    assert (found.mean, found.low, found.high) == pytest.approx((expected.mean, expected.low, expected.high))
    (row,) = [row for row in staining_verdict(summary).judged if row.name == "second"]
    assert (row.estimate, row.low, row.high) == pytest.approx(
        (100 * expected.mean, 100 * expected.low, 100 * expected.high)
    )


def test_the_summary_is_read_as_written_and_ranks_have_no_p():
    summary = suite.simulate(np.random.default_rng(0), suite.Setting(suite.Spreads(), 6, models=2))
    written = summary.to_dict()
    assert set(written["ranks"]) == {"ranks", "cells", "left_out"}
    assert StainSummary.from_dict(written).overall == summary.overall


def test_stains_of_too_few_words_are_said_to_be_too_few():
    setting = suite.Setting(suite.Spreads(), 12, words=5, models=1)
    sentence = staining_verdict(suite.simulate(np.random.default_rng(0), setting)).sentence
    assert "stains of 5 words, and a test needs 6 words" in sentence
