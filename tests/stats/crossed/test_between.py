"""The crossed estimator as people call it: values, invariants, families, limits and what it says beside them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from verax.errors import VeraxError
from verax.stats.crossed import claims
from verax.stats.crossed.between import changes, contrasts, contrasts_with, lay_out, mean_change
from verax.stats.power import Design, Spreads, simulate
from verax.stats.responses import responses
from verax.stats.tests.differences import detectable
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import label_permutation, sign_flip
from verax.stats.thresholds import SUSPECT_RATIO

NAMES = np.array(["anchor", "lime", "none", "shap", "tree"])


def part_of(rows, keep):
    """The responses of some rows, numbered anew."""
    names = [
        [
            getattr(rows, f"{column}s" if column != "stratum" else "strata")[code]
            for code in getattr(rows, column)[keep]
        ]
        for column in ("participant", "item", "method", "stratum")
    ]
    return responses(*names[:3], rows.post[keep], rows.pre[keep], names[3])


def study(counts=(6, 6, 6), items=18, seed=0, missing=0.05, effects=0.0):
    """A simulated study as columns."""
    drawn = simulate(Design(counts, items, missing=missing), effects, seed=seed)
    people = len(drawn.method)
    return responses(
        participant=np.repeat(np.arange(people), items),
        item=np.tile(np.arange(items), people),
        method=np.repeat(NAMES[drawn.method], items),
        post=drawn.post[0].ravel(),
        pre=drawn.pre[0].ravel(),
    )


def hand():
    values = [1, 0, 0, 1, 1, 0, 0, 0, -1, 1, 0, 0]
    people = np.repeat(["a", "b", "c", "d"], 3)
    return responses(people, np.tile([1, 2, 3], 4), np.repeat(["x", "y"], 6), values)


def test_the_printed_numbers():
    x, y = changes(hand(), variance="pooled")
    assert (x.name, x.estimate, x.se, x.df) == (
        "x",
        0.5,
        pytest.approx(0.353553, abs=1e-6),
        pytest.approx(3.6),
    )
    assert (x.p, y.p) == pytest.approx((0.237666, 1), abs=1e-6)
    assert (x.low, x.high) == pytest.approx((0.5 - 1.026169, 0.5 + 1.026169), abs=1e-6)
    assert (x.n_participants, x.n_items, x.n_answers) == (2, 3, 6)
    (difference,) = contrasts(hand(), [("y", "x")], variance="pooled")
    assert (difference.name, difference.estimate) == ("y - x", -0.5)
    assert (difference.df, difference.p) == pytest.approx((2, 0.311753), abs=1e-6)
    fixed = changes(hand(), items="fixed", variance="pooled")[0]
    assert (fixed.se, fixed.df, fixed.p) == pytest.approx((0.263523, 2, 0.198216), abs=1e-6)


def test_two_participants_and_three_items_allow_no_claim_and_say_so():
    x = changes(hand())[0]
    assert (x.estimate, x.se, x.low, x.p, x.enough) == (0.5, None, None, None, False)
    assert x.warnings[0] == "x has 2 participants: no interval and no test."
    assert any("With 3 items nothing can be claimed about items in general" in said for said in x.warnings)
    assert not any("items in general" in said for said in changes(hand(), items="fixed")[0].warnings)


def test_equal_to_the_batch_of_one():
    rows = study(seed=1)
    parts = lay_out(rows).parts
    for number, found in enumerate(changes(rows)):
        batch = claims.change(parts, number)
        assert (found.estimate, found.se, found.df) == (batch.estimate[0], batch.se[0], batch.df[0])
        assert found.p == pytest.approx(batch.p[0], rel=1e-12)
    everything = mean_change(rows)
    assert everything.estimate == pytest.approx(np.mean([one.estimate for one in changes(rows)]))
    assert everything.p == pytest.approx(claims.overall(parts).p[0], rel=1e-12)


def test_changes_are_corrected_by_holm_and_bonferroni():
    found = changes(study(counts=(8,) * 5, effects=0.3))
    assert [one.p_family for one in found] == pytest.approx(holm([one.p for one in found]))
    for one in found:
        factor = stats.t.ppf(1 - 0.05 / 5 / 2, one.df)
        assert one.high_family - one.estimate == pytest.approx(factor * one.se)
        assert one.low_family < one.low < one.high < one.high_family
        assert one.correction == "Holm"
    assert found[0].verdict == "higher"


def test_contrasts_with_a_control_are_dunnetts_where_items_add_nothing():
    rows = study(counts=(7, 7, 7), items=20, effects=0.15)
    found = contrasts_with(rows, "none", items="fixed", variance="pooled")
    scores = lay_out(rows)
    groups = [scores.score[scores.method == m] for m in range(3)]
    expected = stats.dunnett(groups[0], groups[1], control=groups[2], rng=np.random.default_rng(0))
    assert [one.name for one in found] == ["anchor - none", "lime - none"]
    assert [one.p_family for one in found] == pytest.approx(expected.pvalue, abs=1e-4)
    interval = expected.confidence_interval(0.95)
    assert [one.low_family for one in found] == pytest.approx(interval.low, abs=1e-3)
    assert [one.high_family for one in found] == pytest.approx(interval.high, abs=1e-3)
    assert {one.correction for one in found} == {"Dunnett"}


def test_what_is_printed_beside_small_studies():
    rows = study(counts=(6, 7, 8))
    scores = lay_out(rows)
    lime = changes(rows)[1]
    assert (lime.variance, lime.ratio) == ("own", None)
    assert changes(rows, variance="pooled")[1].variance == "pooled"
    assert lime.p_exact == pytest.approx(sign_flip(scores.score[scores.method == 1]).p)
    # By Bonferroni's level of three claims, which is the first step of Holm's test.
    assert lime.detectable == pytest.approx(detectable(lime.se, lime.df, level=1 - 0.05 / 3))
    (alone,) = contrasts(rows, [rows.methods[:2]])
    assert alone.detectable == pytest.approx(detectable(alone.se, alone.df))
    (pair,) = contrasts(rows, [("lime", "none")])
    two = scores.method > 0
    assert pair.p_exact == label_permutation(scores.score[two], scores.method[two] == 1).p


def test_the_failure_of_pooled_variances_is_named_where_one_method_varies_more():
    rows = study(counts=(6, 6, 6), items=20, missing=0.0)
    factor = np.where(rows.participant < 3, 4.0, np.where(rows.participant < 6, -4.0, 1.0))
    wild = replace(rows, pre=rows.pre * factor, post=rows.post * factor + factor / 2)
    anchor, lime, _ = changes(wild, variance="pooled")
    assert anchor.ratio > SUSPECT_RATIO > lime.ratio
    scores = lay_out(wild)
    variances = [scores.score[scores.method == m].var(ddof=1) for m in range(3)]
    assert anchor.ratio == pytest.approx(variances[0] / np.mean(variances))
    (said,) = [said for said in anchor.warnings if "claims falsely" in said]
    assert f"{anchor.ratio:.1f} times the pooled variance" in said
    assert not any("claims falsely" in said for said in lime.warnings)
    with_control = contrasts_with(wild, "anchor", variance="pooled")
    assert all(any("Participants of anchor" in said for said in one.warnings) for one in with_control)
    assert not any("claims falsely" in said for said in changes(wild)[0].warnings)


@pytest.mark.parametrize(
    ("count", "interval", "claim"), [(2, False, False), (3, True, False), (6, True, True)]
)
def test_three_participants_give_an_interval_and_six_a_claim(count, interval, claim):
    found = changes(study(counts=(count, 12, 12)))[0]
    assert (found.low is not None, found.enough) == (interval, claim)
    assert any("a claim needs 6 in each condition" in said for said in found.warnings) is (
        interval and not claim
    )


def test_a_study_without_an_effect_whose_small_condition_varies_more_is_no_claim():
    """Nine people who vary six times as much as the sixty others: pooled variances see an effect that is not there."""
    spreads = Spreads(person_change=(1.2, 0.2, 0.2))
    drawn = simulate(Design((9, 30, 30), 32), 0.0, spreads, 1, seed=25)
    people = len(drawn.method)
    rows = responses(
        np.repeat(np.arange(people), 32),
        np.tile(np.arange(32), people),
        np.repeat(NAMES[drawn.method], 32),
        drawn.post[0].ravel(),
        drawn.pre[0].ravel(),
    )
    pooled, own = contrasts_with(rows, "none", variance="pooled")[0], contrasts_with(rows, "none")[0]
    assert round(pooled.p_family, 3) == 0.039
    assert round(own.p_family, 3) == 0.148
    assert pooled.verdict != "none"
    assert (own.estimate, own.verdict) == (pooled.estimate, "none")


def test_only_the_compared_conditions_decide_whether_there_is_a_claim():
    rows = study(counts=(8, 8, 3))
    first, with_small, _ = contrasts(rows)
    assert (first.name, first.enough, with_small.enough) == ("anchor - lime", True, False)
    whole = contrasts(rows, [("anchor", "lime")], items="fixed")[0]
    alone = contrasts(part_of(rows, rows.method < 2), items="fixed")[0]
    assert (whole.se, whole.df, whole.p) == pytest.approx((alone.se, alone.df, alone.p))


def test_a_condition_where_all_score_the_same_has_no_interval_and_says_so_in_differences():
    rows = study(counts=(6, 6, 6), missing=0.0)
    same = replace(rows, post=np.where(rows.method == 0, rows.item % 2, rows.post))
    same = replace(same, pre=np.where(rows.method == 0, 0.0, rows.pre))
    anchor = changes(same)[0]
    assert (anchor.estimate, anchor.low, anchor.p) == (0.5, None, None)
    assert anchor.warnings == (
        "The scores do not vary, or a stratum has one participant: no interval and no test.",
    )
    assert any("All participants of anchor score the same" in said for said in contrasts(same)[0].warnings)


def test_participants_without_a_single_pair_are_left_out_and_counted():
    rows = study(counts=(6, 6, 6), missing=0.0)
    gone = replace(rows, post=np.where(rows.participant < 2, np.nan, rows.post))
    anchor, lime, _ = changes(gone)
    assert anchor.n_participants == 4
    assert anchor.warnings[0] == "2 participants of anchor without a single score left out."
    assert lay_out(gone).left_out == (2, 0, 0)
    without = part_of(rows, rows.participant >= 2)
    alone = changes(without)[0]
    assert (anchor.estimate, anchor.se) == pytest.approx((alone.estimate, alone.se), rel=1e-12)
    assert not any("left out" in said for said in lime.warnings)


def test_a_method_without_any_score_is_reported_and_the_rest_estimated():
    rows = study(counts=(6, 6, 6))
    gone = replace(rows, post=np.where(rows.method == 1, np.nan, rows.post))
    anchor, lime, none = changes(gone)
    assert (lime.estimate, lime.p, lime.enough, lime.verdict) == (None, None, False, "none")
    assert lime.warnings == ("No participant of lime has a score.",)
    assert anchor.p is not None
    assert none.p is not None
    first, second = contrasts_with(gone, "none")
    assert first.p is not None
    assert "both lime and none" in second.warnings[0]
    assert all(one.p is None for one in contrasts_with(gone, "lime"))
    assert mean_change(gone).estimate == pytest.approx((anchor.estimate + none.estimate) / 2)


def test_equal_answers_have_an_estimate_and_no_test():
    rows = study(counts=(4, 4))
    same = replace(rows, pre=np.zeros_like(rows.post), post=np.ones_like(rows.post))
    for found in (*changes(same), *contrasts(same)):
        assert found.estimate in (0, 1)
        assert (found.se, found.p, found.low, found.detectable, found.enough) == (
            None,
            None,
            None,
            None,
            False,
        )
        assert "no interval and no test" in found.warnings[0]


def test_one_participant_or_one_method_is_estimated_as_far_as_it_goes():
    rows = study(counts=(6, 6))
    one = part_of(rows, rows.participant == 0)
    (found,) = changes(one)
    assert found.estimate == pytest.approx(np.nanmean(one.value))
    assert (found.p, found.enough) == (None, False)
    (alone,) = changes(part_of(rows, rows.method == 0))
    assert (alone.variance, alone.enough) == ("own", True)
    with pytest.raises(VeraxError, match="no method beside anchor"):
        contrasts_with(one, "anchor")


def test_domains_and_tests_are_strata():
    tables = [study(counts=(4, 4), items=20, seed=seed) for seed in range(4)]
    # Two domains with their own participants, two tests that a domain's participants take both.
    columns = {"participant": [], "item": [], "method": [], "post": [], "pre": [], "stratum": []}
    for number, table in enumerate(tables):
        columns["participant"] += [f"{number // 2}-{person}" for person in table.participant]
        columns["item"] += table.item.tolist()
        columns["method"] += [table.methods[m] for m in table.method]
        columns["post"] += table.post.tolist()
        columns["pre"] += table.pre.tolist()
        columns["stratum"] += [f"s{number}"] * len(table.post)
    rows = responses(**columns)
    found = changes(rows)[0]
    alone = [changes(table)[0] for table in tables]
    assert found.estimate == pytest.approx(np.mean([one.estimate for one in alone]))
    assert (found.n_participants, found.n_items) == (8, 80)
    assert contrasts(rows, items="fixed", variance="pooled")[0].df == pytest.approx(16 - 4)
    scores = lay_out(rows)
    assert len(scores.score) == 16
    assert scores.block.tolist() == [0] * 8 + [1] * 8
    by_hand = [np.nanmean([np.nanmean(t.value[t.participant == 0]) for t in tables[:2]])]
    assert scores.score[0] == pytest.approx(by_hand[0])

    lacking = part_of(
        rows, ~((rows.stratum == 3) & (rows.method == 0)) & ~((rows.stratum == 0) & (rows.participant == 0))
    )
    said = changes(lacking)[0].warnings
    assert any("No participant in s3" in one for one in said)
    assert any("5 participants have no score in some stratum" in one for one in said)


def test_json():
    found = changes(study())[0]
    data = json.loads(json.dumps(found.to_dict()))
    assert data.pop("verdict") == "none"
    assert type(found)(**{**data, "warnings": tuple(data["warnings"])}) == found
    nothing = changes(hand(), level=0.9)[0].to_dict()
    assert nothing["level"] == 0.9
    json.dumps(nothing, allow_nan=False)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda rows: changes(rows, items="some"), "items is 'some': it must be one of random, fixed"),
        (lambda rows: changes(rows, variance="equal"), "variance is 'equal'"),
        (lambda rows: changes(rows, level=95), "between 0 and 1"),
        (
            lambda rows: contrasts(rows, [("lime", "lemon")]),
            "no method lemon: it must be one of anchor, lime, none",
        ),
        (lambda rows: contrasts(rows, [("lime", "lime")]), "compared with itself"),
        (
            lambda rows: changes(replace(rows, post=rows.post * np.nan)),
            "None of the 324 responses has a score",
        ),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call(study())


seeds = st.integers(0, 10_000)


def numbers(found):
    return [
        value for one in found for value in (one.estimate, one.se, one.df, one.p, one.p_family, one.p_exact)
    ]


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_swapping_pre_and_post_negates_the_estimate_and_keeps_its_error(seed):
    rows = study(seed=seed)
    swapped = replace(rows, pre=rows.post, post=rows.pre)
    for one, other in zip(
        changes(rows) + contrasts(rows), changes(swapped) + contrasts(swapped), strict=True
    ):
        assert other.estimate == pytest.approx(-one.estimate, abs=1e-12)
        assert (other.se, other.df, other.p) == pytest.approx((one.se, one.df, one.p), rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_the_order_of_rows_and_the_names_of_people_and_items_change_nothing(seed):
    rows = study(seed=seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rows.post))
    people, items = rng.permutation(len(rows.participants)), rng.permutation(len(rows.items))
    renamed = responses(
        people[rows.participant][order],
        items[rows.item][order],
        np.array(rows.methods)[rows.method][order],
        rows.post[order],
        rows.pre[order],
    )
    expected = numbers(changes(rows)) + numbers(contrasts(rows))
    assert numbers(changes(renamed)) + numbers(contrasts(renamed)) == pytest.approx(
        expected, rel=1e-6, abs=1e-9
    )


@settings(max_examples=15, deadline=None)
@given(seeds, st.floats(0.1, 10))
def test_a_scale_multiplies_estimate_and_error_and_leaves_the_test(seed, scale):
    rows = study(seed=seed)
    scaled = replace(rows, pre=rows.pre * scale, post=rows.post * scale)
    for one, other in zip(changes(rows), changes(scaled), strict=True):
        assert (other.estimate, other.se) == pytest.approx(
            (scale * one.estimate, scale * one.se), rel=1e-9, abs=1e-12
        )
        assert (other.df, other.p) == pytest.approx((one.df, one.p), rel=1e-6)


def test_the_family_of_comparisons_is_that_of_the_design():
    """Two more that nobody met count: as uncorrelated ones, so that one alone has Sidak's correction for three."""
    rows = study(counts=(8, 8, 8))
    rows = part_of(rows, rows.method != 1)
    (plain,) = contrasts_with(rows, "none", items="fixed")
    (planned,) = contrasts_with(rows, "none", items="fixed", family=3)
    assert (plain.p, plain.estimate, plain.se) == (planned.p, planned.estimate, planned.se)
    assert plain.p_family == pytest.approx(plain.p)
    assert plain.p_family < planned.p_family <= 3 * plain.p
    # By another integral: T's share one scale s and are otherwise independent.
    t = abs(planned.estimate / planned.se)

    def inside(s):
        return (
            stats.chi.pdf(s * planned.df**0.5, planned.df)
            * planned.df**0.5
            * (1 - 2 * stats.norm.sf(t * s)) ** 3
        )

    assert planned.p_family == pytest.approx(1 - integrate.quad(inside, 0, 10)[0], abs=1e-6)
