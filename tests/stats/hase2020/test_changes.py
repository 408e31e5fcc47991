"""(B) Change as published: equal to lme4 on the same resampled answers, and to the loop of the script written out."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.hase2020 import AS_PUBLISHED, MENDED, NOTE, Defects, change, change_of_counts
from verax.stats.hase2020.changes import method_effects, summarised
from verax.stats.resample import block_weights
from verax.stats.responses import joint

FIXTURE = json.loads((Path(__file__).parents[1] / "r" / "hase2020.json").read_text())
STUDIES = FIXTURE["studies"]
POINT = 0.01


def fitted(study):
    counts = np.array(study["counts"])
    return change_of_counts(*np.moveaxis(counts, 2, 0))


def worst(ours, theirs):
    """Largest difference over methods of each replicate, in points; both lack the same methods."""
    theirs = np.array(theirs, dtype=float)
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    return np.nanmax(np.abs(ours - theirs), axis=1) / POINT


@pytest.mark.parametrize("name", list(STUDIES))
def test_every_replicate_equals_lme4_to_a_thousandth_of_a_point(name):
    study = STUDIES[name]
    changes, effects = fitted(study)
    post = np.array(study["post"], dtype=float)
    assert worst(effects.probability, study["careful_pre"]).max() < 1e-3
    assert worst(changes, post - np.array(study["careful_pre"], dtype=float)).max() < 1e-3
    assert effects.singular.tolist() == [bool(singular) for singular in study["singular"]]
    assert effects.spread == pytest.approx(study["careful_spread"], abs=1e-3)


@pytest.mark.parametrize("name", list(STUDIES))
def test_glmer_with_its_own_loose_limits_is_a_little_further_off(name):
    """Where a method is nearly always right, lme4's defaults stop up to 0.006 points before the maximum."""
    study = STUDIES[name]
    off = worst(fitted(study)[1].probability, study["pre"])
    assert off.max() < 0.01
    assert np.median(off) < 1e-4
    assert (off < 1e-3).mean() >= 0.85


@pytest.mark.parametrize("name", list(STUDIES))
def test_the_replicates_that_r_was_given_are_those_of_the_seed(name):
    study = STUDIES[name]
    people, items, method = (joint(np.array(study[what])) for what in ("participant", "item", "method"))
    weights = np.vstack(list(block_weights(people, items, len(study["counts"]), FIXTURE["seed"])))
    values = np.stack([np.ones(len(people)), study["pre_answers"], study["post_answers"]], axis=1)
    member = np.equal.outer(method, np.arange(5))
    assert np.array_equal(np.einsum("rn,nm,nk->rmk", weights, member, values), study["counts"])


def columns(seed, people=(3, 2, 3), items=8, shared=False, gain=0.1):
    """Small answers with gaps, whose methods sometimes do not differ in Pre."""
    rng = np.random.default_rng(seed)
    rows, number = [], 0
    for method, count in enumerate(people):
        for own in range(count):
            number += 1
            for item in range(items):
                if rng.random() < 0.85:
                    pre, post = rng.random(2) < (0.5 + 0.12 * method, 0.5 + 0.12 * method + gain)
                    rows.append((own if shared else number, item, "abc"[method], float(pre), float(post)))
    return [list(column) for column in zip(*rows, strict=True)]


