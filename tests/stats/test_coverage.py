"""Simulated experiments: how often intervals hold the truth, and how often a family of tests claims falsely.

A stain's true recall is drawn from a beta distribution; its value is the mean of 50 inputs that find the stain or do
not. Expected coverages were measured on 40,000 experiments (10,000 with 100 stains); each test repeats 2,000 and
allows three binomial standard errors (1.5 points at 95%).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from verax.stats import mean_interval, paired_differences

EXPERIMENTS = 2000
INPUTS = 50

MIDDLE, ONE_END, CEILING = (3, 3), (4, 1), (6, 0.6)


def experiments(shape, n_stains):
    """(experiments, stains): how many of 50 inputs find the stain."""
    rng = np.random.default_rng([n_stains, int(10 * shape[0])])
    return rng.binomial(INPUTS, rng.beta(*shape, size=(EXPERIMENTS, n_stains)))


def coverage(samples, truth):
    """Share of the samples whose 95% interval holds the truth; one without an interval (all values alike) does not."""
    intervals = [mean_interval(sample) for sample in samples]
    return np.mean(
        [interval.low is not None and interval.low <= truth <= interval.high for interval in intervals]
    )


def three_errors(share):
    return 3 * math.sqrt(share * (1 - share) / EXPERIMENTS)


@pytest.mark.parametrize("n_stains", [5, 20, 100])
def test_intervals_over_stains_hold_the_truth_in_95_percent(n_stains):
    found = coverage(experiments(MIDDLE, n_stains) / INPUTS, truth=0.5)
    assert found == pytest.approx(0.95, abs=three_errors(0.95))


@pytest.mark.parametrize(
    ("shape", "n_stains", "expected"),
    [
        (ONE_END, 5, 0.913),
        (ONE_END, 20, 0.939),
        (ONE_END, 100, 0.945),
        (CEILING, 5, 0.864),
        (CEILING, 20, 0.917),
        (CEILING, 100, 0.943),
    ],
)
def test_skewed_stains_are_covered_less_by_as_much_as_the_documentation_says(shape, n_stains, expected):
    found = coverage(experiments(shape, n_stains) / INPUTS, truth=shape[0] / sum(shape))
    assert found == pytest.approx(expected, abs=three_errors(expected))


@pytest.mark.parametrize(("n_stains", "expected"), [(5, 0.499), (20, 0.498), (100, 0.511)])
def test_intervals_over_inputs_hold_the_truth_in_half_of_the_experiments_only(n_stains, expected):
    """Why the stain is the unit: the inputs of one stain share its luck, and more stains do not cure it."""
    found_inputs = experiments(MIDDLE, n_stains)
    inputs = np.arange(INPUTS) < found_inputs[:, :, None]
    found = coverage(inputs.reshape(EXPERIMENTS, -1), truth=0.5)
    assert found == pytest.approx(expected, abs=three_errors(expected))


def test_five_equal_methods_on_the_same_stains_are_told_apart_in_at_most_5_percent():
    """Ten tests: without correction some pair 'differs' in about a quarter of all experiments."""
    rng = np.random.default_rng(0)
    n_experiments, n_stains, names = 800, 20, "abcde"
    # Methods share each stain's difficulty, so that pairing matters, and differ from it by their own luck.
    difficulty = rng.normal(0, 1, size=(n_experiments, 1, n_stains))
    recall = 1 / (1 + np.exp(-difficulty - rng.normal(0, 0.7, size=(n_experiments, len(names), n_stains))))
    values = rng.binomial(INPUTS, recall) / INPUTS
    raw, corrected = 0, 0
    for experiment in values:
        rows = {name: dict(enumerate(row)) for name, row in zip(names, experiment.tolist(), strict=True)}
        differences = paired_differences(rows)
        raw += any(difference.p <= 0.05 for difference in differences)
        corrected += any(difference.verdict != "none" for difference in differences)
    assert raw / n_experiments > 0.2
    assert 0.02 < corrected / n_experiments < 0.05 + 3 * math.sqrt(0.05 * 0.95 / n_experiments)
