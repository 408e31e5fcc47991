"""Equivalence by interval inclusion, and the effect that a design can find: by hand, statsmodels and simulation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verax.errors import VeraxError
from verax.stats.tests.differences import detectable, equivalence


def test_by_hand():
    # t(.95, 10) = 1.812461: the 90% interval of 0.01 ± 1.812461 x 0.02 is (-0.026249, 0.046249).
    inside, outside = equivalence(0.01, 0.02, 10, 0.05), equivalence(0.01, 0.02, 10, 0.04)
    assert (inside.low, inside.high) == pytest.approx((-0.026249, 0.046249), abs=1e-6)
    assert inside.equivalent
    assert not outside.equivalent
    # The nearer end decides: P(T(10) >= (0.05 - 0.01) / 0.02 = 2) = 0.036694.
    assert inside.p == pytest.approx(0.036694, abs=1e-6)


def test_equal_to_statsmodels():
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    values = np.random.default_rng(0).normal(0.02, 0.1, 15)
    expected = weightstats.DescrStatsW(values).ttost_mean(-0.08, 0.06)[0]
    found = equivalence(values.mean(), stats.sem(values), 14, (-0.08, 0.06))
    assert found.p == pytest.approx(expected, rel=1e-9)


@settings(max_examples=60)
@given(st.floats(-1, 1), st.floats(0.01, 1), st.floats(1, 100), st.floats(0.01, 2))
def test_the_verdict_is_the_interval_inside_the_margin(estimate, se, df, margin):
    found = equivalence(estimate, se, df, margin)
    if min(abs(found.low + margin), abs(found.high - margin)) > 1e-9:
        assert found.equivalent == (-margin < found.low and found.high < margin)
    assert found.p == pytest.approx(equivalence(-estimate, se, df, margin).p)


def test_detectable_by_hand():
    # t(.975, 17) = 2.109816 and t(.8, 17) = 0.863279.
    assert detectable(0.05, 17) == pytest.approx(0.05 * (2.109816 + 0.863279), abs=1e-6)
    assert detectable(1, math.inf) == pytest.approx(1.959964 + 0.841621, abs=1e-6)


def test_an_effect_of_that_size_is_found_in_about_80_percent():
    rng = np.random.default_rng(1)
    n, studies = 30, 20_000
    # One standard error of 1: the smallest effect of a t test with 29 degrees of freedom.
    samples = rng.normal(detectable(1, n - 1) / np.sqrt(n), 1, (studies, n))
    found = stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.012)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: equivalence(0, 0, 5, 0.1), "standard error is 0"),
        (lambda: equivalence(0, 1, 5, (0.1, -0.1)), r"margin of equivalence is \(0.1, -0.1\)"),
        (lambda: equivalence(0, 1, 5, 0.1, alpha=0.9), "share of false claims is 0.9"),
        (lambda: detectable(1, 5, power=80), "power is 80"),
        (lambda: detectable(math.nan, 5), "standard error is nan"),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()


def test_json():
    found = equivalence(0.01, 0.02, 10, 0.05).to_dict()
    assert json.loads(json.dumps(found))["equivalent"] is True
