"""Edits of table rows: how many, where, to which values, and with which prediction."""

from __future__ import annotations

from collections import Counter
from importlib import metadata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import verax
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.perturb.counterfactual import changes as module
from verax.perturb.counterfactual import column_values, counterfactual_rows
from verax.perturb.counterfactual.changes import sample_rows
from verax.seeds import stream

SCHEMA = Schema(
    (Column("x"), Column("kind", ("a", "b", "c")), Column("y", missing=True), Column("one", ("only",)))
)
TRAINING = np.array(
    [[1.0, 0, 5, 0], [2.0, 0, np.nan, 0], [4.0, 1, 5, 0], [2.0, 1, 6, 0], [8.0, 0, np.nan, 0], [8.0, 0, 7, 0]]
)
VALUES = column_values(SCHEMA, TRAINING)
ROW = np.array([2.0, 1.0, np.nan, 0.0])
OTHERS = ([1.0, 4.0, 8.0], [0.0, 2.0], [5.0, 6.0, 7.0])  # of ROW, by column; the last has no other value


def within(count: int, total: int, probability: float) -> bool:
    """Whether a binomial count is no further than 4.5 standard deviations (once in 150,000) from its mean."""
    spread = (total * probability * (1 - probability)) ** 0.5
    return abs(count - total * probability) <= 4.5 * spread


def as_function(predict, n_classes: int = 2):
    """A model of rows from a function of one row to its class."""
    return verax.as_model(
        lambda rows: np.eye(n_classes)[[int(predict(row)) for row in rows]], schema=SCHEMA, reference=TRAINING
    )


def draw(samples: int, most_edits: int = 3, row: np.ndarray = ROW, values=VALUES) -> np.ndarray:
    return np.concatenate(list(sample_rows(row, values, most_edits, samples, stream(0, "test"))))


def differs(rows: np.ndarray, row: np.ndarray = ROW) -> np.ndarray:
    return (rows != row) & ~(np.isnan(rows) & np.isnan(row))


def test_values_are_all_categories_and_the_distinct_numbers_of_training():
    x, kind, y, one = VALUES
    assert x.tolist() == [1, 2, 4, 8]
    assert kind.tolist() == [0, 1, 2]  # "c" too, which no training row has
    assert y[:3].tolist() == [5, 6, 7]
    assert np.isnan(y[3:]).tolist() == [True]  # a missing number once, as a missing category
    assert one.tolist() == [0]


def test_edits_columns_and_values_are_uniform_and_never_the_original():
    total = 30_000
    rows = draw(total)
    changed = differs(rows)
    assert not changed[:, 3].any()
    edits = changed.sum(axis=1)
    assert all(within(int((edits == count).sum()), total, 1 / 3) for count in (1, 2, 3))
    for count, sets in ((1, [(0,), (1,), (2,)]), (2, [(0, 1), (0, 2), (1, 2)])):
        found = Counter(tuple(np.flatnonzero(row).tolist()) for row in changed[edits == count])
        assert set(found) == set(sets)
        assert all(within(found[columns], sum(found.values()), 1 / 3) for columns in sets)
    for column, others in enumerate(OTHERS):
        values = Counter(rows[changed[:, column], column].tolist())
        assert set(values) == set(others)
        assert all(within(values[value], sum(values.values()), 1 / len(others)) for value in others)
    full = Counter(map(tuple, rows[edits == 3][:, :3].tolist()))  # the columns' values are independent
    assert len(full) == 18
    assert all(within(count, sum(full.values()), 1 / 18) for count in full.values())


def test_a_present_number_may_become_missing():
    rows = draw(2_000, row=np.array([1.0, 0.0, 5.0, 0.0]))
    assert np.isnan(rows[:, 2]).any()


@pytest.mark.parametrize("most_edits", [1, 2, 3, 9])
def test_no_more_edits_than_asked_for_or_than_there_are_columns(most_edits):
    edits = differs(draw(3_000, most_edits)).sum(axis=1)
    assert set(edits.tolist()) == set(range(1, min(most_edits, 3) + 1))


def test_draws_do_not_depend_on_the_size_of_blocks(monkeypatch):
    at_once = draw(1_000)
    monkeypatch.setattr(module, "MAX_ROWS", 7)
    assert np.array_equal(draw(1_000), at_once, equal_nan=True)


@settings(max_examples=40, deadline=None)
@given(
    row=st.tuples(*(st.sampled_from(values.tolist()) for values in VALUES)),
    flip=st.booleans(),
    seed=st.integers(0, 5),
)
def test_edits_keep_their_laws(row, flip, seed):
    def predict(values):
        return values[0] * (values[1] + 1) + np.nan_to_num(values[2], nan=-3.0) > 9

    model = as_function(predict)
    (found,) = counterfactual_rows(model, [np.array(row)], [flip], SCHEMA, VALUES, samples=500, seed=seed)
    assert found.original == pytest.approx(row, nan_ok=True)
    assert found.flipped == flip
    assert found.prediction == predict(row)
    assert found.perturbed_prediction == predict(found.perturbed)
    assert found.edits == differs(np.array(found.perturbed), np.array(row)).sum() in (1, 2, 3)
    restored = list(found.perturbed)
    for change in found.changes:
        assert restored[change.column] == pytest.approx(change.after, nan_ok=True)
        assert change.after != change.before
        restored[change.column] = change.before
    assert restored == pytest.approx(row, nan_ok=True)


