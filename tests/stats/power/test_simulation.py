"""Simulated studies: printed constants, the effect in points that was asked for, designs, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.logistic import mean_accuracy
from verax.stats.power import Design, Spreads, simulate, solve_base, solve_shifts

DESIGN = Design((20, 20), 32)


def test_the_printed_constants():
    assert solve_base(DESIGN, Spreads()) == pytest.approx(0.873422, abs=1e-6)
    assert solve_shifts(DESIGN, Spreads(), (0.0, 0.08)) == pytest.approx([0.030270, 0.540801], abs=1e-6)


def test_no_shift_in_log_odds_is_half_a_point_less_accuracy():
    base = solve_base(DESIGN, Spreads())
    fall = mean_accuracy(base, Spreads().after(0)) - mean_accuracy(base, Spreads().before())
    assert fall == pytest.approx(-0.005, abs=5e-4)


def test_mean_accuracy_is_the_integral():
    x = np.linspace(-12, 12, 200_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    for log_odds, spread in ((0.9, 1.3), (-2.0, 0.4), (3.0, 2.0)):
        expected = np.trapezoid(density / (1 + np.exp(-log_odds - spread * x)), x)
        assert mean_accuracy(log_odds, spread) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("design", "spreads", "effects"),
    [
        (Design((4, 4), 8), Spreads(), (0.0, 0.08)),
        (Design((4, 4), 8, accuracy=0.8, missing=0.2), Spreads(item_method=0.8), (0.1, -0.05)),
        (Design((4, 4), 8, memory=0.5), Spreads(person_change=(0.9, 0.2)), (0.0, 0.1)),
    ],
)
def test_accuracy_and_effects_are_those_asked_for(design, spreads, effects):
    drawn = simulate(design, effects, spreads, studies=6000, seed=1)
    per_study = np.nanmean(drawn.pre, axis=(1, 2))
    assert per_study.mean() == pytest.approx(design.accuracy, abs=4 * per_study.std() / np.sqrt(6000))
    for method, wanted in enumerate(effects):
        change = np.nanmean(drawn.change[:, drawn.method == method], axis=(1, 2))
        assert change.mean() == pytest.approx(wanted, abs=4 * change.std() / np.sqrt(6000))
        truth = drawn.item_change[:, method]
        assert truth.mean() == pytest.approx(wanted, abs=4 * truth.std() / np.sqrt(6000))
        # What is true of these items is what many people would show on them.
        assert np.corrcoef(truth, change)[0, 1] > 0.05
    assert np.isnan(drawn.pre).mean() == pytest.approx(design.missing, abs=0.01)
    assert np.array_equal(np.isnan(drawn.pre), np.isnan(drawn.post))


def test_the_true_change_on_these_items_is_what_very_many_people_show():
    drawn = simulate(Design((20_000,), 6, missing=0.0), 0.05, seed=3)
    assert drawn.change[0].mean() == pytest.approx(drawn.item_change[0, 0], abs=0.01)


def test_items_move_all_methods_together_by_the_printed_spread():
    drawn = simulate(Design((1,) * 2, 16), studies=3000, seed=2)
    assert drawn.item_change.std() == pytest.approx(0.019, abs=0.001)
    assert np.corrcoef(drawn.item_change.T)[0, 1] > 0.99


def test_halves_of_tests():
    drawn = simulate(Design((10,), 64, missing=0.0, tests=2, halves=0.5), studies=50, seed=0)
    counts = (~np.isnan(drawn.pre)).reshape(50, 10, 2, 32).sum(axis=3)
    assert set(np.unique(counts)) == {16, 32}
    assert counts.mean() == pytest.approx(24, abs=1.5)


def test_the_same_seed_gives_the_same_people_and_items_for_every_effect():
    none, some = (simulate(DESIGN, effect, studies=3, seed=7) for effect in (0.0, 0.2))
    assert np.array_equal(none.pre, some.pre, equal_nan=True)
    known = ~np.isnan(none.post)
    assert (some.post[known] >= none.post[known]).all()
    assert np.array_equal(none.post[:, 20:], some.post[:, 20:], equal_nan=True)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Design((), 8), r"\(\) participants per method"),
        (lambda: Design((4, 0), 8), "at least 1"),
        (lambda: Design((4,), 8, accuracy=66), "Accuracy 66"),
        (lambda: Design((4,), 9, tests=2), "9 items cannot be split into 2 tests"),
        (lambda: simulate(DESIGN, (0.1,)), "1 effects for 2 methods"),
        (lambda: simulate(DESIGN, 8.0), "such as 0.08 for 8 points"),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()
