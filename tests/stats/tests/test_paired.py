"""Paired differences: by hand, against scipy, what is missing, what cannot be tested, and the laws."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verax.errors import VeraxError
from verax.stats import holm, joint_differences, paired_differences, sharing, spread_of_mean


def table(**columns):
    return {name: dict(enumerate(values)) for name, values in columns.items()}


def random_table(seed, names=4, units=12):
    values = np.random.default_rng(seed).random((names, units))
    return {f"method{name}": dict(enumerate(row.tolist())) for name, row in enumerate(values)}


def test_by_hand():
    # Differences 1, 2, 3, 2, 2: mean 2, spread sqrt(2/4), standard error sqrt(.5/5) = .316228, t = 6.324555, df 4.
    # For df 4: p = 1 - s (3 - s²)/2 with s = t / sqrt(t² + 4) = sqrt(40/44), so p = .003198...
    (found,) = paired_differences(table(a=[2, 4, 6, 5, 7], b=[1, 2, 3, 3, 5]))
    s = np.sqrt(40 / 44)
    assert (found.first, found.second, found.mean, found.n) == ("a", "b", 2.0, 5)
    assert found.p == pytest.approx(1 - s * (3 - s**2) / 2, rel=1e-9)
    assert (found.low, found.high) == pytest.approx(
        (2 - 2.776445 * 0.316228, 2 + 2.776445 * 0.316228), abs=1e-5
    )
    assert found.p_holm == found.p
    assert (found.wins, found.losses, found.ties) == (5, 0, 0)
    assert found.verdict == "first"


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_equal_scipy_with_holm_over_all_of_them(seed):
    values = random_table(seed)
    values["method1"] = {unit: value + 0.4 for unit, value in values["method1"].items()}
    found = paired_differences(values, level=0.9)
    assert [(d.first, d.second) for d in found] == list(combinations(values, 2))
    for difference in found:
        first, second = (list(values[name].values()) for name in (difference.first, difference.second))
        expected = stats.ttest_rel(first, second)
        interval = expected.confidence_interval(0.9)
        assert difference.p == pytest.approx(expected.pvalue, rel=1e-9)
        assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
        assert difference.mean == pytest.approx(np.mean(first) - np.mean(second))
    assert [d.p_holm for d in found] == pytest.approx(holm([d.p for d in found]))


def test_only_units_that_both_have_and_the_others_counted():
    both = {f"s{number}": number / 10 for number in range(5)}
    values = {
        "a": both | {"x": 0.7, "y": 0.1},
        "b": {"z": 1.0} | {unit: value**2 for unit, value in both.items()},
    }
    (found,) = paired_differences(values)
    assert (found.n, found.unpaired) == (5, 3)
    first, second = list(both.values()), [value**2 for value in both.values()]
    assert found.mean == pytest.approx(np.mean(first) - np.mean(second))
    assert found.p == pytest.approx(stats.ttest_rel(first, second).pvalue)


def test_wins_losses_and_ties():
    (found,) = paired_differences(table(a=[1, 2, 3, 4], b=[0, 2, 5, 4]))
    assert (found.wins, found.losses, found.ties, found.n) == (1, 1, 2, 4)


def test_identical_values_differ_by_nothing_and_have_no_interval():
    (found,) = paired_differences(table(a=[0.1, 0.7, 0.3, 0.2, 0.9], b=[0.1, 0.7, 0.3, 0.2, 0.9]))
    assert (found.mean, found.low, found.high, found.p, found.p_holm) == (0, None, None, 1.0, 1.0)
    assert (found.ties, found.verdict) == (5, "none")


def test_values_that_differ_by_rounding_only_are_identical():
    # The same two means summed in another order: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in binary.
    (found,) = paired_differences(
        table(a=[0.1 + 0.2 + 0.3, 0.6, 0.5, 0, 1], b=[0.3 + 0.2 + 0.1, 0.6, 0.5, 0, 1])
    )
    assert (found.mean, found.p, found.ties) == (0, 1.0, 5)


@pytest.mark.parametrize(
    ("a", "b", "mean", "verdict"),
    [([1] * 6, [0] * 6, 1, "first"), ([0.3, 0.2, 0.1, 0.5, 0.6], [0.4, 0.3, 0.2, 0.6, 0.7], -0.1, "none")],
)
def test_a_constant_difference_is_tested_by_its_signs_also_where_rounding_hides_it(a, b, mean, verdict):
    (found,) = paired_differences(table(a=a, b=b))
    assert found.mean == pytest.approx(mean)
    # 2 of the 64 signs of six, and of the 32 signs of five, are as extreme.
    p = 2 / 2 ** len(a)
    assert (found.low, found.high, found.p, found.p_holm, found.verdict) == (None, None, p, p, verdict)


@pytest.mark.parametrize(("n", "verdict"), [(2, "none"), (4, "none"), (5, "first"), (9, "first")])
def test_below_five_units_there_are_values_only(n, verdict):
    (found,) = paired_differences(table(a=[1.0 + unit / 1000 for unit in range(n)], b=[0.5] * n))
    assert (found.verdict, found.p is None, found.low is None) == (verdict, n < 5, n < 5)


def test_units_that_share_parts_are_not_independent():
    pairs = list(combinations("abcdefghi", 2))
    rng = np.random.default_rng(3)
    weight = dict(zip("abcdefghi", rng.normal(size=9), strict=True))
    values = {pair: 0.3 + weight[pair[0]] + weight[pair[1]] + 0.1 * rng.normal() for pair in pairs}
    rows = {"first": values, "second": dict.fromkeys(pairs, 0.0)}
    (plain,) = paired_differences(rows)
    ((aware,),) = joint_differences([rows], {pair: pair for pair in pairs})
    assert (plain.mean, plain.parts, aware.mean, aware.parts) == (aware.mean, None, plain.mean, 9)
    spread = spread_of_mean(np.array(list(values.values())), sharing(pairs))
    margin = stats.t.ppf(0.975, spread.df) * np.sqrt(spread.variance)
    assert (aware.low, aware.high) == pytest.approx((aware.mean - margin, aware.mean + margin))
    assert aware.p == pytest.approx(2 * stats.t.sf(abs(aware.mean) / np.sqrt(spread.variance), spread.df))
    assert aware.high - aware.low > 2 * (plain.high - plain.low)


def test_pairs_that_cannot_be_tested_are_reported_and_do_not_count_in_the_family():
    values = {
        "a": {1: 0.9, 2: 0.7, 3: 0.8, 5: 0.4, 6: 0.3},
        "b": {1: 0.5, 2: 0.4, 3: 0.7, 5: 0.2, 6: 0.2},
        "one": {3: 0.5},
        "none": {4: 0.5},
    }
    found = {(d.first, d.second): d for d in paired_differences(values)}
    assert len(found) == 6
    one, none = found["a", "one"], found["a", "none"]
    assert one.mean == pytest.approx(0.3)
    assert (one.low, one.high, one.n, one.unpaired, one.p, one.p_holm) == (None, None, 1, 4, None, None)
    assert (one.wins, one.verdict) == (1, "none")
    assert (none.mean, none.n, none.unpaired, none.p, none.verdict) == (None, 0, 6, None, "none")
    assert found["a", "b"].p_holm == found["a", "b"].p


def test_a_family_of_chosen_pairs_keeps_its_order_and_pays_for_its_own_tests_only():
    values = random_table(7)
    family = [("method2", "method0"), ("method1", "method3")]
    chosen = paired_differences(values, family=family)
    raw = {frozenset((d.first, d.second)): d.p for d in paired_differences(values)}
    assert [(d.first, d.second) for d in chosen] == family
    assert [d.p for d in chosen] == pytest.approx([raw[frozenset(pair)] for pair in family])
    assert [d.p_holm for d in chosen] == pytest.approx(holm([d.p for d in chosen]))


def test_the_verdict_follows_the_corrected_p():
    a = [0.52, 0.61, 0.55, 0.70, 0.58, 0.66]
    b = [0.50, 0.55, 0.56, 0.60, 0.55, 0.62]
    alone = paired_differences(table(a=a, b=b))[0]
    among = paired_differences(table(a=a, b=b, c=a, d=b))[0]
    assert 0.025 < alone.p < 0.05
    assert alone.verdict == "first"
    assert among.p == alone.p
    assert among.p_holm > 0.05
    assert among.verdict == "none"


@pytest.mark.parametrize(
    ("family", "sentence"),
    [
        ([("a", "lime")], "names 'lime': it must be one of a, b"),
        ([("a", "a")], r"\(a, a\) is compared with itself or named twice"),
        ([("a", "b"), ("b", "a")], r"\(b, a\) is compared with itself or named twice"),
    ],
)
def test_a_wrong_family_is_refused(family, sentence):
    with pytest.raises(VeraxError, match=sentence):
        paired_differences(table(a=[1, 2], b=[2, 4]), family=family)


@pytest.mark.parametrize("bad", [float("nan"), float("-inf"), None, "high"])
def test_what_is_not_a_finite_number_is_refused_by_name_and_unit(bad):
    values = {"lime": {"stain 1": 0.5, "stain 2": bad}, "shap": {"stain 1": 0.2}}
    with pytest.raises(VeraxError, match=r"value of 'lime' for 'stain 2' is .*finite number"):
        paired_differences(values)


def test_a_wrong_level_is_refused_even_without_a_unit():
    with pytest.raises(VeraxError, match="between 0 and 1"):
        paired_differences({"a": {}, "b": {}}, level=95)


def test_fewer_than_two_names_have_no_pair():
    assert paired_differences({}) == []
    assert paired_differences({"a": {1: 0.5}}) == []


def test_json_carries_the_verdict_and_null_for_no_test():
    found = paired_differences({"a": {1: 0.5}, "b": {1: 0.25}})[0]
    assert json.loads(json.dumps(found.to_dict())) == {
        "first": "a",
        "second": "b",
        "mean": 0.25,
        "low": None,
        "high": None,
        "n": 1,
        "unpaired": 0,
        "p": None,
        "p_holm": None,
        "wins": 1,
        "losses": 0,
        "ties": 0,
        "level": 0.95,
        "parts": None,
        "verdict": "none",
    }


# Few distinct values, so that ties, constant and zero differences all happen.
rows = st.integers(3, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 8).map(lambda w: w / 8), min_size=n, max_size=n)] * 3)
)


@settings(max_examples=50)
@given(rows)
def test_the_other_order_of_names_flips_signs_and_nothing_else(three):
    forth = paired_differences(table(a=three[0], b=three[1], c=three[2]))
    back = {(d.second, d.first): d for d in paired_differences(table(c=three[2], b=three[1], a=three[0]))}
    other_way = {"first": "second", "second": "first", "none": "none"}
    for d in forth:
        e = back[d.first, d.second]
        assert e.mean == -d.mean
        assert d.low is None or (e.low, e.high) == (-d.high, -d.low)
        assert (e.p, e.p_holm, e.n) == (d.p, d.p_holm, d.n)
        assert (e.wins, e.losses, e.ties) == (d.losses, d.wins, d.ties)
        assert e.verdict == other_way[d.verdict]


@settings(max_examples=50)
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_units_changes_no_bit(three, shuffler):
    values = table(a=three[0], b=three[1], c=three[2])
    shuffled = {}
    for name, row in values.items():
        places = list(row)
        shuffler.shuffle(places)
        shuffled[name] = {place: row[place] for place in places}
    assert paired_differences(shuffled) == paired_differences(values)


@settings(max_examples=50)
@given(rows, st.integers(-64, 64), st.sampled_from([0.25, 0.5, 2.0, 16.0]))
def test_a_common_shift_of_each_unit_changes_nothing_and_a_scale_only_the_size(three, shift, scale):
    before = paired_differences(table(a=three[0], b=three[1], c=three[2]))
    moved = [[scale * (value + shift * unit) for unit, value in enumerate(row)] for row in three]
    after = paired_differences(table(a=moved[0], b=moved[1], c=moved[2]))
    for d, e in zip(before, after, strict=True):
        assert e.mean == pytest.approx(scale * d.mean, abs=1e-12)
        assert (e.p is None) == (d.p is None)
        assert (e.low is None) == (d.low is None)
        if d.low is not None:
            assert (e.low, e.high) == pytest.approx((scale * d.low, scale * d.high), abs=1e-12)
        if d.p is not None:
            assert e.p == pytest.approx(d.p, rel=1e-9)
        assert (e.wins, e.losses, e.ties, e.verdict) == (d.wins, d.losses, d.ties, d.verdict)


@settings(max_examples=50)
@given(rows)
def test_wins_losses_and_ties_are_all_units_and_the_correction_never_helps(three):
    for d in paired_differences(table(a=three[0], b=three[1], c=three[2])):
        assert d.wins + d.losses + d.ties == d.n == len(three[0])
        assert d.p is None or d.p <= d.p_holm <= min(1, 3 * d.p)
        if d.verdict != "none" and d.low is not None:
            assert not d.low <= 0 <= d.high
