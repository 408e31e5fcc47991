"""Masks hold exactly what was packed, in any block size."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from verax.perturb import masks as module
from verax.perturb.masks import LeaveOneOut, Masks, all_masks, distinct_rows

boolean_rows = hnp.arrays(bool, st.tuples(st.integers(1, 200), st.integers(0, 90)))


@given(boolean_rows)
def test_packing_keeps_every_bit(rows):
    masks = Masks.from_rows(rows)
    assert (masks.n_rows, masks.n_features) == rows.shape
    assert np.array_equal(masks.rows(), rows)
    assert np.array_equal(masks.dense(), rows.T.astype(float))
    assert np.array_equal(masks.dense32(), rows.T.astype(np.float32))


@given(boolean_rows, st.integers(1, 300))
def test_blocks_joined_are_the_whole(rows, max_rows):
    masks = Masks.from_rows(rows)
    blocks = list(masks.blocks(max_rows))
    assert np.array_equal(np.concatenate([block.rows() for block in blocks]), rows)
    assert all(block.n_rows <= max(64, max_rows) for block in blocks)


@given(boolean_rows)
def test_dot_is_the_sum_over_present_variants(rows):
    vector = np.arange(len(rows)) - 3.0
    expected = [sum(vector[row] for row in range(len(rows)) if rows[row, f]) for f in range(rows.shape[1])]
    assert np.allclose(Masks.from_rows(rows).dot(vector), expected)


def test_dot_in_blocks_equals_dot_at_once(monkeypatch):
    rows = np.random.default_rng(0).random((1000, 30)) < 0.5
    vector = np.random.default_rng(1).random(1000)
    whole = Masks.from_rows(rows).dot(vector)
    monkeypatch.setattr(module, "BLOCK_CELLS", 64 * 30)
    assert len(list(Masks.from_rows(rows).blocks())) == 16
    assert np.allclose(Masks.from_rows(rows).dot(vector), whole, rtol=1e-13)


@settings(max_examples=60)
@given(
    hnp.arrays(
        bool, st.tuples(st.integers(0, 150), st.integers(1, 60)), elements=st.sampled_from([True, False])
    )
)
def test_distinct_rows_finds_first_occurrences(columns):
    first, inverse = distinct_rows(columns)
    rows = [tuple(row) for row in columns.T]
    seen = list(dict.fromkeys(rows))
    assert [rows[place] for place in first] == seen
    assert [seen[number] for number in inverse] == rows
    assert first.tolist() == sorted(first)


def test_distinct_rows_is_exact_where_the_quick_number_collides(monkeypatch):
    columns = np.random.default_rng(0).random((130, 50)) < 0.5
    columns[:, 7] = columns[:, 3]
    expected = distinct_rows(columns)
    assert len(expected[0]) == 49
    monkeypatch.setattr(module, "row_numbers", lambda dense: np.zeros(dense.shape[1], dtype=np.uint64))
    found = distinct_rows(columns)
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


def test_all_masks_are_all_and_ordered():
    rows = all_masks(4).rows()
    assert {tuple(row) for row in rows.tolist()} == set(product([False, True], repeat=4))
    assert not rows[0].any()
    assert rows[-1].all()


@given(st.integers(1, 90), st.integers(1, 100))
def test_leave_one_out_in_blocks(n_features, max_rows):
    present = np.random.default_rng(n_features).random(n_features) < 0.7
    candidates = np.flatnonzero(present)
    variants = LeaveOneOut(present, candidates)
    rows = np.concatenate([block.rows() for block in variants.blocks(max_rows)])
    assert len(rows) == variants.n_rows
    assert np.array_equal(rows[0], present)
    for row, candidate in zip(rows[1:], candidates, strict=True):
        assert np.array_equal(np.flatnonzero(row != present), [candidate])
