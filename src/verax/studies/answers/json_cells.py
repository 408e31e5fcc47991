"""JSON texts out of a database, which are many and small."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

_decode = json.JSONDecoder().raw_decode  # what is around it in json.loads takes longer than the work itself


def from_json(text: str) -> dict[str, Any]:
    """The mapping that a JSON text holds, which begins with it."""
    decoded: dict[str, Any] = _decode(text)[0]
    return decoded


@lru_cache(maxsize=10_000)
def known(text: str) -> dict[str, Any]:
    """The same, to be read only: answers to a question are equal a thousand times, and such are parsed once."""
    return from_json(text)
