"""An effect's interval and test, and what has neither."""

from __future__ import annotations

import json
import math

import pytest
from scipy import stats

from verax.stats.estimate import effect


def test_equal_to_scipy():
    found = effect("lime", 0.12, 0.05, 7.5, 0.9)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.9, 7.5, 0.12, 0.05))
    assert found.p == pytest.approx(2 * stats.t.sf(2.4, 7.5))


def test_infinite_degrees_of_freedom_are_the_normal_distribution_and_null_in_json():
    found = effect("lime", 1.96, 1.0, math.inf)
    assert found.p == pytest.approx(0.05, abs=1e-5)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["df"] is None


@pytest.mark.parametrize("se", [None, 0.0, math.nan])
def test_without_an_error_there_is_the_estimate_only(se):
    found = effect("lime", 0.1, se, 3.0, warnings=("All alike.",))
    assert (found.estimate, found.se, found.low, found.p) == (0.1, None, None, None)
    assert found.to_dict()["warnings"] == ["All alike."]


def test_without_an_estimate_there_is_nothing():
    assert effect("lime", None, 0.1, 3.0).p is None
    assert effect("lime", math.nan, 0.1, 3.0).estimate is None
