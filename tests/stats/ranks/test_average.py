"""Average ranks: by hand, against scipy, missing cells, and the laws."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verax.errors import VeraxError
from verax.stats import average_ranks


def table(rows):
    return {f"m{name}": dict(enumerate(row)) for name, row in enumerate(rows)}


def test_by_hand():
    # Three cells: a first, first, second; b second, third, first; c third, second, third.
    found = average_ranks({"a": {1: 9, 2: 9, 3: 5}, "b": {1: 5, 2: 1, 3: 9}, "c": {1: 1, 2: 5, 3: 1}})
    assert found.ranks == pytest.approx({"a": 4 / 3, "b": 2, "c": 8 / 3})
    assert (found.cells, found.left_out) == (3, 0)


def test_ties_share_the_mean_rank():
    found = average_ranks({"a": {1: 0.5}, "b": {1: 0.9}, "c": {1: 0.5}, "d": {1: 0.5}})
    assert found.ranks == {"a": 3.0, "b": 1.0, "c": 3.0, "d": 3.0}


def test_values_that_differ_by_rounding_only_are_tied():
    found = average_ranks({"a": {1: 0.1 + 0.2 + 0.3}, "b": {1: 0.3 + 0.2 + 0.1}})
    assert found.ranks == {"a": 1.5, "b": 1.5}


def test_only_cells_that_all_have_and_the_others_counted():
    found = average_ranks(
        {
            "a": {("rt", "lr"): 0.9, ("rt", "nn"): 0.1, ("imdb", "lr"): 0.9},
            "b": {("imdb", "lr"): 0.5, ("rt", "lr"): 0.6, ("imdb", "nn"): 0.7},
        }
    )
    assert found.ranks == {"a": 1.0, "b": 2.0}
    assert (found.cells, found.left_out) == (2, 2)


def test_no_common_cell_means_no_ranks_and_says_so():
    found = average_ranks({"a": {1: 0.5}, "b": {2: 0.5}})
    assert (found.ranks, found.cells, found.left_out) == ({"a": None, "b": None}, 0, 2)
    assert average_ranks({}).ranks == {}


def test_no_p_is_given_since_models_of_one_dataset_share_their_stains():
    # Three methods and random over five models that all show the same order: one draw of stains, not five.
    found = average_ranks(table([[0.9] * 5, [0.8] * 5, [0.7] * 5, [0.3] * 5]))
    assert list(found.ranks.values()) == [1.0, 2.0, 3.0, 4.0]
    assert "p" not in found.to_dict()


@pytest.mark.parametrize("decimals", [1, 8])
@pytest.mark.parametrize(("names", "cells"), [(3, 4), (5, 10), (6, 25)])
def test_equal_to_scipy_with_and_without_ties(names, cells, decimals):
    rng = np.random.default_rng(names)
    values = np.round(rng.random((names, cells)) + 0.2 * rng.random((names, 1)), decimals)
    found = average_ranks(table(values.tolist()))
    expected = stats.rankdata(-values, axis=0).mean(axis=1)
    assert list(found.ranks.values()) == pytest.approx(expected)


def test_what_is_not_a_finite_number_is_refused_by_name_and_cell():
    with pytest.raises(VeraxError, match=r"value of 'b' for \('rt', 'lr'\) is nan"):
        average_ranks({"a": {("rt", "lr"): 0.5}, "b": {("rt", "lr"): float("nan")}})


def test_json():
    found = average_ranks({"a": {1: 0.5, 2: 0.5}, "b": {1: 0.4, 3: 1.0}})
    expected = {"ranks": {"a": 1.0, "b": 2.0}, "cells": 1, "left_out": 2}
    assert json.loads(json.dumps(found.to_dict())) == expected


grids = st.tuples(st.integers(2, 5), st.integers(2, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-4, 4), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@settings(max_examples=50)
@given(grids, st.randoms(use_true_random=False))
def test_ranks_sum_to_a_constant_and_know_no_order_and_no_scale(rows, shuffler):
    found = average_ranks(table(rows))
    k = len(rows)
    assert sum(found.ranks.values()) == pytest.approx(k * (k + 1) / 2)
    assert all(1 <= rank <= k for rank in found.ranks.values())

    # Any increasing change of a cell's values keeps its ranks.
    cubed = average_ranks(table([[(value + cell) ** 3 for cell, value in enumerate(row)] for row in rows]))
    assert cubed == found

    cells = list(range(len(rows[0])))
    shuffler.shuffle(cells)
    assert average_ranks(table([[row[cell] for cell in cells] for row in rows])) == found

    backwards = average_ranks(dict(reversed(table(rows).items())))
    assert dict(backwards.ranks) == dict(found.ranks)

    worst_first = average_ranks(table([[-value for value in row] for row in rows]))
    assert list(worst_first.ranks.values()) == pytest.approx([k + 1 - rank for rank in found.ranks.values()])
