"""A verdict: what a report says first, in the same form everywhere, as data.

A report makes one `Verdict` from its summary: one sentence that answers the reader's question, one `Judged` for each
explainer (or condition), which are also the rows of the one figure, and what it rests on. Then

- on a page: ``{% from "verdict.html" import verdict_block %}`` and ``{{ verdict_block(verdict) }}`` as the first thing
  below the heading (`verax.reporting.page` has the style and the script that it needs);
- in a terminal and in a notebook: ``verdict_lines`` and ``verdict_html`` of `verax.results.tables`.

Numbers of the figure are in the unit that readers see (per cent, points), and so are the ends of its axis. A `Judged`
without an interval has ``low`` and ``high`` None: nothing is drawn that pretends to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from verax.text import NOTHING, minus, signed

# What is said of an explainer: that it does what was asked, does a part of it, does not, or that nothing was shown.
Sign = Literal["yes", "part", "no", "open"]
MARKS: dict[Sign, str] = {"yes": "✓", "part": "~", "no": "✗", "open": "?"}


@dataclass(frozen=True)
class Judged:
    """What is said of one explainer: a row of the figure.

    Attributes:
        name: of the explainer or condition.
        sign: whether it does what was asked, does a part of it, does not, or nothing was shown.
        words: the same in a few words: "finds them", "no better than chance".
        estimate: the number that is drawn; None if there is none.
        low: lower end of its interval, None without one.
        high: upper end.
    """

    name: str
    sign: Sign
    words: str
    estimate: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Reference:
    """A line that all rows of the figure are read against: chance, no difference."""

    name: str
    value: float


@dataclass(frozen=True)
class Verdict:
    """The first thing that a report says.

    Attributes:
        sentence: the answer, in one sentence or two that a newcomer understands.
        judged: one line per explainer, the best first.
        measure: what the figure's numbers are, with their unit.
        rests_on: sentences on what it rests on and what it does not say.
        reference: the line to read the figure against.
        ends: of the figure's axis; None takes them from the numbers.
        differences: whether the numbers are differences, which are written with their sign.
        decimals: that numbers are written with.
    """

    sentence: str
    judged: tuple[Judged, ...]
    measure: str
    rests_on: tuple[str, ...] = ()
    reference: Reference | None = None
    ends: tuple[float, float] | None = None
    differences: bool = False
    decimals: int = 1

    @property
    def axis(self) -> tuple[float, float]:
        """The ends of the figure's axis; never of no length."""
        if self.ends is not None:
            return self.ends
        numbers = [n for row in self.judged for n in (row.estimate, row.low, row.high) if n is not None]
        numbers += [self.reference.value] if self.reference else []
        low, high = min(numbers, default=0.0), max(numbers, default=1.0)
        margin = 0.04 * (high - low) or 1.0
        return low - margin, high + margin

    def place(self, number: float) -> float:
        """Where a number lies on the axis, in per cent of its length, cut at its ends."""
        low, high = self.axis
        return round(100 * min(max((number - low) / (high - low), 0.0), 1.0), 2)

    def written(self, row: Judged) -> str:
        """A row's number with its interval, as readers see it."""
        if row.estimate is None:
            return NOTHING
        digits = self.decimals
        shown = signed(row.estimate, digits) if self.differences else minus(f"{row.estimate:.{digits}f}")
        if row.low is None or row.high is None:
            return shown
        return f"{shown} [{minus(f'{row.low:.{digits}f}')}, {minus(f'{row.high:.{digits}f}')}]"

    def mark(self, row: Judged) -> str:
        """The sign of a row as a letter; the words beside it say the same."""
        return MARKS[row.sign]


def has_intervals(judged: Sequence[Judged]) -> bool:
    """Whether any row has an interval."""
    return any(row.low is not None for row in judged)
