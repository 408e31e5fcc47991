"""TOML that others wrote, read within bounds: what is not TOML, or was made to fill the memory, is one sentence."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from verax.errors import VeraxError

MOST_CHARACTERS = 1_000_000
MOST_PARTS = 50  # of a key; the parser's memory grows with the square of them

_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_.\"'-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MOST_PARTS}}}")


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
