"""How numbers and names are written in the sentences of an analysis."""

from __future__ import annotations

from collections.abc import Sequence

MINUS = "\N{MINUS SIGN}"


def counted(number: int, noun: str) -> str:
    """A number with its noun, "1 item" and "2,000 items"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_words(names: Sequence[str], last: str = "and") -> str:
    """Names as English lists them: "a, b and c"."""
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def signed(number: float, decimals: int = 1) -> str:
    """A difference with its sign, "+8.3"; one that rounds to 0 has none."""
    shown = f"{number:.{decimals}f}"
    if float(shown) == 0:
        return shown.lstrip("-")
    return shown.replace("-", MINUS) if number < 0 else f"+{shown}"


def between(low: float, high: float, decimals: int = 1) -> str:
    """An interval of differences, "−2.1 to +9.0"."""
    return f"{signed(low, decimals)} to {signed(high, decimals)}"


def p_text(p: float) -> str:
    """As "p = 0.012" or "p < 0.001"."""
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.9995 else "p = 1"
