"""Dataclasses to JSON and back: what is written is strict, what is read is typed, what does not fit is a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from reporting.study_summaries import graded, summary, tiny
from verax.codec import cleaned, decode, encode, encoded
from verax.errors import VeraxError
from verax.results.units import Unit
from verax.studies.analysis import Summary


@dataclass(frozen=True)
class Point:
    x: float
    y: float | None = None


@dataclass(frozen=True)
class Circle:
    centre: Point
    radius: float
    kind: Literal["round"] = "round"


@dataclass(frozen=True)
class Drawing:
    shapes: tuple[Circle | Point, ...]
    unit: Unit
    names: Mapping[str, int]


DRAWING = Drawing((Point(1, 2.5), Circle(Point(0.0), 3)), Unit("points"), {"a": 1})


def test_what_is_written_is_read_back():
    written = json.loads(json.dumps(encode(DRAWING)))
    assert written["shapes"][1] == {"centre": {"x": 0.0, "y": None}, "radius": 3, "kind": "round"}
    assert decode(Drawing, written) == DRAWING
    assert decode(Drawing, written).unit.decimals == 1


def test_numbers_of_numpy_are_plain_and_what_is_no_number_is_null():
    given = {"a": np.float64(1.5), "b": np.array([1, 2]), "c": math.nan, "d": (np.int64(3), np.bool_(True))}
    assert json.dumps(encode(given), allow_nan=False) == '{"a": 1.5, "b": [1, 2], "c": null, "d": [3, true]}'
    assert cleaned(Point(np.float64(2.0), math.inf)) == Point(2.0, None)


def test_names_that_are_not_known_are_left_out_and_defaults_fill_what_is_missing():
    assert decode(Point, {"x": 1.0, "colour": "red"}) == Point(1.0, None)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "the summary lacks 'names'"),
        ({"shapes": {}, "unit": "", "names": {}}, r"the summary.shapes is {}"),
        ({"shapes": [{"x": "left"}], "unit": "", "names": {}}, r"shapes\[0\].x is 'left'"),
        ({"shapes": [{"size": 1}], "unit": "", "names": {}}, r"shapes\[0\] is none of Circle, Point"),
        ({"shapes": [], "unit": 3, "names": {}}, "unit is 3"),
        (
            {"shapes": [{"centre": {"x": 1}, "radius": 1, "kind": "square"}], "unit": "", "names": {}},
            "'square', which is none of 'round'",
        ),
    ],
)
def test_what_does_not_fit_is_a_sentence_that_says_where(data, says):
    with pytest.raises(VeraxError, match=says):
        decode(Drawing, data)


@pytest.mark.parametrize("given", [summary(), graded(), tiny()])
def test_a_summary_of_an_older_version_is_read(given):
    """Older ones may lack what came later, and have it in words only."""
    for late in ("options", "versions", "sensitivity", "balance"):
        given = {name: value for name, value in given.items() if name != late}
    read = Summary.from_dict(given)
    assert read.title == given["title"]
    assert read.flow.analysed == given["flow"]["analysed"]
    assert Summary.from_dict(read.to_dict()) == read


def test_units_come_back_with_a_summary():
    read = Summary.from_dict(summary(sensitivity={"late_answers": 0, "variants": [], "leave_one_out": []}))
    assert read.figures[0].data.unit == "points"  # from the label of its axis
    assert read.sensitivity.unit == "points"  # that of the primary analysis
    scores = graded(primary={**graded()["primary"], "unit": "score"}, sensitivity={"late_answers": 0})
    assert Summary.from_dict(scores).sensitivity.unit == "score"
    assert encoded(read.primary)["unit"] == "points"
