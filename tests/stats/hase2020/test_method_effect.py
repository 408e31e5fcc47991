"""The random effect of a method: against a plain maximisation of the likelihood, on hard cases, and its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special
from scipy.optimize import brentq, minimize

from verax.errors import VeraxError
from verax.stats.hase2020.changes import SINGULAR, method_effects


def plain_mode(n, s, b0, sigma):
    """v that maximises s·eta - n·log(1 + e^eta) - v²/2 with eta = b0 + sigma·v."""
    bound = sigma * max(n, 1) + 1
    return brentq(lambda v: sigma * (s - n * special.expit(b0 + sigma * v)) - v, -bound, bound, xtol=1e-14)


def plain_log_likelihood(n, s, b0, sigma):
    """Laplace's approximation as in the description of the published analysis, one method after the other."""
    total = 0.0
    for answers, right in zip(n, s, strict=True):
        v = plain_mode(answers, right, b0, sigma)
        eta = b0 + sigma * v
        p = 1 / (1 + math.exp(-eta))
        total += right * eta - answers * np.logaddexp(0, eta) - v**2 / 2
        total -= math.log(1 + sigma**2 * answers * p * (1 - p)) / 2
    return total


def log_likelihood(n, s, b0, sigma):
    """The same for many rows of counts at once, the modes by halving."""
    n, s = np.atleast_2d(n).astype(float), np.atleast_2d(s).astype(float)
    b0, sigma = (np.reshape(values, (-1, 1)).astype(float) for values in (b0, sigma))
    low, high = -sigma * n - 1, sigma * n + 1
    for _ in range(80):
        v = (low + high) / 2
        below = sigma * (s - n * special.expit(b0 + sigma * v)) > v
        low, high = np.where(below, v, low), np.where(below, high, v)
    eta = b0 + sigma * v
    p = special.expit(eta)
    terms = s * eta - n * np.logaddexp(0, eta) - v**2 / 2 - np.log(1 + sigma**2 * n * p * (1 - p)) / 2
    return terms.sum(axis=1)


def test_both_ways_to_the_likelihood_agree():
    n, s = [55, 44, 7, 3, 432], [52, 42, 7, 0, 378]
    for b0, sigma in ((0.2, 0.0), (1.5, 0.4), (-1.0, 3.0)):
        assert log_likelihood(n, s, b0, sigma)[0] == pytest.approx(
            plain_log_likelihood(n, s, b0, sigma), abs=1e-9
        )


def plain_fit(n, s):
    """The best (b0, sigma) by a general optimiser from several starts, and the probabilities at the modes."""
    share = sum(s) / sum(n)
    starts = [(math.log(share / (1 - share)), sigma) for sigma in (0.05, 0.3, 1.0)]
    runs = [
        minimize(
            lambda x: -plain_log_likelihood(n, s, x[0], abs(x[1])),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-8, "fatol": 1e-12, "maxiter": 2000},
        )
        for start in starts
    ]
    b0, sigma = min(runs, key=lambda run: run.fun).x
    sigma = abs(sigma)
    modes = [b0 + sigma * plain_mode(answers, right, b0, sigma) for answers, right in zip(n, s, strict=True)]
    return b0, sigma, [1 / (1 + math.exp(-eta)) for eta in modes]


def paper_counts(seed, spread=0.25):
    rng = np.random.default_rng(seed)
    n = rng.integers(120, 300, 5)
    return n, rng.binomial(n, 1 / (1 + np.exp(-(0.7 + spread * rng.normal(size=5)))))


@pytest.mark.parametrize("seed", range(6))
def test_equal_to_a_general_optimiser_on_counts_of_the_papers_size(seed):
    n, s = paper_counts(seed)
    found = method_effects(n, s)
    b0, sigma, probability = plain_fit(n.tolist(), s.tolist())
    assert found.probability[0] == pytest.approx(probability, abs=1e-6)
    assert found.intercept[0] == pytest.approx(b0, abs=1e-5)
    assert found.spread[0] == pytest.approx(sigma, abs=1e-4)
    value = log_likelihood(n, s, found.intercept, found.spread)[0]
    assert value >= plain_log_likelihood(n.tolist(), s.tolist(), b0, sigma) - 1e-9


@pytest.mark.parametrize(
    ("n", "s"),
    [
        ([55, 44, 7, 3, 432], [52, 42, 7, 0, 378]),
        ([192, 288, 11, 14, 42], [129, 184, 4, 4, 23]),
        ([448, 2, 38, 12, 280], [214, 1, 11, 12, 124]),
        ([35, 416, 24, 52, 39], [26, 312, 13, 46, 28]),
    ],
)
def test_of_two_hills_the_higher_one_is_found(n, s):
    """Here a climb from small spreads ends at 0, though a spread far from 0 is likelier."""
    found = method_effects(n, s)
    assert found.spread[0] > 0.1
    assert found.probability[0] == pytest.approx(plain_fit(n, s)[2], abs=1e-5)


def test_no_point_of_a_grid_is_higher_in_hundreds_of_uneven_tables():
    rng = np.random.default_rng(1)
    n = rng.integers(0, 60, (400, 5)) * rng.choice([1, 1, 8], (400, 5))
    s = rng.binomial(
        n, 1 / (1 + np.exp(-(0.5 + rng.choice([0.0, 0.3, 1.5], (400, 1)) * rng.normal(size=n.shape))))
    )
    found = method_effects(n, s)
    n, s = n[found.fitted], s[found.fitted]
    top = log_likelihood(n, s, found.intercept[found.fitted], found.spread[found.fitted])
    for b0 in np.linspace(-2, 3, 21):
        for sigma in (0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3):
            assert (log_likelihood(n, s, b0, sigma) <= top + 1e-8).all()


