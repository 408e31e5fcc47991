"""Names with options behind them, as people write them: ``lime,shap(samples=500),cnn(epochs=2)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real

from verax.errors import VeraxError

NAME = re.compile(r"(?P<name>[^(),\s]+)\s*(?:\((?P<options>.*)\))?", re.DOTALL)
OPENING, CLOSING, QUOTES = "([{", ")]}", "'\""
# What options may be, as sentences call them.
SORTS: dict[type, str] = {int: "a whole number", float: "a number", str: "a text", bool: "True or False"}


@dataclass(frozen=True)
class Name:
    """One of them.

    Attributes:
        name: without its options.
        options: what stands in the parentheses, by name.
        label: all that was written, blanks at its ends aside.
    """

    name: str
    options: Mapping[str, object] = field(default_factory=dict)
    label: str = ""


def parse_names(given: str, noun: str, example: str) -> list[Name]:
    """The names in a list separated by commas, each with options in parentheses as in Python.

    Args:
        given: what the user wrote.
        noun: what one of them is called, and
        example: how such a list is written, for people.
    """
    return [parse_name(part, noun, example) for part in split_outside(given) if part]


def parse_name(given: str, noun: str, example: str) -> Name:
    """One name with its options; see `parse_names`."""
    match = NAME.fullmatch(given.strip())
    if match is None:
        raise VeraxError(f"The {noun} {given!r} cannot be read; write it like this: {example}")
    name, written = match["name"], (match["options"] or "").strip()
    options: dict[str, object] = {}
    for part in filter(None, split_outside(written)):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key.isidentifier() or not equals or not value:
            raise VeraxError(
                f"The option {part!r} of {name!r} cannot be read; write name=value inside the parentheses, "
                f"like this: {example}"
            )
        if key in options:
            raise VeraxError(f"The option {key!r} of {name!r} is given twice; give it once.")
        options[key] = _value(value)
    return Name(name, options, f"{name}({written})" if options else name)


def fits(value: object, default: object) -> bool:
    """Whether a value is of the sort of an option's default; a whole number does where another is wanted."""
    if isinstance(default, bool) or isinstance(value, bool):
        return type(default) not in SORTS or type(value) is type(default)
    if isinstance(default, int | float):
        return isinstance(value, Integral if isinstance(default, int) else Real)
    return not isinstance(default, str) or isinstance(value, str)


def split_outside(given: str) -> list[str]:
    """What stands between commas that are neither in brackets nor in quotes; blanks at the ends go."""
    parts, depth, quote, start = [], 0, "", 0
    for place, character in enumerate(given):
        if quote:
            quote = "" if character == quote else quote
        elif character in QUOTES:
            quote = character
        elif character in OPENING:
            depth += 1
        elif character in CLOSING:
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(given[start:place].strip())
            start = place + 1
    return [*parts, given[start:].strip()]


def _value(written: str) -> object:
    try:
        value: object = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return written  # a word without quotes, as shells eat them
    return value
