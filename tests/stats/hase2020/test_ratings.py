"""(E) Ratings against right answers: the script's loop with statsmodels' regressions on the same draws."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.hase2020 import Defects, rating_and_correctness
from verax.stats.resample import block_weights


def columns(seed=0, slope=0.4):
    """participant, item, method, rating, right; participants of different methods share names."""
    rng = np.random.default_rng(seed)
    rows = []
    for method in range(2):
        for own in range(5):
            for item in range(8):
                rating = float(rng.integers(1, 8))
                right = float(rng.random() < 1 / (1 + math.exp(-slope * (rating - 3))))
                rows.append((own, item, "ab"[method], rating, right))
    return [list(column) for column in zip(*rows, strict=True)]


def places(names):
    order = sorted(set(names))
    return np.array([order.index(name) for name in names])


def plain_curves(data, defects, replicates, seed):
    """(intercept, slope) of each replicate for the raw and the normalised rating, and the answers used."""
    api = pytest.importorskip("statsmodels.api")
    participant, item, method, rating, right = data
    # The script overwrites the participant with method and item.
    whose = item if defects.items_as_participants else participant
    people = list(zip(method, whose, strict=True))
    scaled = []
    for person, value in zip(people, rating, strict=True):
        own = [r for p, r in zip(people, rating, strict=True) if p == person and not math.isnan(r)]
        spread = np.std(own, ddof=1) if len(own) > 1 else 0.0
        scaled.append((value - np.mean(own)) / spread if spread > 0 else math.nan)
    used = [row for row in range(len(rating)) if not math.isnan(scaled[row]) and not math.isnan(right[row])]
    first, second = places([people[row] for row in used]), places([item[row] for row in used])
    curves = {"raw": [], "normalised": []}
    for weights in np.vstack(list(block_weights(first, second, replicates, seed))).astype(int):
        sample = [row for row, times in zip(used, weights, strict=True) for _ in range(times)]
        for name, x in (("raw", rating), ("normalised", scaled)):
            design = api.add_constant(np.array([x[row] for row in sample]))
            fit = api.Logit([right[row] for row in sample], design).fit(disp=0, tol=1e-12)
            curves[name].append(fit.params)
    return {name: np.array(found) for name, found in curves.items()}, used


@pytest.mark.parametrize("as_participants", [True, False])
def test_equal_to_the_published_loop_with_statsmodels(as_participants):
    data = columns()
    data[3][4], data[4][9] = math.nan, math.nan
    defects = Defects(items_as_participants=as_participants)
    found = rating_and_correctness(*data, replicates=40, seed=3, defects=defects)
    curves, used = plain_curves(data, defects, 40, 3)
    assert (found.n, found.dropped) == (len(used), 80 - len(used))
    for name, at, steps in (
        ("raw", (2, 3, 4, 5, 6), ((3, 4), (4, 5))),
        ("normalised", (-2, -1, 0, 1, 2), ((-1, 0), (0, 1))),
    ):
        curve, expected = getattr(found, name), curves[name]
        assert curve.slope.estimate == pytest.approx(expected[:, 1].mean(), abs=1e-6)
        assert (curve.slope.low, curve.slope.high) == pytest.approx(
            np.quantile(expected[:, 1], [0.025, 0.975]), abs=1e-6
        )
        predicted = {x: 1 / (1 + np.exp(-(expected[:, 0] + expected[:, 1] * x))) for x in at}
        assert curve.at == at
        assert [one.estimate for one in curve.probability] == pytest.approx(
            [predicted[x].mean() for x in at], abs=1e-7
        )
        assert curve.steps == steps
        for step, (before, after) in zip(curve.change, steps, strict=True):
            change = predicted[after] - predicted[before]
            assert step.estimate == pytest.approx(change.mean(), abs=1e-7)
            assert (step.low, step.high) == pytest.approx(np.quantile(change, [0.025, 0.975]), abs=1e-7)
        assert curve.without == 0


def test_mended_means_that_participants_are_normalised_and_resampled():
    """A participant who always gives the same rating says nothing when ratings are normalised within participants."""
    data = columns(1)
    data[3] = [
        4.0 if who == 0 and how == "a" else r for who, how, r in zip(data[0], data[2], data[3], strict=True)
    ]
    published = rating_and_correctness(*data, replicates=20)
    mended = rating_and_correctness(*data, replicates=20, defects=Defects(items_as_participants=False))
    assert (published.dropped, mended.dropped) == (0, 8)


def test_a_clear_relation_is_found_from_4_to_5():
    data = columns(2, slope=1.0)
    step = rating_and_correctness(*data, replicates=400).raw.change[1]
    assert 0 < step.low < step.estimate < step.high < 0.5


def test_replicates_without_a_slope_are_counted():
    # One wrong answer only: replicates without it have no slope.
    rating, right = [1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1, 1]
    found = rating_and_correctness(
        [1, 2, 3] * 2, [1, 1, 1, 2, 2, 2], ["a"] * 6, rating, right, replicates=300
    )
    assert 0 < found.raw.without < 300
    assert found.raw.slope.n_boots == 300 - found.raw.without


def test_json():
    found = rating_and_correctness(*columns(), replicates=20)
    again = json.loads(json.dumps(found.to_dict()))
    assert again["raw"]["slope"]["estimate"] == found.raw.slope.estimate
    assert again["normalised"]["steps"] == [[-1, 0], [0, 1]]


def test_ratings_that_never_vary_are_refused_with_a_sentence():
    with pytest.raises(VeraxError, match="None of the 4 answers has a result and a rating that varies"):
        rating_and_correctness(
            [1, 2, 1, 2], [1, 1, 2, 2], ["a"] * 4, [4, 4, 5, 5], [1, 0, 1, 0], replicates=5
        )
