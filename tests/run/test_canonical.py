"""JSON with one spelling, and files that are whole or absent."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.run import canonical, write_json

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(plain)
def test_data_read_back_are_the_same_data_and_spelled_the_same(data):
    text = canonical(data)
    back = json.loads(text)
    assert back == data
    assert canonical(back) == text
    assert "\n" not in text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_keep_every_bit(number):
    back = json.loads(canonical(number))
    assert (back, math.copysign(1, back)) == (number, math.copysign(1, number))


def test_order_of_keys_and_tuples_do_not_matter():
    assert (
        canonical({"b": (1, 2), "a": None}) == canonical({"a": None, "b": [1, 2]}) == '{"a":null,"b":[1,2]}'
    )


def test_numpy_float_is_a_float():
    assert canonical([np.float64(0.1)]) == "[0.1]"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"a": [1, float("nan")]}, r"the data\['a'\]\[1\] is nan, which JSON cannot hold"),
        ([float("-inf")], r"the data\[0\] is -inf"),
        ({"a": {1: 2}}, r"the data\['a'\] has the key 1, but JSON has only strings"),
        ({"n": np.int64(3)}, r"the data\['n'\] is a numpy.int64"),
        ({"s": {1, 2}}, r"the data\['s'\] is a builtins.set"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(data, sentence):
    with pytest.raises(VeraxError, match=sentence):
        canonical(data)


def test_written_bytes_are_fixed(tmp_path):
    write_json(tmp_path / "deep" / "a.json", {"b": 1e-7, "a": ["é", True]})
    assert (tmp_path / "deep" / "a.json").read_bytes() == (
        b'{\n  "a": [\n    "\\u00e9",\n    true\n  ],\n  "b": 1e-07\n}\n'
    )


def test_refused_data_leave_the_old_file(tmp_path):
    path = tmp_path / "summary.json"
    write_json(path, [1])
    with pytest.raises(VeraxError, match=r"summary.json\[0\] is inf"):
        write_json(path, [float("inf")])
    assert json.loads(path.read_text()) == [1]
    assert list(tmp_path.iterdir()) == [path]


def test_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(
        VeraxError, match=r"file/a.json could not be written \(.*\); make room or choose another"
    ):
        write_json(tmp_path / "file" / "a.json", {})
