"""Resampled data sets: against the script's loops written out in plain Python, by enumeration, and their laws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.stats import resample
from verax.stats.resample import block_weights, grid_weights, label_counts, pigeonhole_weights, weighted_sums


def small_study(seed, people=5, items=4, missing=0.25, doubles=2):
    """Columns of a study with gaps, in a mixed order, and some answers that share participant and item."""
    rng = np.random.default_rng(seed)
    cells = [(u, i) for u in range(people) for i in range(items) if rng.random() > missing]
    cells += [(u, u % items) for u in range(people)] + [(i % people, i) for i in range(items)]
    cells += [cells[place] for place in rng.integers(0, len(cells), doubles)]
    rng.shuffle(cells)
    return np.array(cells, dtype=np.intp).T


def plain_block_resample(rows, key, choices):
    """The published primitive, line by line: `rows` are places in the data, `choices` the blocks it draws."""
    blocks = {}
    for place, row in enumerate(rows):
        blocks.setdefault(key[row], []).append(place)
    drawn = []
    for choice in choices:
        if len(drawn) >= len(rows):
            break
        drawn.extend(blocks[choice])
    assert len(drawn) >= len(rows)
    return [rows[place] for place in drawn[: len(rows)]]


def plain_two_draws(first, second, within, seed):
    """All replicates of the first group by the loops of the script, given the same blocks to draw."""
    groups = sorted(set(within))
    samples = [[] for _ in range(resample.GROUP)]
    for number, one in enumerate(groups):
        rows = [row for row in range(len(first)) if within[row] == one]
        sizes = np.zeros(max(first) + 1, dtype=np.intp)
        for row in rows:
            sizes[first[row]] += 1
        draws = resample._draw_until(
            np.random.default_rng([seed, 0, 1 + number]), np.tile(sizes, (resample.GROUP, 1)), len(rows)
        )
        for replicate, sample in enumerate(samples):
            sample.extend(plain_block_resample(rows, first, draws.block[replicate].tolist()))
    sizes_now = np.array([np.bincount(second[sample], minlength=max(second) + 1) for sample in samples])
    again = resample._draw_until(np.random.default_rng([seed, 0, 0]), sizes_now, len(first))
    return [
        plain_block_resample(sample, second, again.block[replicate].tolist())
        for replicate, sample in enumerate(samples)
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("groups", [1, 2])
def test_blocks_equal_the_published_loops_answer_by_answer(seed, groups):
    first, second = small_study(seed)
    within = first % groups
    (weights,) = block_weights(first, second, resample.GROUP, seed, within)
    expected = plain_two_draws(first, second, within, seed)
    assert weights.tolist() == [np.bincount(rows, minlength=len(first)).tolist() for rows in expected]


def test_without_groups_is_one_group():
    first, second = small_study(1)
    alone = next(block_weights(first, second, 20, 3))
    assert np.array_equal(alone, next(block_weights(first, second, 20, 3, np.zeros_like(first))))


def test_blocks_are_drawn_as_an_independent_loop_draws_them():
    """The same loops with Python's own way to choose: means and spreads of each answer's weight agree."""
    first, second = small_study(3, people=4, items=3, doubles=1)
    rng, replicates = np.random.default_rng(0), 4000
    plain = np.zeros((replicates, len(first)))
    for replicate in range(replicates):
        rows = list(range(len(first)))
        for key in (first, second):
            there = sorted({int(key[row]) for row in rows})
            rows = plain_block_resample(rows, key, rng.choice(there, 60).tolist())
        plain[replicate] = np.bincount(rows, minlength=len(first))
    ours = np.vstack(list(block_weights(first, second, replicates, 0)))
    error = np.sqrt(2 / replicates) * plain.std(axis=0)
    assert np.abs(ours.mean(axis=0) - plain.mean(axis=0)).max() < 4.5 * error.max()
    assert ours.std(axis=0) == pytest.approx(plain.std(axis=0), rel=0.1)


def test_with_one_item_and_groups_every_group_keeps_its_size():
    first = np.repeat(np.arange(6), [3, 1, 4, 2, 5, 2])
    within = first // 2
    (weights,) = block_weights(first, np.zeros_like(first), 100, 0, within)
    sizes = np.stack([weights[:, within == one].sum(axis=1) for one in range(3)], axis=1)
    assert (sizes == [4, 6, 7]).all()


def enumerated_grid():
    """2 participants x 2 items, one answer each: every draw of participants, then of the items they have."""
    chances = Counter()
    for u1 in range(2):
        for u2 in range(2):
            for i1 in range(2):
                for i2 in range(2):
                    weights = tuple((u1, u2).count(u) * (i1, i2).count(i) for u in range(2) for i in range(2))
                    chances[weights] += 1 / 16
    return chances


@pytest.mark.parametrize("scheme", ["blocks", "grid", "pigeonhole"])
def test_two_by_two_has_the_enumerated_chances(scheme):
    first, second, replicates = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), 8192
    if scheme == "blocks":
        weights = block_weights(first, second, replicates, 5)
    elif scheme == "grid":
        weights = grid_weights(first, second, replicates, 5)
    else:
        nobody = np.zeros(2, dtype=np.intp)
        drawn = pigeonhole_weights(nobody, nobody, replicates, 5)
        weights = (people[:, first] * items[:, second] for people, items in drawn)
    found = Counter(map(tuple, np.vstack(list(weights)).astype(int).tolist()))
    expected = enumerated_grid()
    assert set(found) == set(expected)
    for kind, chance in expected.items():
        assert found[kind] / replicates == pytest.approx(chance, abs=4.5 * np.sqrt(chance / replicates))


def test_the_grid_draws_only_items_that_its_participants_have_and_as_many():
    # Participant 0 has items 0 and 1, participant 1 only item 2.
    first, second = np.array([0, 0, 1]), np.array([0, 1, 2])
    found = Counter(map(tuple, np.vstack(list(grid_weights(first, second, 8192, 1))).astype(int).tolist()))
    # Both 0 (1/4): items 0, 1 drawn twice, weights 2 each. Both 1 (1/4): item 2 once. One each (1/2): three of three.
    assert found[(0, 0, 2)] / 8192 == pytest.approx(1 / 4, abs=0.02)
    assert found[(2, 2, 0)] / 8192 == pytest.approx(1 / 4 * 1 / 2, abs=0.02)
    assert found[(4, 0, 0)] / 8192 == pytest.approx(1 / 4 * 1 / 4, abs=0.02)
    assert found[(1, 1, 1)] / 8192 == pytest.approx(1 / 2 * 6 / 27, abs=0.02)
    assert found[(0, 0, 3)] / 8192 == pytest.approx(1 / 2 * 1 / 27, abs=0.01)


def test_the_pigeonhole_draws_each_group_for_itself():
    people, items = np.array([0, 1, 0, 1, 1]), np.array([0, 0, 2])
    for of_people, of_items in pigeonhole_weights(people, items, 300, 0):
        assert (of_people[:, people == 0].sum(axis=1) == 2).all()
        assert (of_people[:, people == 1].sum(axis=1) == 3).all()
        assert (of_items[:, :2].sum(axis=1) == 2).all()
        assert (of_items[:, 2] == 1).all()


def schemes(first, second, replicates, seed):
    return {
        "blocks": lambda: np.vstack(list(block_weights(first, second, replicates, seed))),
        "grid": lambda: np.vstack(list(grid_weights(first, second, replicates, seed))),
        "pigeonhole": lambda: np.vstack(
            [
                people[:, first] * items[:, second]
                for people, items in pigeonhole_weights(
                    np.zeros(first.max() + 1, int), np.zeros(second.max() + 1, int), replicates, seed
                )
            ]
        ),
    }


@pytest.mark.parametrize("scheme", ["blocks", "grid", "pigeonhole"])
def test_more_replicates_begin_with_the_fewer_and_another_seed_is_another_draw(scheme):
    first, second = small_study(2)
    few, many = (schemes(first, second, n, 7)[scheme]() for n in (10, resample.GROUP + 30))
    assert np.array_equal(few, many[:10])
    assert len(many) == resample.GROUP + 30
    assert not np.array_equal(few, schemes(first, second, 10, 8)[scheme]())
    assert not np.array_equal(many[resample.GROUP :], many[:30])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6))
def test_blocks_always_give_as_many_answers_as_the_data(seed, people, items):
    first, second = small_study(seed, people, items)
    weights = np.vstack(list(block_weights(first, second, 5, seed)))
    assert (weights.sum(axis=1) == len(first)).all()
    assert (weights >= 0).all()
    assert np.array_equal(weights, np.rint(weights))


def test_counts_and_sums_are_those_of_the_answers_written_out():
    first, second = small_study(4)
    label = (first + second) % 3
    value = np.random.default_rng(0).normal(size=len(first))
    weights = [some.copy() for some in block_weights(first, second, 300, 0)]
    counts = label_counts(weights, label, 5)
    sums = weighted_sums(weights, value[:, None])
    assert counts.shape == (300, 5)
    for replicate, weight in enumerate(np.vstack(weights)[:20]):
        rows = np.repeat(np.arange(len(first)), weight.astype(int))
        assert counts[replicate].tolist() == np.bincount(label[rows], minlength=5).tolist()
        assert sums[replicate, 0] == pytest.approx(value[rows].sum())


def test_no_replicates_are_refused():
    first, second = small_study(0)
    for weights in (block_weights(first, second, 0, 0), grid_weights(first, second, -3, 0)):
        with pytest.raises(VeraxError, match="number of replicates is"):
            next(weights)


def test_a_negative_seed_is_refused():
    first, second = small_study(0)
    with pytest.raises(VeraxError, match="seed is -1: give a whole number from 0"):
        next(block_weights(first, second, 10, -1))
