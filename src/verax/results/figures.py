"""A figure as data, by what is drawn: intervals, curves, bars, distributions, the flow of people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from verax.results.flow import Flow
from verax.results.units import NONE, Ends, Unit


@dataclass(frozen=True)
class Interval:
    """One estimate of a figure; rows of one label stand beside each other, groups look different."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    group: str = ""


@dataclass(frozen=True)
class Intervals:
    """A dot with its interval for each row; the unit stands in the label of the axis, in brackets."""

    KIND: ClassVar = "intervals"
    x_label: str
    reference: float | None
    rows: tuple[Interval, ...]
    unit: Unit = NONE

    def json_names(self) -> tuple[str, ...]:
        """The unit is in the label."""
        return ("x_label", "reference", "rows")

    @classmethod
    def completed(cls, data: Mapping[str, object]) -> Mapping[str, object]:
        """With the unit that the label ends in."""
        ending = re.search(r"\(([^()]*)\)$", str(data["x_label"]))
        return {"unit": ending[1] if ending else "", **data}


@dataclass(frozen=True)
class Line:
    """One line of a curve, with its band."""

    label: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Curve:
    """Lines with bands."""

    KIND: ClassVar = "curve"
    x_label: str
    y_label: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Series:
    """One value for each group, with its interval."""

    label: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Bars:
    """Values beside each other in each group."""

    KIND: ClassVar = "bars"
    y_label: str
    groups: tuple[str, ...]
    bars: tuple[Series, ...]


@dataclass(frozen=True)
class Shares:
    """The shares of the levels under one label."""

    label: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Distribution:
    """How often each level was given."""

    KIND: ClassVar = "distribution"
    x_label: str
    levels: tuple[str | float, ...]
    rows: tuple[Shares, ...]


@dataclass(frozen=True)
class FlowChart:
    """The way of the participants."""

    KIND: ClassVar = "flow"
    boxes: Flow


@dataclass(frozen=True)
class Figure:
    """A figure as data."""

    key: str
    title: str
    data: Intervals | Curve | Bars | Distribution | FlowChart
    sentence: str = ""

    @property
    def kind(self) -> str:
        """How it is drawn."""
        return self.data.KIND

    def json_names(self) -> tuple[str, ...]:
        """With its kind."""
        return ("key", "title", "kind", "data", "sentence")

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw; its table says so."""
        match self.data:
            case Intervals(rows=parts) | Distribution(rows=parts):
                return not parts
            case Curve(lines=lines):
                return not lines
            case Bars(bars=bars):
                return not bars
        return False


def series(label: str, values: Sequence[float | None], ends: Sequence[Ends]) -> Series:
    """Values with their intervals, None where one has none."""
    pairs = [(None, None) if pair is None else (pair[0], pair[1]) for pair in ends]
    return Series(label, tuple(values), tuple(low for low, _ in pairs), tuple(high for _, high in pairs))
