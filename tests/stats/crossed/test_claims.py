"""Claims of many studies at once: printed numbers, the formulas written out, strata, own and pooled variances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from verax.errors import VeraxError
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Stratum, components
from verax.stats.power import Design, simulate

HAND = np.array([[1, 0, 0], [1, 1, 0], [0, 0, -1], [1, 0, 0]], dtype=float)


def parts_of(values, method):
    values = np.asarray(values, dtype=float)
    method = np.asarray(method)
    batch = values if values.ndim == 3 else values[None]
    return components([Stratum(np.arange(len(method)), batch)], method, int(method.max()) + 1)


def random_study(seed, counts=(4, 3, 5), items=18, missing=0.1):
    drawn = simulate(Design(counts, items, missing=missing), seed=seed)
    return drawn.change[0], drawn.method


def test_the_printed_numbers():
    parts = parts_of(HAND, [0, 0, 1, 1])
    first, second = (claims.change(parts, place, variance="pooled") for place in (0, 1))
    assert (first.estimate[0], second.estimate[0]) == pytest.approx((0.5, 0))
    assert (first.se[0], first.df[0]) == pytest.approx((0.353553, 3.6), abs=1e-6)
    assert (first.p[0], second.p[0]) == pytest.approx((0.237666, 1), abs=1e-6)
    low, high = first.interval()
    assert (high[0] - low[0]) / 2 == pytest.approx(1.026169, abs=1e-6)

    difference = claims.contrast(parts, 1, 0, variance="pooled")
    assert difference.estimate[0] == pytest.approx(-0.5)
    assert (difference.variance[0], difference.df[0]) == pytest.approx((0.138889, 2), abs=1e-6)
    assert difference.p[0] == pytest.approx(0.311753, abs=1e-6)

    fixed = claims.change(parts, 0, items="fixed", variance="pooled")
    assert (fixed.se[0], fixed.df[0], fixed.p[0]) == pytest.approx((0.263523, 2, 0.198216), abs=1e-6)


@pytest.mark.parametrize("variance", ["pooled", "own"])
@pytest.mark.parametrize("seed", range(3))
def test_change_is_the_formula_written_out(seed, variance):
    values, method = random_study(seed)
    parts = parts_of(values, method)
    (items,) = parts.parts
    scores = np.nanmean(values, axis=1)
    k, n_items = 3, values.shape[1]
    s2 = [scores[method == m].var(ddof=1) for m in range(k)]
    n = np.bincount(method)
    pooled = sum((n[m] - 1) * s2[m] for m in range(k)) / (n.sum() - k)
    component = max(items.within[0], 0)
    rest = max(items.total[0] - component, 0) / items.load[0]
    q = k * (n_items - 1)
    chance = 2 * ((component + rest) ** 2 / q + rest**2 / (q * max(items.load[0] - 1, 1)))
    for m in range(k):
        people, df_people = (pooled / n[m], n.sum() - k) if variance == "pooled" else (s2[m] / n[m], n[m] - 1)
        overlap = items.overlap[0, m, m]
        total = people + overlap * component
        df = total**2 / (people**2 / df_people + overlap**2 * chance / 2)
        found = claims.change(parts, m, variance=variance)
        assert found.estimate[0] == pytest.approx(scores[method == m].mean(), rel=1e-12)
        assert found.variance[0] == pytest.approx(total, rel=1e-12)
        assert found.df[0] == pytest.approx(df, rel=1e-12)
        assert found.p[0] == pytest.approx(2 * stats.t.sf(abs(found.estimate[0]) / total**0.5, df), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("variance", ["pooled", "own"])
def test_contrast_of_complete_data_is_the_formula_written_out(seed, variance):
    values, method = random_study(seed, missing=0.0)
    values = values + np.where(method[:, None] == 1, np.sin(np.arange(18)), 0)  # items suit one method better
    parts = parts_of(values, method)
    (items,) = parts.parts
    scores, n = values.mean(axis=1), np.bincount(method)
    pooled = sum((n[m] - 1) * scores[method == m].var(ddof=1) for m in range(3)) / 9
    own = [scores[method == m].var(ddof=1) / n[m] for m in (0, 1)]
    people = pooled * (1 / n[0] + 1 / n[1]) if variance == "pooled" else sum(own)
    spread = people**2 / 9 if variance == "pooled" else sum(own[m] ** 2 / (n[m] - 1) for m in (0, 1))
    added = 2 / 18 * max(items.within[0] - items.between[0], 0)
    assert added > 0
    found = claims.contrast(parts, 0, 1, variance=variance)
    assert found.variance[0] == pytest.approx(people + added, rel=1e-9)
    assert found.df[0] == pytest.approx((people + added) ** 2 / (spread + added**2 / (3 * 17)), rel=1e-9)


def test_fixed_items_are_the_tests_of_participants_scores():
    values, method = random_study(5)
    parts, scores = parts_of(values, method), np.nanmean(values, axis=1)
    alone = stats.ttest_1samp(scores[method == 2], 0)
    assert claims.change(parts, 2, "fixed", "own").p[0] == pytest.approx(alone.pvalue, rel=1e-9)
    welch = stats.ttest_ind(scores[method == 0], scores[method == 2], equal_var=False)
    found = claims.contrast(parts, 0, 2, "fixed", "own")
    assert (found.p[0], found.df[0]) == pytest.approx((welch.pvalue, welch.df), rel=1e-9)
    two = method != 1
    student = stats.ttest_ind(scores[method == 0], scores[method == 2])
    pooled = claims.contrast(parts_of(values[two], method[two] // 2), 0, 1, "fixed", "pooled")
    assert (pooled.p[0], pooled.df[0]) == pytest.approx((student.pvalue, student.df), rel=1e-9)


def test_methods_that_share_no_items_keep_the_whole_item_variance_in_their_difference():
    values, method = random_study(1, counts=(6, 6), items=20, missing=0.0)
    values[:6, 10:] = np.nan
    values[6:, :10] = np.nan
    values += np.where(np.arange(20) % 2, 1.0, -1.0)  # items differ, so that the component is above 0
    found = claims.contrast(parts_of(values, method), 0, 1)
    alone = [claims.change(parts_of(values, method), m) for m in (0, 1)]
    assert found.variance[0] == pytest.approx(sum(one.variance[0] for one in alone), rel=1e-9)
    assert found.variance[0] > 2 * found.people[0]


def test_the_mean_over_methods_divides_participants_but_not_items():
    values, method = random_study(2, counts=(5, 5), items=16, missing=0.0)
    values += np.where(np.arange(16) % 2, 1.0, -1.0)
    parts = parts_of(values, method)
    found, alone = claims.overall(parts), [claims.change(parts, m) for m in (0, 1)]
    assert found.estimate[0] == pytest.approx(values.mean(), rel=1e-9)
    assert found.people[0] == pytest.approx((alone[0].people[0] + alone[1].people[0]) / 4)
    items = found.variance[0] - found.people[0]
    assert items == pytest.approx(max(parts.parts[0].overall[0], 0) / 16, rel=1e-9)


@pytest.mark.parametrize("counts", [(10, 10, 10), (10, 9, 4), (30, 4, 3)])
def test_other_methods_participants_do_not_touch_a_difference_of_these_items(counts):
    values, method = random_study(0, counts=counts)
    two = method < 2
    whole = claims.contrast(parts_of(values, method), 0, 1, "fixed")
    alone = claims.contrast(parts_of(values[two], method[two]), 0, 1, "fixed")
    assert (whole.variance[0], whole.df[0]) == pytest.approx((alone.variance[0], alone.df[0]), rel=1e-12)


def test_domains_add_their_variances_and_pool_their_participants():
    one, method = random_study(3, counts=(4, 4), items=20)
    other, _ = random_study(4, counts=(4, 4), items=30)
    strata = [Stratum(np.arange(8), one[None]), Stratum(np.arange(8, 16), other[None])]
    both = components(strata, np.tile(method, 2), 2)
    alone = [parts_of(one, method), parts_of(other, method)]
    scores = [np.nanmean(table, axis=1) for table in (one, other)]
    pooled = np.mean([table[method == m].var(ddof=1) for table in scores for m in (0, 1)])
    found = claims.change(both, 0, variance="pooled")
    people = 0.25 * 2 * pooled / 4
    items = [0.25 * part.parts[0].overlap[0, 0, 0] * max(part.parts[0].within[0], 0) for part in alone]
    assert found.estimate[0] == pytest.approx(np.mean([table[:4].mean() for table in scores]), rel=1e-12)
    assert found.people[0] == pytest.approx(people, rel=1e-12)
    assert found.variance[0] == pytest.approx(people + sum(items), rel=1e-12)
    assert claims.contrast(both, 0, 1, "fixed", "pooled").df[0] == pytest.approx(16 - 4)
    own = [table[:4].var(ddof=1) / 4 for table in scores]
    assert claims.change(both, 0).people[0] == pytest.approx(0.25 * sum(own), rel=1e-12)


def test_a_method_that_one_domain_lacks_is_estimated_on_the_other():
    one, method = random_study(3, counts=(4, 4), items=20)
    other, _ = random_study(4, counts=(4,), items=30)
    strata = [Stratum(np.arange(8), one[None]), Stratum(np.arange(8, 12), other[None])]
    both = components(strata, np.append(method, np.zeros(4, dtype=int)), 2)
    assert claims.change(both, 1).estimate[0] == pytest.approx(np.nanmean(one, axis=1)[4:].mean())
    here = np.nanmean(one, axis=1)
    assert claims.contrast(both, 0, 1).estimate[0] == pytest.approx(here[:4].mean() - here[4:].mean())
    apart = components(
        [Stratum(np.arange(4), one[None, :4]), Stratum(np.arange(4, 8), one[None, 4:])], method, 2
    )
    with pytest.raises(VeraxError, match="nothing can be compared"):
        claims.contrast(apart, 0, 1)


def test_no_spread_means_no_test():
    same = claims.change(parts_of(np.ones((4, 3)), [0, 0, 1, 1]), 0)
    assert same.estimate[0] == 1
    assert np.isnan(same.p[0])
    assert np.isnan(same.interval()[0][0])
    # Everybody of one method scores the same, but not on the same items: items alone do not make an interval.
    alike = claims.change(parts_of([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]], [0, 0, 1, 1]), 0)
    assert alike.estimate[0] == 0.25
    assert np.isnan(alike.se[0])
    single = claims.change(parts_of(HAND[:2], [0, 1]), 0)
    assert np.isnan(single.p[0])
