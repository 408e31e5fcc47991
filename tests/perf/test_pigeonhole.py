"""The pigeonhole bootstrap: written out participant by participant, beside the default estimator, and its errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pigeonhole import NOTE, Bootstrapped, pigeonhole
from verax.errors import VeraxError
from verax.stats.crossed import between as crossed
from verax.stats.resample import pigeonhole_weights
from verax.stats.responses import responses


def study(seed, people=(3, 4), items=6, strata=1, missing=0.2, gain=0.0, same_people=True):
    """Columns of a small study; strata are tests of the same people, or domains with other people."""
    rng = np.random.default_rng(seed)
    rows, number = [], 0
    for domain in range(1 if same_people else strata):
        for method, count in enumerate(people):
            for _ in range(count):
                number += 1
                for stratum in range(strata) if same_people else [domain]:
                    for item in range(items):
                        if rng.random() >= missing:
                            pre, post = rng.random(2) < (0.6, 0.6 + gain)
                            rows.append((number, item, "ab"[method], stratum, float(pre), float(post)))
    participant, item, method, stratum, pre, post = zip(*rows, strict=True)
    return responses(participant, item, method, post, pre, stratum)


def plain_change(rows, method, times_of_person, times_of_item):
    """Mean over the drawn participants of their mean over the drawn items, averaged over a participant's strata."""
    blocks = {}
    for person in np.flatnonzero(rows.method_of == method):
        strata = {}
        for row in np.flatnonzero(rows.participant == person):
            for _ in range(times_of_item[rows.stratum[row], rows.item[row]]):
                strata.setdefault(int(rows.stratum[row]), []).append(rows.value[row])
        if strata:
            score = np.mean([np.mean(values) for values in strata.values()])
            home = frozenset(rows.stratum[rows.participant == person].tolist())
            blocks.setdefault(home, []).extend([score] * times_of_person[person])
    return np.mean([np.mean(scores) for scores in blocks.values()])


@pytest.mark.parametrize(("strata", "same_people"), [(1, True), (2, True), (2, False)])
def test_replicates_written_out_participant_by_participant(strata, same_people):
    rows = study(1, strata=strata, same_people=same_people, missing=0.1)
    replicates, seed = 60, 3
    a, b, difference = pigeonhole(rows, replicates=replicates, seed=seed, level=0.9)
    groups = rows.method_of if same_people else rows.method_of + 2 * (np.arange(14) >= 7)
    item_strata = np.repeat(np.arange(strata), 6)
    boots = []
    for of_people, of_items in pigeonhole_weights(groups, item_strata, replicates, seed):
        for people, items in zip(of_people.astype(int), of_items.astype(int), strict=True):
            boots.append([plain_change(rows, m, people, items.reshape(strata, 6)) for m in (0, 1)])
    boots = np.array(boots)
    for found, values in ((a, boots[:, 0]), (b, boots[:, 1]), (difference, boots[:, 0] - boots[:, 1])):
        low, high = np.quantile(values, [0.05, 0.95])
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
        assert (found.basic_low, found.basic_high) == pytest.approx(
            (2 * found.estimate - high, 2 * found.estimate - low), abs=1e-12
        )
        tail = min((values <= 0).sum(), (values >= 0).sum())
        assert found.p == pytest.approx(min(1, 2 * (tail + 1) / (replicates + 1)))
        assert found.n_boots == replicates
    assert (a.name, b.name, difference.name) == ("a", "b", "a - b")


@pytest.mark.parametrize(("strata", "same_people"), [(1, True), (3, True), (2, False)])
def test_the_estimate_is_that_of_the_default_estimator(strata, same_people):
    rows = study(5, strata=strata, same_people=same_people, missing=0.3)
    found = pigeonhole(rows, replicates=10)
    expected = [*crossed.changes(rows), *crossed.contrasts(rows)]
    assert [one.estimate for one in found] == pytest.approx([one.estimate for one in expected], abs=1e-12)
    assert [one.n_participants for one in found] == [one.n_participants for one in expected]


def test_the_measured_error_rate_is_seen_in_a_small_repeat():
    """200 studies of 2 x 8 people x 16 items without an effect: 5% would be 20 of 400 claims, the note says 1%."""
    claims, rng = 0, np.random.default_rng(0)
    for number in range(200):
        people, items = np.divmod(np.arange(16 * 16), 16)
        logit = 0.87 + rng.normal(0, 0.55, 16)[people] + rng.normal(0, 1, 16)[items]
        pre, post = (rng.random((2, 256)) < 1 / (1 + np.exp(-logit))).astype(float)
        rows = responses(people, items, people // 8, post, pre)
        for found in pigeonhole(rows, pairs=[], replicates=256, seed=number):
            claims += found.low > 0 or found.high < 0
    assert claims <= 12
    assert "0.4 to 1.1%" in NOTE


def test_a_large_effect_is_found_and_p_is_never_0():
    rows = study(2, people=(10, 10), items=20, gain=0.35)
    for found in pigeonhole(rows, pairs=[], replicates=500):
        assert found.low > 0
        assert found.p == pytest.approx(2 / 501)


def test_pairs_asked_for_and_none():
    rows = study(3)
    assert [found.name for found in pigeonhole(rows, pairs=[("b", "a")], replicates=20)] == [
        "a",
        "b",
        "b - a",
    ]
    assert [found.name for found in pigeonhole(rows, pairs=[], replicates=20)] == ["a", "b"]
    forth, back = (pigeonhole(rows, pairs=[pair], replicates=50)[2] for pair in (("a", "b"), ("b", "a")))
    assert (back.estimate, back.low, back.high) == pytest.approx((-forth.estimate, -forth.high, -forth.low))


def test_replicates_without_an_answer_are_dropped_and_counted():
    # Each participant answered one of two items: in half of the replicates of b's item draws nothing of b is left
    # for the items (0, 0) or (1, 1).
    rows = responses([1, 2, 3], [0, 1, 1], ["a", "a", "b"], [1, 0, 1], [0, 0, 0])
    a, b, difference = pigeonhole(rows, replicates=2000)
    assert b.n_boots / 2000 == pytest.approx(3 / 4, abs=0.04)
    assert b.low == b.high == b.estimate == 1
    assert difference.n_boots <= min(a.n_boots, b.n_boots)


def test_a_method_without_a_score_is_left_out():
    rows = responses([1, 2, 3], [0, 0, 0], ["a", "b", "c"], [1, 0, None], [0, 0, 1])
    assert [found.name for found in pigeonhole(rows, replicates=10)] == ["a", "b", "a - b"]


def test_json_carries_the_note():
    found = pigeonhole(study(0), replicates=20)[0]
    again = json.loads(json.dumps(found.to_dict()))
    assert Bootstrapped(**again) == found
    assert again["note"].startswith("Plain bootstrap of participants and items")


def test_bad_input_gets_a_sentence():
    rows = study(0)
    with pytest.raises(VeraxError, match=r"names 'lime': it must be one of a, b"):
        pigeonhole(rows, pairs=[("a", "lime")], replicates=10)
    with pytest.raises(VeraxError, match="between 0 and 1"):
        pigeonhole(rows, replicates=10, level=95)
    with pytest.raises(VeraxError, match="replicates is 0"):
        pigeonhole(rows, replicates=0)
    nothing = responses([1, 2], [0, 0], ["a", "b"], [None, None], [0, 1])
    with pytest.raises(VeraxError, match="None of the 2 responses has a score"):
        pigeonhole(nothing, replicates=10)
