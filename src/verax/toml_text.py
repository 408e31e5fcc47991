"""TOML as text: what others wrote is read within bounds; a spec given as Python objects is written."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from verax.errors import VeraxError

MOST_CHARACTERS = 1_000_000
MOST_PARTS = 50  # of a key; the parser's memory grows with the square of them

_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')"
LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_.\"'\\-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MOST_PARTS}}}")


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """The tables and values of a TOML text; ``source`` is what errors call it.

    Raises:
        VeraxError: it is not TOML, or is too long or too deep for a spec.
    """
    if len(text) > MOST_CHARACTERS:
        raise VeraxError(
            f"{source} has {len(text):,} characters, and a spec has at most {MOST_CHARACTERS:,}; give the TOML file of "
            "a spec."
        )
    if LONG_KEY.search(text):
        raise VeraxError(f"{source} has a key of more than {MOST_PARTS} parts, which no spec needs.")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise VeraxError(
            f"{source} has tables or lists in each other that are too deep to be a spec."
        ) from error
    except ValueError as error:  # a TOMLDecodeError, or a number of thousands of digits
        raise VeraxError(f"{source} is not TOML ({error}).") from error


def to_toml(options: Mapping[str, object]) -> str:
    """The options as TOML, one a line; what is None is left out."""
    lines = [f"{_key(name)} = {_value(value, name)}" for name, value in options.items() if value is not None]
    return "\n".join([*lines, ""])


def _value(value: object, place: str) -> str:
    if isinstance(value, Mapping):
        inside = [
            f"{_key(name)} = {_value(item, f'{place}.{name}')}"
            for name, item in value.items()
            if item is not None
        ]
        return f"{{ {', '.join(inside)} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, place) for item in value)}]"
    if isinstance(value, str | int | float):
        # JSON spells strings, numbers and booleans as TOML does, but for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise VeraxError(
        f"{place} is a {type(value).__name__}, which a spec cannot hold; use strings, numbers, lists and dicts."
    )


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