def test_the_choice_is_uniform_over_samples_with_the_wanted_prediction():
    model = as_function(lambda row: row[0] == 8.0)
    seeds = 600
    edits = Counter(
        counterfactual_rows(model, [ROW], [True], SCHEMA, VALUES, samples=300, seed=seed)[0].edits
        for seed in range(seeds)
    )
    # With k of three columns edited, x is among them with chance k / 3, and then 8 with chance 1/3, whatever k.
    for count in (1, 2, 3):
        assert within(edits[count], seeds, count / 6)


def test_results_depend_on_the_row_and_the_seed_only():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.choice(values, 20) for values in VALUES], axis=1)
    flips = [number % 2 == 0 for number in range(20)]
    model = as_function(lambda row: row[0] * (row[1] + 1) > 5)
    at_once = counterfactual_rows(model, rows, flips, SCHEMA, VALUES, samples=200)
    again = [
        counterfactual_rows(model, [row], [flip], SCHEMA, VALUES, samples=200)[0]
        for row, flip in zip(rows, flips, strict=True)
    ]
    assert list(map(repr, at_once)) == list(map(repr, again))  # a missing number is not equal to itself
    other_seed = counterfactual_rows(model, rows, flips, SCHEMA, VALUES, samples=200, seed=1)
    assert list(map(repr, at_once)) != list(map(repr, other_seed))


def test_three_classes_and_raw_rows():
    model = as_function(lambda row: row[1], n_classes=3)
    results = [
        counterfactual_rows(model, [[4, "b", 6, "only"]], [flip], SCHEMA, VALUES, samples=200, seed=seed)[0]
        for flip in (True, False)
        for seed in range(20)
    ]
    assert {found.perturbed_prediction for found in results[:20]} == {0, 2}
    assert {found.perturbed_prediction for found in results[20:]} == {1}


def test_a_prediction_that_never_flips_and_a_row_without_other_values_give_none():
    model = as_function(lambda row: True)
    assert counterfactual_rows(model, [ROW, ROW], [True, True], SCHEMA, VALUES, samples=50) == [None, None]
    single = column_values(SCHEMA, TRAINING[:1])
    fixed = [single[0], np.array([0.0]), single[2], single[3]]
    assert counterfactual_rows(model, TRAINING[:1], [False], SCHEMA, fixed, samples=50) == [None]
    assert counterfactual_rows(model, TRAINING[:0], [], SCHEMA, VALUES) == []


def test_a_rare_flip_takes_more_attempts():
    model = as_function(lambda row: row.tolist()[:3] == [8.0, 2.0, 7.0])  # one sample in 54
    found = [
        counterfactual_rows(model, [ROW], [True], SCHEMA, VALUES, samples=20, attempts=3, seed=seed)[0]
        for seed in range(100)
    ]
    attempts = Counter(None if result is None else result.attempts for result in found)
    success = 1 - (53 / 54) ** 20  # of an attempt
    chances = {
        1: success,
        2: (1 - success) * success,
        3: (1 - success) ** 2 * success,
        None: (1 - success) ** 3,
    }
    assert set(attempts) == set(chances)
    assert all(within(attempts[number], 100, chance) for number, chance in chances.items())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flips": [True, True]}, "There are 1 inputs but flips are 2"),
        ({"values": VALUES[:2]}, "values for 2 columns but the table has 4; give column_values"),
        ({"samples": 0}, "samples=0"),
        (
            {"model": verax.as_model(lambda texts: np.ones((len(texts), 2)) / 2)},
            "kind 'text' but was given table",
        ),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(arguments, message):
    model = as_function(lambda row: True)
    given = {"model": model, "rows": [ROW], "flips": [True], "schema": SCHEMA, "values": VALUES, **arguments}
    with pytest.raises(VeraxError, match=message):
        counterfactual_rows(**given)


def test_real_people():
    try:
        metadata.version("mglearn")
    except metadata.PackageNotFoundError:
        pytest.skip("the package mglearn is not installed")
    data = verax.load_dataset("adult")
    fitted = LogisticRegression(max_iter=200).fit(data.train.inputs[:1_000], data.train.labels[:1_000])
    model = verax.as_model(fitted, schema=data.schema)
    values = column_values(data.schema, data.train.inputs)
    rows, flips = data.test.inputs[:24], [number % 2 == 0 for number in range(24)]
    results = counterfactual_rows(model, rows, flips, data.schema, values)
    perturbed = np.array([found.perturbed for found in results])
    assert set((perturbed != rows).sum(axis=1).tolist()) == {1, 2, 3}
    predicted = model.predict_proba(rows).argmax(axis=1), model.predict_proba(perturbed).argmax(axis=1)
    assert (predicted[0] != predicted[1]).tolist() == flips
