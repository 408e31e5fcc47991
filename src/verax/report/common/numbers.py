"""Numbers as reports print them: percentages with one decimal, the interval in brackets, p beside its correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MINUS = "\N{MINUS SIGN}"
NOTHING = "–"
SMALLEST_P = 0.001


def percent(share: float | None) -> str:
    """A share as a percentage: 0.9876 is "98.8%"."""
    return NOTHING if share is None else f"{_fixed(100 * share)}%"


def interval(low: float | None, high: float | None) -> str:
    """The ends in per cent or percentage points, "[4.1, 20.5]"; nothing if one unit gave none."""
    return "" if low is None or high is None else f"[{_fixed(100 * low)}, {_fixed(100 * high)}]"


def estimate(given: Mapping[str, Any] | None) -> str:
    """An estimate of a share, "98.8 [97.1, 99.9]", in per cent."""
    if not given or given.get("mean") is None:
        return NOTHING
    return f"{_fixed(100 * given['mean'])} {interval(given.get('low'), given.get('high'))}".strip()


def points(difference: float | None) -> str:
    """A difference of shares in percentage points with its sign, "+12.3"; one that rounds to zero has none."""
    if difference is None:
        return NOTHING
    shown = _fixed(100 * difference)
    return f"+{shown}" if difference > 0 and shown != "0.0" else shown


def p_value(p: float | None) -> str:
    """As "p = 0.012" or "p < 0.001"; nothing if there was no test."""
    if p is None:
        return ""
    if p < SMALLEST_P:
        return f"p < {SMALLEST_P}"
    return "p = 1" if p > 0.9995 else f"p = {p:.3f}"


def duration(seconds: float) -> str:
    """A time with a unit in which it is easy to read, "0.42 ms", "3.1 s"."""
    milliseconds = 1000 * seconds
    if seconds >= 59.95:
        return f"{seconds / 60:,.1f} min"
    if milliseconds >= 999.5:
        return f"{seconds:.1f} s"
    if 0 < milliseconds < 0.01:
        return "< 0.01 ms"
    return f"{milliseconds:.2g} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun, "1 stain" and "2,000 stains"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 0) -> str:
    """Names as English lists them, "a, b and c"; above ``most`` (if it is given) the rest is counted."""
    if most and len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def _fixed(number: float) -> str:
    shown = f"{number:.1f}"
    return "0.0" if shown == "-0.0" else shown.replace("-", MINUS)
