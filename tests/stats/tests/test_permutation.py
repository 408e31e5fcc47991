"""Permutation tests: against enumeration one arrangement at a time, their least p, draws, strata, bad calls."""

from __future__ import annotations

import json
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from verax.errors import VeraxError
from verax.stats.tests.permutation import label_permutation, sign_flip


def enumerated_flips(values):
    observed = abs(np.sum(values))
    sums = [abs(np.dot(signs, values)) for signs in product((1, -1), repeat=len(values))]
    return np.mean([total >= observed - 1e-9 for total in sums])


@pytest.mark.parametrize("n", [1, 2, 5, 8, 11])
@pytest.mark.parametrize("decimals", [1, 8])
def test_sign_flips_are_all_counted(n, decimals):
    values = np.round(np.random.default_rng(n).normal(0.3, 1, n), decimals)  # one decimal makes ties
    found = sign_flip(values)
    assert found.p == pytest.approx(enumerated_flips(values), rel=1e-12)
    assert (found.exact, found.arrangements, found.n) == (True, 2**n, n)


def test_thirty_two_participants_are_still_exact():
    # All equal: only all signs alike are as extreme.
    found = sign_flip(np.full(32, 0.1))
    assert (found.p, found.exact) == (2.0**-31, True)
    values = np.random.default_rng(0).normal(0.35, 1, 30)
    drawn = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    )
    assert sign_flip(values).p == pytest.approx(drawn.pvalue, abs=0.005)


@pytest.mark.parametrize(("n", "least"), [(5, 0.0625), (6, 0.03125)])
def test_five_participants_cannot_reach_five_percent(n, least):
    found = sign_flip(np.arange(1, n + 1))
    assert found.p == found.smallest == least


def test_zeros_and_no_effect_give_one():
    assert sign_flip([0.0, 0.0, 0.0]).p == 1
    assert sign_flip([1.0, -1.0]).p == 1


def test_many_participants_are_drawn_with_the_observed_one_counted():
    values = np.random.default_rng(2).normal(0.2, 1, 60)
    found = sign_flip(values, seed=3)
    assert (found.exact, found.arrangements) == (False, 9999)
    assert found.p == sign_flip(values, seed=3).p
    assert found.p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.02)
    assert sign_flip(np.ones(60)).p == 1 / 10_000


def enumerated_labels(groups):
    """P over the product of all choices in each stratum, one at a time."""

    def difference(values, chosen):
        marked = np.isin(np.arange(len(values)), chosen)
        return values[marked].mean() - values[~marked].mean()

    observed = np.mean([difference(values, np.flatnonzero(labels)) for values, labels in groups])
    choices = [list(combinations(range(len(values)), int(labels.sum()))) for values, labels in groups]
    sums = [
        np.mean([difference(values, chosen) for (values, _), chosen in zip(groups, several, strict=True)])
        for several in product(*choices)
    ]
    return np.mean([abs(total) >= abs(observed) - 1e-9 for total in sums]), len(sums), observed


@pytest.mark.parametrize(("first", "second"), [(4, 4), (3, 4), (2, 7)])
def test_labels_of_two_methods_are_all_counted(first, second):
    rng = np.random.default_rng(first)
    values = np.round(rng.normal(0, 1, first + second), 1)
    labels = np.arange(first + second) < first
    found = label_permutation(values, labels)
    p, number, observed = enumerated_labels([(values, labels)])
    assert (found.p, found.arrangements, found.exact) == (pytest.approx(p), number, True)
    assert found.statistic == pytest.approx(observed)


def test_labels_are_exchanged_inside_strata_only():
    rng = np.random.default_rng(5)
    strata = ["a"] * 6 + ["b"] * 5
    # The strata differ a lot: exchanging labels between them would drown the difference.
    values = rng.normal(0, 1, 11) + np.repeat([0, 50], [6, 5])
    labels = np.array([1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0], dtype=bool)
    values[labels] += 3
    groups = [(values[:6], labels[:6]), (values[6:], labels[6:])]
    p, number, observed = enumerated_labels(groups)
    shuffled = rng.permutation(11)
    found = label_permutation(values[shuffled], labels[shuffled], [strata[i] for i in shuffled])
    assert (found.p, found.arrangements) == (pytest.approx(p), number)
    assert found.statistic == pytest.approx(observed)
    assert found.p < 0.1 < label_permutation(values, labels).p


def test_a_stratum_of_one_method_only_says_nothing():
    values, labels = np.array([1.0, 2.0, 0.5, 0.1, 9.0, 9.0]), np.array([1, 1, 0, 0, 1, 1], dtype=bool)
    found = label_permutation(values, labels, list("aaaabb"))
    assert (found.statistic, found.n, found.arrangements) == (pytest.approx(1.2), 4, 6)


@pytest.mark.parametrize(("first", "second", "least"), [(4, 4, 2 / 70), (3, 3, 0.1), (3, 4, 1 / 35)])
def test_the_least_p_of_small_groups(first, second, least):
    values = np.concatenate([np.full(first, 5.0), np.arange(second) / 10])
    found = label_permutation(values, np.arange(first + second) < first)
    assert found.smallest == pytest.approx(least)
    assert found.p == pytest.approx(least)


def test_many_arrangements_are_drawn():
    rng = np.random.default_rng(6)
    values, labels = rng.normal(0, 1, 40), np.arange(40) < 20
    values[labels] += 0.5
    found = label_permutation(values, labels, seed=1)
    assert (found.exact, found.arrangements) == (False, 9999)
    assert found.p == pytest.approx(stats.ttest_ind(values[:20], values[20:]).pvalue, abs=0.02)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sign_flip([]), "no score to test"),
        (lambda: label_permutation([1.0, 2.0], [True, True]), "2 participants of the first method and 0"),
        (lambda: label_permutation([1.0, 2.0], [True, False], ["a"]), "1 strata for 2 scores"),
        (lambda: label_permutation([1.0, 2.0], [True, False, True]), "3 labels for 2 scores"),
        (lambda: label_permutation([1.0, 2.0, 3.0], [True, False]), "2 labels for 3 scores"),
        (lambda: sign_flip([1.0, np.nan]), "Value 2 of 2 is nan"),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()


def test_json():
    assert json.loads(json.dumps(sign_flip([1.0, 2.0, 3.0]).to_dict()))["p"] == 0.25
