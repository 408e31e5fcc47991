"""Datasets in memory: the same set whatever holds it, with its class names and parts; and what is odd about columns."""

from __future__ import annotations

import logging

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import verax
from verax.data import Bins
from verax.errors import VeraxError

TEXTS = [f"{'good' if n % 2 else 'bad'} film number {n}" for n in range(40)]
LABELS = [n % 2 for n in range(40)]
NAMES = ["pos" if label else "neg" for label in LABELS]
ROWS = pd.DataFrame({"age": np.arange(40) % 7, "job": ["cook", "judge"] * 20})


def same(one, other):
    return one.hash == other.hash


def test_texts_are_one_set_whatever_holds_them():
    expected = verax.load_dataset(pd.DataFrame({"text": TEXTS, "label": NAMES}))
    assert expected.class_names == ("neg", "pos")
    for given in (
        pd.DataFrame({"label": NAMES, "text": TEXTS}, index=np.random.default_rng(0).permutation(40)),
        pl.DataFrame({"text": TEXTS, "label": NAMES}),
        pa.table({"text": TEXTS, "label": NAMES}),
        datasets.Dataset.from_dict({"text": TEXTS, "label": NAMES}),
        (TEXTS, NAMES),
        (pd.Series(TEXTS, index=range(40, 0, -1)), pd.Series(NAMES)),
        (np.array(TEXTS), np.array(NAMES)),
    ):
        assert same(verax.load_dataset(given), expected), type(given)


def test_rows_are_one_table_whatever_holds_them():
    expected = verax.load_dataset(ROWS.assign(label=NAMES))
    assert expected.kind == "table"
    assert expected.schema.names == ("age", "job")
    columns = ROWS.to_dict("list") | {"label": NAMES}
    for given in (
        pl.DataFrame(columns),
        pa.table(columns),
        datasets.Dataset.from_dict(columns),
        (ROWS, NAMES),
        (ROWS.set_axis(range(100, 140)), pd.Series(NAMES)),
    ):
        assert same(verax.load_dataset(given), expected), type(given)
    numbered = verax.load_dataset((np.arange(80).reshape(40, 2) % 7, LABELS))
    assert numbered.schema.names == ("x0", "x1")


def test_the_names_of_class_labels_and_their_order_are_kept():
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["pos", "neg", "other"])}
    )
    given = datasets.Dataset.from_dict(
        {"text": TEXTS, "label": [n % 3 for n in range(40)]}, features=features
    )
    data = verax.load_dataset(given)
    assert data.class_names == ("pos", "neg", "other")
    by_text = dict(zip(data.train.inputs, data.train.labels, strict=True))
    assert all(label == int(text.split()[-1]) % 3 for text, label in by_text.items())


def test_the_parts_of_a_dataset_dict_are_its_parts():
    parts = {
        name: datasets.Dataset.from_dict({"text": TEXTS[a:b], "label": NAMES[a:b]})
        for name, a, b in (("train", 0, 24), ("validation", 24, 30), ("test", 30, 40))
    }
    data = verax.load_dataset(datasets.DatasetDict(parts))
    assert sorted(data.test.inputs) == sorted(TEXTS[30:])
    assert sorted(data.validation.inputs) == sorted(TEXTS[24:30])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((TEXTS, LABELS[:3]), "There are 40 inputs but 3 labels"),
        ((ROWS.assign(label=1), LABELS), "The inputs have a column 'label' of their own"),
        (7, "A int is no dataset; give a name, a file, a DataFrame"),
        (ROWS.set_axis(["label", "label"], axis=1), "The DataFrame has several columns 'label'"),
        ({"first": ROWS}, "A dict of the keys first is no dataset"),
        (pd.DataFrame({"review": TEXTS, "label": LABELS}), "name the text column with text="),
        (ROWS.assign(review=TEXTS, label=LABELS).assign(review=lambda f: f.review + " and so on"), "text="),
    ],
)
def test_what_is_no_dataset_is_a_sentence(given, sentence):
    with pytest.raises(VeraxError, match=sentence):
        verax.load_dataset(given)


@pytest.mark.parametrize(
    ("column", "warned"),
    [
        (np.random.default_rng(0).permutation(40), "numbers the rows (0 to 39)"),
        (np.arange(40) + 20, ""),  # as ages may do
        ([f"2024-01-{day % 31 + 1:02}T{day}" for day in range(40)], "40 different values in 40 rows"),
        ([f"u{n}" for n in range(40)], "40 different values in 40 rows"),
        (np.random.default_rng(0).uniform(0, 1, 40), ""),
        (np.arange(40) % 5, ""),
    ],
)
def test_a_column_that_tells_every_row_apart_is_warned_of(column, warned, caplog):
    with caplog.at_level(logging.WARNING, "verax"):
        data = verax.load_dataset(ROWS.assign(extra=column, label=NAMES))
    assert (warned in caplog.text) if warned else ("extra" not in caplog.text)
    assert any("extra" in note for note in data.notes) is bool(warned)


@pytest.mark.parametrize(
    "column",
    [
        [f"P-{n:04}" for n in range(300)],
        [f"{n % 28 + 1} Mar {1700 + n}" for n in range(300)],
    ],
)
def test_identifiers_and_dates_of_a_large_table_are_warned_of_too(column, caplog):
    rows = pd.DataFrame({"age": np.arange(300) % 7, "extra": column, "label": np.arange(300) % 2})
    with caplog.at_level(logging.WARNING, "verax"):
        data = verax.load_dataset(rows)
    assert "the column 'extra' has 300 different values in 300 rows" in caplog.text
    assert data.schema.names == ("age", "extra")


def test_dates_of_a_frame_are_numbers_that_are_shown_as_dates():
    days = pd.date_range("2024-01-01", periods=40, freq="36h")
    data = verax.load_dataset(ROWS.assign(since=days, label=NAMES), split=(1, 0, 0))
    place = data.schema.names.index("since")
    assert data.schema.columns[place].is_numeric
    assert data.schema.describe(place, data.train.inputs[:, place].min()) == "since = 2024-01-01"
    assert (
        data.schema.describe(place, np.sort(data.train.inputs[:, place])[1]) == "since = 2024-01-02 12:00:00"
    )
    names = Bins.learn(data.schema, data.train.inputs).names[place]
    assert names[0] == "since <= 2024-01-15 15:00:00"
    assert sorted(data.schema.decode(data.train.inputs)["since"]) == list(days)


def test_a_column_that_is_called_an_identifier_is_warned_of(caplog):
    with caplog.at_level(logging.WARNING, "verax"):
        verax.load_dataset(ROWS.assign(customer_id=7 * np.arange(40) + 1000, label=NAMES))
    assert "the column 'customer_id' numbers the rows (1000 to 1273)" in caplog.text
