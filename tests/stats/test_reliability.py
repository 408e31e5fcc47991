"""Alpha and omega against numbers by hand, a population whose omega is known, and statsmodels' factor analysis."""

from __future__ import annotations

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.agreement import _omegas, cronbach_alpha, mcdonald_omega

# Five people, three items.
BY_HAND = np.array([[1, 1, 1], [2, 4, 2], [1, 2, 1], [3, 3, 4], [3, 4, 3]], dtype=float)


def test_alpha_by_hand():
    items = [1.0, 1.7, 1.7]  # variances, divisor 4
    assert [float(column.var(ddof=1)) for column in BY_HAND.T] == pytest.approx(items)
    total = 11.0  # of 3, 8, 4, 10, 10: mean 7, squares 16 + 1 + 9 + 9 + 9 = 44
    assert float(BY_HAND.sum(axis=1).var(ddof=1)) == pytest.approx(total)
    found = cronbach_alpha(BY_HAND)
    assert found.estimate == pytest.approx(3 / 2 * (1 - sum(items) / total))
    # Feldt: F with 4 and 8 degrees of freedom, 5.053 at 97.5% and 1 / 8.980 at 2.5% (tables).
    assert found.low == pytest.approx(1 - (1 - found.estimate) * 5.053, abs=1e-3)
    assert found.high == pytest.approx(1 - (1 - found.estimate) / 8.980, abs=1e-3)


def test_omega_of_a_population_with_one_factor_is_what_its_loadings_make():
    loadings, rests = np.array([0.9, 0.7, 0.5, 0.4]), np.array([0.3, 0.5, 0.2, 1.0])
    covariance = np.outer(loadings, loadings) + np.diag(rests)
    assert _omegas(covariance[np.newaxis])[0] == pytest.approx(2.5**2 / (2.5**2 + 2.0), abs=1e-6)


def answers(people: int, items: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(people, 1)) * np.linspace(0.4, 1.2, items)
    return np.round(4 + factor + rng.normal(size=(people, items)))


@pytest.mark.parametrize(("people", "items"), [(60, 3), (80, 8), (200, 12)])
def test_omega_is_that_of_an_independent_factor_analysis(people, items):
    from statsmodels.multivariate.factor import Factor

    table = answers(people, items, seed=people)
    fitted = Factor(table, n_factor=1, method="pa", smc=True).fit(maxiter=5000, tol=1e-10)
    loadings = fitted.loadings[:, 0] * table.std(axis=0, ddof=1)
    rests = fitted.uniqueness * table.var(axis=0, ddof=1)
    expected = loadings.sum() ** 2 / (loadings.sum() ** 2 + rests.sum())
    assert mcdonald_omega(table).estimate == pytest.approx(expected, abs=1e-4)


def test_intervals_hold_the_truth_and_the_same_seed_gives_the_same():
    table = answers(120, 5, seed=1)
    omega, again = mcdonald_omega(table, seed=3), mcdonald_omega(table, seed=3)
    assert omega == again
    assert omega.low < omega.estimate < omega.high <= 1
    alpha = cronbach_alpha(table)
    assert alpha.low < alpha.estimate < alpha.high


def test_items_that_are_the_same_are_wholly_reliable():
    same = np.repeat(np.arange(12.0)[:, np.newaxis], 4, axis=1)
    assert cronbach_alpha(same).estimate == pytest.approx(1)
    assert mcdonald_omega(same).estimate == pytest.approx(1)


def test_too_little_is_nothing_and_holes_are_a_sentence():
    assert cronbach_alpha(np.ones((5, 3))).estimate is None
    assert mcdonald_omega(np.arange(10.0).reshape(5, 2)).estimate is None
    with pytest.raises(VeraxError, match="leave out people with a missing one"):
        cronbach_alpha([[1, np.nan], [2, 3]])
