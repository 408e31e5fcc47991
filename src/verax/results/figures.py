"""A figure as data, by what is drawn: intervals, curves, bars, distributions, many scores, the flow of people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from verax.phrases import say
from verax.results.units import NONE, Ends, Unit


@dataclass(frozen=True)
class Flow:
    """How many participants (or bots) are where.

    Attributes:
        arrived: opened the first page; the sum of the next nine.
        undecided: have neither agreed nor declined.
        declined: did not agree.
        no_place: came when all places, or those of their quota, were taken.
        screened_out: did not pass the screening test.
        withdrawn: took their answers back; these are deleted.
        left: stopped, and their place was given up.
        under_way: are still at it.
        complete: came to the end.
        deleted: of the complete: their answers were deleted when the time of their keeping was over.
        excluded: of the complete, by rule; somebody under two rules is counted at both.
        excluded_people: of the complete, under any rule.
        offered_again: places of these that were offered to others.
        analysed: complete and not excluded (per protocol).
        intended: got a place and answered something in a test phase, exclusions ignored (intention to treat).
        of_the_others: how many bots there are beside the people, or people beside the bots; they are in no number here.
    """

    arrived: int = 0
    undecided: int = 0
    declined: int = 0
    no_place: int = 0
    screened_out: int = 0
    withdrawn: int = 0
    left: int = 0
    under_way: int = 0
    complete: int = 0
    deleted: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    excluded_people: int = 0
    offered_again: int = 0
    analysed: int = 0
    intended: int = 0
    of_the_others: int = 0

    JSON: ClassVar = (..., "sentence")

    @property
    def began(self) -> int:
        """Those who began: they left, withdrew, are under way or came to the end."""
        return self.left + self.withdrawn + self.under_way + self.complete

    @property
    def sentence(self) -> str:
        """The flow in one line: "34 arrived, 2 declined, 31 complete, 1 excluded (too-fast 1), 30 analysed."."""
        steps = {
            "undecided": self.undecided,
            "declined": self.declined,
            "no-place": self.no_place,
            "screened-out": self.screened_out,
            "withdrew": self.withdrawn,
            "left": self.left,
            "under-way": self.under_way,
        }
        said = [flow_words("arrived", self.arrived)]
        said += [flow_words(case, many) for case, many in steps.items() if many]
        said.append(flow_words("complete", self.complete))
        if self.deleted:
            said.append(flow_words("deleted", self.deleted))
        if self.excluded_people:
            rules = ", ".join(f"{rule} {many}" for rule, many in self.excluded.items())
            said.append(flow_words("excluded", self.excluded_people, rules or "none"))
        if self.offered_again:
            said.append(flow_words("offered-again", self.offered_again))
        return ", ".join([*said, flow_words("analysed", self.analysed)]) + "."


def flow_words(case: str, many: int, rules: str = "none") -> str:
    """How many people went one way."""
    return say("findings", f"flow-{case}", many=many, rules=rules)


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

    @property
    def unit(self) -> Unit:
        """What the label ends in."""
        ending = re.search(r"\(([^()]*)\)$", self.x_label)
        return Unit(ending[1]) if ending else NONE


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
class SwarmRow:
    """The scores of one feature, a point for each input.

    Attributes:
        label: of the feature.
        scores: one for each input that has it.
        places: where each input's value lies among all, from 0 (lowest) to 1; None where values have no order, or none
            is there.
    """

    label: str
    scores: tuple[float, ...]
    places: tuple[float | None, ...]


@dataclass(frozen=True)
class Swarm:
    """A point for each input and feature, by its score; points that would hide each other stand apart."""

    KIND: ClassVar = "swarm"
    score_label: str
    swarms: tuple[SwarmRow, ...]


@dataclass(frozen=True)
class Points:
    """Scores over values, by one method."""

    label: str
    values: tuple[float, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Dependence:
    """Scores of one feature over its values; of categories the values are places among ``categories``."""

    KIND: ClassVar = "dependence"
    value_label: str
    score_label: str
    points: tuple[Points, ...]
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Matrix:
    """A number from -1 to 1 for each two of the labels; None where there is none."""

    KIND: ClassVar = "matrix"
    labels: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]


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
    data: Intervals | Curve | Bars | Distribution | Swarm | Dependence | Matrix | FlowChart
    sentence: str = ""

    JSON: ClassVar = (..., "kind")

    @property
    def kind(self) -> str:
        """How it is drawn."""
        return self.data.KIND

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
            case Swarm(swarms=drawn) | Dependence(points=drawn) | Matrix(labels=drawn):
                return not drawn
        return False


def series(label: str, values: Sequence[float | None], ends: Sequence[Ends]) -> Series:
    """Values with their intervals, None where one has none."""
    pairs = [(None, None) if pair is None else (pair[0], pair[1]) for pair in ends]
    return Series(label, tuple(values), tuple(low for low, _ in pairs), tuple(high for _, high in pairs))