def test_near_the_likelihood_integrated_exactly():
    """Laplace's approximation of 30 answers a method is within a few thousandths of the integral."""
    n, s, b0, sigma = [30, 40, 35], [20, 31, 18], 0.6, 0.5

    def one(answers, right):
        def density(v):
            eta = b0 + sigma * v
            return math.exp(right * eta - answers * np.logaddexp(0, eta) - v**2 / 2) / math.sqrt(2 * math.pi)

        return math.log(integrate.quad(density, -8, 8, epsabs=0)[0])

    exact = sum(one(*counts) for counts in zip(n, s, strict=True))
    assert log_likelihood(n, s, b0, sigma)[0] == pytest.approx(exact, abs=0.01)


def test_by_hand_two_equal_methods_are_singular_at_the_common_share():
    found = method_effects([[10, 30]], [[5, 15]])
    assert found.singular.tolist() == [True]
    assert found.spread.tolist() == [0.0]
    assert found.intercept[0] == pytest.approx(0.0, abs=1e-9)
    assert found.probability[0] == pytest.approx([0.5, 0.5], abs=1e-9)


def test_singular_exactly_where_the_likelihood_falls_from_spread_0_on():
    # At 0 the slope by the variance is half the sum of r² - w: with shares a, b of 100 answers it changes its sign
    # where (a - b)² = 2 w / 100².
    for right, singular in ((54, True), (60, False)):
        found = method_effects([100, 100], [50, right])
        share = (50 + right) / 200
        slope = 2 * ((50 - 100 * share) ** 2 - 100 * share * (1 - share))
        assert (slope <= 0) == singular == bool(found.singular[0])
        assert (found.spread[0] < SINGULAR) == singular


def test_extreme_methods_stay_finite():
    found = method_effects([[20, 20, 20], [1, 1, 1], [500, 500, 2]], [[20, 20, 0], [1, 0, 1], [500, 499, 0]])
    assert found.fitted.all()
    assert np.isfinite(found.probability).all()
    assert ((found.probability > 0) & (found.probability < 1)).all()


def test_what_cannot_be_fitted_is_said_and_the_rest_is_fitted():
    n = [[10, 10], [10, 10], [10, 0], [0, 0], [10, 10]]
    s = [[10, 10], [0, 0], [5, 0], [0, 0], [9, 2]]
    found = method_effects(n, s)
    assert found.fitted.tolist() == [False, False, False, False, True]
    assert np.isnan(found.probability[:4]).all()
    assert not found.singular[:4].any()
    assert found.probability[4] == pytest.approx(method_effects(n[4], s[4]).probability[0], abs=1e-12)


def test_one_table_alone_equals_itself_among_thousands():
    rng = np.random.default_rng(3)
    n = rng.integers(50, 400, (2000, 5))
    s = rng.binomial(n, np.clip(0.66 + 0.04 * rng.normal(size=n.shape), 0, 1))
    together = method_effects(n, s)
    for row in (0, 7, 1999):
        alone = method_effects(n[row], s[row])
        assert alone.probability[0] == pytest.approx(together.probability[row], abs=1e-9)
        assert alone.singular[0] == together.singular[row]


tables = st.lists(
    st.tuples(st.integers(1, 60), st.floats(0, 1)).map(lambda pair: (pair[0], round(pair[0] * pair[1]))),
    min_size=2,
    max_size=6,
).filter(lambda rows: 0 < sum(s for _, s in rows) < sum(n for n, _ in rows))


@settings(max_examples=30, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_order_empty_methods_and_names_of_right_and_wrong_do_not_matter(rows, shuffler):
    n, s = np.array(rows).T
    found = method_effects(n, s).probability[0]
    order = list(range(len(n)))
    shuffler.shuffle(order)
    assert method_effects(n[order], s[order]).probability[0] == pytest.approx(found[order], abs=1e-6)
    assert 1 - method_effects(n, n - s).probability[0] == pytest.approx(found, abs=1e-6)
    with_empty = method_effects(np.append(n, 0), np.append(s, 0)).probability[0]
    assert with_empty[:-1] == pytest.approx(found, abs=1e-6)
    assert np.isnan(with_empty[-1])


@settings(max_examples=30, deadline=None)
@given(tables)
def test_every_method_is_drawn_towards_the_common_share(rows):
    n, s = np.array(rows).T
    found = method_effects(n, s)
    centre = 1 / (1 + math.exp(-found.intercept[0]))
    raw = s / n
    assert (np.abs(found.probability[0] - centre) <= np.abs(raw - centre) + 1e-7).all()
    assert ((found.probability[0] - centre) * (raw - centre) >= -1e-7).all()


def test_impossible_counts_are_refused_with_their_place():
    with pytest.raises(VeraxError, match=r"Row 2, method 1 has 11 right of 10 answers \(1 such in all\)"):
        method_effects([[10, 10], [10, 10]], [[5, 5], [11, 5]])
    with pytest.raises(VeraxError, match=r"shape \(1, 2\), those of right answers \(1, 3\)"):
        method_effects([10, 10], [5, 5, 5])
