"""Absent columns take background values; averaging and merging change nothing."""

from __future__ import annotations

import numpy as np
import pytest

import verax
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.perturb import path_for
from verax.perturb.masks import Masks, all_masks
from verax.perturb.paths.tables import BACKGROUND_ROWS, TablePath

SCHEMA = Schema((Column("x"), Column("kind", ("a", "b", "c")), Column("y", missing=True)))


def rows(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.stack([rng.normal(size=count), rng.integers(0, 3, count), rng.normal(size=count)], axis=1)
    table[rng.random(count) < 0.2, 2] = np.nan
    return table


def make_model(calls: list[int] | None = None, reference=None):
    def probabilities(table):
        if calls is not None:
            calls.append(len(table))
        y = np.nan_to_num(table[:, 2], nan=1.0)
        positive = 1 / (1 + np.exp(-(table[:, 0] * (table[:, 1] + 1) + np.sin(y))))
        return np.stack([1 - positive, positive], axis=1)

    return verax.as_model(
        probabilities, schema=SCHEMA, reference=rows(40) if reference is None else reference
    )


def test_answers_are_averages_over_the_background():
    model = make_model()
    path = path_for(model)
    given = rows(3, seed=1)
    masks = all_masks(3)
    for row, answer in zip(given, path.evaluate(path.prepare(given), [masks] * 3), strict=True):
        for mask, probabilities in zip(masks.rows(), answer.probabilities, strict=True):
            expected = model.predict_proba(np.where(mask, row, model.reference)).mean(axis=0)
            assert np.allclose(probabilities, expected, atol=1e-14)


def test_variants_that_are_the_same_row_are_asked_once():
    calls: list[int] = []
    reference = np.array([[0.0, 1.0, 2.0], [5.0, 1.0, np.nan]])
    model = make_model(calls, reference)
    path = path_for(model)
    row = np.array([[0.0, 1.0, np.nan]])  # agrees with each background row in two columns
    calls.clear()
    answer = next(iter(path.evaluate(path.prepare(row), [all_masks(3)])))
    assert answer.rows == 4
    assert sorted(calls) == [1, 4]  # the row itself, once


def test_the_background_is_bounded_and_always_the_same():
    model = make_model(reference=rows(5000))
    path = path_for(model)
    assert isinstance(path, TablePath)
    assert len(path.background) == BACKGROUND_ROWS
    assert np.array_equal(
        path.background, path_for(make_model(reference=rows(5000))).background, equal_nan=True
    )


def test_blocks_and_whole_agree(monkeypatch):
    from verax.perturb.paths import tables

    model = make_model()
    path = path_for(model)
    masks = Masks.from_rows(np.random.default_rng(0).random((300, 3)) < 0.5)
    ready = path.prepare(rows(2, seed=3))
    whole = [answer.probabilities for answer in path.evaluate(ready, [masks, masks])]
    monkeypatch.setattr(tables, "BLOCK_ROWS", 64)
    parts = [answer.probabilities for answer in path.evaluate(ready, [masks, masks])]
    assert all(np.allclose(one, other, atol=1e-15) for one, other in zip(whole, parts, strict=True))


def test_without_reference_rows_there_is_a_sentence():
    model = verax.as_model(lambda table: np.full((len(table), 2), 0.5), schema=SCHEMA, kind="table")
    with pytest.raises(VeraxError, match="needs some of its training rows"):
        path_for(model)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([np.nan, 0, 0], "missing value in column 'x'"),
        ([np.inf, 0, 0], "infinite value in column 'x'"),
        ([0, 7, 0], "column 'kind'"),
        ([0, 0], "columns"),
    ],
)
def test_bad_rows_are_named(row, sentence):
    with pytest.raises(VeraxError, match=sentence):
        path_for(make_model()).prepare(np.array([row], dtype=float))
