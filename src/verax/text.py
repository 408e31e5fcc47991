"""Numbers and lists as people read them: signs, decimals, nouns, p-values; the one place that all sentences use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MINUS = "\N{MINUS SIGN}"
# What stands where there is no number.
NOTHING = "–"
SMALLEST_P = 0.001


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, "1 stain" and "2,000 stains"; ``plural`` where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], last: str = "and", most: int = 0) -> str:
    """Names as English lists them, "a, b and c"; above ``most`` (if it is given) the rest is counted."""
    if most and len(names) > most:
        return f"{', '.join(names[:most])} {last} {len(names) - most:,} more"
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def minus(shown: str) -> str:
    """A written number with a true minus sign; one that rounds to zero has none."""
    return shown.replace("-", MINUS) if any(digit in "123456789" for digit in shown) else shown.lstrip("-")


def signed(number: float, decimals: int = 1) -> str:
    """A difference with its sign, "+8.3"; one that rounds to 0 has none."""
    shown = minus(f"{number:.{decimals}f}")
    return f"+{shown}" if number > 0 and float(shown) else shown


def signed_from_zero(number: float, decimals: int = 2, most: int = 6) -> str:
    """A number whose side of 0 matters, "+3.14" or "-0.004": with more decimals where it would look like 0."""
    shown = f"{number:+.{decimals}f}"
    if any(digit in "123456789" for digit in shown) or decimals >= most:
        return shown if float(shown) else shown.lstrip("+-")
    return signed_from_zero(number, decimals + 1, most) if number else shown.lstrip("+-")


def always_signed(number: float, decimals: int = 2) -> str:
    """A number with its sign even where it rounds to 0, always "+0.00" then: for columns of coefficients."""
    return f"{number:+z.{decimals}f}".replace("-", MINUS)


def between(low: float, high: float, decimals: int = 1) -> str:
    """An interval of differences, "−2.1 to +9.0"."""
    return f"{signed(low, decimals)} to {signed(high, decimals)}"


def percent(share: float | None) -> str:
    """A share as a percentage: 0.9876 is "98.8%"."""
    return NOTHING if share is None else f"{minus(f'{100 * share:.1f}')}%"


def points(difference: float | None) -> str:
    """A difference of shares in percentage points with its sign, "+12.3"."""
    return NOTHING if difference is None else signed(100 * difference)


def interval(low: float | None, high: float | None) -> str:
    """Shares or their differences as ends in per cent, "[4.1, 20.5]"; nothing if one unit gave none."""
    if low is None or high is None:
        return ""
    return f"[{minus(f'{100 * low:.1f}')}, {minus(f'{100 * high:.1f}')}]"


def estimate(given: Mapping[str, float | None] | None) -> str:
    """An estimate of a share from its "mean", "low" and "high", "98.8 [97.1, 99.9]", in per cent."""
    mean = None if given is None else given.get("mean")
    if given is None or mean is None:
        return NOTHING
    return f"{minus(f'{100 * mean:.1f}')} {interval(given.get('low'), given.get('high'))}".strip()


def p_number(p: float) -> str:
    """A p-value in a column of its own: "0.012", "< 0.001"."""
    if p < SMALLEST_P:
        return f"< {SMALLEST_P}"
    return "1" if p > 0.9995 else f"{p:.3f}"


def p_text(p: float | None) -> str:
    """A p-value in a sentence, "p = 0.012" or "p < 0.001"; nothing if there was no test."""
    if p is None:
        return ""
    return f"p {p_number(p)}" if p < SMALLEST_P else f"p = {p_number(p)}"


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


def plain(value: object) -> str:
    """A value of JSON as people read it: lists and mappings without their brackets."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain(inner) for inner in value)
    return str(value)


def input_named(number: int) -> str:
    """An input by its number in what the caller gave, as all sentences call it."""
    return f"input {number} (counted from 0)"


# What a terminal would do instead of showing it, as pictures of it: texts come from people and from files of others.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def visible(text: str) -> str:
    """A text that only shows characters, with pictures in place of control characters."""
    return text.translate(_PICTURES)
