"""What numbers are counted in: how they are made from shares and scores, and with how many decimals they are read."""

from __future__ import annotations

from collections.abc import Sequence

from verax.text import minus, signed

_ONE_DECIMAL = frozenset(
    ("points", "percentage points", "per cent", "percent", "%", "seconds", "minutes", "s", "min", "ms")
)
# Sizes of scores are of any order: a probability's and a price's are read with as many digits.
_THREE_DIGITS = "|score|"
_OF_SHARES = frozenset(("points", "%", "per cent"))

Ends = tuple[float, float] | None


class Unit(str):
    """A unit is its name, as tables and summary.json have it; one that is not known here is read with two decimals."""

    __slots__ = ()

    @property
    def decimals(self) -> int:
        """How many are read."""
        return 1 if self in _ONE_DECIMAL else 2

    @property
    def noun(self) -> str:
        """What follows a number in sentences, with a space before it; scores have none."""
        return f" {self}" if self == POINTS else ""

    def of(self, value: float | None) -> float | None:
        """A share, or a difference of shares, in this unit; a score as it is."""
        return value if value is None or self not in _OF_SHARES else 100.0 * value

    def interval(self, low: float | None, high: float | None) -> Ends:
        """Both ends in this unit, or None."""
        ends = self.of(low), self.of(high)
        return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])

    def signed(self, value: float) -> str:
        """A difference that is in this unit already, with its sign."""
        return signed(value, self.decimals)

    def said(self, value: float) -> str:
        """The same with its noun."""
        return f"{self.signed(value)}{self.noun}"

    def number(self, value: float) -> str:
        """A number in this unit as tables and figures show it, with a true minus sign."""
        if self == _THREE_DIGITS:
            return minus(f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".removesuffix("."))
        if isinstance(value, int) and self.decimals > 1:
            return minus(f"{value:,}")
        # What two decimals would show as 0 keeps its sign and size.
        if self.decimals > 1 and 0 < abs(value) < 0.005:
            return minus(f"{value:.2g}")
        return minus(f"{value:,.{self.decimals}f}")

    def ends(self, ends: Sequence[float | None]) -> str:
        """An interval in this unit, "[1.2, 13.5]"; empty if an end is missing."""
        low, high = ends
        return "" if low is None or high is None else f"[{self.number(low)}, {self.number(high)}]"


NONE = Unit("")
POINTS = Unit("points")
PERCENT = Unit("%")
SCORE = Unit("score")
SCORE_SIZE = Unit(_THREE_DIGITS)
SECONDS = Unit("seconds")
MINUTES = Unit("minutes")
