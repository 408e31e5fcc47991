"""Power by simulation: against analytic values and another implementation, its laws, searches, and bad calls."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from verax.errors import VeraxError
from verax.stats.power import (
    Design,
    Spreads,
    analysis,
    binomial_interval,
    detectable_effect,
    needed_participants,
    power,
)

SMALL = Design((8,) * 5, 16)


def test_the_power_at_eight_points_that_another_implementation_measured():
    # 22% in 2,000 studies of 5 x 8 people and 16 items; 57% for a contrast of 20 with 20 people on 32 items.
    found = power(SMALL, 0.08, studies=800)
    assert found.low < 0.22 < found.high
    contrast = power(Design((20,) * 5, 32), 0.08, analyse=analysis("contrast"), studies=300)
    assert contrast.low < 0.57 < contrast.high


def test_no_effect_is_found_in_about_five_percent():
    found = power(SMALL, 0.0, studies=800)
    assert 0.025 < found.power < 0.065
    assert (found.studies, found.untested, found.effect) == (800, 0, 0.0)


def test_people_without_differences_have_the_power_of_a_binomial_test():
    # No spread at all: Change of a person is a mean of differences of independent answers, and n = 40 x 16 of them.
    nothing = Spreads(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    design = Design((40,) * 2, 16, accuracy=0.5, missing=0.0)
    found = power(design, 0.06, nothing, analysis("change", "fixed"), studies=800)
    error = np.sqrt((0.25 + 0.56 * 0.44) / 640)
    expected = stats.norm.sf(1.96 - 0.06 / error)
    assert found.power == pytest.approx(expected, abs=0.05)


def test_power_grows_with_the_effect_and_shrinks_with_correction():
    shares = [power(SMALL, effect, studies=200).power for effect in (0.0, 0.05, 0.1, 0.2)]
    assert shares == sorted(shares)
    alone = power(SMALL, 0.15, studies=200).power
    assert power(SMALL, 0.15, analyse=analysis(correction="Holm"), studies=200).power < alone
    contrast = power(SMALL, 0.15, analyse=analysis("contrast"), studies=200).power
    assert (
        power(SMALL, 0.15, analyse=analysis("contrast", correction="Holm"), studies=200).power
        <= contrast
        < alone
    )


def test_the_number_of_studies_does_not_change_the_first_ones():
    seen = {}
    for studies in (150, 230):
        collected = []

        def collect(drawn, collected=collected):
            collected.append(drawn.pre)
            return np.ones(len(drawn.pre))

        power(Design((2,), 3), 0.0, analyse=collect, studies=studies)
        seen[studies] = np.concatenate(collected)
        assert len(seen[studies]) == studies
    assert np.array_equal(seen[150], seen[230][:150], equal_nan=True)


def test_studies_without_a_test_count_as_not_found():
    found = power(Design((1,), 4), 0.2, studies=20)
    assert (found.power, found.untested) == (0, 20)


def test_the_detectable_effect_has_the_power_wanted():
    found = detectable_effect(SMALL, studies=200)
    assert found.low < found.effect < found.high
    assert power(SMALL, found.effect, studies=200).power == pytest.approx(0.8, abs=0.03)
    assert found.effect == pytest.approx(0.17, abs=0.02)  # printed: 17 points
    tiny = detectable_effect(Design((3, 3), 4), studies=40)
    assert (tiny.effect, tiny.high) == (None, None)


def test_the_participants_needed_have_the_power_wanted():
    design = Design((1, 1), 24)
    found = needed_participants(design, 0.2, studies=100)
    assert power(Design((found, found), 24), 0.2, studies=100).power >= 0.8
    assert power(Design((found - 1,) * 2, 24), 0.2, studies=100).power < 0.8
    assert needed_participants(design, 0.01, most=5, studies=20) is None


def test_binomial_interval_is_clopper_and_pearsons():
    for found, tried in ((0, 20), (7, 20), (20, 20), (51, 1000)):
        expected = stats.binomtest(found, tried).proportion_ci(0.95, "exact")
        assert binomial_interval(found, tried) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: power(SMALL, 0.1, studies=0), "number of simulated studies is 0"),
        (lambda: detectable_effect(SMALL, wanted=80), "power wanted is 80"),
        (lambda: power(Design((5,), 8), 0.1, analyse=analysis("contrast"), studies=5), "needs a control"),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()


def test_json():
    assert json.loads(json.dumps(power(Design((3,), 4), 0.1, studies=5).to_dict()))["studies"] == 5
    assert "effect" in json.loads(json.dumps(detectable_effect(Design((3, 3), 4), studies=5).to_dict()))


def test_a_design_of_ten_thousand_people_is_simulated_in_little_memory():
    tracemalloc.start()
    try:
        found = power(Design((2500,) * 4, 16), 0.25, studies=6)
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    assert found.power == 1
