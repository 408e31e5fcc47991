"""A page that was written before and would be the same again is kept: drawing it takes longer than all the rest."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from verax.run.manifest import library_versions
from verax.version import VERSION

LONGEST = 200  # bytes at the end of a page that hold its mark


def page_key(*parts: object) -> str:
    """What a page depends on, in one hash: its numbers, and the code and libraries that draw it.

    Args:
        parts: plain data.
    """
    about = [VERSION, library_versions(), _sources(), *parts]
    written = json.dumps(about, sort_keys=True, default=str)
    return hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()


def marked(page: str, key: str) -> str:
    """A page that says what it was made of, where only programs look."""
    return f"{page}\n<!-- made of {key} -->\n"


def is_kept(path: Path, key: str) -> bool:
    """Whether the page that lies there was made of the same."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LONGEST))
            return file.read().endswith(f"<!-- made of {key} -->\n".encode())
    except OSError:
        return False


@cache
def _sources() -> str:
    """The state of the code that draws: an edited template makes new pages."""
    folder = Path(__file__).parents[1]
    states = [
        (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".html", ".css", ".js", ".svg")
    ]
    return hashlib.sha256(repr(states).encode()).hexdigest()
