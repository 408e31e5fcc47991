"""Units that share parts: the formula by loops, its limits, and coverage in simulated runs of few words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from verax.stats.means import mean_share, sharing, spread_of_mean

WORDS = "abcdefghi"


def test_parts_of_one_unit_alone_are_one_part():
    found = sharing(["ab", "bc", "de", "ab"])
    assert found.parts == 5
    # b and a are shared; c is the second unit's own, d and e are the third's.
    assert sorted(found.keys) == ["a", "b", "c", "d"]
    half = np.sqrt(0.5)
    columns = dict(zip(found.keys, found.member.T.tolist(), strict=True))
    assert columns["a"] == pytest.approx([half, 0, 0, half])
    assert columns["b"] == pytest.approx([half, half, 0, half])
    assert columns["c"] == pytest.approx([0, half, 0, 0])
    assert columns["d"] == pytest.approx([0, 0, 1, 0])
    # All 36 pairs of nine words: each shares one of its two words with 14 others, so 1 + 14 / 2.
    assert sharing(list(combinations(WORDS, 2))).most == pytest.approx(8.0)
    assert sharing(["a", "b", "c"]).most == 1.0


def drawn_units(rng, number):
    pairs = list(combinations(WORDS, 2))
    return [pairs[place] for place in rng.choice(36, number, replace=False)]


@pytest.mark.parametrize("seed", range(4))
def test_contributions_of_parts_add_up_and_are_the_best_guesses_of_their_effects(seed):
    """By another way: effects that minimise squared errors and squared effects together, weighed 0.2 and 0.8."""
    rng = np.random.default_rng(seed)
    units = drawn_units(rng, 16)
    shared, values = sharing(units), rng.normal(size=16)
    member = shared.member
    penalty = 0.2 / 0.8 * np.eye(member.shape[1])
    effects = np.linalg.solve(member.T @ member + penalty, member.T @ values)
    rest = values - member @ effects
    given = [
        sum(member[unit, part] * effects[part] for unit in range(16))
        + sum(rest[unit] / (member[unit] > 0).sum() for unit in range(16) if member[unit, part] > 0)
        for part in range(member.shape[1])
    ]
    assert shared.split @ values == pytest.approx(given)
    assert (shared.split @ values).sum() == pytest.approx(values.sum())


@pytest.mark.parametrize(("carried", "least", "most"), [(1.0, 0.9, 1.1), (0.0, 1.0, 3.5)])
def test_the_variance_is_right_where_words_carry_all_and_never_too_small(carried, least, most):
    """The mean of 4,000 estimates over the true variance of the mean, which follows from who shares what."""
    rng = np.random.default_rng(5)
    shared = sharing(drawn_units(rng, 16))
    parts = shared.member.shape[1]
    values = np.sqrt(carried) * rng.normal(size=(4000, parts)) @ shared.member.T + np.sqrt(
        1 - carried
    ) * rng.normal(size=(4000, 16))
    truth = (carried * (shared.member.sum(axis=0) ** 2).sum() + (1 - carried) * 16) / 16**2
    found = [spread_of_mean(row, shared) for row in values]
    assert least < np.mean([each.variance for each in found]) / truth < most
    # Satterthwaite: the estimates spread as a chi-square of so many degrees of freedom.
    if carried == 1.0:
        estimates = np.array([each.variance for each in found])
        assert found[0].df == pytest.approx(2 * estimates.mean() ** 2 / estimates.var(), rel=0.15)
        assert found[0].df <= parts - 1


def test_units_that_share_nothing_have_the_usual_variance():
    values = np.array([0.2, 0.5, 0.9, 0.4, 0.6])
    usual = values.var(ddof=1) / 5
    for shared, df in ((None, 4), (sharing("abcde"), 4), (sharing(["ab", "cd", "ef", "gh", "ij"]), 4)):
        found = spread_of_mean(values, shared)
        assert (found.variance, found.df, found.design_effect) == (pytest.approx(usual), df, 1.0)


def test_what_cannot_be_told_is_not_told():
    assert spread_of_mean(np.array([0.5])).variance is None
    every = sharing(["ab"] * 5)  # all units made of the same parts: nothing shows what other parts would do
    assert spread_of_mean(np.array([0.1, 0.5, 0.9, 0.2, 0.4]), every).variance is None
    same = spread_of_mean(np.full(36, 0.5), sharing(list(combinations(WORDS, 2))))
    assert (same.variance, same.df) == (0.0, pytest.approx(8))


@pytest.mark.parametrize(("units", "least_gain"), [(35, 25), (16, 10)])
def test_it_holds_the_truth_where_the_usual_interval_does_not(units, least_gain):
    """Nine words; bounded values, of which words carry 60% of the variance on the log-odds scale.

    In 4,000 such runs of 16 stains it is 94.0%, and 90.0% for the t interval with the same variance.
    """
    rng = np.random.default_rng(10)
    pairs = np.array(list(combinations(range(9), 2)))
    studies = 500
    truth = (1 / (1 + np.exp(-rng.normal(1.0, 1.0, 400_000)))).mean()
    held = np.zeros(3)
    for _ in range(studies):
        chosen = pairs[rng.choice(36, units, replace=False)]
        logit = 1 + rng.normal(0, np.sqrt(0.3), 9)[chosen].sum(axis=1) + rng.normal(0, np.sqrt(0.4), units)
        values = 1 / (1 + np.exp(-logit))
        shared = sharing(chosen.tolist())
        found, share = spread_of_mean(values, shared), mean_share(values, shared)
        miss = abs(values.mean() - truth)
        held += (
            share.low <= truth <= share.high,
            miss <= stats.t.ppf(0.975, found.df) * np.sqrt(found.variance),
            miss <= stats.t.ppf(0.975, units - 1) * values.std(ddof=1) / np.sqrt(units),
        )
    within, aware, usual = 100 * held / studies
    assert within > 91
    assert aware - usual > least_gain
