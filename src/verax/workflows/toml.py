"""A spec as the text of a TOML file, for specs that were given as Python objects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from verax.errors import VeraxError


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
