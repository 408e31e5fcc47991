"""Chosen sets against random ones: counted by hand, and never bold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import against_random_sets, holm_of_possible


def test_p_is_the_share_of_combinations_that_reach_as_much():
    pools = [[0.0, 1.0, 2.0], [0.0, 0.0, 5.0, 1.0]]
    found = against_random_sets([2.0, 1.0], pools)
    by_hand = np.mean([a + b >= 3.0 for a, b in product(*pools)])
    assert found.p == pytest.approx(by_hand)
    assert found.smallest == pytest.approx(1 / 12)
    assert (found.exact, found.n) == (True, 2)
    assert found.excess == pytest.approx(((2 - 1.0) + (1 - 1.5)) / 2)


def test_equal_values_count_as_reaching_it_whatever_their_rounding():
    pool = [0.1 + 0.2, 0.3, 0.3, 0.3]
    assert against_random_sets([0.3], [pool]).p == 1.0
    assert against_random_sets([0.3] * 3, [pool] * 3).p == 1.0


def test_drawn_combinations_agree_with_counted_ones():
    rng = np.random.default_rng(0)
    pools = [rng.normal(size=11) for _ in range(4)]
    chosen = [np.sort(pool)[-4] for pool in pools]
    counted = against_random_sets(chosen, pools)
    drawn = against_random_sets(chosen, [np.repeat(pool, 4) for pool in pools], draws=40_000)
    assert counted.exact
    assert not drawn.exact
    assert drawn.p == pytest.approx(counted.p, abs=4 * np.sqrt(counted.p / 40_000))


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_a_random_choice_is_seldom_called_better(n):
    """At any number of inputs, with many ties."""
    rng = np.random.default_rng(n)
    hits = 0
    for run in range(400):
        pools = [rng.choice([0.0, 0.0, 0.0, 1.0, 5.0], size=30) for _ in range(n)]
        chosen = [pool[rng.integers(len(pool))] for pool in pools]
        hits += against_random_sets(chosen, pools, seed=run, draws=499).p <= 0.05
    assert hits / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_more_inputs_never_weaken_the_best_choice():
    pools = [[0.0, 0.0, 0.0, 0.0, 1.0]] * 8
    p_values = [against_random_sets([1.0] * n, pools[:n]).p for n in range(1, 9)]
    assert p_values == sorted(p_values, reverse=True)
    assert p_values[0] == pytest.approx(0.2)
    assert p_values[1] == pytest.approx(0.04)


def test_tests_that_cannot_show_anything_take_nothing_from_the_others():
    assert holm_of_possible([0.02, 0.5, 0.5, 0.5], [0.001, 0.5, 0.5, 0.5]).tolist() == [0.02, 1.0, 1.0, 1.0]
    p_values, smallest = [0.01, 0.04, 0.03], [0.001] * 3
    assert holm_of_possible(p_values, smallest).tolist() == holm(p_values).tolist()
    # Two that could reach .02 alone cannot after correction over both, so that only the third counts.
    assert holm_of_possible([0.02, 0.02, 0.01], [0.03, 0.03, 0.001])[2] == pytest.approx(0.01)
    assert holm_of_possible([], []).tolist() == []


def test_what_does_not_fit_is_a_sentence():
    with pytest.raises(VeraxError, match="no input to test"):
        against_random_sets([], [])
    with pytest.raises(VeraxError, match="1 pools for 2 chosen sets"):
        against_random_sets([1.0, 2.0], [[1.0, 2.0]])
