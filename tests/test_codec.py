"""Dataclasses to JSON and back: what is written is strict, what is read is typed, what does not fit is a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pytest

from reporting.study_summaries import graded, summary, tiny
from verax.arrays import FloatArray
from verax.codec import NOT_WRITTEN, Record, cleaned, decode, encode, encoded, written
from verax.errors import VeraxError
from verax.results.findings import FORMAT
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


@dataclass(frozen=True)
class Track(Record):
    """A dataclass as somebody adds one: what differs from its fields is said, and nothing is written by hand."""

    points: tuple[tuple[int, float], ...]
    heights: FloatArray
    place: str | tuple[str, ...] = ""
    owner: Point | None = field(default=None, metadata=written("by", none={}))
    hidden: bool = field(default=False, metadata=NOT_WRITTEN)
    closed: bool = field(default=False, metadata=written(when=lambda track: track.closed))

    kind: ClassVar = "track"
    format: ClassVar = 2
    JSON: ClassVar = ("kind", ..., "longest", "told", "format")

    @property
    def longest(self) -> float:
        return max(far for _, far in self.points)

    def told(self) -> str:
        return f"{len(self.points)} points"


def test_a_dataclass_says_its_form_in_the_file():
    track = Track(((1, 2.0), (3, 4)), np.array([0.5]), ("a", "b"), hidden=True)
    made = track.to_dict()
    assert json.dumps(made) == (
        '{"kind": "track", "points": [[1, 2.0], [3, 4]], "heights": [0.5], "place": ["a", "b"], "by": {}, '
        '"longest": 4, "told": "2 points", "format": 2}'
    )
    changed = made | {"by": {"x": 1, "y": None}, "closed": True}
    assert Track.from_dict(changed).to_dict() == changed
    again = Track.from_dict(made)
    assert (again.points, again.place, again.owner, again.hidden) == (track.points, track.place, None, False)
    assert again.heights.dtype == np.float64
    assert again.points[1][1].__class__ is int  # a number is written as it is and stays it


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 3}, "^the summary has format 3, and this version of Verax reads 2; make it again"),
        ({"kind": "road"}, "has the kind 'road', which is none of 'track'"),
        ({"points": [[1]]}, r"points\[0\] has 1 values and not 2"),
        ({"points": [[1, 2], [1.5, 2]]}, r"points\[1\]\[0\] is 1.5, which is not"),
        ({"heights": ["high"]}, "heights is no list of numbers"),
        ({"place": 3}, "place is 3"),
        ({"closed": None}, "closed is None"),
    ],
)
def test_another_version_and_another_kind_are_refused(change, says):
    made = Track(((1, 2.0),), np.array([0.5])).to_dict()
    with pytest.raises(VeraxError, match=says):
        Track.from_dict(made | change)


@dataclass(frozen=True)
class Route:
    stops: tuple[Point, ...]


class Anything(dict[str, object]):
    """What somebody else writes."""


@dataclass(frozen=True)
class Trip:
    way: Route | Anything
    length: int | float = 0


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        ({"stops": [{"x": 1.0}]}, Route),
        ({"stops": [{"x": 1.0, "name": "home"}]}, Anything),
        ({"stops": 3}, Anything),
        ({}, Anything),
    ],
)
def test_of_several_types_it_is_the_one_that_knows_every_name(way, kind):
    """Otherwise a name that somebody else wrote would be lost without a word."""
    read = decode(Trip, {"way": way})
    assert type(read.way) is kind
    assert kind is Route or encode(read)["way"] == way


def test_a_whole_float_stays_one_where_either_number_may_stand():
    assert json.dumps(encode(decode(Trip, {"way": {}, "length": 2.0}))["length"]) == "2.0"
    assert json.dumps(encode(decode(Trip, {"way": {}, "length": 2}))["length"]) == "2"


def test_what_has_no_form_in_json_is_a_sentence():
    with pytest.raises(VeraxError, match=r"^A builtins.set cannot be written to JSON; use dataclasses, "):
        encode({"a": [{1, 2}]})


@pytest.mark.parametrize("given", [summary(), graded(), tiny()])
def test_a_summary_of_an_older_version_is_read(given):
    """Older ones may lack what came later, and have it in words only."""
    for late in ("options", "versions", "sensitivity", "balance"):
        given = {name: value for name, value in given.items() if name != late}
    read = Summary.from_dict(given)
    assert read.title == given["title"]
    assert read.flow.analysed == given["flow"]["analysed"]
    assert Summary.from_dict(read.to_dict()) == read


@pytest.mark.parametrize(("name", "now"), [("format", Summary.format), ("findings_format", FORMAT)])
@pytest.mark.parametrize("apart", [-1, 1])
def test_a_summary_of_another_version_is_refused(name, now, apart):
    with pytest.raises(VeraxError, match=f"has {name} {now + apart}, and this version of Verax reads {now}"):
        Summary.from_dict(summary() | {name: now + apart})


def test_units_come_back_with_a_summary():
    read = Summary.from_dict(summary(sensitivity={"late_answers": 0, "variants": [], "leave_one_out": []}))
    assert read.figures[0].data.unit == "points"  # from the label of its axis
    assert read.sensitivity.unit == "points"  # that of the primary analysis
    scores = graded(primary={**graded()["primary"], "unit": "score"}, sensitivity={"late_answers": 0})
    assert Summary.from_dict(scores).sensitivity.unit == "score"
    assert encoded(read.primary)["unit"] == "points"
