"""(C) User average and (D) tables of ratings: the script's loops written out with the same draws."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.hase2020 import Defects, rating_by_correctness, rating_table, user_average
from verax.stats.resample import block_weights, grid_weights


def columns(seed=0, shared=True):
    """participant, item, method, rating, model right, pre, post of a small study with gaps."""
    rng = np.random.default_rng(seed)
    rows = []
    for method, count in enumerate((3, 2, 3)):
        for own in range(count):
            for item in range(6):
                if rng.random() < 0.9:
                    who = own if shared else 10 * method + own
                    rating = rng.integers(1, 8) if rng.random() < 0.9 else math.nan
                    answers = [float(answer) for answer in rng.random(3) < 0.6]
                    rows.append((who, item, "abc"[method], float(rating), *answers))
    return [list(column) for column in zip(*rows, strict=True)]


def places(names):
    order = sorted(set(names))
    return np.array([order.index(name) for name in names])


def plain_means(people, items, values, replicates, seed):
    """Mean of each replicate's answers, written out as a list."""
    means = []
    for weights in np.vstack(list(grid_weights(places(people), places(items), replicates, seed))).astype(int):
        sample = [values[row] for row, times in enumerate(weights) for _ in range(times)]
        means.append(sum(sample) / len(sample))
    return np.array(means)


def check(found, people, items, values, replicates, seed):
    boots = plain_means(people, items, values, replicates, seed)
    assert found.boot.estimate == pytest.approx(boots.mean())
    low, high = np.quantile(boots, [0.025, 0.975])
    assert found.boot.half_width == pytest.approx((high - low) / 2)
    assert found.n == len(values)
    assert found.mean == pytest.approx(np.mean(values))
    assert found.spread == pytest.approx(np.std(values, ddof=1))
    assert found.absolute_deviation == pytest.approx(np.mean(np.abs(np.array(values) - np.mean(values))))


def test_user_average_is_pre_over_unique_participants_with_pre_and_post():
    participant, item, method, _, _, pre, post = columns()
    pre[0], post[3] = None, None
    found = user_average(participant, item, method, pre, post, replicates=150, seed=2)
    kept = [row for row in range(len(pre)) if row not in (0, 3)]
    people = [(method[row], participant[row]) for row in kept]
    check(found, people, [item[row] for row in kept], [pre[row] for row in kept], 150, 2)


def test_rating_table_is_sorted_by_mean_and_leaves_out_missing_ratings():
    participant, item, method, rating, *_ = columns()
    rows = rating_table(participant, item, method, rating, replicates=150, seed=1)
    assert [row.rating.mean for row in rows] == sorted((row.rating.mean for row in rows), reverse=True)
    assert sorted(row.method for row in rows) == ["a", "b", "c"]
    for row in rows:
        kept = [
            place
            for place in range(len(rating))
            if method[place] == row.method and not math.isnan(rating[place])
        ]
        own = [[column[place] for place in kept] for column in (participant, item, rating)]
        check(row.rating, *own, 150, 1)


@pytest.mark.parametrize("shared", [True, False])
def test_rating_by_correctness_written_out(shared):
    participant, item, method, rating, right, *_ = columns(3)
    right[1] = None
    defects = Defects(shared_names=shared)
    found = rating_by_correctness(
        participant, item, method, rating, right, replicates=150, seed=4, defects=defects
    )
    kept = [row for row in range(len(rating)) if not math.isnan(rating[row]) and right[row] is not None]
    assert found.dropped == len(rating) - len(kept) > 1
    unique = [(method[row], participant[row]) for row in range(len(rating))]
    for part, wanted in ((found.right, 1), (found.wrong, 0)):
        own = [row for row in kept if right[row] == wanted]
        names = participant if shared else unique
        check(part, [names[r] for r in own], [item[r] for r in own], [rating[r] for r in own], 150, 4)

    people, items = places([unique[row] for row in kept]), places([item[row] for row in kept])
    differences = []
    for weights in np.vstack(list(block_weights(people, items, 150, 4))).astype(int):
        sample = [row for row, times in zip(kept, weights, strict=True) for _ in range(times)]
        good, bad = ([rating[row] for row in sample if right[row] == wanted] for wanted in (1, 0))
        if good and bad:
            differences.append(np.mean(good) - np.mean(bad))
    mean = np.mean(differences)
    assert found.difference.n_boots == len(differences)
    assert found.difference.estimate == pytest.approx(mean)
    assert found.difference.p == pytest.approx(np.mean(np.abs(differences - mean) > abs(mean)))


def test_a_model_that_is_always_right_has_no_difference():
    participant, item, method, rating, right, *_ = columns()
    found = rating_by_correctness(participant, item, method, rating, [1] * len(right), replicates=20)
    assert found.wrong is None
    assert (found.difference.estimate, found.difference.n_boots) == (None, 0)
    assert found.right.boot.n_boots == 20


def test_json():
    participant, item, method, rating, right, pre, post = columns()
    average = user_average(participant, item, method, pre, post, replicates=20)
    assert json.loads(json.dumps(average.to_dict()))["boot"]["estimate"] == average.boot.estimate
    both = rating_by_correctness(participant, item, method, rating, right, replicates=20)
    assert json.loads(json.dumps(both.to_dict()))["right"]["mean"] == both.right.mean


def test_nothing_rated_is_said():
    with pytest.raises(VeraxError, match="None of the 2 answers has a rating"):
        rating_by_correctness([1, 2], [1, 2], ["a", "b"], [None, 3], [1, None])
    assert rating_table([1], [1], ["a"], [None]) == []
