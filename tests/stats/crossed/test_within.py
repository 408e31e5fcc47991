"""Conditions compared within people: by hand, against scipy, calibrated, and what cannot be said."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verax.errors import VeraxError
from verax.run.threads import one_thread
from verax.stats.crossed.between import changes
from verax.stats.crossed.within import (
    ConditionResponses,
    condition_differences,
    condition_means,
    difference_claims,
    item_components,
    lead,
    met,
)
from verax.stats.mixed.differences import linear_differences, logistic_differences
from verax.stats.power import Design, Spreads, simulate
from verax.stats.responses import responses

# Four people, four items: the first two people meet items 0, 1 under a and 2, 3 under b, the others the other way.
HAND_CONDITION = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
HAND_VALUE = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 1], [0, 0, 1, 0]], dtype=float)


@pytest.fixture(autouse=True)
def _alone():
    """Matrices are small: on a busy machine several threads wait for each other much longer than they work."""
    with one_thread():
        yield


def laid_out(condition, value):
    people, items = np.nonzero(condition >= 0)
    names = np.array(["a", "b", "c"])[condition[people, items]]
    return met(people, items, names, value[people, items])


def latin(people, per_group, conditions=3):
    """People in turn meet group g under condition (g + person) mod conditions."""
    group = np.repeat(np.arange(conditions), per_group)
    return (group[None] + np.arange(people)[:, None]) % conditions


def test_where_nothing_varies_there_is_an_estimate_and_no_test():
    rows = laid_out(HAND_CONDITION, (HAND_CONDITION == 0).astype(float))
    (one,) = condition_differences(rows, [("a", "b")])
    assert one.estimate == 1.0
    assert one.se is None
    assert one.p is None
    assert not one.enough
    assert any("no interval" in said for said in one.warnings)


def test_the_variance_is_that_of_the_differences_plus_what_items_share():
    value = HAND_VALUE.copy()
    value[3] = [0, 1, 1, 1]  # d = 1/2, 1/2, 1/2, 1/2 -> person 3: 1 - 1/2
    value[1] = [1, 1, 0, 0]  # person 1: 1 - 0 = 1
    rows = laid_out(HAND_CONDITION, value)
    claim = difference_claims(rows, 0, 1)
    d = np.array([0.5, 1.0, 0.5, 0.5])
    assert claim.estimate[0] == pytest.approx(d.mean())
    assert claim.people[0] == pytest.approx(d.var(ddof=1) / 4)
    # Residuals of a: 0, 0 for all four. Of b: person 0 (items 2, 3): -1/2, +1/2; person 1: 0, 0; people 2 and 3
    # (items 0, 1): -1/2, +1/2 each. Alike pairs: 2 with 3 share 2 items: sum 1/2, in both orders 1.
    # Each alike pair with two common items of two: factor 2 (1 - 1/2 - 1/2 + 2/4) = 1; there are 4 unordered pairs.
    under = [np.where(rows.condition == place, rows.value, np.nan) for place in (0, 1)]
    within, between = item_components(under)
    assert within[0] == pytest.approx(1.0 / 8)
    assert between[0] == pytest.approx(0.0)
    # Items met alike: pairs (0, 1) and (2, 3) under a and b, 2 items of weight 1/4: 1/2 each, 8 ordered of 12 / 2 ...
    same = (2 * 2 * 2 * 2 * 0.25) / 12
    assert claim.variance[0] == pytest.approx(d.var(ddof=1) / 4 + same * (1.0 / 8))


def test_without_common_items_it_is_the_paired_t_test():
    rng = np.random.default_rng(3)
    people, each = 9, 4
    condition = np.full((people, people * each), -1)
    for person in range(people):
        condition[person, person * each : (person + 1) * each] = [0, 0, 1, 1]
    rows = laid_out(condition, rng.normal(size=condition.shape))
    one = condition_differences(rows, [("a", "b")])[0]
    under = [np.where(rows.condition == place, rows.value, np.nan)[0] for place in (0, 1)]
    first, second = (np.nanmean(part, axis=1) for part in under)
    expected = stats.ttest_rel(first, second)
    interval = expected.confidence_interval(0.95)
    assert one.estimate == pytest.approx((first - second).mean())
    assert one.p == pytest.approx(expected.pvalue)
    assert (one.low, one.high) == pytest.approx((interval.low, interval.high))
    assert one.df == pytest.approx(people - 1)


# Everybody meets a, b and c in three sessions of two items each, in one of six orders.
ORDERS = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]])


def in_sessions(rows_filled, per_session=2):
    """The condition and the session of every item of people who fill rows of the square; nobody shares an item."""
    people, each = len(rows_filled), 3 * per_session
    condition = np.full((people, people * each), -1)
    session = np.full((people, people * each), -1)
    for person, row in enumerate(rows_filled):
        own = slice(person * each, (person + 1) * each)
        condition[person, own] = np.repeat(ORDERS[row], per_session)
        session[person, own] = np.repeat([0, 1, 2], per_session)
    return condition, session


def test_a_session_term_is_the_regression_of_peoples_differences_on_sessions():
    rng = np.random.default_rng(5)
    filled = [0, 0, 0, 0, 1, 1, 2, 3, 3, 5]
    condition, session = in_sessions(filled)
    value = rng.normal(size=condition.shape) + 0.5 * session
    people, items = np.nonzero(condition >= 0)
    names = np.array(["a", "b", "c"])[condition[people, items]]
    rows = met(people, items, names, value[people, items], session[people, items])
    (one,) = condition_differences(rows, [("a", "b")])
    # By hand: the columns say how much more of a than of b a person met in the second and in the third session.
    d = np.array(
        [value[p][condition[p] == 0].mean() - value[p][condition[p] == 1].mean() for p in range(len(filled))]
    )
    when = np.argsort(ORDERS[filled], axis=1)  # the session of each condition
    columns = [np.ones(len(d)), *((when[:, 0] == k).astype(float) - (when[:, 1] == k) for k in (1, 2))]
    design = np.stack(columns, axis=1)
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ d
    se = np.sqrt(((d - design @ beta) ** 2).sum() / (len(d) - 3) * inverse[0, 0])
    assert one.estimate == pytest.approx(beta[0])
    assert one.se == pytest.approx(se)
    assert one.df == pytest.approx(len(d) - 3)
    assert one.p == pytest.approx(2 * stats.t.sf(abs(beta[0]) / se, len(d) - 3))
    assert one.p_exact is None


def test_where_every_row_has_as_many_people_a_session_term_changes_no_estimate():
    condition, session = in_sessions([0, 1, 2, 3, 4, 5] * 2)
    value = np.random.default_rng(6).normal(size=condition.shape) + session
    people, items = np.nonzero(condition >= 0)
    given = people, items, condition[people, items], value[people, items]
    without, with_term = (
        condition_differences(met(*given, *more)) for more in ((), (session[people, items],))
    )
    assert [one.estimate for one in with_term] == pytest.approx([one.estimate for one in without])
    assert all(term.se < plain.se for term, plain in zip(with_term, without, strict=True))


def test_sessions_that_cannot_be_told_from_conditions_are_said():
    condition, session = in_sessions([0] * 8)
    value = np.random.default_rng(7).normal(size=condition.shape)
    people, items = np.nonzero(condition >= 0)
    names = np.array(["a", "b", "c"])[condition[people, items]]
    rows = met(people, items, names, value[people, items], session[people, items])
    one = condition_differences(rows, [("a", "b")])[0]
    assert (one.estimate, one.low, one.p, one.enough) == (None, None, None, False)
    assert one.warnings[0] == "a and b were met in such sessions that neither can be told from the other."
    with pytest.raises(VeraxError, match="Conditions and sessions cannot be told apart"):
        linear_differences(rows, [("a", "b")])


def test_practice_passes_for_an_effect_where_rows_are_unequal_unless_sessions_are_accounted_for():
    filled = [0] * 10 + [1] * 2 + [2] * 2 + [3] * 2 + [4] * 2 + [5] * 2
    condition, session = in_sessions(filled)
    rng = np.random.default_rng(8)
    value = rng.normal(size=(400, *condition.shape)) + rng.normal(size=(400, len(filled), 1)) + 0.6 * session
    claimed = {}
    for name, own in (("without", None), ("with", session)):
        rows = ConditionResponses(
            tuple(range(len(filled))), tuple(range(condition.shape[1])), (0, 1, 2), condition, value, own
        )
        claimed[name] = (difference_claims(rows, 2, 0).p <= 0.05).mean()
    assert claimed["without"] > 0.25
    assert 0.02 < claimed["with"] < 0.09


def test_means_are_those_of_each_condition_alone():
    rng = np.random.default_rng(0)
    condition = latin(12, 6)
    rows = laid_out(condition, rng.random(condition.shape))
    for place, one in enumerate(condition_means(rows)):
        person, item = np.nonzero(condition == place)
        alone = changes(
            responses(person, item, ["x"] * len(person), rows.value[0][person, item]), variance="own"
        )[0]
        assert (one.estimate, one.low, one.high) == pytest.approx((alone.estimate, alone.low, alone.high))


@pytest.mark.parametrize("people", [12, 30])
def test_without_an_effect_five_per_cent_of_studies_claim_one(people):
    condition = latin(people, 15)
    drawn = simulate(Design((people,), 45, 0.6), 0.0, Spreads(), 1000, 11)
    value = np.where(condition == 1, drawn.post, drawn.pre)
    rows = ConditionResponses(tuple(range(people)), tuple(range(45)), (0, 1, 2), condition, value)
    claims = difference_claims(rows, 1, 0)
    low, high = claims.interval()
    assert 0.032 <= (claims.p <= 0.05).mean() <= 0.068
    assert 0.93 <= ((low <= 0) & (high >= 0)).mean() <= 0.97


def test_items_that_suit_one_condition_are_not_taken_for_an_effect():
    # Treating people's differences as all there is claims far too often where there are many people and few items.
    condition = latin(60, 6)
    drawn = simulate(Design((60,), 18, 0.6), 0.0, Spreads(item_change=1.5), 400, 5)
    value = np.where(condition == 1, drawn.post, drawn.pre)
    claims = difference_claims(
        ConditionResponses(tuple(range(60)), tuple(range(18)), (0, 1, 2), condition, value), 1, 0
    )
    naive = 2 * stats.t.sf(np.abs(claims.estimate) / np.sqrt(claims.people), 59)
    assert (naive <= 0.05).mean() > 0.2
    assert (claims.p <= 0.05).mean() < 0.1


def test_a_planted_difference_is_found_by_all_three_models():
    rng = np.random.default_rng(4)
    condition = latin(30, 12)
    share = np.array([0.5, 0.75, 0.5])[condition]
    rows = laid_out(condition, (rng.random(condition.shape) < share).astype(float))
    found = condition_differences(rows, [("b", "a")])[0]
    linear = linear_differences(rows, [("b", "a")])[0]
    logistic = logistic_differences(rows, [("b", "a")])[0].points
    for one in (found, linear, logistic):
        assert one.low < 0.25 < one.high
        assert one.p < 0.001
    assert linear.estimate == pytest.approx(found.estimate, abs=0.01)
    assert logistic.estimate == pytest.approx(found.estimate, abs=0.02)


def test_the_linear_model_equals_statsmodels():
    import warnings

    import pandas as pd
    import statsmodels.formula.api as smf

    rng = np.random.default_rng(8)
    condition = latin(12, 5)
    value = rng.normal(size=condition.shape) + rng.normal(size=(12, 1)) + rng.normal(size=(1, 15))
    value += np.take_along_axis(
        rng.normal(size=(12, 3)), condition, axis=1
    )  # people differ in what they gain
    rows = laid_out(condition, value)
    person, item = np.nonzero(condition >= 0)
    frame = pd.DataFrame(
        {"y": value[person, item], "u": person, "i": item, "c": condition[person, item], "one": 1}
    )
    frame["uc"] = frame["u"].astype(str) + "-" + frame["c"].astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = smf.mixedlm(
            "y ~ C(c)", frame, groups="one", vc_formula={"u": "0 + C(u)", "i": "0 + C(i)", "uc": "0 + C(uc)"}
        ).fit(reml=True)
    one = linear_differences(rows, [("b", "a")])[0]
    assert one.estimate == pytest.approx(fitted.params["C(c)[T.1]"], abs=1e-3)
    assert one.se == pytest.approx(fitted.bse["C(c)[T.1]"], rel=1e-2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_people_and_items_does_not_matter_and_swapping_negates(seed):
    rng = np.random.default_rng(seed)
    condition = latin(8, 3)
    value = rng.integers(0, 2, condition.shape).astype(float)
    value[rng.random(condition.shape) < 0.1] = np.nan
    rows = laid_out(condition, value)
    one, back = condition_differences(rows, [("a", "b"), ("b", "a")])
    people, items = rng.permutation(8), rng.permutation(9)
    moved = condition_differences(
        laid_out(condition[people][:, items], value[people][:, items]), [("a", "b"), ("b", "a")]
    )[0]
    assert one.estimate == pytest.approx(moved.estimate)
    assert one.estimate == pytest.approx(-back.estimate)
    if one.se is not None:
        assert one.se == pytest.approx(moved.se)
        assert one.se == pytest.approx(back.se)


def test_who_met_only_one_of_two_is_left_out_and_counted():
    condition = latin(8, 6)
    value = np.random.default_rng(1).random(condition.shape)
    value[0][condition[0] == 0] = np.nan
    one = condition_differences(laid_out(condition, value), [("a", "b")])[0]
    assert one.n_participants == 7
    assert one.warnings[0].startswith("1 participant who met only one of a and b")


def test_nobody_met_both():
    rows = met(["p", "q"], ["i", "j"], ["a", "b"], [1.0, 0.0])
    one = condition_differences(rows, [("a", "b")])[0]
    assert one.estimate is None
    assert "No participant has scores under both a and b" in one.warnings[-1]


def test_bad_input_is_one_sentence():
    with pytest.raises(VeraxError, match=r"item i more than once \(1 such pairs"):
        met(["p", "p"], ["i", "i"], ["a", "b"], [1.0, 0.0])
    rows = met(["p", "p"], ["i", "j"], ["a", "b"], [1.0, 0.0])
    with pytest.raises(VeraxError, match="There is no condition z"):
        condition_differences(rows, [("a", "z")])
    with pytest.raises(VeraxError, match="compared with itself"):
        condition_differences(rows, [("a", "a")])
    with pytest.raises(VeraxError, match="All answers under a are right"):
        logistic_differences(rows, [("a", "b")])
    with pytest.raises(VeraxError, match="None of the answers has a score"):
        condition_means(met(["p"], ["i"], ["a"], [np.nan]))


def uneven_rows(filled, seed=3):
    """A study with practice of half a standard deviation in each session, sessions known and not accounted for."""
    condition, session = in_sessions(filled, per_session=6)
    rng = np.random.default_rng(seed)
    value = rng.normal(size=condition.shape) + rng.normal(size=(len(filled), 1)) + 0.5 * session
    people, items = np.nonzero(condition >= 0)
    names = np.array(["a", "b", "c"])[condition[people, items]]
    return met(people, items, names, value[people, items], session[people, items], adjusted=False)


def test_the_lead_is_what_practice_adds_at_most_by_hand():
    """Rows a b c and b c a: a comes before b once, and once two sessions after it."""
    rows = uneven_rows([0, 1])
    # By session, a less b: +1, -1, 0 and -1, 0, +1; the means are 0, -1/2, 1/2.
    assert lead(rows, 0, 1) == pytest.approx(0.5)
    assert lead(rows, 1, 0) == lead(rows, 0, 1)
    # Rows a b c and c b a: +1, -1, 0 and 0, -1, +1.
    assert lead(uneven_rows([0, 3]), 0, 1) == pytest.approx(1)
    # Rows a b c and c b a are each other's reverse: a and c are met equally early and late.
    assert lead(uneven_rows([0, 3]), 0, 2) == 0
    assert lead(uneven_rows(range(6)), 0, 1) == 0
    assert lead(uneven_rows([0] * 4), 0, 1) == 1


def test_two_rows_of_six_claim_nothing_of_conditions_that_were_not_met_equally_early():
    rows = uneven_rows([0, 3] * 15)
    first, reverse = condition_differences(rows, [("b", "a"), ("c", "a")])
    assert (first.enough, first.uneven, first.verdict) == (False, True, "none")
    assert first.low is not None  # the estimate is shown
    assert first.warnings[-1] == (
        "b and a were not met equally early and late: practice or tiredness can pass for an effect, so nothing is "
        "claimed. Fill the rows of the design equally, or account for sessions (--session-term)."
    )
    # What is balanced in these two rows is not withheld.
    assert (reverse.enough, reverse.uneven) == (True, False)


@pytest.mark.parametrize("lacking", [[], [0], [0, 5]])
def test_equal_rows_and_a_person_less_are_claimed_as_before(lacking):
    filled = [row for row in range(6) for _ in range(5)]
    for row in lacking:
        filled.remove(row)
    (one,) = condition_differences(uneven_rows(filled), [("b", "a")])
    assert (one.enough, one.uneven) == (True, False)
    assert one.p_exact is not None


def test_where_sessions_are_accounted_for_nothing_is_withheld_for_them():
    filled = [0] * 10 + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4 + [5] * 4
    plain = uneven_rows(filled)
    assert not condition_differences(plain, [("b", "a")])[0].enough
    assert condition_differences(replace(plain, adjusted=True), [("b", "a")])[0].enough


def test_item_components_by_loops_over_pairs_and_in_little_memory():
    rng = np.random.default_rng(3)
    people, items = 14, 7
    condition = rng.integers(-1, 2, (people, items))
    scores = rng.choice([0.0, 1.0, np.nan], (1, people, items), p=[0.4, 0.4, 0.2])
    under = [np.where(condition == place, scores, np.nan) for place in (0, 1)]
    products, factors = np.zeros((2, 2)), np.zeros((2, 2))
    for (a, first), (b, second) in product(enumerate(under), repeat=2):
        for u, v in product(range(people), repeat=2):
            mine, yours = first[0, u], second[0, v]
            n, m = (~np.isnan(mine)).sum(), (~np.isnan(yours)).sum()
            common = ~np.isnan(mine) & ~np.isnan(yours)
            if u == v or not common.any():
                continue
            residuals = (mine - np.nanmean(mine)) * (yours - np.nanmean(yours))
            products[a, b] += residuals[common].sum()
            c = common.sum()
            factors[a, b] += c * (1 - 1 / n - 1 / m + c / (n * m))
    within, between = item_components(under)
    assert within[0] == pytest.approx(np.trace(products) / np.trace(factors))
    assert between[0] == pytest.approx(products[0, 1] / factors[0, 1])
    many = rng.choice([0.0, 1.0, np.nan], (1, 10_000, 20))
    tracemalloc.start()
    try:
        item_components([np.where(rng.random(many.shape) < 0.5, many, np.nan), many])
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