def plain_quantile(values, q):
    """R's type 7."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * q
    low = math.floor(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def plain_change(data, replicates, seed, defects):
    """The loop of the script, one resampled list of answers after the other; per method its list of changes."""
    participant, item, method, pre, post = data
    names = sorted(set(method))
    keys = participant if defects.shared_names else list(zip(method, participant, strict=True))
    people = np.array([sorted(set(keys)).index(key) for key in keys])
    items = np.array([sorted(set(item)).index(one) for one in item])
    within = None if defects.across_methods else np.array([names.index(one) for one in method])
    changes, singular, unfitted = {name: [] for name in names}, 0, 0
    for weights in np.vstack(list(block_weights(people, items, replicates, seed, within))).astype(int):
        sample = [row for row, times in enumerate(weights) for _ in range(times)]
        by_method = {name: [row for row in sample if method[row] == name] for name in names}
        fit = method_effects(
            [len(rows) for rows in by_method.values()],
            [sum(pre[row] for row in rows) for rows in by_method.values()],
        )
        singular += int(fit.singular[0])
        unfitted += int(not fit.fitted[0])
        if not fit.fitted[0] or (defects.drop_singular and fit.singular[0]):
            continue
        for place, (name, rows) in enumerate(by_method.items()):
            if rows:
                changes[name].append(sum(post[row] for row in rows) / len(rows) - fit.probability[0, place])
    return changes, singular, unfitted


@pytest.mark.parametrize(
    "defects",
    [
        AS_PUBLISHED,
        Defects(across_methods=False),
        Defects(shared_names=False),
        Defects(drop_singular=False),
        MENDED,
    ],
    ids=["published", "within methods", "unique names", "singular kept", "mended"],
)
def test_equal_to_the_published_loop_written_out(defects):
    data = columns(3, shared=True)
    found = change(*data, replicates=120, seed=5, defects=defects)
    changes, singular, unfitted = plain_change(data, 120, 5, defects)
    assert (found.singular, found.unfitted, found.replicates) == (singular, unfitted, 120)
    assert singular > 10
    for row in found.methods:
        values = changes[row.method]
        mean = sum(values) / len(values)
        low, high = (plain_quantile(values, q) for q in (0.025, 0.975))
        p = sum(v - mean < -abs(mean) for v in values) / len(values)
        p += sum(v - mean > abs(mean) for v in values) / len(values)
        assert row.change.n_boots == len(values)
        assert row.change.estimate == pytest.approx(mean, abs=1e-9)
        assert row.change.half_width == pytest.approx((high - low) / 2, abs=1e-9)
        assert (row.change.low, row.change.high) == pytest.approx((low, high), abs=1e-9)
        assert row.change.p == pytest.approx(p)


def test_the_table_says_what_is_in_the_data():
    data = columns(1)
    data[3][0], data[4][5] = None, math.nan
    found = change(*data, replicates=20)
    assert found.dropped == 2
    for row in found.methods:
        own = [place for place, name in enumerate(data[2]) if name == row.method and place not in (0, 5)]
        assert row.n == len(own)
        assert row.pre == pytest.approx(np.mean([data[3][place] for place in own]))
        assert row.post == pytest.approx(np.mean([data[4][place] for place in own]))
    assert [row.method for row in found.methods] == ["a", "b", "c"]


def test_names_that_are_not_shared_need_no_mending():
    data = columns(4, shared=False)
    order = np.lexsort((data[0], data[2]))  # unique names then have the same order in both
    data = [[column[place] for place in order] for column in data]
    plain = change(*data, replicates=50)
    unique = change(*data, replicates=50, defects=Defects(shared_names=False))
    assert plain.methods == unique.methods


def test_within_methods_no_method_ever_vanishes():
    data = columns(2, people=(6, 1, 1))
    across = change(*data, replicates=200, defects=Defects(drop_singular=False))
    within = change(*data, replicates=200, defects=Defects(across_methods=False, drop_singular=False))
    assert across.methods[1].change.n_boots < 200 - across.unfitted
    assert {row.change.n_boots for row in within.methods} == {200 - within.unfitted}


def test_the_note_says_that_it_is_a_reproduction_and_its_error_rate():
    found = change(*columns(0), replicates=10)
    assert found.note == NOTE
    assert "0.4 to 2.3% instead of 5%" in NOTE
    again = json.loads(json.dumps(found.to_dict()))
    assert again["note"] == NOTE
    assert again["defects"]["across_methods"] is True
    assert again["methods"][0]["change"]["n_boots"] == found.methods[0].change.n_boots


def test_same_seed_same_table_and_another_seed_another():
    data = columns(0)
    assert change(*data, replicates=40, seed=1) == change(*data, replicates=40, seed=1)
    assert change(*data, replicates=40, seed=1) != change(*data, replicates=40, seed=2)


def test_all_right_before_cannot_be_fitted_and_is_counted():
    data = columns(0)
    data[3] = [1.0] * len(data[3])
    found = change(*data, replicates=30)
    assert found.unfitted == 30
    assert all(row.change.estimate is None and row.change.n_boots == 0 for row in found.methods)
    assert found.methods[0].pre == 1


def test_one_method_is_refused_with_its_name():
    with pytest.raises(VeraxError, match=r"All answers have the method 'a'.*needs at least two"):
        change([1, 2], [1, 1], ["a", "a"], [0, 1], [1, 1], replicates=5)


def test_summary_by_hand():
    # Mean 1; centred -3, -1, 1, 3: one below -1 strictly, one above 1 strictly, so p = 2/4.
    found = summarised(np.array([-2.0, 0.0, np.nan, 2.0, 4.0]))
    assert (found.estimate, found.n_boots, found.p) == (1.0, 4, 0.5)
    assert found.low == pytest.approx(-2 + 0.075 * 2)
    assert found.high == pytest.approx(4 - 0.075 * 2)
    assert found.half_width == pytest.approx(2.85)
    assert summarised(np.array([np.nan])).estimate is None
