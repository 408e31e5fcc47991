"""Holm's correction: by hand, against statsmodels, its laws, and the family-wise rate that it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.stats import holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_by_hand():
    # Sorted .01 .02 .03 .04: 4 x .01 = .04, 3 x .02 = .06, 2 x .03 = .06, and 1 x .04 is lifted to .06.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.6]).tolist() == [1.0, 1.0]
    assert holm([0.03]).tolist() == [0.03]
    assert holm([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert holm([]).tolist() == []


def test_tests_that_were_not_made_stay_and_do_not_count():
    corrected = holm([0.01, None, 0.03, float("nan")])
    assert corrected[[0, 2]] == pytest.approx([0.02, 0.03])
    assert np.isnan(corrected[[1, 3]]).all()
    assert np.isnan(holm([None, None])).all()


def test_equal_to_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 10, 45, 200):
        p = rng.random(size) ** 3
        p[: size // 3] = np.round(p[: size // 3], 1)  # ties and zeros
        rejected, expected, _, _ = multitest.multipletests(p, alpha=0.05, method="holm")
        assert holm(p) == pytest.approx(expected, rel=1e-14, abs=0)
        assert np.array_equal(holm(p) <= 0.05, rejected)


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("inf")])
def test_what_is_no_probability_is_refused_with_its_place(bad):
    with pytest.raises(VeraxError, match=r"P-value 2 of 3 is .*from 0 to 1"):
        holm([0.5, bad, None])


@settings(max_examples=50)
@given(p_values)
def test_never_below_the_raw_value_and_in_its_order(p):
    corrected = holm(p)
    raw = np.array(p)
    ascending = np.argsort(raw, kind="stable")
    assert (corrected >= raw).all()
    assert (corrected <= np.minimum(1, len(p) * raw)).all()  # never worse than Bonferroni
    assert (np.diff(corrected[ascending]) >= 0).all()
    assert corrected[ascending[0]] == min(1, len(p) * raw.min())


@settings(max_examples=50)
@given(p_values, st.randoms(use_true_random=False))
def test_the_order_of_tests_does_not_matter(p, shuffler):
    places = list(range(len(p)))
    shuffler.shuffle(places)
    assert np.array_equal(holm([p[place] for place in places]), holm(p)[places])


@settings(max_examples=50)
@given(p_values, st.integers(0, 5), st.floats(0, 1))
def test_a_smaller_p_never_makes_any_corrected_p_larger(p, place, factor):
    smaller = p.copy()
    smaller[place % len(p)] *= factor
    assert (holm(smaller) <= holm(p)).all()
